"""The preview picture of links to the page: the best methods of the study by their mean rank."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hashbench.analysis.results import Results
from hashbench.analysis.summary import mean_ranks
from hashbench.data.splits import SEARCHED
from hashbench.render import text_layout
from hashbench.render.style import Style
from hashbench.site.about import About

CARD = "card.png"

#: Size in pixels, as social networks require, and the number of methods.
WIDTH, HEIGHT, DPI = 1200, 630, 100
METHODS = 8


def write_card(results: Results, style: Style, folder: Path) -> Path | None:
    """Write the picture and return its path; return None if the study has no scores."""
    if not results.measures:
        return None
    shown = results.shown()
    scores = shown.scores([results.main_measure])
    if scores.empty:
        return None
    first = (scores[SEARCHED] == list(shown.searched[0])).all(axis=1)  # never averaged with others
    means = scores[first].groupby(["dataset", "task", "bits", "method"])["value"].mean()
    slices: list[Any] = [row.dropna().to_dict() for _, row in means.unstack("method").iterrows()]
    ranks = mean_ranks(slices)
    if not ranks:
        return None
    best = dict(list(ranks.items())[:METHODS][::-1])
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH / DPI, HEIGHT / DPI), dpi=DPI)
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0.24, 0.13, 0.70, 0.62))
    names = [text_layout.label(style, name) for name in best]
    values = [mean.score for mean in best.values()]
    axes.barh(names, values, color="#0969da")
    for position, value in enumerate(values):
        axes.text(value, position, f" {value:.3f}", va="center", fontsize=18)
    axes.tick_params(axis="y", length=0, labelsize=20)
    axes.tick_params(axis="x", labelsize=14)
    axes.set_xlabel(
        f"{results.main_measure}, {shown.searched[0]}, mean over the study", fontsize=16
    )
    axes.margins(x=0.12)
    axes.spines[["top", "right", "left"]].set_visible(False)
    about = About.of(results, style.heading)
    figure.text(
        0.04, 0.9, text_layout.printable(about.title, 52), fontsize=26, weight="bold", va="center"
    )
    count, datasets = len(style.methods), len(style.datasets)
    line = f"{count} methods on {datasets} dataset{'s' if datasets > 1 else ''}; hashbench"
    figure.text(0.04, 0.81, line, fontsize=18, color="#57606a", va="center")
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / CARD, metadata={"Software": None})
    return folder / CARD
