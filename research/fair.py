"""Write ``docs/research/fair.md`` and ``docs/research/fair.csv`` from the results of a tuned study.

    hashbench run fair -o OUT
    python -m research.fair OUT

The words are in ``research/fair.md.in``; every number in them is computed here.
"""

from __future__ import annotations

import itertools
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pandas as pd

from hashbench.analysis.published import published
from hashbench.analysis.rank_changes import tau, to_ranks
from hashbench.analysis.results import Results
from hashbench.core.units import format_duration
from hashbench.plugins.registry import discover
from hashbench.plugins.selection import TUNED
from hashbench.render import figures
from hashbench.render.report import Table
from hashbench.render.style import Style
from hashbench.render.tables import to_markdown
from hashbench.reports.tuning import OUTCOME, Tuning
from research import freshness

HERE = Path(__file__).parent
DOCS = HERE.parent / "docs" / "research"
PAPER_DATASETS = ("wiki-cnn", "wiki[protocol=paper]", "wiki")


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a Markdown table, the first column left."""
    lines = [f"| {' | '.join(header)} |", f"|{'|'.join([':--', *['--:'] * (len(header) - 1)])}|"]
    lines += [f"| {' | '.join(map(str, row))} |" for row in rows]
    return "\n".join(lines)


def means(outcomes: pd.DataFrame, dataset: str) -> pd.DataFrame:
    """Return default, tuned and gain by method, over the splits of a dataset."""
    own = outcomes[outcomes["dataset"] == dataset]
    found = own.groupby("method")[["default", "tuned", "seconds"]].mean()
    return found.assign(gain=found["tuned"] - found["default"])


def gain_by_split(own: pd.DataFrame) -> pd.Series[float]:
    """Return the mean gain on each split of a dataset, over the methods that have all of them."""
    splits = own.groupby("method")["seed"].transform("nunique")
    whole = own[splits == own["seed"].nunique()]
    return (whole["tuned"] - whole["default"]).groupby(whole["seed"]).mean()


def partly(outcomes: pd.DataFrame, style: Style) -> str:
    """Name the methods that have fewer splits of a dataset than others have."""
    found: dict[str, list[str]] = {}
    for dataset in outcomes["dataset"].unique():
        splits = outcomes[outcomes["dataset"] == dataset].groupby("method")["seed"].nunique()
        for method in splits[splits < splits.max()].index:
            found.setdefault(style.methods[method].title, []).append(style.datasets[dataset].title)
    if not found:
        return "Every method has all splits of its datasets."
    said = "; ".join(f"{method} on {', '.join(where)}" for method, where in found.items())
    return f"On fewer splits than the others, again for their time: {said}."


def summary(outcomes: pd.DataFrame, results: Results, style: Style) -> Iterator[list[str]]:
    """Yield one row per dataset: what tuning gives, and what it costs."""
    fits = results.runs().set_index(["dataset", "method", "seed"])["fit_seconds"]
    for dataset in outcomes["dataset"].unique():
        own, mean = outcomes[outcomes["dataset"] == dataset], means(outcomes, dataset)
        gains = gain_by_split(own)
        agreement = tau(list(mean["default"]), list(mean["tuned"]))
        keys = zip(own["dataset"], own["method"], own["seed"], strict=True)
        base = sum(float(fits[key]) for key in keys)
        yield [
            style.datasets[dataset].title,
            str(len(mean)),
            str(own["seed"].nunique()),
            f"{mean['default'].mean():.3f}",
            f"{mean['tuned'].mean():.3f}",
            f"{mean['gain'].mean():+.4f}" + (f" ± {gains.std():.4f}" if len(gains) > 1 else ""),
            f"{(mean['gain'] > 0).sum()} / {(mean['gain'] < 0).sum()}",
            "–" if agreement is None else f"{agreement:.2f}",
            format_duration(own["seconds"].mean()),
            f"{own['seconds'].sum() / base:.0f}",
        ]


def verdict(outcomes: pd.DataFrame, style: Style) -> str:
    """Say plainly whether tuning pays in every dataset, and who loses by it."""
    gains = {name: means(outcomes, name)["gain"] for name in outcomes["dataset"].unique()}
    not_above = [style.datasets[name].title for name, each in gains.items() if each.mean() <= 0]
    said = (
        f"The mean gain is not above 0 on {', '.join(not_above)}."
        if not_above
        else f"The mean gain is above 0 on each of the {len(gains)} datasets."
    )
    losers = [
        f"{style.methods[method].title} on {style.datasets[name].title} ({gain:+.3f})"
        for name, each in gains.items()
        for method, gain in each.sort_values().items()
        if gain < -0.005
    ]
    if not losers:
        return f"{said} No method loses more than .005 on the queries."
    return (
        f"{said} These lose more than .005 on the queries: {', '.join(losers)}. What is best on "
        "the validation rows, a fifth of the training rows, with codes from the other four fifths, "
        "need not be best on the queries, which are never used for tuning."
    )


def ranks(outcomes: pd.DataFrame, style: Style) -> tuple[str, str]:
    """Return the table of ranks, and a sentence about those who move most."""
    datasets = list(outcomes["dataset"].unique())
    cells: dict[str, dict[str, tuple[int, int]]] = {}
    for dataset in datasets:
        mean = means(outcomes, dataset)
        before, after = to_ranks(mean["default"]), to_ranks(mean["tuned"])
        for method in mean.index:
            cells.setdefault(method, {})[dataset] = (before[method], after[method])

    def moved(method: str) -> float:
        steps = [before - after for before, after in cells[method].values()]
        return sum(steps) / len(steps)

    order = sorted(
        cells, key=lambda method: sum(a for _, a in cells[method].values()) / len(cells[method])
    )
    rows = []
    for method in order:
        fields = [
            "–" if name not in cells[method] else "{} → {}".format(*cells[method][name])
            for name in datasets
        ]
        rows.append([style.methods[method].title, *fields, f"{moved(method):+.1f}"])
    header = ["method", *(style.datasets[name].title for name in datasets), "mean rise"]
    by_rise = sorted(cells, key=moved)
    up, down = by_rise[::-1][:3], by_rise[:3]

    def words(names: Sequence[str]) -> str:
        return ", ".join(f"{style.methods[name].title} ({moved(name):+.1f})" for name in names)

    return table(header, rows), f"Largest rises: {words(up)}. Largest falls: {words(down)}."


def preprocessings(results: Results) -> tuple[Counter[str], int]:
    """Count the preprocessings of the winners, and the winners that are the default."""
    found: Counter[str] = Counter()
    defaults = 0
    for search in results.searches:
        best = search.best_point(results.store.trials.read(search.id))
        if best is not None:
            steps = search.points[best].preprocessing
            found[steps[0] if len(set(steps)) == 1 else " / ".join(steps)] += 1
            defaults += best == 0
    return found, defaults


def paper_order(results: Results, style: Style) -> tuple[str, str]:
    """Compare the order that the EDSH paper prints with ours, default and tuned."""
    paper = next(each for each in published() if "edsh" in set(each.numbers["method"]))
    quantity, measure = next(
        (name, about["measure"]) for name, about in paper.quantities.items() if "measure" in about
    )
    printed = paper.numbers
    chosen = (printed["bits"] == 32) & (printed["quantity"] == quantity)
    printed = printed[chosen & (printed["dataset"] == "wiki")]
    order = printed.groupby("method")["value"].mean()
    scores = results.select(codes=["learned-or-encoded"]).scores([measure])
    rows, names = [], set()
    for dataset in (name for name in PAPER_DATASETS if name in set(scores["dataset"])):
        own = scores[scores["dataset"] == dataset].groupby("method")["value"].mean()
        shared = [name for name in order.index if f"{name}{TUNED}" in own.index]
        names |= set(shared)
        for kind, suffix in (("default", ""), ("tuned", TUNED)):
            ours = [own[f"{name}{suffix}"] for name in shared]
            found = tau(list(order[shared]), ours)
            rank = to_ranks(pd.Series(ours, index=shared))["edsh"]
            shown = "–" if found is None else f"{found:.2f}"
            rows.append(
                [f"{style.datasets[dataset].title}, {kind}", shown, f"{rank} of {len(shared)}"]
            )
    titles = ", ".join(style.methods[name].title for name in style.ordered(names))
    return table(["", "tau to the printed order", "rank of EDSH"], rows), titles


def commands(outcomes: pd.DataFrame, trials: int) -> str:
    """Return what was typed: seeds and datasets with the same methods on a line."""
    groups: dict[tuple[str, ...], dict[str, list[str]]] = {}
    for (dataset, seed), part in outcomes.groupby(["dataset", "seed"], sort=False):
        own = groups.setdefault(tuple(sorted(part["method"])), {})
        own.setdefault(str(dataset), []).append(str(seed))
    lines = []
    for methods, datasets in groups.items():
        for dataset, seeds in datasets.items():
            lines.append(
                f"hashbench run fair -m {','.join(methods)} -d '{dataset}' -s {','.join(seeds)}"
                f"{',' if len(seeds) == 1 else ''} -j 1 --tune {trials} --timeout 2m "
                f"-o part-{len(lines)}"
            )
    return "\n".join(lines)


def newer_wins(outcomes: pd.DataFrame, results: Results, style: Style) -> str:
    """Return how often the newer of two methods is the better one."""
    years = {
        name: results.registry.methods[name].cls.paper.year for name in outcomes["method"].unique()
    }
    rows = []
    for dataset in outcomes["dataset"].unique():
        mean = means(outcomes, dataset)
        pairs = [
            (old, new) if years[old] < years[new] else (new, old)
            for old, new in itertools.combinations(mean.index, 2)
            if years[old] != years[new]
        ]
        total = len(pairs)
        shares = [
            f"{sum(mean.loc[new, kind] > mean.loc[old, kind] for old, new in pairs) / total:.0%}"
            for kind in ("default", "tuned")
        ]
        rows.append([style.datasets[dataset].title, total, *shares])
    return table(["dataset", "pairs", "default", "tuned"], rows)


def write(out: Path) -> None:
    """Write the page and its data."""
    results = Results(out, discover())
    data, style = Tuning().data(results), Style.of(results)
    outcomes = data[data["what"] == OUTCOME].dropna(axis="columns", how="all")
    with figures.plot_context():
        exhibits = [each for each in Tuning().draw(data, style) if isinstance(each, Table)]
    runs = pd.read_csv(out / "runs.csv")
    chosen, defaults = preprocessings(results)
    order, moved = ranks(outcomes, style)
    paper, paper_methods = paper_order(results, style)
    every = set(discover().methods) - set(outcomes["method"])
    splits = sorted(set(outcomes.groupby("dataset")["seed"].nunique()))
    lengths = sorted(set(outcomes["bits"]))
    header = ["dataset", "methods", "splits", "default", "tuned", "gain", "gain / lose", "tau"]
    values = {
        "methods": outcomes["method"].nunique(),
        "datasets": outcomes["dataset"].nunique(),
        "trials": int(outcomes["trials"].max()),
        "splits": " to ".join(map(str, dict.fromkeys((splits[0], splits[-1])))),
        "bits": ", ".join(map(str, lengths)),
        "partly": partly(outcomes, style),
        "commands": commands(outcomes, int(outcomes["trials"].max())),
        "cells": len(results.cells),
        "all_trials": int(outcomes["trials"].sum()),
        "failed": int(outcomes["not_done"].sum()),
        "commit": ", ".join(sorted(set(runs["git"].dropna().str[:7]))),
        "cpu": ", ".join(sorted(set(runs["cpu"].dropna()))),
        "left_out": ", ".join(f"`{name}`" for name in sorted(every)),
        "summary": table([*header, "search", "× default"], summary(outcomes, results, style)),
        "verdict": verdict(outcomes, style),
        "ranks": order,
        "moved": moved,
        "searches": sum(chosen.values()),
        "preprocessing": table(["preprocessing", "chosen"], chosen.most_common()),
        "defaults": defaults,
        "ends": int((outcomes["at_end"] != "").sum()),
        "paper_methods": paper_methods,
        "paper": paper,
        "years": newer_wins(outcomes, results, style),
        "tables": "\n".join(to_markdown(each) for each in exhibits),
    }
    text = (HERE / "fair.md.in").read_text(encoding="utf-8").format(**values)
    (DOCS / "fair.md").write_text(text, encoding="utf-8")
    freshness.record(DOCS / "fair.md", freshness.of_study(results))
    outcomes.drop(columns="what").round(6).to_csv(DOCS / "fair.csv", index=False)


if __name__ == "__main__":
    write(Path(sys.argv[1]))
