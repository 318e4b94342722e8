"""What is found: some queries and the first ten items that each of the best methods returns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hashbench.analysis.summary import grouped, one_database, over_seeds, records
from hashbench.data.splits import Searched
from hashbench.plugins.protocol import ENCODED
from hashbench.render import figures, text_layout
from hashbench.render.items import Item, blank_figure, draw_item, wrap_words
from hashbench.render.report import Exhibit, NothingToShowError, Report
from hashbench.render.style import Style, arrow

if TYPE_CHECKING:
    import pandas as pd

    from hashbench.analysis.results import Results
    from hashbench.execution.store import Stored

RANKS = 10

#: Items that a line shows, so that their texts can be read.
ITEMS = {"page": 10, "column": 4}

#: Queries that are shown: the share of queries with a lower score of the best method.
SHARES = {"bad": 0.1, "middling": 0.5, "good": 0.9}


class Retrieval(Report):
    """A bad, a middling and a good query with the first ten items found; hits are framed."""

    name = "retrieval"
    title = "What is retrieved"
    section = "What is retrieved"

    def __init__(self, methods: int = 4) -> None:
        self.methods = methods

    def data(self, results: Results) -> pd.DataFrame:
        """Return what each method finds for three queries of each dataset and task.

        ``method_rank`` is by the main measure; ``query`` and ``item`` are rows of the dataset;
        ``ties`` items have the distance of the item, and are in random order (the cell's seed);
        ``score`` is the query's by the main measure.
        """
        import pandas as pd

        rows: list[dict[str, Any]] = []
        for dataset, cells in _cells_by_dataset(results).items():
            split = results.split(cells[0].cell.split)
            if split.query_strings is None and results.pictures(cells[0].cell) is None:
                continue
            for task in results.tasks:
                rows += _of_task(results, dataset, cells, task)
        if not rows:
            raise NothingToShowError("no dataset of the study has display strings or pictures")
        return pd.DataFrame(rows)

    def draw(self, data: pd.DataFrame, style: Style) -> Sequence[Exhibit]:
        """Return a figure for each dataset and task, with the best methods."""
        pictures = []
        for (dataset, task, bits), group in grouped(data, "dataset", "task", "bits"):
            shown = group[group["method_rank"] <= self.methods]
            caption = style.summary(
                f"First {ITEMS[style.width]} items that the best methods return on "
                f"{style.datasets[dataset].title} at {bits} bits, {arrow(task)}, seed "
                f"{shown['seed'].iloc[0]}, for queries at which the best method is bad (10th "
                "percentile), middling and good (90th)",
                measure=shown["measure"].iloc[0],
                database=shown["database"].iloc[0],
                codes=shown["codes"].iloc[0],
            )
            name = f"{dataset} {task} {bits} bits"
            pictures.append(figures.picture(name, caption, style, shown, _figure))
        return pictures


def _cells_by_dataset(results: Results) -> dict[str, list[Stored]]:
    """Return the cells of each dataset's first seed, at the first code length of figures."""
    found: dict[str, list[Stored]] = {}
    for stored in results.done():
        if stored.cell.bits == results.figure_bits[0]:
            found.setdefault(stored.cell.dataset, []).append(stored)
    first = {dataset: min(s.cell.seed for s in cells) for dataset, cells in found.items()}
    return {
        dataset: [stored for stored in cells if stored.cell.seed == first[dataset]]
        for dataset, cells in found.items()
    }


def _of_task(
    results: Results, dataset: str, cells: Sequence[Stored], task: str
) -> list[dict[str, Any]]:
    from hashbench.analysis.per_query import (  # listing reports should not wait for it
        per_query,
        retrieved,
    )

    measure = results.main_measure
    scores = one_database(results.select(codes=[ENCODED]).scores([measure]))
    means = over_seeds(scores)
    means = means[(means["dataset"] == dataset) & (means["task"] == task)]
    means = means[means["bits"] == cells[0].cell.bits]
    order = list(means.sort_values("mean", ascending=False, kind="stable")["method"])
    by_label = {stored.cell.label: stored for stored in cells}
    order = [label for label in order if label in by_label]
    if not order:
        return []
    searched = Searched(means["database"].iloc[0], ENCODED)
    values = per_query(results, by_label[order[0]], task, searched, measure)
    assert values is not None  # encoded codes are always there
    counted = np.flatnonzero(~np.isnan(values))
    ascending = counted[np.argsort(values[counted], kind="stable")]
    chosen = {
        kind: int(ascending[int(share * (len(ascending) - 1))]) for kind, share in SHARES.items()
    }
    rows = []
    for position, label in enumerate(order, 1):
        stored = by_label[label]
        seed = stored.cell.seed
        found = retrieved(results, stored, task, list(chosen.values()), RANKS, searched[0], seed)
        of_method = per_query(results, stored, task, searched, measure)
        assert of_method is not None
        split = results.split(stored.cell.split)
        for index, (kind, query) in enumerate(chosen.items()):
            about = {
                "dataset": dataset,
                "task": task,
                **searched._asdict(),
                "bits": stored.cell.bits,
                "seed": stored.cell.seed,
                "measure": measure,
                "method": label,
                "method_rank": position,
                "score": float(of_method[query]),
                "kind": kind,
                "query": int(split.query[query]),
                "query_string": split.string("query", query),
                "query_labels": ", ".join(split.labels("query", query)),
            }
            for rank, item in enumerate(found.items[index], 1):
                both = (found.distances, found.ties)
                distance, ties = (None if v is None else int(v[index, rank - 1]) for v in both)
                rows.append(
                    {
                        **about,
                        "rank": rank,
                        "item": int(split.database[item]),
                        "string": split.string("database", int(item)),
                        "relevant": bool(found.relevant[index, rank - 1]),
                        "distance": distance,
                        "ties": ties,
                    }
                )
    return rows


#: In cells: the gap after the query, the line below an item, the space between two queries, and by
#: the figure's width the methods' names and the line of headings.
GAP, BELOW, SPACE = 0.3, 0.36, 0.35
NAMES = {"page": 1.8, "column": 1.5}
HEAD = {"page": 0.3, "column": 0.4}


def _figure(data: pd.DataFrame, style: Style) -> Any:
    methods = [
        method for _, method in sorted(set(zip(data["method_rank"], data["method"], strict=True)))
    ]
    kinds = [kind for kind in SHARES if kind in set(data["kind"])]
    query_view, database_view = data["task"].iloc[0].split("->")
    names = NAMES[style.width]
    across, line = names + 1 + GAP + ITEMS[style.width], 1 + BELOW
    head = HEAD[style.width]
    down = head + len(kinds) * (len(methods) * line + SPACE) - SPACE
    figure, axes = blank_figure(style, across, down)
    cell = style.inches * text_layout.POINTS / across
    letters = int(cell / (0.62 * text_layout.SMALLEST))
    sheet = style.datasets[data["dataset"].iloc[0]].pictures
    small: dict[str, Any] = {"fontsize": text_layout.SMALLEST, "ha": "center", "va": "top"}
    measure = re.sub(r"\(.*?\)", "", str(data["measure"].iloc[0]))  # in full in the caption
    soft: dict[str, Any] = {"fontsize": text_layout.SMALLEST, "color": "#555555", "va": "center"}
    axes.text(names + 0.5, head / 2, f"{query_view} query", ha="center", **soft)
    answers = f"first {database_view} items; below: distance × items at it"
    axes.text(names + GAP + 1.04, head / 2, answers, ha="left", **soft)
    for number, kind in enumerate(kinds):
        part = data[data["kind"] == kind]
        top = head + number * (len(methods) * line + SPACE)
        first = part.iloc[0]
        query = Item(query_view, int(first["query"]), str(first["query_string"]))
        draw_item(axes, names, top, query, sheet, cell)
        words = wrap_words(str(first["query_labels"]), letters, 3)
        axes.text(names + 0.5, top + 1.06, words, color="#555555", **small)
        for position, method in enumerate(methods):
            y, own = top + position * line, part[part["method"] == method]
            name = text_layout.fit_text(
                figure, text_layout.label(style, method), (names - 0.2) * cell
            )
            score = f"{measure} {own['score'].iloc[0]:.3f}"
            name += "\n" + text_layout.fit_text(figure, score, (names - 0.2) * cell)
            where: dict[str, Any] = {
                "ha": "right",
                "va": "center",
                "fontsize": text_layout.NAME_SIZE,
            }
            axes.text(names - 0.15, y + 0.5, name, **where)
            for row in records(own[own["rank"] <= ITEMS[style.width]]):
                x = names + GAP + row.rank
                item = Item(database_view, row.item, row.string, bool(row.relevant))
                draw_item(axes, x, y, item, sheet, cell)
                if row.distance == row.distance and row.distance is not None:
                    below = f"{row.distance:.0f} ×{row.ties:.0f}"
                    axes.text(x + 0.5, y + 1.0, below, color="#555555", **small)
    return figure
