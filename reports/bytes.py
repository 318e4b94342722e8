"""Scores by the bytes that an item takes in an index: codes, quantisers and floats together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hashbench.analysis.summary import SEARCHED, grouped, over_seeds
from hashbench.render import figures, plots
from hashbench.render.colours import GREY
from hashbench.render.daggers import NOT_HAMMING
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
from hashbench.render.style import MethodStyle, Style, arrow

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from hashbench.analysis.results import Results

#: Methods with Hamming distances that have a colour before those with other distances.
LEADING = 3


class Bytes(Report):
    """Score against bytes per item: Hamming codes, quantisers and floats together."""

    name = "bytes"
    title = "Equal bytes"
    section = "Scores in detail"

    def data(self, results: Results) -> pd.DataFrame:
        """Return means over seeds for every method and size of an item."""
        runs = results.runs()
        sizes = runs[["dataset", "method", "bits", "seed", "hamming", "item_bytes"]]
        scores = results.scores([results.main_measure])
        if scores.empty:
            raise NothingToShowError("no cell is done")
        table = scores.merge(sizes, on=["dataset", "method", "bits", "seed"])
        table["hamming"] = table["hamming"].eq(True)
        if table["hamming"].all():
            raise NothingToShowError("no method compares vectors; pq and real-valued do")
        # floats are the same at every code length
        keys = ["dataset", "method", "seed", "task", *SEARCHED, "measure", "hamming", "item_bytes"]
        return over_seeds(table.groupby(keys, sort=False)["value"].mean().reset_index())

    def draw(self, data: pd.DataFrame, style: Style) -> Sequence[Exhibit]:
        """Return figures and, for each dataset, a table with what it finds."""
        exhibits: list[Exhibit] = []
        for (measure, database, codes), group in grouped(data, "measure", *SEARCHED):
            about = {"measure": measure, "database": database, "codes": codes}
            coloured = _with_both_kinds(style, group)
            for name, part in figures.paginate(group, style):
                caption = style.summary(
                    "Score against bytes per item; the vertical axis does not begin at zero",
                    **about,
                    seeds=list(part["seeds"]),
                )
                title = f"{measure} {database} {codes} {name}"
                exhibits.append(figures.picture(title, caption, coloured, part, _figure))
            for dataset, part in grouped(group, "dataset"):
                exhibits.append(_table(part, style, dataset, about))
        return exhibits


def _with_both_kinds(style: Style, data: pd.DataFrame) -> Style:
    """Return a style in which the best of both kinds of methods have a colour."""
    means = data.groupby(["method", "hamming"])["mean"].mean().sort_values(ascending=False)
    codes, others = (
        [method for method, hamming in means.index if hamming is kind] for kind in (True, False)
    )
    return replace(style, preferred=(*codes[:LEADING], *others, *codes[LEADING:]))


def _figure(data: pd.DataFrame, style: Style) -> Any:
    panels, methods = figures.list_panels(data, style), style.ordered(data["method"])
    styles = style.figure_styles(methods)
    coloured = [method for method in methods if styles[method].colour != GREY]
    figure, axes = figures.make_figure(
        style, len(panels), figures.PANEL_HEIGHT, len(methods), columns=2
    )
    figures.share_axes(axes, panels, "y")
    for panel, (dataset, task) in zip(axes, panels, strict=True):
        part = data[(data["dataset"] == dataset) & (data["task"] == task)]
        _size_axis(panel, part["item_bytes"])
        lines = dict(grouped(part.sort_values("item_bytes", kind="stable"), "method"))
        for method in sorted(lines, key=coloured.__contains__):
            line, shown = lines[method], styles[method]
            if method in coloured:
                panel.plot(line["item_bytes"], line["mean"], **_line_style(shown))
                plots.plot_band(panel, shown, line["item_bytes"], line["mean"], line["std"], (0, 1))
            else:
                grey: dict[str, Any] = {"color": shown.colour, "linewidth": 0.6, "zorder": 1.5}
                panel.plot(line["item_bytes"], line["mean"], marker=".", **grey)
    figures.write_titles(style, axes, panels)
    figures.name_axes(axes, "bytes per item", str(data["measure"].iloc[0]))
    keys = {
        "other distances": figures.key_style(line="-"),
        "Hamming distances": figures.key_style(filled=False, line="-"),
    }
    figures.shared_legend(figure, style, figures.by_value(data, "mean"), _line_style, keys)
    return figure


def _size_axis(panel: Axes, sizes: pd.Series[float]) -> None:
    """Make the horizontal axis logarithmic, with powers of two."""
    low, high = sizes.min(), sizes.max()
    powers = [2**k for k in range(21) if low / 2 < 2**k < high * 2]
    ticks = powers[:: -(-len(powers) // 9)]
    panel.set_xscale("log", base=2)
    panel.set_xticks(ticks, [f"{tick}" for tick in ticks])
    panel.minorticks_off()


def _line_style(method: MethodStyle) -> dict[str, Any]:
    """Return how the line of a method looks: with filled markers if it has no Hamming codes."""
    filled = {"markerfacecolor": method.colour} if NOT_HAMMING in method.mark else {}
    return figures.line_style(method) | filled


def _table(data: pd.DataFrame, style: Style, dataset: str, about: dict[str, str]) -> Table:
    sizes = sorted(set(data["item_bytes"]))
    groups = []
    for task, part in grouped(data, "task"):
        means = part.pivot(index="method", columns="item_bytes", values="mean")
        best = means.max()
        rows = [
            [
                method_cell(style, method, about["codes"]),
                *(_entry(means.loc[method].get(size), best.get(size)) for size in sizes),
            ]
            for method in style.ordered(means.index)
        ]
        groups.append(Group(arrow(task), rows))
    title = style.datasets[dataset].title
    return Table(
        f"{about['measure']} {about['database']} {about['codes']} {dataset} table",
        style.summary(f"Scores on {title} by bytes per item", **about, seeds=list(data["seeds"])),
        [[("", 1), ("bytes per item", len(sizes))], [("", 1), *((f"{s:g}", 1) for s in sizes)]],
        groups,
        "l" + "r" * len(sizes),
        [*findings(data, style, title), *style.marks(data["method"])],
        slices(data),
    )


def _entry(mean: float | None, best: float | None) -> TableCell:
    if mean is None or mean != mean:
        return TableCell("")
    return TableCell(f"{mean:.4f}", bold=mean == best)


def findings(data: pd.DataFrame, style: Style, title: str) -> Iterator[str]:
    """Yield a sentence for every size that items with Hamming codes and others have."""
    means = data.groupby(["item_bytes", "hamming", "method"])["mean"].mean()
    for size, group in means.groupby("item_bytes"):
        scores = group.droplevel("item_bytes").sort_values(ascending=False)
        kinds = {kind: scores[kind] for kind in (True, False) if kind in scores.index}
        if len(kinds) < 2:
            continue
        others = ", ".join(f"{style.methods[m].title} {x:.4f}" for m, x in kinds[False].items())
        best = kinds[True].index[0]
        yield (
            f"At {size:g} bytes per item on {title}, the best of {len(kinds[True])} methods with "
            f"Hamming distances is {style.methods[best].title} with {kinds[True].iloc[0]:.4f} "
            f"(mean of the tasks); with other distances: {others}."
        )
