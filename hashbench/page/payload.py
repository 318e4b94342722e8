"""What the page knows: numbers, names and colours as plain JSON.

Values are means over seeds, rounded to what a reader can see; a thousand cells stay below a few
megabytes. Rows refer to methods, datasets and measures by their position, not by name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hashbench.plugins.method import LinearMethod, Method
from hashbench.plugins.selection import bare_name
from hashbench.printing.style import DASHES, Look, arrow, measure_words
from hashbench.results.blocks import Evidence, find_evidence
from hashbench.results.chance import at_chance
from hashbench.results.results import Results
from hashbench.results.stats import LEAST_BLOCKS, not_worse_than_best

if TYPE_CHECKING:
    import pandas as pd

DATABASES = {
    "encoded": "the hash functions applied to the database's features",
    "learned": "codes found in training, which saw the database's labels",
}

#: Points of a drawn curve at the most; more cannot be told apart on a screen.
POINTS = 60

#: Precision and recall of curves are whole numbers of this part: shorter than fractions.
SCALE = 10_000


def payload(results: Results, look: Look, index: Index) -> dict[str, Any]:
    """Return everything that the selectors, the overview and the ranking need."""
    scores, runs = results.scores(), results.runs()
    return {
        "methods": [_method(results, look, name) for name in index.methods],
        "datasets": [
            {"name": name, "title": look.datasets[name].title, "facts": look.datasets[name].facts}
            for name in index.datasets
        ],
        "tasks": [{"name": task, "title": arrow(task)} for task in index.tasks],
        "bits": list(index.bits),
        "measures": [{"name": name, "words": measure_words(name)} for name in index.measures],
        "databases": [{"name": name, "words": DATABASES[name]} for name in index.databases],
        "scores": _scores(scores, index, find_evidence(results)),
        "runs": _runs(runs, index),
    }


def curves(results: Results, index: Index) -> dict[str, Any]:
    """Return the interactive curves: by rank, and by Hamming radius."""
    found = {"rank": CurveList(index), "radius": CurveList(index)}
    for bits in results.bits:  # one length after the other: of all, points would fill the memory
        part = results.select(bits=[bits])
        found["rank"].add(part.curves("PR"))
        found["radius"].add(part.curves("PR(by=radius)"))
    return {"scale": SCALE, **{name: each.to_json() for name, each in found.items()}}


def seeds(results: Results, index: Index) -> dict[str, Any]:
    """Return what comparisons of two methods need: every seed's score, and which share a split."""
    evidence = find_evidence(results)
    blocks: list[dict[str, int]] = [{} for _ in index.datasets]
    for (dataset, seed), number in evidence.blocks.items():
        blocks[index.datasets.index(dataset)][str(seed)] = number
    scores: dict[str, dict[int, dict[str, float | None]]] = {}
    places = {name: place for place, name in enumerate(index.methods)}
    table = results.scores()
    keys = ["dataset", "task", "bits", "database", "measure"]
    for values, part in table.groupby(keys, sort=False):
        names = dict(zip(keys, values, strict=True))
        place = [*index.place(names), index.measures.index(str(names["measure"]))]
        known = scores.setdefault("-".join(map(str, place)), {})
        for method, seed, value in zip(part["method"], part["seed"], part["value"], strict=True):
            known.setdefault(places[method], {})[str(seed)] = _round(value)
    overlaps = [evidence.overlaps.get(name, 0.0) for name in index.datasets]
    return {"least": LEAST_BLOCKS, "blocks": blocks, "overlaps": overlaps, "scores": scores}


class Index:
    """The order in which things are listed, and hence their numbers."""

    def __init__(self, results: Results, look: Look) -> None:
        self.methods = list(look.methods)
        self.datasets = list(look.datasets)
        self.tasks = list(results.tasks)
        self.bits = list(results.bits)
        self.measures = list(results.measures)
        found = set(results.scores()["database"])
        self.databases = [name for name in DATABASES if name in found]

    def place(self, keys: dict[str, Any]) -> list[int]:
        """Return dataset, task, bits and database codes as positions."""
        return [
            self.datasets.index(keys["dataset"]),
            self.tasks.index(keys["task"]),
            self.bits.index(keys["bits"]),
            self.databases.index(keys["database"]),
        ]


def _method(results: Results, look: Look, name: str) -> dict[str, Any]:
    plugin = results.registry.methods.get(bare_name(name))
    shown = look.methods[name]
    about: dict[str, Any] = {
        "name": name,
        "title": shown.label,
        "colour": shown.colour,
        "marker": shown.marker,
        "dash": DASHES.index(shown.dash),
        "notes": [f"{dagger} {text}" for dagger, text in shown.notes.items()],
    }
    return {**about, **_facts(name, None if plugin is None else plugin.cls)}


def _facts(name: str, method: type[Method] | None) -> dict[str, str]:
    """Return what a reader may filter methods by."""
    settings = "tuned" if bare_name(name) != name.partition("[")[0] else "default"
    if method is None:
        return {**dict.fromkeys(("labels", "kind", "fidelity"), "not known"), "settings": settings}
    kinds = {
        "deep": "torch" in method.requires,
        "kernel": method.kernel,
        "linear": issubclass(method, LinearMethod),
        "other": True,
    }
    return {
        "labels": "supervised" if method.supervised else "unsupervised",
        "kind": next(kind for kind, holds in kinds.items() if holds),
        "fidelity": method.fidelity,
        "settings": settings,
    }


def _scores(scores: pd.DataFrame, index: Index, evidence: Evidence) -> list[dict[str, Any]]:
    """Return a block a ranking: where it stands, chance, and a row a method.

    A row is [method, mean, deviation, seeds, pessimistic, optimistic, group, at chance]; methods of
    one group cannot be told from its best over distinct splits.
    """
    blocks = []
    keys = ["dataset", "task", "bits", "database", "measure"]
    columns = ["value", "low", "high", "chance", "chance_error"]
    methods = {name: place for place, name in enumerate(index.methods)}
    for values, table in scores.groupby(keys, sort=False):
        names = dict(zip(keys, values, strict=True))
        groups = _groups(table, str(names["dataset"]), evidence)
        numbers = table[columns].to_numpy()
        rows = []
        # arrays, not tables, within a ranking: a thousand cells have thirty thousand of these
        for method, places in table.groupby("method", sort=False).indices.items():
            own = numbers[places]
            value, low, high, chance, error = own.mean(axis=0).tolist()
            about = {"value": value, "chance": chance, "chance_error": error}
            rows.append(
                [
                    methods[str(method)],
                    _round(value),
                    _round(own[:, 0].std(ddof=1)) if len(own) > 1 else None,
                    len(own),
                    _round(low),
                    _round(high),
                    groups.get(str(method)),
                    at_chance([about]),
                ]
            )
        place = [*index.place(names), index.measures.index(str(names["measure"]))]
        blocks.append({"at": place, "chance": _round(table["chance"].mean()), "rows": rows})
    return blocks


def _groups(table: pd.DataFrame, dataset: str, evidence: Evidence) -> dict[str, int]:
    """Peel off the methods not told from the best, again and again: 0 is the best group."""
    if evidence.count(dataset) < LEAST_BLOCKS:
        return {}
    wide = table.pivot(index="seed", columns="method", values="value")
    complete = evidence.averaged(wide, dataset).dropna(axis=1)
    if len(complete) < LEAST_BLOCKS:
        return {}
    overlap = evidence.overlaps[dataset]
    groups: dict[str, int] = {}
    left = [str(name) for name in complete.columns]
    while left:
        together = not_worse_than_best(complete[left].to_numpy(np.float64), overlap)
        number = 1 + max(groups.values(), default=-1)
        groups |= {name: number for name, same in zip(left, together, strict=True) if same}
        left = [name for name, same in zip(left, together, strict=True) if not same]
    return groups


def _runs(runs: pd.DataFrame, index: Index) -> list[dict[str, Any]]:
    """Return a row a method, dataset and code length: times, memory, and what went wrong."""
    found = []
    for (dataset, method, bits), table in runs.groupby(["dataset", "method", "bits"], sort=False):
        if dataset not in index.datasets or method not in index.methods or bits not in index.bits:
            continue
        wrong = table[table["status"] != "done"]
        found.append(
            {
                "at": [
                    index.datasets.index(dataset),
                    index.bits.index(bits),
                    index.methods.index(str(method)),
                ],
                "fit": _round(table["fit_seconds"].mean(), 5),
                "memory": _round(table["peak_memory"].max() / 2**20, 1),
                "wrong": [
                    {"status": status, "cells": len(each), "reason": str(each["reason"].iloc[0])}
                    for status, each in wrong.groupby("status")
                ],
            }
        )
    return found


class CurveList:
    """A curve a method: mean precision and recall, and which of the lists of x is its."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self.places: dict[tuple[int, ...], int] = {}
        self.found: list[dict[str, Any]] = []

    def add(self, table: pd.DataFrame) -> None:
        """Take in curves of every seed, as `Results.curves` gives them."""
        keys = ["dataset", "task", "bits", "database", "method"]
        points = table.groupby([*keys, "x"], sort=False, as_index=False)
        means = points[["precision", "recall"]].mean()
        numbers = means[["x", "precision", "recall"]].to_numpy()
        # arrays, not tables, within a curve: a thousand cells have a thousand curves
        places: dict[Any, Any] = means.groupby(keys, sort=False).indices
        for values, rows in places.items():
            names = dict(zip(keys, values, strict=True))
            # Ranks matter by their order of magnitude: keep points evenly in position, with ends.
            kept = np.unique(np.linspace(0, len(rows) - 1, POINTS).round().astype(int))
            x, precision, recall = numbers[rows[kept]].T
            place = [*self.index.place(names), self.index.methods.index(str(names["method"]))]
            self.found.append(
                {
                    "at": place,
                    "x": self.places.setdefault(tuple(x.astype(int).tolist()), len(self.places)),
                    "p": _scaled(precision),
                    "r": _scaled(recall),
                }
            )

    def to_json(self) -> dict[str, Any]:
        """Return the lists of x, and the curves."""
        return {"x": [list(x) for x in self.places], "curves": self.found}


def _scaled(values: npt.NDArray[np.float64]) -> list[int | None]:
    return [round(SCALE * value) if np.isfinite(value) else None for value in values.tolist()]


def _round(value: Any, digits: int = 7) -> float | None:
    """Return a number as JSON shows it; what is not a number is nothing."""
    if value is None or not np.isfinite(value):
        return None
    return round(float(value), digits)
