"""A measure against the length of the codes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hashbench.analysis.summary import grouped, over_seeds
from hashbench.render import figures, plots
from hashbench.render.report import Exhibit, NothingToShowError, Report
from hashbench.render.style import Style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from hashbench.analysis.results import Results


class BitsCurve(Report):
    """Every measure against code length, with the spread over seeds as a band."""

    name = "bits-curve"
    title = "Code length"
    section = "Scores in detail"

    def data(self, results: Results) -> pd.DataFrame:
        """Return means and standard deviations over seeds."""
        scores = results.scores()
        if scores["bits"].nunique() < 2:
            raise NothingToShowError("one code length; two or more make a curve")
        return over_seeds(scores)

    def draw(self, data: pd.DataFrame, style: Style) -> Sequence[Exhibit]:
        """Return a figure for each measure, database and kind of codes."""
        pictures = []
        for (measure, database, codes), group in grouped(data, "measure", "database", "codes"):
            for name, part in figures.paginate(group, style):
                ticks = sorted(set(part["bits"]))

                def prepare(panel: Axes, ticks: list[int] = ticks) -> None:
                    panel.set_xscale("log", base=2)
                    panel.set_xticks(ticks, [str(bits) for bits in ticks])
                    panel.minorticks_off()

                caption = style.summary(
                    "Score against code length with standard deviations over seeds; the vertical "
                    "axis does not begin at zero",
                    measure=measure,
                    database=database,
                    codes=codes,
                    seeds=list(part["seeds"]),
                )
                title = f"{measure} {database} {codes} {name}"
                part = part.sort_values("bits", kind="stable")
                line = (plots.line_figure, "bits", "mean", ("bits", measure), prepare)
                pictures.append(figures.picture(title, caption, style, part, *line))
        return pictures
