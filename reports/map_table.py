"""Scores of all methods: datasets and code lengths across, tasks and methods down."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hashbench.analysis.chance import MARK, MEANING, at_chance, likely_cause
from hashbench.analysis.evidence import split_words
from hashbench.analysis.range_tests import TESTS, RangeTests, best_methods, words_without_test
from hashbench.analysis.summary import (
    grouped,
    outcomes,
    over_seeds,
    records,
)
from hashbench.data.splits import SEARCHED
from hashbench.render.report import (
    Exhibit,
    Group,
    NothingToShowError,
    Report,
    Table,
    TableCell,
    method_cell,
    slices,
)
from hashbench.render.style import Style, arrow

if TYPE_CHECKING:
    import pandas as pd

    from hashbench.analysis.results import Results

DIGITS = 3  # of scores, behind the point

#: Columns of numbers that stay readable side by side.
COLUMNS = {("column", False): 6, ("column", True): 3, ("page", False): 13, ("page", True): 8}

KEYS = ["measure", *SEARCHED, "dataset", "task", "bits"]


class MapTable(Report):
    """Every measure by task, method, dataset and code length; the best in bold.

    Parameters
    ----------
    spread : whether the standard deviation over seeds is printed behind the mean
    """

    name = "map-table"
    title = "Scores"
    section = "Tables of scores"

    def __init__(self, spread: bool = True) -> None:
        self.spread = spread

    def data(self, results: Results) -> pd.DataFrame:
        """Return mean, spread and rank of every method, and the status of what has no score."""
        scores = results.scores()
        if scores.empty:
            raise NothingToShowError("no cell is done")
        table = over_seeds(scores)
        marks = best_methods(scores, KEYS, RangeTests(results))
        table = table.merge(marks, on=[*KEYS, "method"])
        table["cause"] = _causes(results, scores, table)
        table["at_chance"] = table["cause"].notna()
        # every cell asked for has its place, also where nothing came of it
        grid = _grid(outcomes(results), table)
        table = grid.merge(table, on=[*KEYS, "method"], how="left")
        table["not_worse"] = table["not_worse"].eq(True)
        table["seeds"] = table["seeds"].fillna(0).astype(int)
        table["at_chance"] = table["at_chance"].eq(True)
        columns = ["mean", "std", "seeds", "blocks", "planned", "rank", "not_worse", "over"]
        columns += ["critical_difference", "status", "at_chance", "cause"]
        return table[[*KEYS, "method", *columns]]

    def draw(self, data: pd.DataFrame, style: Style) -> Sequence[Exhibit]:
        """Return a table for each measure, database, kind of codes and handful of datasets."""
        tables = []
        for (measure, *searched), group in grouped(data, "measure", *SEARCHED):
            spread = self.spread and group["seeds"].max() > 1
            for datasets in _side_by_side(group, style, COLUMNS[style.width, spread]):
                part = group[group["dataset"].isin(datasets)]
                tables.append(self._table(part, measure, searched, style))
        return tables

    def _table(
        self, data: pd.DataFrame, measure: str, searched: Sequence[str], style: Style
    ) -> Table:
        datasets = style.ordered_datasets(data["dataset"])
        columns = [
            (dataset, int(bits))
            for dataset in datasets
            for bits in sorted(set(data.loc[data["dataset"] == dataset, "bits"]))
        ]
        spans = [(style.datasets[d].title, [c[0] for c in columns].count(d)) for d in datasets]
        methods = style.ordered(data["method"])
        seeds = list(data.loc[data["seeds"] > 0, "seeds"])
        spread = self.spread and max(seeds, default=1) > 1
        found = {(row.task, row.method, row.dataset, row.bits): row for row in records(data)}
        leading = _leading(data)
        groups = []
        for task in dict.fromkeys(data["task"]):
            rows = [
                [
                    method_cell(style, method, searched[1]),
                    *(
                        _entry(
                            found.get((task, method, *each)), leading.get((task, *each), []), spread
                        )
                        for each in columns
                    ),
                ]
                for method in methods
            ]
            groups.append(Group(arrow(task), rows))
        quantity = "Mean and standard deviation over seeds" if spread else "Mean over seeds"
        caption = style.summary(
            quantity if max(seeds, default=1) > 1 else "Scores",
            measure=measure,
            **dict(zip(SEARCHED, searched, strict=True)),
            seeds=seeds,
        )
        notes = ["bold: best; underlined: second" + _meaning(data), *_averaged(data, style)]
        notes += _chance_notes(data, style)
        return Table(
            f"{measure} {' '.join(searched)} {' '.join(datasets)}",
            caption,
            [[("", 1), *spans], [("bits", 1), *((str(bits), 1) for _, bits in columns)]],
            groups,
            "l" + "r" * len(columns),
            [*notes, *style.marks(methods)],
            slices(data),
        )


def _grid(planned: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """Return a row for every number of a table.

    Every method has its row in the first table of a dataset, in others those with scores there.
    Datasets without any score are in the first table of all.
    """
    import pandas as pd

    found = table[["dataset", "measure", *SEARCHED, "task"]].drop_duplicates()
    first = found[(found[SEARCHED] == found[SEARCHED].iloc[0]).all(axis=1)]
    others = planned.loc[~planned["dataset"].isin(found["dataset"]), ["dataset"]].drop_duplicates()
    columns = first.drop(columns="dataset").drop_duplicates()
    found = pd.concat([found, others.merge(columns, how="cross")])
    leading = found.groupby("dataset", sort=False)[SEARCHED].transform("first")
    grid = planned.merge(found.assign(first=(found[SEARCHED] == leading).all(axis=1)), on="dataset")
    keys = ["dataset", *SEARCHED, "method"]
    has_scores = grid.set_index(keys).index.isin(table.set_index(keys).index)
    return grid[grid["first"] | has_scores].drop(columns="first")


def _causes(results: Results, scores: pd.DataFrame, table: pd.DataFrame) -> list[str | None]:
    """Return for each row of a table why it may be at chance, or None if it is not."""
    keys = [*KEYS, "method"]
    rows = scores[["value", "chance", "chance_error"]].to_dict("records")
    groups = scores.groupby(keys, sort=False).indices.items()
    low = {key for key, own in groups if at_chance([rows[index] for index in own])}
    known: dict[tuple[str, str], str] = {}
    found: list[str | None] = []
    for key in table[keys].itertuples(index=False, name=None):
        which = (key[KEYS.index("dataset")], key[-1])
        if key in low and which not in known:
            known[which] = likely_cause(results, *which)
        found.append(known[which] if key in low else None)
    return found


def _chance_notes(data: pd.DataFrame, style: Style) -> list[str]:
    """Return what the mark of chance means, with the likely causes."""
    low = data[data["at_chance"]]
    if low.empty:
        return []
    shown = [
        f"{style.methods[method].title} on {style.datasets[dataset].title}: {cause}"
        for (method, dataset, cause), _ in grouped(low, "method", "dataset", "cause")
        if cause
    ]
    return ["; ".join([MEANING, *shown])]


def _meaning(data: pd.DataFrame) -> str:
    """Return what the star means, where one can stand."""
    tests = [TESTS[over] for over in dict.fromkeys(data["over"].dropna()) if over]
    if not tests:
        return ""
    return (
        f"; *: does not differ significantly from the best of its column {' or '.join(tests)} "
        "(5 % per column), which is not the same as being as good"
    )


def _averaged(data: pd.DataFrame, style: Style) -> Iterator[str]:
    """Yield what each dataset's scores are averaged over, and what can be concluded from them."""
    for dataset, part in grouped(data[data["seeds"] > 0], "dataset"):
        blocks, seeds = int(part["blocks"].max()), int(part["seeds"].max())
        words = f"{style.datasets[dataset].title}: {split_words(blocks, seeds)}"
        known = part["critical_difference"].dropna()
        known = known[np.isfinite(known)]
        if part["over"].eq("").all():
            words += f"; {words_without_test(blocks, seeds)}"
        elif len(known):
            words += f"; no difference below {known.min():.3f} is significant"
        yield words


def _leading(data: pd.DataFrame) -> dict[tuple[str, str, int], list[float]]:
    """Return the largest and second largest printed number of each column."""
    ranked = data[data["rank"].notna()]
    return {
        key: sorted({round(mean, DIGITS) for mean in own["mean"].tolist()}, reverse=True)[:2]
        for key, own in grouped(ranked, "task", "dataset", "bits")
    }


def _entry(row: Any, leading: Sequence[float], spread: bool) -> TableCell:
    """Return a score, or a dash with the reason why there is none."""
    if row is None:
        return TableCell("")
    seeds, planned = row.seeds, row.planned
    if not seeds:
        status = row.status
        return TableCell("–" if status == "done" else f"– {status}")
    text = f"{row.mean:.{DIGITS}f}" + (f" ± {row.std:.{DIGITS}f}" if spread else "")
    places = (
        [] if np.isnan(row.rank) else [round(float(row.mean), DIGITS) == each for each in leading]
    )
    bold, underlined = places[:1] == [True], places[1:] == [True]
    mark = "*" if row.not_worse and not bold else ""
    if seeds < planned:
        mark = f"{seeds}/{planned}"
    if row.at_chance:
        mark += MARK
    return TableCell(text, bold=bold, underlined=underlined, mark=mark)


def _side_by_side(data: pd.DataFrame, style: Style, most: int) -> Iterator[list[str]]:
    """Yield the datasets of each table."""
    chosen: list[str] = []
    used = 0
    for dataset in style.datasets:
        count = data.loc[data["dataset"] == dataset, "bits"].nunique()
        if chosen and used + count > most:
            yield chosen
            chosen, used = [], 0
        if count:
            chosen.append(dataset)
            used += count
    if chosen:
        yield chosen
