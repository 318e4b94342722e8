"""Are our methods as good as their authors' own code? Ours against theirs, on the same data.

The reference figures come from running the original implementations on Wiki and on UCI digits;
they lie in ``tests/data/reference``. ``python tools/fidelity.py`` fits every method that has
figures on the same split, with the same number of seeds, scores the same measures, and writes
``docs/fidelity.csv``; the test suite asks the same questions of the same functions.
"""

from __future__ import annotations

import argparse
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from hashbench.measures import evaluate_ranking, hamming_ranking, score_ranking
from hashbench.registry import discover

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "tests" / "data" / "reference"
SOURCES = {"wiki": "wiki_summary.csv", "uci-digits": "uci_summary.csv"}
TASKS = ("image->text", "text->image")

#: The figures order ties as the database does and divide a cut AP by the hits inside the cut.
MEASURES = {
    "AP": "AP(ties=index)",
    "AP(norm=retrieved)@50": "AP(ties=index)@50",
    "AP(norm=retrieved)@100": "AP(ties=index)@100",
}


#: How often a method is fitted again where five seeds are outside the tolerance.
MORE_SEEDS = 20

RANK = (
    "Bits beyond the rank of Wiki's text, which is 9: rounding noise in the original, constant "
    "bits or rotations of the nine real directions here. Ours are higher throughout."
)
ONE_RUN = (
    "The authors fix LSSH's random state, so that the reference is a single run and the tolerance "
    "a bare 0.01, while our own runs differ by 0.01 to 0.035. Where the reference has five seeds, "
    "at 16 and 32 bits on Wiki, everything is within."
)
NEWTON = (
    "Kernel logistic regressions are solved to their optimum here; the original stops them after "
    "500 steps, before that. Ours score higher."
)
MEDIANS = (
    "The original thresholds queries at the medians of the query batch; here the training rows' "
    "medians are used, so that a single query can be encoded. With `batch_medians` all rows agree."
)
CHANCE = "Chance of the seeds: over 20 seeds instead of five, the mean is within the tolerance."
UNKNOWN = "No reason was found."

#: Rows that are not expected to agree, and why. They stay in the table and are marked there.
EXPLAINED: list[tuple[dict[str, Any], str]] = [
    ({"dataset": ["wiki"], "method": ["cvh", "scm-o"], "bits": [16, 24, 32, 64]}, RANK),
    ({"dataset": ["wiki"], "method": ["cca-itq"], "bits": [24, 32, 64]}, RANK),
    ({"dataset": ["wiki"], "method": ["scm-s"], "bits": [64]}, RANK),
    ({"method": ["lssh"], "seeds": [1]}, ONE_RUN),
    ({"method": ["seph"], "task": ["text->image"], "database": ["encoded"]}, NEWTON),
    ({"dataset": ["uci-digits"], "method": ["imh"], "bits": [8], "task": ["text->image"]}, MEDIANS),
    (
        {"dataset": ["uci-digits"], "method": ["ccq"], "bits": [32], "database": ["learned"]},
        UNKNOWN,
    ),
    *(
        ({"dataset": [d], "method": [m], "bits": [b], "task": [t], "database": [k]}, CHANCE)
        for d, m, b, t, k in (
            ("wiki", "dlfh", 16, "text->image", "encoded"),
            ("wiki", "fcmh", 8, "text->image", "learned"),
            ("wiki", "fddh", 24, "image->text", "encoded"),
            ("wiki", "fddh", 24, "image->text", "learned"),
            ("wiki", "fsh", 24, "text->image", "learned"),
            ("uci-digits", "fsh", 64, "text->image", "encoded"),
            ("wiki", "kdlfh", 32, "text->image", "encoded"),
            ("wiki", "lcmfh", 24, "text->image", "encoded"),
            ("wiki", "lcmfh", 32, "text->image", "learned"),
            ("wiki", "scratch", 8, "text->image", "learned"),
            ("wiki", "scratch", 16, "image->text", "learned"),
            ("wiki", "seph", 32, "image->text", "fused"),
            ("wiki", "seph", 32, "image->text", "learned"),
        )
    ),
]


@cache
def reference(dataset: str) -> pd.DataFrame:
    """Return the figures of the default variants that our codes can be compared with."""
    table = pd.read_csv(REFERENCE / SOURCES[dataset])
    table = table[table["default"]].drop(columns=["default", "variant"])
    table = table[table["database"].isin(["encoded", "learned", "fused"])]
    return table.assign(dataset=dataset)


def referenced(dataset: str) -> list[tuple[str, int]]:
    """Return every (method, bits) that has figures."""
    table = reference(dataset)[["method", "bits"]].drop_duplicates()
    return list(table.itertuples(index=False, name=None))


@cache
def split_parts(dataset: str) -> tuple[Any, ...]:
    """Return training views, query views, training labels and query labels of the given split."""
    plugin = discover().get("datasets", dataset).cls()
    data = plugin.load()
    split = plugin.split(data, plugin.default_protocol(), 0)
    return (
        [X[split.train] for X in data.views],
        [X[split.query] for X in data.views],
        data.labels[split.train],
        data.labels[split.query],
    )


def scores(dataset: str, name: str, bits: int, seed: int) -> pd.DataFrame:
    """Fit one method and score every task, kind of database codes and measure."""
    train, query, train_labels, query_labels = split_parts(dataset)
    method = discover().get("methods", name).cls(n_bits=bits, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        method.fit(train, train_labels)
    rows = []
    for kind, database in _databases(method, train).items():
        for task, view in zip(TASKS, (0, 1), strict=True):
            if method.hamming:
                asked, rank = method.encode(query[view], view), hamming_ranking
            else:
                asked, rank = method.vectors(query[view], view, "query"), score_ranking
            ranking = rank(asked, database[1 - view], query_labels, train_labels)
            found = evaluate_ranking(ranking, list(MEASURES.values()))
            rows += [(task, kind, theirs, found[ours]) for theirs, ours in MEASURES.items()]
    return pd.DataFrame(rows, columns=["task", "database", "measure", "value"])


def _databases(method: Any, train: list[Any]) -> dict[str, list[Any]]:
    if method.hamming:
        found = {"encoded": [method.encode(X, m) for m, X in enumerate(train)]}
        learned = getattr(method, "codes_", None)
    else:
        found = {"encoded": [method.vectors(X, m, "database") for m, X in enumerate(train)]}
        learned = getattr(method, "vectors_", None)
    if learned is not None:
        found["learned"] = learned if isinstance(learned, list) else [learned] * len(train)
    if hasattr(method, "encode_pairs"):
        found["fused"] = [method.encode_pairs(train)] * len(train)
    return found


def compare(dataset: str, name: str, bits: int, seeds: int | None = None) -> pd.DataFrame:
    """Return ours beside theirs for one method and code length.

    ``within`` says whether the means differ by at most 0.01 or twice the standard deviation of
    the reference over its seeds, whichever is more. Ours is the mean over as many seeds as the
    reference has, unless another number is asked for.
    """
    theirs = reference(dataset).query("method == @name and bits == @bits")
    seeds = int(theirs["count"].max()) if seeds is None else seeds
    ours = pd.concat([scores(dataset, name, bits, seed) for seed in range(seeds)])
    keys = ["task", "database", "measure"]
    ours = ours.groupby(keys)["value"].agg(ours="mean", ours_std="std").reset_index()
    table = theirs.rename(columns={"mean": "theirs", "std": "theirs_std", "count": "seeds"})
    table = table.merge(ours, on=keys, how="left")
    table["difference"] = table["ours"] - table["theirs"]
    table["tolerance"] = np.maximum(0.01, 2 * table["theirs_std"].fillna(0))
    table["within"] = table["difference"].abs() <= table["tolerance"]
    order = ["dataset", "method", "bits", *keys, "seeds", "ours", "ours_std", "theirs"]
    return table[[*order, "theirs_std", "difference", "tolerance", "within"]]


def explained(row: pd.Series) -> bool:
    """Is this comparison known not to hold, with its reason in :data:`EXPLAINED`?"""
    return any(all(row[key] in allowed for key, allowed in where.items()) for where, _ in EXPLAINED)


def main() -> None:
    """Compare everything, or the methods named, and write ``docs/fidelity.csv``."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("methods", nargs="*", help="all that have figures, if none is named")
    parser.add_argument("-d", "--dataset", choices=SOURCES, help="both, if none is named")
    parser.add_argument("--more-seeds", type=int, default=MORE_SEEDS, help="0: no second look")
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "docs" / "fidelity.csv")
    arguments = parser.parse_args()
    known = pd.read_csv(arguments.output) if arguments.output.exists() else pd.DataFrame()
    for dataset in [arguments.dataset] if arguments.dataset else SOURCES:
        for name, bits in referenced(dataset):
            if name not in discover().methods or name not in (arguments.methods or [name]):
                continue
            table = compare(dataset, name, bits)
            outside = int((~table["within"]).sum())
            if outside and arguments.more_seeds:  # chance, or a difference? More seeds tell.
                more = compare(dataset, name, bits, arguments.more_seeds)
                table["more_seeds"] = more["ours"].where(~table["within"])
                table["more_within"] = more["within"].where(~table["within"])
            print(f"{dataset} {name} {bits}: {outside} of {len(table)} outside", flush=True)
            if len(known):
                ours = known["dataset"].eq(dataset) & known["method"].eq(name)
                known = known[~(ours & known["bits"].eq(bits))]
            # Written after each method: what has been computed is not lost.
            known = pd.concat([known, table.round(5)])
            known = known.sort_values(["dataset", "method", "bits"], kind="stable")
            known.to_csv(arguments.output, index=False)


if __name__ == "__main__":
    main()
