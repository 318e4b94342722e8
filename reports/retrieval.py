"""What is found: some queries and the first ten items that each of the best methods returns."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from functools import lru_cache
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

from hashbench.plugins.report import Exhibit, NothingToShowError, Picture, Report
from hashbench.printing import texts
from hashbench.printing.style import Look, arrow
from hashbench.results.summary import grouped, over_seeds, records

if TYPE_CHECKING:
    import pandas as pd

    from hashbench.plugins.dataset import ContactSheet
    from hashbench.results.results import Results
    from hashbench.studies.store import Stored

RANKS = 10

#: A query that goes badly, a middling one and one that goes well, by the best method's score.
SHARES = {"bad": 0.1, "middling": 0.5, "good": 0.9}

SHOWN_METHODS = 4

HIT, MISS = "#009E73", "#D55E00"


class Retrieval(Report):
    """A bad, a middling and a good query with the first ten items found; hits are framed."""

    name = "retrieval"
    title = "What is retrieved"
    section = "What is retrieved"

    def data(self, results: Results) -> pd.DataFrame:
        """Return what each method finds for three queries of each dataset and task.

        ``place`` is the method's place by the main measure; ``query`` and ``item`` are rows of the
        dataset; ties stand in database order.
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

    def draw(self, data: pd.DataFrame, look: Look) -> Sequence[Exhibit]:
        """Return a figure for each dataset and task, with the best methods."""
        pictures = []
        for (dataset, task, bits), group in grouped(data, "dataset", "task", "bits"):
            shown = group[group["place"] <= SHOWN_METHODS]
            caption = look.caption(
                f"The first {RANKS} items that the best methods return at {bits} bits, "
                f"{arrow(task)}, seed {shown['seed'].iloc[0]}, for queries at which the best "
                "method is bad (10th percentile), middling and good (90th); solid frame: relevant, "
                "dashed and pale: not",
                [dataset],
                measure=shown["measure"].iloc[0],
                database="encoded",
            )
            figure = _figure(shown, look)
            name = f"{dataset} {task} {bits} bits"
            pictures.append(Picture(name, caption, figure, look.notes(shown["method"])))
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
    from hashbench.results.per_query import (  # listing reports should not wait for it
        per_query,
        retrieved,
    )

    measure = results.main_measure
    means = over_seeds(results.scores([measure]).drop(columns=["low", "high", "chance"]))
    means = means[(means["dataset"] == dataset) & (means["task"] == task)]
    means = means[(means["database"] == "encoded") & (means["bits"] == cells[0].cell.bits)]
    order = list(means.sort_values("mean", ascending=False, kind="stable")["method"])
    by_label = {stored.cell.label: stored for stored in cells}
    order = [label for label in order if label in by_label]
    if not order:
        return []
    values = per_query(results, by_label[order[0]], task, "encoded", measure)
    assert values is not None  # encoded codes are always there
    counted = np.flatnonzero(~np.isnan(values))
    ascending = counted[np.argsort(values[counted], kind="stable")]
    chosen = {
        kind: int(ascending[int(share * (len(ascending) - 1))]) for kind, share in SHARES.items()
    }
    rows = []
    for place, label in enumerate(order, 1):
        stored = by_label[label]
        found = retrieved(results, stored, task, list(chosen.values()), RANKS)
        split = results.split(stored.cell.split)
        for index, (kind, query) in enumerate(chosen.items()):
            about = {
                "dataset": dataset,
                "task": task,
                "bits": stored.cell.bits,
                "seed": stored.cell.seed,
                "measure": measure,
                "method": label,
                "place": place,
                "kind": kind,
                "query": int(split.query[query]),
                "query_string": split.string("query", query),
                "query_labels": ", ".join(split.labels("query", query)),
            }
            for rank, item in enumerate(found.items[index], 1):
                distance = None if found.distances is None else found.distances[index, rank - 1]
                rows.append(
                    {
                        **about,
                        "rank": rank,
                        "item": int(split.database[item]),
                        "string": split.string("database", int(item)),
                        "relevant": bool(found.relevant[index, rank - 1]),
                        "distance": distance,
                    }
                )
    return rows


def _figure(data: pd.DataFrame, look: Look) -> Any:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    methods = [method for _, method in sorted(set(zip(data["place"], data["method"], strict=True)))]
    kinds = [kind for kind in SHARES if kind in set(data["kind"])]
    names, gap = 2.6, 0.5  # in cells: the methods' names, and the space between two queries
    across = names + 1.4 + RANKS
    down = len(kinds) * (len(methods) + gap) - gap
    figure = Figure(figsize=(look.inches, look.inches * down / across))
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, across), ylim=(down, 0))
    axes.set_axis_off()
    small = 7 if look.width == "page" else 4.5
    sheet = look.datasets[data["dataset"].iloc[0]].pictures
    for number, kind in enumerate(kinds):
        part = data[data["kind"] == kind]
        top = number * (len(methods) + gap)
        first = part.iloc[0]
        _item(axes, names, top, sheet, int(first["query"]), str(first["query_string"]), None, small)
        words = textwrap.fill(texts.plain(str(first["query_labels"]), 40), 11)
        axes.text(names + 0.5, top + 1.1, words, fontsize=small * 0.8, ha="center", va="top")
        for line, method in enumerate(methods):
            y = top + line
            label = texts.label(look, method)
            axes.text(names - 0.2, y + 0.5, label, fontsize=small, ha="right", va="center")
            for row in records(part[part["method"] == method]):
                x = names + 0.4 + row.rank
                _item(axes, x, y, sheet, row.item, row.string, bool(row.relevant), small)
    return figure


def _item(
    axes: Any,
    x: float,
    y: float,
    sheet: ContactSheet | None,
    row: int,
    string: str,
    relevant: bool | None,
    small: float,
) -> None:
    """Draw an item in the cell at (x, y): its picture, or else its string."""
    from matplotlib.patches import Rectangle

    pale = 0.35 if relevant is False else 1.0
    if sheet is not None:
        extent = (x + 0.08, x + 0.92, y + 0.92, y + 0.08)
        axes.imshow(_pixels(sheet, row), extent=extent, alpha=pale, aspect="auto", zorder=1)
    else:
        words = textwrap.fill(texts.plain(string, 36), 9)
        where = {"ha": "center", "va": "center", "fontsize": small * 0.7}
        axes.text(x + 0.5, y + 0.5, words, alpha=pale, **where)
    colour = "black" if relevant is None else HIT if relevant else MISS
    axes.add_patch(
        Rectangle(
            (x + 0.04, y + 0.04),
            0.92,
            0.92,
            fill=False,
            edgecolor=colour,
            linewidth=1.2 if relevant else 0.7,
            linestyle="--" if relevant is False else "-",
            zorder=2,
        )
    )


def _pixels(sheet: ContactSheet, row: int) -> Any:
    top, left = (place * sheet.size for place in divmod(row, sheet.columns))
    return _decoded(sheet)[top : top + sheet.size, left : left + sheet.size]


@lru_cache(maxsize=2)
def _decoded(sheet: ContactSheet) -> Any:
    from matplotlib.image import imread

    return imread(BytesIO(sheet.png), format="png")
