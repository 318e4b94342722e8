"""Measure shallow and deep methods on the same features, one part at a time.

    hashbench run -m dsph,lemon,... -d wiki,... -b 32 -s 1 --tune 8 -o FOLDER    # one part
    python -m research.deep_findings collect FOLDER ...   # its scores into docs/research/deep.csv
    python -m research.deep_findings selection dsph ... -d wiki
    python -m research.deep_findings memory dsph lemon ... -d wiki
    python -m research.deep_findings seconds dsph lemon ... -d wiki
    python -m research.deep_page     # docs/research/deep.md, from docs/research/deep.csv

The parts may be run in any order. What is in the record is not measured again; the page is made of
what is in the record and lists what is missing. Everything is at 32 bits, AP of the whole ranking.

`selection`: a network is scored on the test queries after every epoch; the best epoch of each task,
as many released codes choose it, against the last one. The suite itself never does that. `memory`:
under the protocol `default` half of the database's rows are training rows; searched is that half,
or the other half, which has the same size and was never seen. `seconds`: CPU time of a fit, which
depends less on other programs than the elapsed time.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from hashbench.analysis.results import Results
from hashbench.data import preprocessing
from hashbench.execution.cell import random_state
from hashbench.measures import evaluate
from hashbench.neural.device import same_threads
from hashbench.neural.method import TorchMethod
from hashbench.plugins import protocol
from hashbench.plugins.registry import discover
from hashbench.plugins.selection import TUNED
from research import fidelity, freshness

RECORD = fidelity.ROOT / "docs" / "research" / "deep.csv"
PAGE = RECORD.with_suffix(".md")
BITS = 32
MEASURE = "AP"

KEYS = ["finding", "dataset", "method", "seed", "task", "which"]
COLUMNS = [*KEYS, "value", "trials"]

DEFAULT, TUNING, SELECTION, MEMORY = "default", "tuned", "selection", "memory"
SECONDS, ANY = "seconds", "any"
LAST, BEST = "last epoch", "best epoch"
SEEN, UNSEEN = "trained on", "never seen"

Views = Sequence[Any]


def read() -> pd.DataFrame:
    """Return what has been measured."""
    return pd.read_csv(RECORD) if RECORD.exists() else pd.DataFrame(columns=COLUMNS)


def keep(found: pd.DataFrame) -> None:
    """Add rows to the record, replacing those with the same keys."""
    both = pd.concat([each for each in (read(), found) if len(each)], ignore_index=True)
    both = both.drop_duplicates(KEYS, keep="last").sort_values(KEYS, kind="stable")
    both.round({"value": 5}).to_csv(RECORD, index=False)


def collect(folder: Path) -> pd.DataFrame:
    """Return the scores of the done cells of a folder of results."""
    results = Results(folder, discover())
    found = results.scores([MEASURE]).query("bits == @BITS")
    tuned = found["method"].str.endswith(TUNED)
    counts = {
        (search.cell.dataset, search.cell.method, search.cell.seed): len(search.points)
        for search in results.searches
    }
    found = found.assign(
        finding=np.where(tuned, TUNING, DEFAULT),
        method=found["method"].str.removesuffix(TUNED),
        which=found["database"],
    )
    keys = zip(found["dataset"], found["method"], found["seed"], strict=True)
    found["trials"] = np.where(tuned, [counts.get(key, 0) for key in keys], 0)
    return found[COLUMNS]


def load(dataset: str, seed: int, chosen: str = "") -> tuple[list[Any], Any, Any]:
    """Return preprocessed views, labels and the split; by default that of the first protocol."""
    plugin = discover().get("datasets", dataset).cls()
    data = plugin.load()
    split = plugin.split(data, chosen or plugin.default_protocol(), seed)
    steps = preprocessing.steps_by_view(plugin.preprocessing, data.view_names)
    views = [
        preprocessing.fit(step, X, split.train)(X)
        for step, X in zip(steps, data.views, strict=True)
    ]
    return views, data.labels, split


def made(name: str, seed: int) -> Any:
    """Return a method with its default parameters, as a cell makes it."""
    cls = discover().get("methods", name).cls
    return cls(n_bits=BITS, random_state=random_state(seed))


def score(method: Any, views: Views, labels: Any, query: Any, database: Any) -> dict[str, float]:
    """Score a fitted method on some rows against others, encoded, by task."""
    codes = [[method.encode(X[rows], m) for m, X in enumerate(views)] for rows in (query, database)]
    query_codes, database_codes = codes
    known = labels[query], labels[database]
    with same_threads():
        return {
            task: evaluate(query_codes[view], database_codes[1 - view], *known, MEASURE)[MEASURE]
            for task, view in zip(fidelity.TASKS, (0, 1), strict=True)
        }


def selection(name: str, dataset: str, seed: int) -> list[tuple[str, str, float]]:
    """Return AP of the last epoch and of the best one on the test queries."""
    views, labels, split = load(dataset, seed)
    method: TorchMethod = made(name, seed)
    scored: list[dict[str, float]] = []

    def after_epoch(count: int, value: float, seconds: float) -> None:
        scored.append(score(method, views, labels, split.query, split.database))

    method.on_record = after_epoch
    fit(method, views, labels, split.train)
    return [
        (task, which, choose([each[task] for each in scored]))
        for task in fidelity.TASKS
        for which, choose in ((LAST, lambda values: values[-1]), (BEST, max))
    ]


def memory(name: str, dataset: str, seed: int) -> list[tuple[str, str, float]]:
    """Return AP against the rows that were trained on and against as many others."""
    views, labels, split = load(dataset, seed, protocol.DEFAULT)
    method = fit(made(name, seed), views, labels, split.train)
    found = []
    for which, part in ((SEEN, protocol.SEEN), (UNSEEN, protocol.UNSEEN)):
        rows = split.database[split.positions(part)]
        scores = score(method, views, labels, split.query, rows)
        found += [(task, which, value) for task, value in scores.items()]
    return found


def seconds(name: str, dataset: str, seed: int) -> list[tuple[str, str, float]]:
    """Return the CPU seconds of a fit."""
    views, labels, split = load(dataset, seed)
    method = made(name, seed)
    if method.requires:  # the first fit of a process includes imports of PyTorch
        fit(made(name, seed).set_params(epochs=1), views, labels, split.train)
    begun = time.process_time()
    fit(method, views, labels, split.train)
    return [(ANY, ANY, time.process_time() - begun)]


def fit(method: Any, views: Views, labels: Any, rows: Any) -> Any:
    """Fit a method to training rows; unsupervised methods get no labels."""
    return method.fit([X[rows] for X in views], labels[rows] if method.supervised else None)


MEASURED = {SELECTION: selection, MEMORY: memory, SECONDS: seconds}


def measure(finding: str, name: str, dataset: str, seed: int) -> None:
    """Measure one finding of one method, unless the record has it."""
    known = read().query(
        "finding == @finding and method == @name and dataset == @dataset and seed == @seed"
    )
    if len(known):
        return
    rows = MEASURED[finding](name, dataset, seed)
    found = pd.DataFrame(rows, columns=["task", "which", "value"])
    keep(found.assign(finding=finding, dataset=dataset, method=name, seed=seed)[[*KEYS, "value"]])
    print(finding, dataset, name, seed, found.round(3).to_string(header=False), flush=True)


def main() -> None:
    """Collect the scores of folders, or measure what the suite does not."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("collect").add_argument("folders", nargs="+", type=Path)
    for finding in MEASURED:
        command = commands.add_parser(finding)
        command.add_argument("methods", nargs="+")
        command.add_argument("-d", "--dataset", default="wiki")
        command.add_argument("-s", "--seed", type=int, default=0)
    arguments = parser.parse_args()
    if arguments.command == "collect":
        for folder in arguments.folders:
            keep(collect(folder))
            known = freshness.read()[str(PAGE.relative_to(freshness.ROOT))]["sources"]
            sources = {**known, **freshness.of_study(Results(folder, discover()))}
            freshness.record(PAGE, sources)
    else:
        for name in arguments.methods:
            measure(arguments.command, name, arguments.dataset, arguments.seed)


if __name__ == "__main__":
    main()
