"""A dataset in numbers and on one page: what it is before anything is learned from it."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hashbench.dataset import Data, Dataset, Split
from hashbench.errors import HashbenchError
from hashbench.findings import inspect, scan
from hashbench.preprocessing import blocks, declared, fit

#: Rows that a scatter of a view shows; more make a blot.
SHOWN_ROWS = 2000


@dataclass(frozen=True)
class ViewFacts:
    """One view in numbers; `density` is the part of entries that are not zero."""

    name: str
    columns: int
    dtype: str
    density: float
    copies: int
    preprocessing: str


@dataclass(frozen=True)
class SplitFacts:
    """What a protocol makes of the rows; no numbers if it cannot be applied to these data."""

    protocol: str
    description: str
    train: int | None
    query: int | None
    database: int | None


@dataclass(frozen=True)
class Description:
    """A dataset in numbers.

    Attributes
    ----------
    labels_per_row, most_labels : mean and largest number of labels a row
    chance : mean average precision expected of a random order of the database
    splits : one a protocol; chance and findings hold for `protocol` and `seed`
    """

    name: str
    synthetic: bool
    rows: int
    fingerprint: str
    views: tuple[ViewFacts, ...]
    classes: int
    labels_per_row: float
    most_labels: int
    splits: tuple[SplitFacts, ...]
    protocol: str
    seed: int
    split_hash: str
    chance: float
    findings: tuple[str, ...]
    notes: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return asdict(self)

    def as_text(self, width: int = 80) -> str:
        """Return lines of at most that width, for a terminal or a page."""
        made_up = " (synthetic)" if self.synthetic else ""
        lines = [
            f"{self.name}{made_up}: {self.rows:,} rows, {self.classes} classes, "
            f"{self.labels_per_row:.2f} labels a row (at most {self.most_labels})"
        ]
        name = max(len(view.name) for view in self.views)
        lines.append(f"  {'':{name}}  columns  not zero     type  copied rows  preprocessing")
        for view in self.views:
            lines.append(
                f"  {view.name:{name}}  {view.columns:>7}  {view.density:>8.1%}  {view.dtype:>7}"
                f"  {view.copies:>11}  {view.preprocessing}"
            )
        lines.append("protocols")
        name = max(len(split.protocol) for split in self.splits)
        for split in self.splits:
            sizes = (
                "not for these data"
                if split.query is None
                else f"train {split.train:,}, query {split.query:,}, database {split.database:,}"
            )
            lines.append(f"  {split.protocol:{name}}  {sizes}")
            lines.append(f"  {'':{name}}  {split.description}")
        lines.append(f"under {self.protocol}, seed {self.seed} (split {self.split_hash})")
        lines.append(f"  chance mAP {self.chance:.3f}")
        lines += [f"  {text}" for text in self.findings or ("nothing found that matters",)]
        lines += [f"note: {text}" for text in self.notes]
        return "\n".join(_folded(line, width) for line in lines)


def _folded(line: str, width: int) -> str:
    """Return a line in several if it is too long, the rest further in than its beginning."""
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    return textwrap.fill(
        line, width, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False
    )


def describe(
    dataset: Dataset,
    data: Data,
    protocol: str | None = None,
    seed: int = 0,
    preprocess: str | Sequence[str] | None = None,
) -> Description:
    """Return a dataset in numbers, under one of its protocols, as it is preprocessed."""
    protocol = dataset.default_protocol() if protocol is None else protocol
    preprocess = dataset.preprocessing if preprocess is None else preprocess
    split = dataset.split(data, protocol, seed)
    scans = [scan(X) for X in data.views]
    cardinality = data.labels.sum(axis=1)
    return Description(
        name=dataset.name,
        synthetic=dataset.synthetic,
        rows=data.n_rows,
        fingerprint=data.fingerprint,
        views=tuple(
            ViewFacts(
                name,
                X.shape[1],
                str(X.dtype),
                view.nonzero / (X.shape[0] * X.shape[1]),
                view.copies,
                preprocessing,
            )
            for name, X, view, preprocessing in zip(
                data.view_names,
                data.views,
                scans,
                declared(preprocess, len(data.views)),
                strict=True,
            )
        ),
        classes=data.labels.shape[1],
        labels_per_row=float(cardinality.mean()),
        most_labels=int(cardinality.max()),
        splits=tuple(_split_facts(dataset, data, each, seed) for each in dataset.protocols),
        protocol=protocol,
        seed=seed,
        split_hash=split.hash,
        chance=chance_map(data.labels[split.query], data.labels[split.database]),
        findings=tuple(str(finding) for finding in inspect(data, split, scans)),
        notes=tuple(data.notes),
    )


def _split_facts(dataset: Dataset, data: Data, protocol: str, seed: int) -> SplitFacts:
    description = dataset.protocols[protocol].description
    try:
        split = dataset.split(data, protocol, seed)
    except HashbenchError:
        return SplitFacts(protocol, description, None, None, None)
    sizes = (len(split.train), len(split.query), len(split.database))
    return SplitFacts(protocol, description, *sizes)


def chance_map(query_labels: npt.NDArray[np.uint8], labels: npt.NDArray[np.uint8]) -> float:
    """Return the mean average precision that codes without any information reach.

    All codes are equal, so every order of the database is as likely as any other.
    """
    from hashbench.measures import evaluate

    nothing, none = np.zeros((len(query_labels), 1), bool), np.zeros((len(labels), 1), bool)
    name = "AP(ties=expected)"
    return float(evaluate(nothing, none, query_labels, labels, [name])[name])


def draw(description: Description, dataset: Dataset, data: Data, split: Split, path: Path) -> None:
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
    """Draw the size of each class, what is searched below what asks."""
    asked = data.labels[split.query].sum(axis=0, dtype=np.int64)
    searched = data.labels[split.database].sum(axis=0, dtype=np.int64)
    at = np.arange(len(asked))
    axes.bar(at, searched, color="tab:blue", label="database")
    axes.bar(at, asked, bottom=searched, color="tab:orange", label="query")
    axes.set(ylabel="rows")
    axes.legend(frameon=False, ncols=2, loc="lower right", bbox_to_anchor=(1, 1))
    if 0 < len(data.label_names) == len(at) <= 30:
        axes.set_xticks(at, data.label_names, rotation=45, ha="right", fontsize=7)
    else:
        axes.set_xlabel("class")


def _draw_scatter(axes: Any, X: npt.NDArray[Any], classes: npt.NDArray[np.intp], name: str) -> None:
    """Draw rows along the two directions of largest variance; a colour a class (the first)."""
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
