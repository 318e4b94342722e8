"""Scores under harder and harder protocols: fewer labels, wrong labels, classes never seen."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from hashbench.analysis.summary import grouped, over_seeds
from hashbench.plugins.protocol import OPTIONS
from hashbench.plugins.selection import without
from hashbench.render import figures, plots
from hashbench.render.report import Exhibit, NothingToShowError, Picture, Report, slices
from hashbench.render.style import Style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from hashbench.analysis.results import Results

#: The axis of each option of a protocol.
AXES = {
    "unseen_classes": "share of classes unseen in training",
    "label_noise": "share of training rows with wrong labels",
    "label_fraction": "share of training rows labelled",
}


class Robustness(Report):
    """The score against an option of the protocol: `label_noise=0|0.2|0.4`, and others."""

    name = "robustness"
    title = "Robustness"
    section = "Scores in detail"

    def data(self, results: Results) -> pd.DataFrame:
        """Return mean and deviation for every value of an option that datasets differ in.

        ``family`` is the dataset with everything but that option.
        """
        import pandas as pd

        scores = results.scores([results.main_measure])
        table = over_seeds(scores)
        table = table[table["bits"].isin(results.figure_bits)]
        cells = {cell.dataset: cell for cell in results.cells}
        parts = []
        for option in OPTIONS:
            families = {name: _family(cell, option) for name, cell in cells.items()}
            shown = table[table["dataset"].isin(families)].copy()
            shown["family"] = [families[name][0] for name in shown["dataset"]]
            shown["value"] = [families[name][1] for name in shown["dataset"]]
            shown["option"] = option
            several = shown.groupby("family")["value"].transform("nunique") > 1
            parts.append(shown[several])
        found = pd.concat(parts)
        if found.empty:
            raise NothingToShowError(
                "no dataset comes with two values of an option, as in [label_noise=0|0.2]"
            )
        columns = ["option", "family", "value", "dataset", "method", "bits", "task"]
        return found[[*columns, "database", "codes", "measure", "mean", "std", "seeds"]]

    def draw(self, data: pd.DataFrame, style: Style) -> Sequence[Exhibit]:
        """Return one figure per option, dataset, code length, database and kind of codes."""
        pictures = []
        keys = ("option", "family", "measure", "bits", "database", "codes")
        for (option, family, measure, bits, database, codes), group in grouped(data, *keys):
            caption = style.summary(
                f"Score at {bits} bits against the {AXES[option]}, with standard deviations over "
                "seeds",
                measure=measure,
                database=database,
                codes=codes,
                seeds=list(group["seeds"]),
            )
            name = f"{option} {family} {measure} {bits} bits {database} {codes}"
            # one panel per task: datasets that differ in the option alone are one
            joined = group.assign(dataset=group["dataset"].iloc[0])
            figure = figures.deferred(
                plots.line_figure,
                joined.sort_values("value", kind="stable"),
                style,
                "value",
                "mean",
                (AXES[option], measure),
                partial(_name_values, sorted(set(group["value"]))),
            )
            pictures.append(
                Picture(name, caption, figure, style.marks(group["method"]), slices(group))
            )
        return pictures


def _family(cell: Any, option: str) -> tuple[str, float]:
    """Return a dataset without one option of its protocol, and the value of the option."""
    protocol = cell.protocol
    others = [f"{key}={value}" for key, value in protocol.options.items() if key != option]
    # another preprocessing or size makes another family
    family = f"{without(cell.dataset, option)} {' '.join([protocol.base, *others])}"
    return family, float(getattr(protocol, option))


def _name_values(values: Sequence[float], panel: Axes) -> None:
    panel.set_xticks(values, [f"{value:g}" for value in values])
