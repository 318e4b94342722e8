"""Precision against recall, by rank and by Hamming radius."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hashbench.analysis.summary import grouped, over_seeds
from hashbench.render import figures, plots
from hashbench.render.report import Exhibit, NothingToShowError, Report
from hashbench.render.style import Style

if TYPE_CHECKING:
    import pandas as pd

    from hashbench.analysis.results import Results

#: How curves are made: the measure that gives them, and what a caption says of it.
WAYS = {
    "rank": ("PR", "mean over queries at each rank"),
    "radius": ("PR(by=radius,mean=micro)", "all queries' Hamming balls of each radius together"),
}


class PrecisionRecallCurve(Report):
    """Precision against recall as more is returned: by rank, and by Hamming radius."""

    name = "pr-curve"
    title = "Precision and recall"
    section = "Curves for print"

    def data(self, results: Results) -> pd.DataFrame:
        """Return points of the curves, means over seeds; x is the rank or the radius."""
        import pandas as pd

        tables = [
            over_seeds(results.curves(measure), ["precision", "recall"]).assign(by=way)
            for way, (measure, _) in WAYS.items()
        ]
        table = pd.concat(tables, ignore_index=True).dropna(subset="precision")
        if table.empty:
            raise NothingToShowError("no cell is done")
        return table

    def draw(self, data: pd.DataFrame, style: Style) -> Sequence[Exhibit]:
        """Return a figure for each way, code length, database and kind of codes."""
        pictures = []
        keys = ("by", "bits", "database", "codes")
        for (by, bits, database, codes), group in grouped(data, *keys):
            for name, part in figures.paginate(group, style):
                measure, words = WAYS[by]
                caption = style.summary(
                    f"Precision against recall by {by} at {bits} bits ({words})",
                    measure=measure,
                    database=database,
                    codes=codes,
                    seeds=list(part["seeds"]),
                )
                title = f"{by} {bits} bits {database} {codes} {name}"
                pictures.append(figures.picture(title, caption, style, part, draw))
        return pictures


def draw(data: pd.DataFrame, style: Style) -> Any:
    """Draw one panel per dataset and task with one curve per method."""
    return plots.line_figure(
        data.sort_values("x", kind="stable"),
        style,
        "recall",
        "precision",
        ("recall", "precision"),
        lambda panel: panel.set_xlim(0, 1),
        dense=True,
    )
