"""What ties are worth: the interval that a score can take over all orders of tied items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hashbench.analysis.summary import grouped, over_seeds, records
from hashbench.measures import parse
from hashbench.render import figures, plots
from hashbench.render.colours import SOFT
from hashbench.render.report import Exhibit, NothingToShowError, Report
from hashbench.render.style import Style

if TYPE_CHECKING:
    import pandas as pd

    from hashbench.analysis.results import Results

KEYS = ["dataset", "method", "bits", "seed", "task", "database", "codes"]


class Ties(Report):
    """The expected score with its bounds over all orders of tied items, and database order's."""

    name = "ties"
    title = "Ties"
    section = "Scores in detail"

    def data(self, results: Results) -> pd.DataFrame:
        """Return the expected score, its bounds and the score in database order."""
        measure = parse(results.main_measure)
        if not measure.has_ties:
            raise NothingToShowError(f"{measure} does not depend on the order of tied items")
        if measure["no_hits"] == "skip":
            raise NothingToShowError(f"{measure} has no mean over the orders of tied items")
        names = {ties: str(measure.with_(ties=ties)) for ties in ("expected", "index")}
        scores = results.scores(list(names.values()))
        scores = scores[scores["bits"].isin(results.figure_bits)]
        if scores.empty:
            raise NothingToShowError("no cell is done")
        expected = scores[scores["measure"] == names["expected"]]
        index = scores[scores["measure"] == names["index"]]
        index = index[[*KEYS, "value"]].rename(columns={"value": "index"})
        table = expected.merge(index, on=KEYS).rename(columns={"value": "expected"})
        return over_seeds(table, ["expected", "pessimistic", "optimistic", "chance", "index"])

    def draw(self, data: pd.DataFrame, style: Style) -> Sequence[Exhibit]:
        """Return a figure for each code length, database and kind of codes."""
        pictures = []
        keys = ("measure", "bits", "database", "codes")
        for (measure, bits, database, codes), group in grouped(data, *keys):
            for sheet, part in figures.paginate(group, style, rows=True):
                caption = style.summary(
                    f"What the order of tied items can make of a score at {bits} bits",
                    measure=measure,
                    database=database,
                    codes=codes,
                    seeds=list(part["seeds"]),
                )
                name = f"{measure} {bits} bits {database} {codes} {sheet}"
                pictures.append(figures.picture(name, caption, style, part, _figure, measure))
        return pictures


def _figure(data: pd.DataFrame, style: Style, measure: str) -> Any:
    figure, panels, heights = plots.row_figure(data, style, figures.by_value(data, "expected"))
    styles = style.figure_styles(data["method"])
    for (dataset, task), part in grouped(data, "dataset", "task"):
        panel = panels[dataset, task]
        panel.axvline(part["chance"].mean(), color=SOFT, linewidth=0.6, linestyle="--")
        for row in records(part):
            colour, y = styles[row.method].colour, heights[row.method]
            panel.hlines(y, row.pessimistic, row.optimistic, color=colour, linewidth=3, alpha=0.4)
            panel.plot(row.expected, y, "o", color=colour)
            panel.plot(row.index, y, "|", color="black", markersize=5)
    next(iter(panels.values())).set_xlim(0, None)  # of all: they share their axis
    figures.name_axes(list(panels.values()), measure, "")
    keys = {
        "worst to best order": {"color": SOFT, "linewidth": 3, "alpha": 0.4},
        "mean over all orders": figures.key_style(),
        "database order": {"color": "black", "marker": "|", "markersize": 5, "linestyle": ""},
        "random ranking": {"color": SOFT, "linewidth": 0.6, "linestyle": "--"},
    }
    figures.add_legend(figure, style, keys)
    return figure
