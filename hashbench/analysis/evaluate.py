"""Evaluating the done cells of a study and writing its tables: results, runs and trials."""

from __future__ import annotations

from contextlib import closing

from hashbench.analysis.csv_tables import (
    RESULT_COLUMNS,
    RUN_COLUMNS,
    TRIAL_COLUMNS,
    Row,
    run_rows,
    to_csv,
    trials,
)
from hashbench.analysis.results import Results
from hashbench.core.parallel import parallel_map_processes
from hashbench.execution.progress import Progress
from hashbench.execution.store import Store, Stored

#: Cells with fewer pairs of queries and items are evaluated in parallel, one process per cell;
#: in larger ones threads share the pairs.
FEW_PAIRS = 1 << 22


def write_tables(results: Results, store: Store, progress: Progress) -> tuple[list[Row], list[Row]]:
    """Write the tables of a study; return the rows that are shown, and those of runs.csv."""
    evaluate_missing(results, progress)
    for name, text in table_texts(results, store).items():
        store.write_text(name, text)
    return results.shown().rows(), run_rows(results.plan, results.stored)


def table_texts(results: Results, store: Store) -> dict[str, str]:
    """Return the content of every table of a study by the name of its file."""
    texts = {
        "results.csv": to_csv(results.rows(), RESULT_COLUMNS),
        "runs.csv": to_csv(run_rows(results.plan, results.stored), RUN_COLUMNS),
    }
    if results.plan.searches:
        texts["trials.csv"] = to_csv(trials(results.plan, store), TRIAL_COLUMNS)
    return texts


def evaluate_missing(results: Results, progress: Progress) -> None:
    """Evaluate the done cells that the score cache lacks.

    A small ranking uses one thread only: such cells are evaluated by several processes at once.
    The first cell is evaluated here, so that the processes find compiled measures.
    """
    missing = [stored for stored in results.done() if not results.is_cached(stored)]
    small = [stored for stored in missing[1:] if _is_small(results, stored)]
    parallel = {stored.cell.id for stored in small}
    ordered = [*(stored for stored in missing if stored.cell.id not in parallel), *small]
    with closing(parallel_map_processes(results.compute, small)) as computed:
        for stored in progress.scoring(ordered):
            in_pool = stored.cell.id in parallel
            results.keep(stored, *(next(computed) if in_pool else results.compute(stored)))


def _is_small(results: Results, stored: Stored) -> bool:
    split = results.split(stored.cell.split)
    return len(split.query) * len(split.database) < FEW_PAIRS
