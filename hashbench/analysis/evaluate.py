"""Writing the two tables of a study, results.csv and runs.csv."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing

from hashbench.analysis.csv_tables import (
    RESULT_COLUMNS,
    RUN_COLUMNS,
    TRIAL_COLUMNS,
    Row,
    result_rows,
    run_rows,
    to_csv,
    trials,
)
from hashbench.analysis.results import Results
from hashbench.core.parallel import parallel_map_processes
from hashbench.execution.progress import Progress
from hashbench.execution.score_cache import EvaluatedCell
from hashbench.execution.store import Store, Stored


def write_tables(results: Results, store: Store, progress: Progress) -> tuple[list[Row], list[Row]]:
    """Derive results.csv and runs.csv; return the rows of both."""
    done = results.done()
    numbers = zip(progress.scoring(done), evaluated(results, done), strict=True)
    pairs = ((stored.cell, each) for stored, each in numbers)
    rows = list(result_rows(pairs, results.plan.measures))
    runs = run_rows(results.plan, results.stored)
    store.write_text("results.csv", to_csv(rows, RESULT_COLUMNS))
    store.write_text("runs.csv", to_csv(runs, RUN_COLUMNS))
    if results.plan.searches:
        store.write_text("trials.csv", to_csv(trials(results.plan, store), TRIAL_COLUMNS))
    return rows, runs


def evaluated(results: Results, done: Sequence[Stored]) -> Iterator[EvaluatedCell]:
    """Yield the numbers of cells, as many computed at once as there are cores.

    A small ranking takes one thread and would leave the others idle: such cells are shared out
    among processes, which leave what they find where it is remembered. The first is evaluated here,
    so that all of them find its kernels loaded.
    """
    kept = results.memory.kept()
    new = [stored for stored in done if stored.cell.id not in kept]
    small = [stored for stored in new[1:] if _is_small(results, stored)]
    elsewhere = {stored.cell.id for stored in small}
    with closing(
        parallel_map_processes(lambda stored: results.evaluated(stored) and None, small)
    ) as found:
        for stored in done:
            if stored.cell.id in elsewhere:
                next(found)
            yield results.evaluated(stored)


def _is_small(results: Results, stored: Stored) -> bool:
    from hashbench.measures.query_values import FEW_PAIRS  # imports numba: a second

    split = results.split(stored.cell.split)
    return len(split.query) * len(split.database) < FEW_PAIRS
