"""Writing the two tables of a study, results.csv and runs.csv."""

from __future__ import annotations

from hashbench.results.results import Results
from hashbench.results.rows import (
    RESULT_COLUMNS,
    RUN_COLUMNS,
    TRIAL_COLUMNS,
    Row,
    result_rows,
    run_rows,
    to_csv,
    trials,
)
from hashbench.studies.progress import Progress
from hashbench.studies.store import Store


def write_tables(results: Results, store: Store, progress: Progress) -> tuple[list[Row], list[Row]]:
    """Derive results.csv and runs.csv; return the rows of both."""
    done = progress.scoring(results.done())
    evaluated = ((stored.cell, results.evaluated(stored)) for stored in done)
    rows = list(result_rows(evaluated, results.plan.measures))
    runs = run_rows(results.plan, results.stored)
    store.write_text("results.csv", to_csv(rows, RESULT_COLUMNS))
    store.write_text("runs.csv", to_csv(runs, RUN_COLUMNS))
    if results.plan.searches:
        store.write_text("trials.csv", to_csv(trials(results.plan, store), TRIAL_COLUMNS))
    return rows, runs
