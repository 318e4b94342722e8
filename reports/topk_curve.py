"""Precision among the first K items, for growing K."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hashbench.analysis.summary import grouped, over_seeds
from hashbench.render import figures, plots, ticks
from hashbench.render.report import Exhibit, NothingToShowError, Report
from hashbench.render.style import Style

if TYPE_CHECKING:
    import pandas as pd

    from hashbench.analysis.results import Results


class TopKCurve(Report):
    """Precision among the first K items against K."""

    name = "topk-curve"
    title = "Precision among the first K"
    section = "Curves for print"

    def data(self, results: Results) -> pd.DataFrame:
        """Return precision and recall at each K, means over seeds."""
        curves = results.curves("PR").rename(columns={"x": "K"})
        if curves.empty:
            raise NothingToShowError("no cell is done")
        return over_seeds(curves, ["precision", "recall"])

    def draw(self, data: pd.DataFrame, style: Style) -> Sequence[Exhibit]:
        """Return a figure for each code length, database and kind of codes."""
        pictures = []
        for (bits, database, codes), group in grouped(data, "bits", "database", "codes"):
            for name, part in figures.paginate(group, style):
                caption = style.summary(
                    f"Precision among the first K items at {bits} bits",
                    measure="PR",
                    database=database,
                    codes=codes,
                    seeds=list(part["seeds"]),
                )
                title = f"{bits} bits {database} {codes} {name}"
                pictures.append(figures.picture(title, caption, style, part, draw))
        return pictures


def draw(data: pd.DataFrame, style: Style) -> Any:
    """Draw one panel per dataset and task with one curve per method."""
    return plots.line_figure(
        data.sort_values("K", kind="stable"),
        style,
        "K",
        "precision",
        ("K items returned", "precision"),
        lambda panel: ticks.log_axis(panel, "x"),
        dense=True,
    )
