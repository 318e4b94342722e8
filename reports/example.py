"""One query with its code and the ten nearest items, by the best method and by two to compare."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hashbench.analysis.summary import grouped, records
from hashbench.core.codes import unpack
from hashbench.core.errors import HashbenchError
from hashbench.render import figures, text_layout
from hashbench.render.items import Item, blank_figure, draw_item, wrap_words
from hashbench.render.report import Exhibit, NothingToShowError, Report
from hashbench.render.style import Style, arrow
from hashbench.reports.retrieval import Retrieval

if TYPE_CHECKING:
    import pandas as pd

    from hashbench.analysis.results import Results

#: Columns that tell cells apart.
CELL = ("dataset", "method", "bits", "seed")

#: Squares on one line of a drawn code.
SQUARES = 8

#: In cells of the figure: the query, the names of methods, a code, the space between these, and
#: the line of headings.
QUERY, NAMES, CODE, SPACE, HEAD = 1.7, 1.5, 1.8, 0.25, 0.6


class Example(Report):
    """One query with its code and the first ten items, by the best method and two others."""

    name = "example"
    title = "One query"
    section = "What is retrieved"

    def __init__(self, others: str = "edsh+random") -> None:
        self.others = others

    def data(self, results: Results) -> pd.DataFrame:
        """Return what the methods find for one query of each dataset and task.

        The query is the one whose score by the best method is the median. The columns are those of
        the report ``retrieval`` and ``code``, the query's: a text of 0 and 1.
        """
        found = Retrieval().data(results)
        found = found[(found["kind"] == "middling") & found["distance"].notna()]
        keys = ["dataset", "task"]
        first = found.groupby(keys)["method_rank"].transform("min") == found["method_rank"]
        rest = found["method"].isin(self.others.split("+"))
        found = found[first | rest].drop(columns="kind")
        if not rest.any():
            raise NothingToShowError(f"none of the methods {self.others} is in the study")
        for key, group in grouped(found, *CELL, "task", "query"):
            found.loc[group.index, "code"] = _code(results, *key)
        return found

    def draw(self, data: pd.DataFrame, style: Style) -> Sequence[Exhibit]:
        """Return one figure for each dataset and task."""
        pictures = []
        for (dataset, task, bits), group in grouped(data, "dataset", "task", "bits"):
            caption = style.summary(
                f"One query, {arrow(task)}, its {bits}-bit code (a filled square is a 1) and the "
                "first ten items by Hamming distance, tied items in random order; the query is the "
                "median by the score of the first method; solid green frame: relevant, dashed red: "
                "not",
                measure=group["measure"].iloc[0],
                database=group["database"].iloc[0],
                codes=group["codes"].iloc[0],
            )
            name = f"{dataset} {task} {bits} bits"
            pictures.append(figures.picture(name, caption, style, group, _figure))
        return pictures


def _code(
    results: Results, dataset: str, method: str, bits: int, seed: int, task: str, query: int
) -> str:
    """Return the code of a query as a text of 0 and 1."""
    for stored in results.done():
        cell = stored.cell
        if (cell.dataset, cell.label, cell.bits, cell.seed) == (dataset, method, bits, seed):
            codes, split = stored.codes(), results.split(cell.split)
            view = split.view_names.index(task.partition("->")[0])
            words = codes.query[view][split.query == query]
            return "".join(str(int(bit)) for bit in unpack(words, bits)[0])
    raise HashbenchError(f"found no cell of {method} at {bits} bits on {dataset}, seed {seed}")


def _figure(data: pd.DataFrame, style: Style) -> Any:
    methods = list(data.sort_values("method_rank", kind="stable")["method"].unique())
    query_view, database_view = data["task"].iloc[0].split("->")
    items = 10 if style.width == "page" else 4
    left = QUERY + SPACE + NAMES + SPACE + CODE + SPACE
    across, down = left + items, HEAD + len(methods)
    figure, axes = blank_figure(style, across, down)
    cell = style.inches * text_layout.POINTS / across
    measure = re.sub(r"\(.*?\)", "", str(data["measure"].iloc[0]))  # in full in the caption
    sheet = style.datasets[data["dataset"].iloc[0]].pictures
    name_at, code_at = QUERY + SPACE, QUERY + SPACE + NAMES + SPACE
    soft: dict[str, Any] = {"fontsize": text_layout.NAME_SIZE, "color": "#555555", "va": "center"}
    for x, words in (
        (QUERY / 2, "query"),
        (name_at + NAMES / 2, f"{measure} of this query"),
        (code_at + CODE / 2, f"its {data['bits'].iloc[0]}-bit code"),
        (left + items / 2, _answers(items, database_view)),
    ):
        axes.text(x, HEAD / 2, words, ha="center", **soft)
    query = data.iloc[0]
    top = HEAD + (len(methods) - QUERY) / 2
    shown = Item(query_view, int(query["query"]), str(query["query_string"]))
    draw_item(axes, 0, top, shown, sheet, cell, QUERY, text_layout.TITLE_SIZE)
    labels = wrap_words(str(query["query_labels"]), int(QUERY * cell / 4), 2)
    axes.text(QUERY / 2, top + QUERY + 0.06, labels, ha="center", **{**soft, "va": "top"})
    for number, method in enumerate(methods):
        y, own = HEAD + number, data[data["method"] == method]
        width = NAMES * cell
        title = text_layout.fit_text(figure, text_layout.label(style, method), width)
        score = f"{own['score'].iloc[0]:.2f}"
        where: dict[str, Any] = {"va": "center", "fontsize": text_layout.TITLE_SIZE}
        axes.text(name_at + NAMES, y + 0.34, title, ha="right", weight="bold", **where)
        axes.text(name_at + NAMES, y + 0.68, score, ha="right", **where)
        _draw_code(axes, code_at, y, own["code"].iloc[0])
        for row in records(own[own["rank"] <= items]):
            item = Item(database_view, row.item, row.string, bool(row.relevant))
            draw_item(axes, left + row.rank - 1, y, item, sheet, cell)
    return figure


def _answers(items: int, view: str) -> str:
    """Return the heading over the items that are found."""
    if items < 10:
        return f"the first {items} found ({view})"
    return f"the first {items} found ({view}); solid green: shares a label, dashed red: does not"


def _draw_code(axes: Any, x: float, y: float, code: str) -> None:
    """Draw the bits of a code as squares, in the middle of a cell's height."""
    from matplotlib.patches import Rectangle

    lines = -(-len(code) // SQUARES)
    side = min(CODE / SQUARES, 0.92 / lines)
    top = y + 0.5 - lines * side / 2
    for position, bit in enumerate(code):
        line, column = divmod(position, SQUARES)
        corner = (x + column * side, top + line * side)
        filled = "#222222" if bit == "1" else "white"
        axes.add_patch(
            Rectangle(
                corner, 0.86 * side, 0.86 * side, facecolor=filled, edgecolor="#222222", lw=0.5
            )
        )
