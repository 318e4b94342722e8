"""A method among those of the archive, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hashbench.analysis.ranking import UNDECIDED
from hashbench.analysis.summary import grouped, records
from hashbench.analysis.tests import LEAST_BLOCKS
from hashbench.core.units import format_count
from hashbench.render.daggers import NOT_HAMMING
from hashbench.render.report import Group, Table, TableCell
from hashbench.render.tables import to_text
from hashbench.render.terminal import TOP, width

if TYPE_CHECKING:
    from collections.abc import Collection

    import pandas as pd


def rank_tables(
    ranks: pd.DataFrame, own: Collection[str], title: str, everything: bool = False
) -> str:
    """Return one table per dataset and code length: the best ten, and rows around the own ones.

    Parameters
    ----------
    ranks : what `rank_among` returns
    own : labels of the own rows, the one that others are compared with first
    title : what the scores are
    everything : show every row
    """
    parts = [
        to_text(_table(part, own, title, everything), width())
        for _, part in grouped(ranks, "dataset", "bits")
    ]
    return "\n\n".join(parts)


def _table(part: pd.DataFrame, own: Collection[str], title: str, everything: bool) -> Table:
    first = next(iter(own))
    names = list(part.columns)
    tasks = names[names.index("method") + 1 : names.index("mean")]
    ranked = part[part["rank"].notna()]
    rows = ranked.to_dict("records")
    places = [number for number, row in enumerate(rows) if row["method"] in own]
    near = {place + step for place in places for step in (-1, 0, 1)}
    lines = []
    for number, row in enumerate(rows):
        if not everything and number >= TOP and number not in near:
            continue
        is_own = row["method"] in own
        against = "" if row["method"] == first else str(row["against"])
        texts = [str(row["rank"]), row["method"]]
        texts += [f"{row[name]:.4f}" for name in (*tasks, "mean")]
        texts += [against, f"{row['fit_seconds']:.2g}", f"{row['item_bytes']:g}"]
        texts[1] += " <" if is_own else ""
        marks = ["", "" if row["hamming"] else NOT_HAMMING]
        marks += [""] * (len(texts) - len(marks))
        pairs = zip(texts, marks, strict=True)
        lines.append([TableCell(text, is_own, mark=mark) for text, mark in pairs])
    (row,) = records(ranked.head(1))
    splits = format_count(int(row.splits), "split")
    header = [[("rank", 1), ("method", 1), *((name, 1) for name in (*tasks, "mean")),
               (f"{first} is", 1), ("seconds", 1), ("bytes", 1)]]  # fmt: skip
    notes = [
        f"{first} is better or worse than a method if they differ significantly over splits, "
        "otherwise - (studentised range, 5 % for all pairs)",
        "seconds: of training; bytes: per item of the database",
    ]
    if row.splits < LEAST_BLOCKS:
        notes[0] = f"{splits}: no test, which needs {LEAST_BLOCKS}"
    elif set(ranked["against"]) == {UNDECIDED}:
        notes[0] = f"no method differs significantly from {first} over splits (5 % for all pairs)"
    if not ranked["hamming"].all():
        notes.append(f"{NOT_HAMMING} not Hamming distances")
    if len(ranked) < len(part):
        lacking = ", ".join(part.loc[part["rank"].isna(), "method"])
        notes.append(f"not ranked, because they lack some of these splits: {lacking}")
    if len(lines) < len(rows):
        notes.append(f"{format_count(len(rows) - len(lines), 'method')} more: --all")
    place = next(each["rank"] for each in rows if each["method"] == first)
    about = (
        f"{first} is {place} of {len(rows)} on {row.dataset} at {row.bits} bits: {title}, {splits}"
    )
    return Table("", about, header, [Group("", lines)], "rl" + "r" * (len(tasks) + 4), notes)
