"""Scores under harder and harder protocols: fewer labels, wrong labels, classes never seen."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from hashbench.plugins.hardship import KEYS, divide
from hashbench.plugins.report import Exhibit, NothingToShowError, Picture, Report, slices
from hashbench.plugins.selection import without
from hashbench.printing import figures
from hashbench.printing.style import Look
from hashbench.results.summary import grouped, over_seeds

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from hashbench.results.results import Results

#: Along the axis: what each hardship is the strength of.
AXES = {
    "disjoint": "database without training rows",
    "unseen": "share of classes unseen in training",
    "noise": "share of training rows with wrong labels",
    "labelled": "share of training rows labelled",
}


class Robustness(Report):
    """The score against the strength of a hardship: `noise=0|0.2|0.4`, and others."""

    name = "robustness"
    title = "Robustness"
    section = "Scores in detail"

    def data(self, results: Results) -> pd.DataFrame:
        """Return mean and deviation for every strength of a hardship that datasets differ in.

        ``family`` is the dataset with everything but that hardship.
        """
        import pandas as pd

        scores = results.scores([results.main_measure])
        table = over_seeds(scores.drop(columns=["low", "high", "chance"]))
        table = table[table["bits"].isin(results.figure_bits)]
        cells = {cell.dataset: cell for cell in results.cells}
        parts = []
        for hardship in KEYS:
            places = {name: _place(cell, hardship) for name, cell in cells.items()}
            shown = table[table["dataset"].isin(places)].copy()
            shown["family"] = [places[name][0] for name in shown["dataset"]]
            shown["strength"] = [places[name][1] for name in shown["dataset"]]
            shown["hardship"] = hardship
            several = shown.groupby("family")["strength"].transform("nunique") > 1
            parts.append(shown[several])
        found = pd.concat(parts)
        if found.empty:
            raise NothingToShowError(
                "no dataset comes with two strengths of a hardship, as in [noise=0|0.2]"
            )
        columns = ["hardship", "family", "strength", "dataset", "method", "bits", "task"]
        return found[[*columns, "database", "measure", "mean", "std", "seeds"]]

    def draw(self, data: pd.DataFrame, look: Look) -> Sequence[Exhibit]:
        """Return a figure a hardship, dataset, code length and kind of database codes."""
        pictures = []
        keys = ("hardship", "family", "measure", "bits", "database")
        for (hardship, family, measure, bits, database), group in grouped(data, *keys):
            caption = look.caption(
                f"Score at {bits} bits against the {AXES[hardship]}; bands are standard deviations "
                "over seeds",
                group["dataset"],
                measure=measure,
                database=database,
                seeds=list(group["seeds"]),
            )
            name = f"{hardship} {family} {measure} {bits} bits {database}"
            # one panel a task: datasets that differ in the strength alone are one
            joined = group.assign(dataset=group["dataset"].iloc[0])
            figure = figures.later(
                figures.line_figure,
                joined.sort_values("strength", kind="stable"),
                look,
                "strength",
                "mean",
                (AXES[hardship], measure),
                partial(_name_strengths, sorted(set(group["strength"]))),
            )
            pictures.append(
                Picture(name, caption, figure, look.notes(group["method"]), slices(group))
            )
        return pictures


def _place(cell: Any, hardship: str) -> tuple[str, float]:
    """Return a dataset without one hardship, and how strong that is."""
    name, harder = divide(cell.protocol)
    others = [f"{key}={value}" for key, value in harder.changed.items() if key != hardship]
    # another preprocessing or size makes another family
    family = f"{without(cell.dataset, hardship)} {' '.join([name, *others])}"
    return family, float(getattr(harder, hardship))


def _name_strengths(strengths: Sequence[float], panel: Axes) -> None:
    panel.set_xticks(strengths, [f"{strength:g}" for strength in strengths])
