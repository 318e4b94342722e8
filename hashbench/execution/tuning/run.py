"""The searches of a study, run and judged: trials are scored here as soon as they end."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from threadpoolctl import threadpool_limits

from hashbench.execution.cell_codes import CellCodes
from hashbench.execution.executor import Executor
from hashbench.execution.plan import FILE, BuiltPlan
from hashbench.execution.progress import Progress
from hashbench.execution.store import Store
from hashbench.execution.tuning.tuner import Tuner


def tune(
    found: BuiltPlan,
    executor: Executor,
    store: Store,
    progress: Progress,
    keep_codes: bool,
    choice: Mapping[str, Any],
) -> None:
    """Run the trials of a study, choose, and add the tuned cells to its plan.

    Parameters
    ----------
    found : the study's cells and searches
    executor, store, progress : what cells run with
    keep_codes : whether the codes of trials are kept, not only their scores
    choice : which trials run again, as of cells: retry, force; whether they share nothing: timing
    """
    from hashbench.execution.scoring import encoded_scores  # imports numba: a second

    split = cache(store.split)

    def score(codes: CellCodes, name: str, measure: str) -> Mapping[str, float]:
        # Inner products depend on the number of threads in their last bits.
        with threadpool_limits(1, user_api="blas"):
            return encoded_scores(codes, split(name), measure)

    tuner = Tuner(found, executor, store, progress, score, keep_codes)
    tuner.run(choice["retry"], choice["force"])
    tuner.finish()
    store.write_text(FILE, found.plan.to_json())
