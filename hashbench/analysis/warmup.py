"""Compiling the evaluator's kernels while cells run.

The first run of an installation compiles them, which takes one core a good ten seconds. Left to
the first evaluation, that time would lie between the last cell and the first table, with all other
cores idle. As a task among the cells it takes one of their places, so that no cell has to share its
core; the run then finds the kernels where every later process does.

To load them takes a second, too. A later run does so while the processes that run cells start.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hashbench.core.paths import cache_folder
from hashbench.execution.executor import Task
from hashbench.execution.score_cache import all_names, evaluator_hash
from hashbench.plugins.source_hash import cpu_name

ROWS, BITS = 4, 8  # of what is scored to have everything compiled


def compiling_task(measures: Sequence[str]) -> Task | None:
    """Return a task that compiles what measures need; None if one has done so here."""
    if _mark(measures).exists():
        return None
    arguments = {"measures": list(measures)}
    return Task("hashbench.analysis.warmup:compile_all", arguments, "kernels of the evaluator")


def load_compiled(measures: Sequence[str]) -> None:
    """Load what measures need if it has been compiled here."""
    if _mark(measures).exists():
        _score_a_few(measures)


def compile_all(registry: Any, folder: Path, cache: Path, measures: Sequence[str]) -> None:
    """Have everything compiled that measures need, and note that it is done."""
    from hashbench.core.compilation import kernel_folder

    _score_a_few(measures)
    if kernel_folder() is not None:
        with contextlib.suppress(OSError):  # without the mark, the next run compiles again
            _mark(measures).touch()


def _score_a_few(measures: Sequence[str]) -> None:
    """Score codes and vectors of a few items as a cell's are scored."""
    from hashbench.execution.scoring import scored
    from hashbench.measures import code_statistics
    from hashbench.measures.inner_product import ScoreRanking
    from hashbench.measures.rankings import HammingRanking

    codes = np.arange(ROWS, dtype=np.uint64)[:, None]
    vectors = np.arange(2 * ROWS, dtype=np.float32).reshape(ROWS, 2)
    labels = np.ones((ROWS, 1), np.uint64)
    scored(HammingRanking(codes, codes, BITS, labels, labels), all_names(measures))
    scored(ScoreRanking(vectors, vectors, labels, labels), all_names(measures))
    code_statistics(codes, BITS, labels)


def _mark(measures: Sequence[str]) -> Path:
    """Return the file that says that kernels were compiled: these, by this numba, for this machine.

    It may be wrong, as when machine code was deleted: then the evaluation compiles, as ever.
    """
    parts = (
        evaluator_hash(),
        str(Path(__file__).parent),
        importlib.metadata.version("numba"),
        cpu_name(),
        *measures,
    )
    name = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
    return cache_folder() / "kernels" / f"compiled-{name}"
