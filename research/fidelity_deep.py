"""Compare our neural methods with their authors' losses on the same data.

    python -m research.fidelity_deep [METHOD ...] [-d DATA]     # docs/research/fidelity-deep.csv
    python -m research.fidelity_deep --write                    # docs/research/fidelity-deep.md

The reference figures are in ``tests/reference/deep_summary.csv``: AP over the whole ranking at 32
bits, three seeds, last epoch. Ours scale features here as those runs did; by default ours
scale rows to length sqrt(columns).
"""

from __future__ import annotations

import argparse
import time
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from hashbench.data.formats import load_file
from hashbench.neural.device import same_threads
from hashbench.plugins.downloads import locate
from hashbench.plugins.registry import discover
from research import fidelity, freshness
from research.equivalence import (
    DIFFERENT,
    EQUIVALENT,
    OPEN,
    TOLERANCE,
    judge,
    sign_test,
    word,
)
from research.markdown_text import number, table

REFERENCE = fidelity.REFERENCE / "deep_summary.csv"
RECORD = fidelity.ROOT / "docs" / "research" / "fidelity-deep.csv"
PAGE = fidelity.ROOT / "docs" / "research" / "fidelity-deep.md"
TEXT = Path(__file__).with_name("fidelity-deep.md.in")

BITS = 32
TRAINING_ROWS = 2173  # of wikiroph, the first ones

#: Features as the reference runs had them.
SUPERVISED, UNSUPERVISED = "zscore", "unit"
DATA = {"wiki": "wiki", "uci": "uci-digits", "wikiroph": ""}


@cache
def reference() -> pd.DataFrame:
    """Return the figures of the variants that our defaults follow."""
    known = pd.read_csv(REFERENCE)
    known = known[known["default"] & (known["bits"] == BITS) & (known["measure"] == "AP")]
    return known.drop(columns=["default", "bits", "measure"]).reset_index(drop=True)


@cache
def parts(data: str) -> tuple[Any, ...]:
    """Return training views, query views, training labels and query labels."""
    if DATA[data]:
        return fidelity.split_parts(DATA[data])
    (_, file) = discover().get("datasets", "wiki-cnn").cls.files
    found = load_file(locate(file, "wiki-cnn"))
    train, query = slice(TRAINING_ROWS), slice(TRAINING_ROWS, None)
    views = [[X[rows] for X in found.views] for rows in (train, query)]
    return (*views, found.labels[train], found.labels[query])


def scores(data: str, name: str, seed: int) -> tuple[dict[tuple[str, str], float], float]:
    """Fit one method; return AP by task and database codes, and the CPU seconds of the fit."""
    train, query, train_labels, query_labels = parts(data)
    cls = discover().get("methods", name).cls
    scaling = SUPERVISED if cls.supervised else UNSUPERVISED
    method = cls(n_bits=BITS, random_state=seed, scaling=scaling)
    begun = time.process_time()
    method.fit(train, train_labels)
    seconds = time.process_time() - begun
    found = {}
    for kind, database in fidelity._databases(method, train).items():
        for task, view in zip(fidelity.TASKS, (0, 1), strict=True):
            codes = (method.encode(query[view], view), database[1 - view])
            ranking = fidelity.hamming_ranking(*codes, query_labels, train_labels)
            with same_threads():
                value = fidelity.evaluate_ranking(ranking, [fidelity.MEASURES["AP"]])
            found[task, kind] = float(next(iter(value.values())))
    return found, seconds


def compare(data: str, name: str, seeds: int | None = None) -> pd.DataFrame:
    """Return our and their scores of one method, by default over as many seeds as theirs."""
    theirs = reference().query("data == @data and method == @name")
    runs = [scores(data, name, seed) for seed in range(seeds or int(theirs["count"].max()))]
    rows = []
    for row in theirs.itertuples():
        values = [found[row.task, row.database] for found, _ in runs]
        rows.append(
            {
                "data": data,
                "method": name,
                "task": row.task,
                "database": row.database,
                "seeds": len(values),
                "ours": np.mean(values),
                "ours_std": np.std(values, ddof=1) if len(values) > 1 else np.nan,
                "theirs": row.mean,
                "theirs_std": row.std,
                "source": fidelity.source(name),
                "cpu_seconds": np.median([seconds for _, seconds in runs]),
            }
        )
    return pd.DataFrame(rows)


def verdicts(record: pd.DataFrame) -> pd.DataFrame:
    """Return the record of neural methods with what can be said of each comparison."""
    keys = ["data", "method", "task", "database"]
    theirs = reference().rename(columns={"count": "their_seeds"})
    table = record.merge(theirs[[*keys, "their_seeds"]], on=keys, how="left")
    table["difference"] = table["ours"] - table["theirs"]
    return pd.concat([table, judge(table)], axis=1)


def write() -> None:
    """Write the page from the record."""
    record = verdicts(pd.read_csv(RECORD))
    lines = [
        [
            row.data, f"`{row.method}`", row.task.replace("->", "→"), row.database, row.seeds,
            f"{number(row.ours)} ({number(row.ours_std)})",
            f"{number(row.theirs)} ({number(row.theirs_std)})",
            f"{row.difference:+.3f}", row.verdict,
        ]
        for row in record.itertuples()
    ]  # fmt: skip
    header = ["data", "method", "task", "database", "our seeds", "ours", "theirs", "difference"]
    wanted = reference()[reference()["method"].isin(discover().methods)]
    absent = wanted.merge(record, on=["data", "method"], how="left")
    absent = absent[absent["ours"].isna()][["data", "method"]].drop_duplicates()
    earned = {name: word(rows) for name, rows in record.groupby("method")}
    biased = [name for name, rows in record.groupby("method") if sign_test(rows).shown]
    counts = record["verdict"].value_counts()
    text = TEXT.read_text(encoding="utf-8").format(
        words="; ".join(
            f"*{each}*: {', '.join(f'`{name}`' for name in earned if earned[name] == each)}"
            for each in sorted(set(earned.values()))
        ),
        biased=", ".join(f"`{name}`" for name in biased) or "none",
        absent="; ".join(
            f"{data}: {', '.join(each['method'])}" for data, each in absent.groupby("data")
        )
        or "none",
        near=int(record["difference"].abs().le(TOLERANCE).sum()),
        shown=int(counts.get(EQUIVALENT, 0)),
        open=int(counts.get(OPEN, 0)),
        differ=int(counts.get(DIFFERENT, 0)),
        all=len(record),
        tolerance=TOLERANCE,
        table=table([*header, "verdict"], lines),
    )
    PAGE.write_text(text, encoding="utf-8")
    freshness.record(PAGE, freshness.of_rows(record))


def main() -> None:
    """Compare all methods, or those named, and write the record."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("methods", nargs="*", help="all that have figures, if none is named")
    parser.add_argument("-d", "--data", choices=DATA, help="all, if none is named")
    parser.add_argument("-s", "--seeds", type=int, help="as many as the figures, if not given")
    parser.add_argument("--write", action="store_true", help="write the page, compare nothing")
    arguments = parser.parse_args()
    if arguments.write:
        write()
        return
    known = pd.read_csv(RECORD) if RECORD.exists() else pd.DataFrame()
    pairs = reference()[["data", "method"]].drop_duplicates()
    for data, name in pairs.itertuples(index=False):
        if (arguments.data or data) != data or name not in (arguments.methods or [name]):
            continue
        if name not in discover().methods:
            continue  # UCMFH codes a query from both of its views: no method here
        found = compare(data, name, arguments.seeds)
        print(found.round(3).to_string(index=False, header=False), flush=True)
        if len(known):
            known = known[~(known["data"].eq(data) & known["method"].eq(name))]
        known = pd.concat([known, found.round(5)]).sort_values(["data", "method"], kind="stable")
        known.to_csv(RECORD, index=False)


if __name__ == "__main__":
    main()
