"""What choosing the epoch on test queries is worth, and what networks remember of their database.

    python tools/deep_findings.py [--seeds 2]      # docs/deep.csv

On Wiki at 32 bits, encoded database codes, AP of the whole ranking. `selection`: a method is scored
on the test queries after every epoch; the best epoch of each task, as many released codes choose
it, against the last one. `memory`: trained on a random half of the training rows, with that half as
the database or the other one, which is as large and was never seen.
"""

from __future__ import annotations

import argparse
from typing import Any

import fidelity
import numpy as np
import pandas as pd
from fidelity_deep import BITS, parts

from hashbench.neural.method import TorchMethod
from hashbench.plugins.registry import discover

RECORD = fidelity.ROOT / "docs" / "deep.csv"
SELECTED = ("dsph", "dchmt", "jdsh")
REMEMBERED = ("lemon", "scratch", "dsph", "dchmt", "dadh", "ucch")


def average_precision(method: Any, database: Any, database_labels: Any) -> dict[str, float]:
    """Score a fitted method on the test queries, by task."""
    _, query, _, query_labels = parts("wiki")
    found = {}
    for task, view in zip(fidelity.TASKS, (0, 1), strict=True):
        codes = method.encode(query[view], view), method.encode(database[1 - view], 1 - view)
        ranking = fidelity.hamming_ranking(*codes, query_labels, database_labels)
        value = fidelity.evaluate_ranking(ranking, [fidelity.MEASURES["AP"]])
        found[task] = float(next(iter(value.values())))
    return found


def made(name: str, seed: int) -> Any:
    """Return a method with its default parameters."""
    return discover().get("methods", name).cls(n_bits=BITS, random_state=seed)


def selection(name: str, seed: int) -> list[tuple[str, str, float]]:
    """Return AP of the last epoch and of the best one on the test queries."""
    train, _, labels, _ = parts("wiki")
    method: TorchMethod = made(name, seed)
    scored: list[dict[str, float]] = []

    def score(count: int, value: float, seconds: float) -> None:
        method._train(False)
        scored.append(average_precision(method, train, labels))

    method.on_record = score
    method.fit(train, labels)
    return [
        (task, which, choose([each[task] for each in scored]))
        for task in fidelity.TASKS
        for which, choose in (("last epoch", lambda values: values[-1]), ("best epoch", max))
    ]


def memory(name: str, seed: int) -> list[tuple[str, str, float]]:
    """Return AP against the rows that were trained on and against as many others."""
    train, _, labels, _ = parts("wiki")
    order = np.random.default_rng(seed).permutation(len(labels))
    seen, unseen = np.sort(order[: len(order) // 2]), np.sort(order[len(order) // 2 :])
    method = made(name, seed).fit([X[seen] for X in train], labels[seen])
    rows = []
    for which, part in (("trained on", seen), ("never seen", unseen)):
        found = average_precision(method, [X[part] for X in train], labels[part])
        rows += [(task, which, value) for task, value in found.items()]
    return rows


def main() -> None:
    """Measure, and keep after every method what was found."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--seeds", type=int, default=2)
    seeds = parser.parse_args().seeds
    columns = ["finding", "method", "task", "which", "seeds", "mean"]
    rows: list[tuple[Any, ...]] = []
    for finding, names in ((memory, REMEMBERED), (selection, SELECTED)):
        for name in names:
            found = pd.DataFrame(
                [row for seed in range(seeds) for row in finding(name, seed)],
                columns=["task", "which", "value"],
            )
            means = found.groupby(["task", "which"], sort=False)["value"].mean()
            for (task, which), mean in means.items():
                rows.append((finding.__name__, name, task, which, seeds, round(mean, 4)))
            print(means.round(3).to_string(), flush=True)
            pd.DataFrame(rows, columns=columns).to_csv(RECORD, index=False)


if __name__ == "__main__":
    main()
