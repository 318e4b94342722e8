"""A dataset on one page: its numbers, its classes, its views."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hashbench.core.errors import HashbenchError
from hashbench.data.description import Description
from hashbench.data.preprocessing import blocks, fit
from hashbench.plugins.dataset import Data, Dataset, Split

#: Rows that a scatter of a view shows; more make a blot.
SHOWN_ROWS = 2000


def draw_dataset(
    description: Description, dataset: Dataset, data: Data, split: Split, path: Path
) -> None:
    """Draw a dataset on one page, in the format that the file's suffix says."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.27, 11.69), layout="constrained")
    n_views = len(data.views)
    layout: Any = [["text"] * n_views, ["classes"] * n_views]
    layout += [[f"scatter {m}" for m in range(n_views)], [f"norms {m}" for m in range(n_views)]]
    text = description.as_text(width=120)
    inches = 0.13 * text.count("\n") + 0.2
    axes: Any = figure.subplot_mosaic(layout, height_ratios=[inches, 2.5, 3.5, 1.5])
    axes["text"].axis("off")
    axes["text"].text(0, 1, text, va="top", fontsize=7, family="monospace")
    _draw_classes(axes["classes"], data, split)
    rows = split.train[:: max(1, len(split.train) // SHOWN_ROWS)]
    for m, view in enumerate(description.views):
        transform = fit(view.preprocessing, data.views[m], split.train)
        X = np.concatenate(list(blocks(transform, data.views[m], rows)))
        _draw_scatter(axes[f"scatter {m}"], X, data.labels[rows].argmax(axis=1), view.name)
        _draw_lengths(axes[f"norms {m}"], np.linalg.norm(X, axis=1), view.name)
    title = dataset.title or description.name
    figure.suptitle(title + (" (synthetic)" if description.synthetic else ""))
    try:
        figure.savefig(path)
    except (OSError, ValueError) as error:
        raise HashbenchError(f"picture {str(path)!r}: {error}") from error


def _draw_classes(axes: Any, data: Data, split: Split) -> None:
    """Draw the size of each class: rows of the database, and queries on top of them."""
    queries = data.labels[split.query].sum(axis=0, dtype=np.int64)
    database = data.labels[split.database].sum(axis=0, dtype=np.int64)
    at = np.arange(len(queries))
    axes.bar(at, database, color="tab:blue", label="database")
    axes.bar(at, queries, bottom=database, color="tab:orange", label="query")
    axes.set(ylabel="rows")
    axes.legend(frameon=False, ncols=2, loc="lower right", bbox_to_anchor=(1, 1))
    if 0 < len(data.label_names) == len(at) <= 30:
        axes.set_xticks(at, data.label_names, rotation=45, ha="right", fontsize=7)
    else:
        axes.set_xlabel("class")


def _draw_scatter(axes: Any, X: npt.NDArray[Any], classes: npt.NDArray[np.intp], name: str) -> None:
    """Draw rows along the two directions of largest variance, coloured by their first class."""
    centred = X - X.mean(axis=0)
    smaller = centred @ centred.T if len(X) < X.shape[1] else centred.T @ centred
    vectors = np.linalg.eigh(smaller)[1][:, -2:]
    plane = vectors if len(X) < X.shape[1] else centred @ vectors
    plane = np.pad(plane, [(0, 0), (2 - plane.shape[1], 0)])  # a single column is a line
    axes.scatter(*plane[:, ::-1].T, c=classes, cmap="tab10", s=4, linewidths=0, alpha=0.7)
    axes.set(title=f"{name}, principal plane of training rows", xticks=[], yticks=[])


def _draw_lengths(axes: Any, lengths: npt.NDArray[Any], name: str) -> None:
    """Draw how long rows are; rows of one length, but for rounding, are one bar."""
    low, high = float(lengths.min()), float(lengths.max())
    if high - low <= 1e-3 * high:
        low, high = 0.9 * low, 1.1 * high or 1.0
    axes.hist(lengths, bins=41, range=(low, high), color="0.5")
    axes.set(xlabel=f"length of {name} rows", ylabel="rows")
