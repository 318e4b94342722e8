"""Describe a dataset: its sizes, labels, splits, chance level and defects."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from hashbench.core.errors import HashbenchError
from hashbench.data.feature_scale import Scale, measure, unusual
from hashbench.data.preprocessing import steps_by_view
from hashbench.data.quality import all_digests, copied_queries, inspect, scan
from hashbench.plugins.dataset import Data, Dataset
from hashbench.plugins.protocol import Protocol


@dataclass(frozen=True)
class ViewFacts:
    """One view in numbers; `density` is the part of entries that are not zero.

    `scale` is that of the training rows after preprocessing.
    """

    name: str
    columns: int
    dtype: str
    density: float
    copies: int
    preprocessing: str
    scale: Scale


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
    labels_per_row, most_labels : mean and largest number of labels per row
    chance : mean average precision expected of a random order of the database; nan without labels
    splits : one per protocol; chance and findings hold for `protocol` and `seed`
    """

    name: str
    source: str
    licence: str
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
    recipe: str
    findings: tuple[str, ...]
    notes: tuple[str, ...]

    def as_text(self, width: int = 80) -> str:
        """Return lines of at most that width, for a terminal or a page."""
        made_up = " (synthetic)" if self.synthetic else ""
        lines = [
            f"{self.name}{made_up}: {self.rows:,} rows, {self.classes} classes, "
            f"{self.labels_per_row:.2f} labels per row (at most {self.most_labels})"
        ]
        lines += [f"  {text}" for text in (self.source, self.licence) if text]
        name = max(len(view.name) for view in self.views)
        lines.append(f"  {'':{name}}  columns  not zero     type  copied rows  preprocessing")
        for view in self.views:
            lines.append(
                f"  {view.name:{name}}  {view.columns:>7}  {view.density:>8.1%}  {view.dtype:>7}"
                f"  {view.copies:>11}  {view.preprocessing}"
            )
        lines.append(f"  {'':{name}}  {'row lengths: 5 %, median, 95 %':>30}  {'column spreads'}")
        for view in self.views:
            numbers = (*view.scale.lengths, *view.scale.spreads)
            lines.append(
                f"  {view.name:{name}}  " + "  ".join(f"{number:>8.3g}" for number in numbers)
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
        if self.classes:
            lines.append(f"  chance mAP {self.chance:.3f}")
        lines += [f"  {text}" for text in self.findings or ("nothing found that matters",)]
        recipes = json.loads(self.recipe) if self.recipe else {}
        lines += [f"{view}: {_recipe_text(recipe)}" for view, recipe in recipes.items()]
        lines += [f"note: {text}" for text in self.notes]
        return "\n".join(_wrap_line(line, width) for line in lines)


def _recipe_text(recipe: dict[str, str]) -> str:
    return ", ".join(
        f"{key} {value[:16] if key == 'weights' else value}" for key, value in recipe.items()
    )


def _wrap_line(line: str, width: int) -> str:
    """Break a line at a width; lines after the first are indented further."""
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    return textwrap.fill(
        line, width, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False
    )


def describe(
    dataset: Dataset,
    data: Data,
    protocol: Protocol | None = None,
    seed: int = 0,
    preprocess: str | Sequence[str] | None = None,
) -> Description:
    """Return a dataset in numbers, under one of its protocols, as it is preprocessed."""
    protocol = Protocol(dataset.default_protocol()) if protocol is None else protocol
    preprocess = dataset.preprocessing if preprocess is None else preprocess
    split = dataset.split(data, protocol, seed)
    scans = [scan(X) for X in data.views]
    if protocol.drops_copies and not split.paired:
        split = replace(split, copies=copied_queries(all_digests(scans), split))
    steps = steps_by_view(preprocess, data.view_names)
    scales = [measure(text, X, split.train) for text, X in zip(steps, data.views, strict=True)]
    cardinality = data.labels.sum(axis=1)
    return Description(
        name=dataset.name,
        source=str(dataset.source or ""),
        licence=dataset.licence,
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
                text,
                scale,
            )
            for name, X, view, text, scale in zip(
                data.view_names, data.views, scans, steps, scales, strict=True
            )
        ),
        classes=data.labels.shape[1],
        labels_per_row=float(cardinality.mean()),
        most_labels=int(cardinality.max(initial=0)),
        splits=tuple(_split_facts(dataset, data, each, seed) for each in dataset.protocols),
        protocol=str(protocol),
        seed=seed,
        split_hash=split.hash,
        chance=(
            chance_map(data.labels[split.query], data.labels[split.database])
            if data.has_labels
            else float("nan")
        ),
        recipe=data.recipe,
        findings=(
            *(str(finding) for finding in inspect(data, split, scans)),
            *unusual(data.view_names, scales),
        ),
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
