"""Write ``docs/research/archive.md`` with its figure from the archive: five statements.

    python -m research.archive_findings [DIR]

DIR is an archive that `hashbench archive pack` wrote, by default that of the package. The words are
in ``research/archive.md.in``; every number in them is computed here.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from hashbench.analysis import tests
from hashbench.analysis.archive import coverage
from hashbench.api.archive import archive
from hashbench.plugins.registry import discover
from hashbench.render import figures
from research import freshness
from research.markdown_text import number, table

HERE = Path(__file__).parent
DOCS = HERE.parent / "docs"

#: The code length of statements that need one.
BITS = 16

#: Methods that train at most so many seconds are fast.
FAST = 1.0

#: Measure, and codes, of all statements.
MEASURE = "AP"


class Difference(NamedTuple):
    """A mean difference over splits, with its p-value over splits; nan without a test."""

    mean: float
    p_value: float
    splits: int

    def __str__(self) -> str:
        p = "no test" if np.isnan(self.p_value) else f"p = {self.p_value:.2g}"
        return f"{self.mean:+.3f} ({p}, {self.splits} splits)"


def cells(rows: pd.DataFrame, database: str = "unseen") -> pd.DataFrame:
    """Return one row per cell: the mean over tasks of the measure on a part of the database."""
    chosen = rows[(rows["measure"] == MEASURE) & (rows["codes"] == "encoded")]
    chosen = chosen[chosen["database"] == database]
    keys = ["dataset", "label", "method", "tuned", "bits", "split", "overlap", "hamming",
            "item_bytes", "fit_seconds"]  # fmt: skip
    return chosen.groupby(keys, sort=False)["value"].mean().reset_index()


def by_split(own: pd.DataFrame) -> pd.DataFrame:
    """Return scores of one dataset and length: splits x methods, of methods with every split."""
    wide = own.pivot_table(index="split", columns="label", values="value")
    return wide.dropna(axis=1)


def difference(own: pd.DataFrame, first: str, second: str) -> Difference:
    """Compare two methods on the splits of one dataset that both have."""
    wide = own[own["label"].isin([first, second])]
    wide = wide.pivot_table(index="split", columns="label", values="value").dropna()
    change = float((wide[first] - wide[second]).mean()) if len(wide) else np.nan
    if len(wide) < tests.LEAST_BLOCKS:
        return Difference(change, np.nan, len(wide))
    found = tests.range_test(wide[[first, second]].to_numpy(), float(own["overlap"].max()))
    return Difference(change, float(found.p_values[0, 1]), len(wide))


def best(own: pd.DataFrame) -> str:
    """Return the method with the highest mean over all splits."""
    return str(by_split(own).mean().idxmax())


def leaders(scores: pd.DataFrame) -> list[list[str]]:
    """Return, for each dataset, the best method and how many do not differ from it."""
    rows = []
    default = scores[~scores["tuned"] & (scores["bits"] == BITS) & scores["hamming"]]
    for dataset, own in default.groupby("dataset", sort=False):
        wide = by_split(own)
        first = str(wide.mean().idxmax())
        group = "no test"
        if len(wide) >= tests.LEAST_BLOCKS and wide.shape[1] > 1:
            found = tests.range_test(wide.to_numpy(), float(own["overlap"].max()))
            names = wide.columns[found.groups == 0]
            group = ", ".join(name for name in names if name != first) or "none"
        rows.append([str(dataset), first, number(wide[first].mean()), str(len(wide)), group])
    return rows


def tuning(scores: pd.DataFrame) -> list[list[str]]:
    """Return what tuning changes on each dataset: gains and losses of methods, and the median."""
    rows = []
    for (dataset, bits), own in scores.groupby(["dataset", "bits"], sort=False):
        tuned = sorted(set(own.loc[own["tuned"], "method"]))
        pairs = {name: difference(own, f"{name}(tuned)", name) for name in tuned}
        known = {name: each for name, each in pairs.items() if each.splits}
        if not known:
            continue
        p_values = tests.holm(np.array([np.nan_to_num(p.p_value, nan=1.0) for p in known.values()]))
        sure = dict(zip(known, p_values <= tests.ALPHA, strict=True))
        gains = [name for name, each in known.items() if sure[name] and each.mean > 0]
        losses = [name for name, each in known.items() if sure[name] and each.mean < 0]
        most = max(known, key=lambda name: known[name].mean)
        median = float(np.median([each.mean for each in known.values()]))
        rows.append([f"{dataset}, {bits} bits", str(len(known)), f"{median:+.3f}", str(len(gains)),
                     str(len(losses)), f"{most} {known[most]}"])  # fmt: skip
    return rows


def fast_against_networks(scores: pd.DataFrame, networks: Sequence[str]) -> list[list[str]]:
    """Return the best method of at most a second beside the best network."""
    rows = []
    default = scores[~scores["tuned"] & (scores["bits"] == BITS) & scores["hamming"]]
    for dataset, own in default.groupby("dataset", sort=False):
        seconds = own.groupby("label")["fit_seconds"].min()
        deep = own[own["method"].isin(networks)]
        quick = own[own["label"].map(seconds) <= FAST]
        quick = quick[~quick["method"].isin(networks)]
        if deep.empty or quick.empty:
            continue
        one, other = best(quick), best(deep)
        change = difference(own, one, other)
        rows.append([str(dataset), f"{one} ({seconds[one]:.2g} s)",
                     f"{other} ({seconds[other]:.2g} s)", str(change)])  # fmt: skip
    return rows


def bytes_bought(scores: pd.DataFrame) -> list[list[str]]:
    """Return what doubling the bytes of the best code gives, on each dataset."""
    rows = []
    default = scores[~scores["tuned"]]
    for dataset, own in default.groupby("dataset", sort=False):
        hashing = own[own["hamming"]]
        tops = {int(bits): (best(each), each) for bits, each in hashing.groupby("bits")}
        for less, more in zip([*tops], [*tops][1:], strict=False):
            (name, first), (other, second) = tops[less], tops[more]
            both = pd.concat([first[first["label"] == name].assign(label="less"),
                              second[second["label"] == other].assign(label="more")])  # fmt: skip
            rows.append([str(dataset), f"{less // 8} -> {more // 8}", f"{name} -> {other}",
                         str(difference(both, "more", "less"))])  # fmt: skip
    return rows


def seen_against_unseen(seen: pd.DataFrame, unseen: pd.DataFrame) -> list[list[str]]:
    """Return the best method on seen rows, and what it loses on unseen ones to the best there."""
    rows = []
    chosen = [each[~each["tuned"] & (each["bits"] == BITS) & each["hamming"]]
              for each in (seen, unseen)]  # fmt: skip
    for dataset, own in chosen[0].groupby("dataset", sort=False):
        other = chosen[1][chosen[1]["dataset"] == dataset]
        if other.empty:
            continue
        first, second = best(own), best(other)
        change = difference(other, second, first) if first != second else "the same method"
        rows.append([str(dataset), first, second, str(change)])
    return rows


def figure(scores: pd.DataFrame, path: Path) -> None:
    """Draw score against seconds of training, one panel per dataset; networks are squares."""
    import matplotlib.pyplot as plt

    networks = neural()
    default = scores[~scores["tuned"] & (scores["bits"] == BITS) & scores["hamming"]]
    datasets = list(dict.fromkeys(default["dataset"]))
    with figures.plot_context():
        rows = -(-len(datasets) // 3)
        drawn, axes = plt.subplots(
            rows, 3, figsize=(9.6, 2.8 * rows), squeeze=False, layout="constrained"
        )
        marks = {}
        for axis, dataset in zip(axes.flat, datasets, strict=False):
            own = default[default["dataset"] == dataset].groupby("method")
            means = own.agg({"fit_seconds": "min", "value": "mean"})
            deep = means.index.isin(list(networks))
            kinds = ((~deep, "o", "C0", "shallow"), (deep, "s", "C1", "network"))
            for chosen, marker, color, name in kinds:
                if chosen.any():
                    xy = means[chosen].to_numpy().T
                    marks[name] = axis.scatter(*xy, marker=marker, s=14, color=color)
            top = means["value"].idxmax()
            axis.annotate(
                top, means.loc[top], xytext=(0, 4), textcoords="offset points", ha="center"
            )
            axis.margins(y=0.15)
            axis.set(xscale="log", title=dataset.partition("[")[0])
            axis.xaxis.set_major_formatter(lambda seconds, _: f"{seconds:g}")
        for axis in axes.flat[len(datasets) :]:
            axis.axis("off")
        drawn.supxlabel("seconds of training", fontsize="medium")
        drawn.supylabel(f"{MEASURE}, unseen rows, {BITS} bits", fontsize="medium")
        drawn.legend(marks.values(), marks.keys(), loc="outside upper right", ncols=2)
        drawn.savefig(path, dpi=150)
        plt.close(drawn)


def neural() -> list[str]:
    """Return the names of methods that train networks."""
    methods = discover().methods
    return [name for name, plugin in methods.items() if "torch" in plugin.cls.requires]


def or_none(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table, or a line if this edition has no such rows."""
    return table(header, rows) if rows else "This edition has no rows for this comparison."


def page(rows: pd.DataFrame) -> str:
    """Return the page."""
    rows = rows.assign(dataset=rows["dataset"].str.partition("[")[0])  # one protocol each
    scores, seen = cells(rows), cells(rows, "seen")
    counts = coverage(rows)
    headers: dict[str, tuple[Callable[[], Any], list[str]]] = {
        "leaders": (lambda: leaders(scores),
                    ["dataset", "best", MEASURE, "splits", "not significantly different"]),
        "tuning": (lambda: tuning(scores),
                   ["dataset", "methods", "median change", "gain", "lose", "largest gain"]),
        "networks": (lambda: fast_against_networks(scores, neural()),
                     ["dataset", "best of a second", "best network", "difference"]),
        "bytes": (lambda: bytes_bought(scores), ["dataset", "bytes", "best code", "gain"]),
        "seen": (lambda: seen_against_unseen(seen, scores),
                 ["dataset", "best on seen rows", "best on unseen rows", "difference on unseen"]),
    }  # fmt: skip
    parts = {name: or_none(header, make()) for name, (make, header) in headers.items()}
    datasets = list(dict.fromkeys(name for name, _ in counts.columns))
    lines = [
        [str(method), *("/".join(str(n) for n in row[name]) for name in datasets)]
        for method, row in counts.iterrows()
    ]
    parts["coverage"] = table(["method", *datasets], lines)
    lengths = ", ".join(f"{name}: {'/'.join(str(b) for d, b in counts.columns if d == name)}"
                        for name in datasets)  # fmt: skip
    words = (HERE / "archive.md.in").read_text(encoding="utf-8")
    return words.format(
        **parts,
        edition=rows["edition"].iloc[0],
        cells=rows["cell"].nunique(),
        hours=f"{rows.drop_duplicates('cell')['fit_seconds'].sum() / 3600:.1f}",
        cpu=" and ".join(sorted(set(rows["cpu"]))),
        lengths=lengths,
        bits=BITS,
    )


def main(folder: Path | None) -> None:
    """Write the page and its figure."""
    rows = archive(folder)
    path = DOCS / "research" / "archive.md"
    path.write_text(page(rows), encoding="utf-8")
    figure(cells(rows), DOCS / "images" / "archive.png")
    freshness.record(path, freshness.of_rows(rows))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
