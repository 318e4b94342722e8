"""Write ``docs/research/deep.md`` from the record of ``research/deep_findings.py``.

    python -m research.deep_page

The text is in ``research/deep.md.in``; every number in it is computed here, and so is the list of
what has not been run.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pandas as pd

from hashbench.plugins.registry import discover
from research import deep_findings as findings
from research import fidelity, freshness
from research.markdown_text import number, table

PAGE = findings.PAGE
TEXT = Path(__file__).with_name("deep.md.in")

#: The datasets of the page; missing runs on them are listed.
DATASETS = ("wiki", "wiki-cnn", "uci-digits", "bdgp", "emoji")
IMAGE, TEXT_TASK = fidelity.TASKS
NONE = "–"


@cache
def networks() -> list[str]:
    """Return the neural methods of the suite."""
    methods = discover().methods
    return sorted(name for name, each in methods.items() if "torch" in each.cls.requires)


def shown(name: str) -> str:
    """Return a method's name for a table: networks are bold."""
    return f"**`{name}`**" if name in networks() else f"`{name}`"


def ordered(names: pd.Index) -> list[str]:
    """Return datasets in the order of the page."""
    return [name for name in DATASETS if name in names]


def wide(record: pd.DataFrame, finding: str, which: str) -> pd.DataFrame:
    """Return one row per dataset and method: AP of both tasks, their mean, seconds of a fit."""
    own = record[record["finding"].eq(finding) & record["which"].eq(which)]
    keys = ["dataset", "method"]
    values = own.pivot_table(index=keys, columns="task", values="value").reindex(
        columns=[IMAGE, TEXT_TASK]
    )
    timed = record[record["finding"].eq(findings.SECONDS)].groupby(keys)["value"].mean()
    return values.assign(mean=values.mean(axis=1)).join(timed.rename("seconds"))


def pair(row: pd.Series) -> str:
    """Return AP of both tasks."""
    return f"{number(row[IMAGE])} / {number(row[TEXT_TASK])}"


def seconds(value: float) -> str:
    """Return the seconds of a fit in brackets, with one decimal below ten seconds."""
    if pd.isna(value):
        return ""
    text = f"{value:.0f}" if value >= 10 else f"{value:.1f}" if value >= 0.1 else "< .1"
    return f" ({text} s)"


def by_method(cells: pd.DataFrame, names: list[str]) -> str:
    """Return one row per method, one column per dataset: AP of both tasks, seconds of a fit."""
    datasets = ordered(cells.index.unique("dataset"))
    lines = []
    for name in names:
        fields = []
        for dataset in datasets:
            row = cells.loc[(dataset, name)] if (dataset, name) in cells.index else None
            fields.append(NONE if row is None else f"{pair(row)}{seconds(row['seconds'])}")
        lines.append([shown(name), *fields])
    return table(["method", *datasets], lines)


def kinds(cells: pd.DataFrame) -> dict[bool, list[str]]:
    """Return the methods by supervision, best first by their mean rank over datasets."""
    ranks = cells["mean"].groupby("dataset").rank(ascending=False, pct=True)
    order = ranks.groupby("method").mean().sort_values(kind="stable").index
    methods = discover().methods
    return {
        supervised: [name for name in order if methods[name].cls.supervised == supervised]
        for supervised in (True, False)
    }


def leaders(cells: pd.DataFrame, names: list[str]) -> str:
    """Return the best shallow method and the best network of each dataset, with differences."""
    deep = set(networks())
    lines = []
    for dataset in ordered(cells.index.unique("dataset")):
        own = cells.loc[dataset].reindex(names).dropna(subset="mean")
        shallow, nets = own[~own.index.isin(deep)], own[own.index.isin(deep)]
        if not len(shallow) or not len(nets):
            continue
        best = [part.sort_values("mean", kind="stable").iloc[-1] for part in (shallow, nets)]
        below = int((nets["mean"] < best[0]["mean"]).sum())
        lines.append(
            [
                dataset,
                *(f"`{each.name}` {pair(each)}{seconds(each['seconds'])}" for each in best),
                f"{best[1]['mean'] - best[0]['mean']:+.3f}",
                f"{below} of {len(nets)}",
            ]
        )
    header = ["dataset", "best shallow", "best network", "difference of means"]
    return table([*header, "networks below the best shallow"], lines)


def tuned(record: pd.DataFrame) -> tuple[str, str]:
    """Return means of both tasks, default → tuned, and a sentence that counts gains."""
    before = wide(record, findings.DEFAULT, "encoded")
    after = wide(record, findings.TUNING, "encoded")
    if not len(after):
        return "", "Nothing has been tuned yet."
    both = after.join(before["mean"].rename("mean_default"), how="inner")
    datasets, lines = ordered(both.index.unique("dataset")), []
    order = both["mean"].groupby("method").mean().sort_values(ascending=False).index
    for name in order:
        fields = []
        for dataset in datasets:
            if (dataset, name) in both.index:
                row = both.loc[(dataset, name)]
                fields.append(f"{number(row['mean_default'])} → {number(row['mean'])}")
            else:
                fields.append(NONE)
        lines.append([shown(name), *fields])
    gains = both["mean"] - both["mean_default"]
    deep = both.index.get_level_values("method").isin(networks())
    words = [
        f"{kind} {gains[part].mean():+.3f} ({int((gains[part] > 0).sum())} up, "
        f"{int((gains[part] < 0).sum())} down, {int((gains[part] == 0).sum())} unchanged)"
        for kind, part in (("shallow methods", ~deep), ("networks", deep))
        if part.any()
    ]
    return table(["method", *datasets], lines), f"Mean gain: {'; '.join(words)}."


def learned(record: pd.DataFrame) -> str:
    """Return encoded against learned database codes, where a method has both."""
    encoded, own = (wide(record, findings.DEFAULT, kind) for kind in ("encoded", "learned"))
    both = own.index.intersection(encoded.index)
    methods = sorted(set(both.get_level_values("method")), key=lambda n: (n not in networks(), n))
    datasets, lines = ordered(both.unique("dataset")), []
    for name in methods:
        fields = [
            f"{pair(encoded.loc[(dataset, name)])} → {pair(own.loc[(dataset, name)])}"
            if (dataset, name) in both
            else NONE
            for dataset in datasets
        ]
        lines.append([shown(name), *fields])
    return table(["method", *datasets], lines)


def against(record: pd.DataFrame, finding: str, first: str, second: str) -> str:
    """Return two scores of the same fits side by side, by task."""
    one, other = wide(record, finding, first), wide(record, finding, second)
    if not len(one):
        return ""
    lines = []
    for dataset in ordered(one.index.unique("dataset")):
        for name in one.loc[dataset].sort_values("mean", ascending=False, kind="stable").index:
            a, b = one.loc[(dataset, name)], other.loc[(dataset, name)]
            fields = [
                field
                for task in (IMAGE, TEXT_TASK)
                for field in (number(a[task]), number(b[task]), f"{b[task] - a[task]:+.3f}")
            ]
            lines.append([dataset, shown(name), *fields])
    tasks = [
        f"{task.replace('->', '→')}, {words}"
        for task in (IMAGE, TEXT_TASK)
        for words in (first, second)
    ]
    header = ["dataset", "method", *tasks[:2], "difference", *tasks[2:], "difference"]
    return table(header, lines)


def gains(record: pd.DataFrame) -> str:
    """Return a sentence on the gain of choosing the epoch on the test queries."""
    one = wide(record, findings.SELECTION, findings.LAST)
    other = wide(record, findings.SELECTION, findings.BEST)
    if not len(one):
        return "Not measured yet."
    found = (other[[IMAGE, TEXT_TASK]] - one[[IMAGE, TEXT_TASK]]).stack()
    return (
        f"Over {len(found)} scores the best epoch gains {found.mean():+.3f} AP on average, "
        f"{found.min():+.3f} to {found.max():+.3f}."
    )


def gaps(record: pd.DataFrame) -> str:
    """Return which networks have been run on which dataset."""
    nets = networks()
    parts = {
        "by default": (findings.DEFAULT, "encoded"),
        "tuned": (findings.TUNING, "encoded"),
        "best epoch": (findings.SELECTION, findings.LAST),
        "database never seen": (findings.MEMORY, findings.SEEN),
    }
    lines = []
    for words, (finding, which) in parts.items():
        there = wide(record, finding, which).index
        lines.append([words])
        for dataset in DATASETS:
            known = [name for name in nets if (dataset, name) in there]
            absent = [name for name in nets if name not in known]
            some = f"all but {', '.join(absent)}" if len(absent) < len(known) else ", ".join(known)
            lines[-1].append("all" if not absent else some or "none")
    return table(["networks", *DATASETS], lines)


def page(record: pd.DataFrame) -> str:
    """Return the page."""
    cells = wide(record, findings.DEFAULT, "encoded")
    by_kind = kinds(cells)
    shallow = sorted(set(cells.index.get_level_values("method")) - set(networks()))
    tuned_table, tuned_words = tuned(record)
    trials = sorted({int(count) for count in record["trials"].dropna() if count})
    return TEXT.read_text(encoding="utf-8").format(
        seeds=", ".join(str(seed) for seed in sorted(set(record["seed"]))),
        shallow=", ".join(f"`{name}`" for name in shallow),
        networks=len(networks()),
        trials=" or ".join(map(str, trials)) or "no",
        gaps=gaps(record),
        supervised=by_method(cells, by_kind[True]),
        unsupervised=by_method(cells, by_kind[False]),
        supervised_leaders=leaders(cells, by_kind[True]),
        unsupervised_leaders=leaders(cells, by_kind[False]),
        tuned=tuned_table,
        tuned_words=tuned_words,
        learned=learned(record),
        selection=against(record, findings.SELECTION, findings.LAST, findings.BEST),
        selection_words=gains(record),
        memory=against(record, findings.MEMORY, findings.SEEN, findings.UNSEEN),
    )


if __name__ == "__main__":
    text, known = page(findings.read()), freshness.read()[str(PAGE.relative_to(fidelity.ROOT))]
    PAGE.write_text(freshness.stamped(text, known), encoding="utf-8")
