"""Write ``docs/research/generalisation.md`` with its CSV file and figure from two studies.

    python -m research.generalisation DEFAULT TUNED

DEFAULT has all methods on datasets with seen and unseen rows, TUNED some of them tuned. The words
are in ``research/generalisation.md.in``; every number in them is computed here.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd

from hashbench.analysis.rank_changes import tau, to_ranks
from hashbench.analysis.results import Results
from hashbench.plugins.registry import discover
from hashbench.plugins.selection import TUNED, bare_name
from hashbench.render import figures
from hashbench.render.report import Picture
from hashbench.render.style import Style
from hashbench.reports.generalisation import Generalisation
from research import freshness
from research.markdown_text import number, table

HERE = Path(__file__).parent
DOCS = HERE.parent / "docs"
KEYS = ["dataset", "method", "seed"]
PARTS = ["seen", "unseen"]

#: The code length of the page.
BITS = 16

#: The method that leads are compared with.
REFERENCE = "edsh"

#: A loss that is stated.
LOSS = 0.005


def by_cell(results: Results) -> pd.DataFrame:
    """Return both scores of every cell, means of the tasks; of splits that all methods have."""
    data = Generalisation().data(results)
    cells = data.groupby(KEYS, sort=False)[PARTS].mean().reset_index()
    methods = cells.groupby(["dataset", "seed"])["method"].transform("nunique")
    return cells[methods == cells.groupby("dataset")["method"].transform("nunique")]


def over_splits(cells: pd.DataFrame) -> pd.DataFrame:
    """Return both scores by dataset and method, with ranks on both parts within a dataset."""
    means = cells.groupby(["dataset", "method"], sort=False)[PARTS].mean()
    for part in PARTS:
        means[f"rank {part}"] = means.groupby("dataset")[part].transform(to_ranks)
    return means


def splits_of(cells: pd.DataFrame, style: Style) -> str:
    """Return how many splits the means of each dataset are over."""
    counts = cells.groupby("dataset")["seed"].nunique()
    if counts.nunique() == 1:
        return f"{counts.iloc[0]}"
    return ", ".join(
        f"{counts[name]} ({style.datasets[name].title})"
        for name in style.ordered_datasets(counts.index)
    )


def score_table(means: pd.DataFrame, style: Style, unsupervised: set[str]) -> str:
    """Return one row per method: both scores and ranks on every dataset."""
    datasets = style.ordered_datasets(means.index.get_level_values("dataset"))
    order = means.groupby("method")["rank unseen"].mean().sort_values(kind="stable").index
    rows = []
    for method in order:
        title = style.methods[method].title
        row = [f"*{title}*" if method in unsupervised else title]
        for dataset in datasets:
            if (dataset, method) not in means.index:
                row.append("–")
                continue
            own = means.loc[(dataset, method)]
            ranks = f"{own['rank seen']:.0f} → {own['rank unseen']:.0f}"
            row.append(f"{number(own['seen'])} → {number(own['unseen'])} ({ranks})")
        rows.append(row)
    return table(["method", *(style.datasets[name].title for name in datasets)], rows)


def ranking_rows(
    means: pd.DataFrame, style: Style, unsupervised: set[str]
) -> Iterator[list[object]]:
    """Yield one row per dataset: gap, agreement of the rankings, and leads."""
    for dataset in style.ordered_datasets(means.index.get_level_values("dataset")):
        own = means.loc[dataset]
        agreement = tau(list(own["seen"]), list(own["unseen"]))
        best = own["seen"].idxmax()
        free = own.loc[own.index.isin(unsupervised)]
        leads = [
            f"{number(own.loc[best, 'seen'] - other['seen'])} → "
            f"{number(own.loc[best, 'unseen'] - other['unseen'])}"
            for other in (own.loc[REFERENCE], free.max())
        ]
        yield [
            style.datasets[dataset].title,
            number((own["seen"] - own["unseen"]).mean()),
            "–" if agreement is None else f"{agreement:.2f}",
            f"{swapped(own):.0%}",
            style.methods[best].title,
            f"{style.methods[own['unseen'].idxmax()].title}",
            *leads,
        ]


def swapped(own: pd.DataFrame) -> float:
    """Return the share of pairs of methods whose order differs between seen and unseen rows."""
    seen, unseen = (own[part].to_numpy() for part in PARTS)
    products = (seen[:, None] - seen) * (unseen[:, None] - unseen)
    count = len(own)
    return float((products < 0).sum()) / (count * (count - 1))


def changes(means: pd.DataFrame, style: Style) -> str:
    """Return which methods lose and gain most ranks on each dataset."""
    sentences = []
    for dataset in style.ordered_datasets(means.index.get_level_values("dataset")):
        own = means.loc[dataset]
        moved = (own["rank seen"] - own["rank unseen"]).sort_values(kind="stable")

        def words(names: Sequence[str], moved: pd.Series[float] = moved) -> str:
            return ", ".join(f"{style.methods[name].title} ({moved[name]:+.0f})" for name in names)

        lost, gained = moved.index[:3], moved.index[::-1][:3]
        sentences.append(
            f"- {style.datasets[dataset].title}: most ranks lose {words(lost)}; "
            f"most gain {words(gained)}."
        )
    return "\n".join(sentences)


def gains(cells: pd.DataFrame) -> pd.DataFrame:
    """Return one row per tuned cell: both parts with default and with tuned parameters."""
    is_tuned = cells["method"].str.contains(TUNED, regex=False)
    tuned = cells[is_tuned].copy()
    tuned["method"] = tuned["method"].str.replace(TUNED, "", regex=False)
    joined = cells[~is_tuned].merge(tuned, on=KEYS, suffixes=("", "_tuned"))
    for part in PARTS:
        joined[f"gain {part}"] = joined[f"{part}_tuned"] - joined[part]
    return joined


def signed(value: float) -> str:
    """Return a difference with its sign and without a leading zero."""
    return f"{value:+.3f}".replace("0.", ".", 1)


def tuned_table(gained: pd.DataFrame, style: Style) -> str:
    """Return default → tuned on unseen rows with the gain, one row per method."""
    datasets = style.ordered_datasets(gained["dataset"])
    rows: list[list[str]] = []
    for method in style.ordered(gained["method"]):
        row = [style.methods[method].title]
        for dataset in datasets:
            own = gained[(gained["dataset"] == dataset) & (gained["method"] == method)]
            if own.empty:
                row.append("–")
                continue
            before, after, gain = (
                own[column].mean() for column in ("unseen", "unseen_tuned", "gain unseen")
            )
            spread = f" ± {number(own['gain unseen'].std())}" if len(own) > 1 else ""
            row.append(f"{number(before)} → {number(after)} ({signed(gain)}{spread})")
        rows.append(row)
    return table(["method", *(style.datasets[name].title for name in datasets)], rows)


def both_gains(gained: pd.DataFrame, style: Style) -> str:
    """Return the gain on seen and on unseen rows, one row per method."""
    datasets = style.ordered_datasets(gained["dataset"])
    means = gained.groupby(["dataset", "method"])[["gain seen", "gain unseen"]].mean()
    rows = [
        [
            style.methods[method].title,
            *(
                f"{signed(means.loc[(name, method), 'gain seen'])} / "
                f"{signed(means.loc[(name, method), 'gain unseen'])}"
                if (name, method) in means.index
                else "–"
                for name in datasets
            ),
        ]
        for method in style.ordered(gained["method"])
    ]
    return table(["seen / unseen", *(style.datasets[name].title for name in datasets)], rows)


def verdict(gained: pd.DataFrame, style: Style) -> str:
    """Say on which datasets tuning pays, and which methods lose by it."""
    lines = []
    for dataset in style.ordered_datasets(gained["dataset"]):
        own = gained[gained["dataset"] == dataset]
        mean = own.groupby("method")["gain unseen"].mean().sort_values()
        splits = own["seed"].nunique()
        losers = ", ".join(
            f"{style.methods[name].title} ({signed(gain)})"
            for name, gain in mean.items()
            if gain < -LOSS
        )
        said = (
            f"More than {number(LOSS)} lose: {losers}."
            if losers
            else (f"No method loses more than {number(LOSS)}.")
        )
        lines.append(
            f"- {style.datasets[dataset].title} ({splits} split{'s' if splits > 1 else ''}): mean "
            f"gain {signed(mean.mean())}; {(mean > 0).sum()} methods gain, {(mean < 0).sum()} "
            f"lose. {said}"
        )
    return "\n".join(lines)


def batch(gained: pd.DataFrame, results: Results, style: Style, dataset: str) -> str:
    """Return what tuning chose for BATCH on a dataset, split by split."""
    own = gained[(gained["dataset"] == dataset) & (gained["method"] == "batch")].set_index("seed")
    if own.empty:
        return ""
    rows = []
    for search in results.searches:
        cell = search.cell
        if cell.dataset != dataset or cell.method != "batch" or cell.seed not in own.index:
            continue
        records = results.store.trials.read(search.id)
        best = search.best_point(records)
        if best is None:
            continue
        found = [records[search.trials[point].id].score for point in (0, best)]
        rows.append(
            [
                cell.seed,
                search.trials[best].params or "the default",
                f"{number(found[0])} → {number(found[1])}",
                *(signed(own.loc[cell.seed, f"gain {part}"]) for part in ("unseen", "seen")),
            ]
        )
    header = ["split", "chosen", "trials: default → chosen", "gain unseen", "gain seen"]
    title = style.datasets[dataset].title
    return f"BATCH on {title}, split by split:\n\n{table(header, rows)}"


def commands(out: str, methods: str, cells: pd.DataFrame, more: str = "") -> list[str]:
    """Return what was typed: one line for the datasets with as many splits."""
    splits = cells.groupby("dataset", sort=False)["seed"].nunique()
    groups = {count: list(splits.index[splits == count]) for count in splits.unique()}
    parts = [out] if len(groups) == 1 else [f"{out}-{number}" for number in range(len(groups))]
    lines = [
        f"hashbench run -m {methods} -d '{','.join(datasets)}' -b {BITS} -s {count} "
        f"--measures AP {more}-o {part}"
        for part, (count, datasets) in zip(parts, groups.items(), strict=True)
    ]
    return lines if len(parts) == 1 else [*lines, f"hashbench merge {' '.join(parts)} -o {out}"]


def write(default: Path, tuned: Path) -> None:
    """Write the page, its data and its figure."""
    registry = discover()
    results, searched = Results(default, registry), Results(tuned, registry)
    style = Style.of(results)
    classes = {name: plugin.cls for name, plugin in registry.methods.items()}
    every = by_cell(results)
    vectors = style.ordered(m for m in every["method"] if not classes[bare_name(m)].hamming)
    cells = every[~every["method"].isin(vectors)]
    free = {name for name in cells["method"] if not classes[bare_name(name)].supervised}
    means, gained = over_splits(cells), gains(by_cell(searched))
    records = [searched.store.trials.read(search.id) for search in searched.searches]
    ended = [record for each in records for record in each.values()]
    header = [
        "dataset", "mean gap", "tau", "swapped", "best on seen", "best on unseen", "lead over EDSH",
        "lead over methods without labels",
    ]  # fmt: skip
    names = {cell.method for cell in results.cells}
    left_out = [f"!{name}" for name in sorted(set(registry.methods) - names)]
    tuned_names = list(dict.fromkeys(gained["method"]))
    points = len(searched.searches[0].points)
    runs = pd.concat([results.runs(), searched.runs()])
    values = {
        "commands": "\n".join(
            [
                *commands("default", f"'all,{','.join(left_out)}'", every),
                *commands("tuned", ",".join(tuned_names), gained, f"--tune {points} "),
            ]
        ),
        "cells": len(every) + len(gained),
        "trials": len(ended),
        "failed": sum(record.status != "done" for record in ended),
        "cpu": ", ".join(sorted(set(runs["cpu"].dropna()))),
        "splits": splits_of(cells, style),
        "vectors": ", ".join(style.methods[name].title for name in vectors),
        "scores": score_table(means, style, free),
        "ranking": table(header, ranking_rows(means, style, free)),
        "changes": changes(means, style),
        "tuned_methods": len(tuned_names),
        "points": points,
        "tuned": tuned_table(gained, style),
        "verdict": verdict(gained, style),
        "both_gains": both_gains(gained, style),
        "batch": batch(gained, searched, style, "wiki-cnn[protocol=default]"),
    }
    text = (HERE / "generalisation.md.in").read_text(encoding="utf-8").format(**values)
    (DOCS / "research" / "generalisation.md").write_text(text, encoding="utf-8")
    sources = freshness.of_study(results, searched)
    freshness.record(DOCS / "research" / "generalisation.md", sources)
    kept = pd.concat([every, by_cell(searched)]).drop_duplicates(KEYS)
    kept.round(6).to_csv(DOCS / "research" / "generalisation.csv", index=False)
    report = Generalisation()
    with figures.plot_context():
        shown = report.draw(report.data(results), style)
        (drawn,) = (each.figure for each in shown if isinstance(each, Picture))
        drawn.savefig(DOCS / "images" / "generalisation.png")


if __name__ == "__main__":
    write(*map(Path, sys.argv[1:3]))
