"""What the page knows: numbers, names and colours as plain JSON.

Values are means over seeds, rounded to what a reader can see; a thousand cells stay below a few
megabytes. Rows refer to methods, datasets and measures by their position, not by name.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hashbench.plugins.method import LinearMethod, Method
from hashbench.plugins.selection import bare_name
from hashbench.render.colours import DASHES
from hashbench.render.style import Style, arrow, measure_words
from hashbench.analysis.evidence import Evidence, find_evidence
from hashbench.analysis.chance import at_chance
from hashbench.analysis.compare import LEAST_P, compare_all
from hashbench.analysis.results import Results
from hashbench.analysis.tests import LEAST_BLOCKS, not_worse_than_best
from hashbench.analysis.summary import BySeed, by_seed, rows_by

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


def payload(results: Results, style: Style, index: Index) -> dict[str, Any]:
    """Return everything that the selectors, the overview and the ranking need."""
    scores, runs = results.scores(), results.runs()
    return {
        "methods": [_method(results, style, name) for name in index.methods],
        "datasets": [
            {"name": name, "title": style.datasets[name].title, "facts": style.datasets[name].facts}
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
    """Return what comparisons of two methods need.

    Every seed's score, which seeds share a split, and, where splits are too few, what the items
    that ask say of every two methods.
    """
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
    return {
        "least": LEAST_BLOCKS,
        "blocks": blocks,
        "overlaps": [evidence.overlaps.get(name, 0.0) for name in index.datasets],
        "scores": scores,
        "items": _over_items(results, index, evidence),
    }


def _over_items(results: Results, index: Index, evidence: Evidence) -> dict[str, Any]:
    """Return the comparisons over items, of datasets with too few splits for a test over them.

    Of the study's first measure: for others a query's values would have to be computed again.
    """
    found: dict[str, Any] = {}
    few = [name for name in index.datasets if 0 < evidence.count(name) < LEAST_BLOCKS]
    for dataset, bits in itertools.product(few if results.measures else (), index.bits):
        compared = compare_all(results, dataset, bits, results.main_measure)
        for (task, database), (methods, pairs) in compared.items():
            names = {"dataset": dataset, "task": task, "bits": bits, "database": database}
            place = [*index.place(names), index.measures.index(results.main_measure)]
            found["-".join(map(str, place))] = {
                "methods": [index.methods.index(name) for name in methods],
                "low": [_round(value, 5) for value in pairs.low],
                "high": [_round(value, 5) for value in pairs.high],
                "p": [_round(max(value, LEAST_P)) for value in pairs.p_value],
            }
    return {"least": LEAST_P, "found": found}


class Index:
    """The order in which things are listed, and hence their numbers."""

    def __init__(self, results: Results, style: Style) -> None:
        self.methods = list(style.methods)
        self.datasets = list(style.datasets)
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


def _method(results: Results, style: Style, name: str) -> dict[str, Any]:
    plugin = results.registry.methods.get(bare_name(name))
    shown = style.methods[name]
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
        "linear": method.linear,
        "other": True,
    }
    return {
        "labels": "supervised" if method.supervised else "unsupervised",
        "kind": next(kind for kind, holds in kinds.items() if holds),
        "fidelity": method.paper.fidelity,
        "settings": settings,
    }


def _scores(scores: pd.DataFrame, index: Index, evidence: Evidence) -> list[dict[str, Any]]:
    """Return a block a ranking: where it stands, chance, and a row a method.

    A row is [method, mean, deviation, seeds, pessimistic, optimistic, group, at chance]; methods of
    one group cannot be told from its best over distinct splits.
    """
    blocks = []
    keys = ["dataset", "task", "bits", "database", "measure"]
    methods = {name: place for place, name in enumerate(index.methods)}
    # arrays, not tables: a thousand cells have thirty thousand numbers
    named = scores["method"].tolist()
    numbers = scores[["value", "low", "high", "chance", "chance_error"]].to_numpy(np.float64)
    parts = zip(rows_by(scores, keys), by_seed(scores, keys), strict=True)
    for (values, all_rows), (_, wide) in parts:
        names = dict(zip(keys, values, strict=True))
        groups = _groups(wide, str(names["dataset"]), evidence)
        own_rows: dict[str, list[int]] = {}
        for place in all_rows.tolist():
            own_rows.setdefault(named[place], []).append(place)
        rows = []
        for method, places in own_rows.items():
            own = numbers[places]
            value, low, high, chance, error = own.mean(axis=0).tolist()
            about = {"value": value, "chance": chance, "chance_error": error}
            rows.append(
                [
                    methods[method],
                    _round(value),
                    _round(own[:, 0].std(ddof=1)) if len(own) > 1 else None,
                    len(own),
                    _round(low),
                    _round(high),
                    groups.get(method),
                    at_chance([about]),
                ]
            )
        place = [*index.place(names), index.measures.index(str(names["measure"]))]
        chance = _known(numbers[all_rows, 3])
        mean = _round(chance.mean()) if len(chance) else None
        blocks.append({"at": place, "chance": mean, "rows": rows})
    return blocks


def _groups(wide: BySeed, dataset: str, evidence: Evidence) -> dict[str, int]:
    """Peel off the methods not told from the best, again and again: 0 is the best group."""
    if evidence.count(dataset) < LEAST_BLOCKS:
        return {}
    table = evidence.averaged(wide.values, wide.seeds, dataset)
    if len(table) < LEAST_BLOCKS:
        return {}
    overlap = evidence.overlaps[dataset]
    groups: dict[str, int] = {}
    left = np.flatnonzero(~np.isnan(table).any(axis=0))
    number = 0
    while len(left):
        together = not_worse_than_best(table[:, left], overlap)
        groups |= {wide.methods[place]: number for place in left[together]}
        left = left[~together]
        number += 1
    return groups


def _runs(runs: pd.DataFrame, index: Index) -> list[dict[str, Any]]:
    """Return a row a method, dataset and code length: times, memory, and what went wrong."""
    found = []
    seconds, memory = (runs[name].to_numpy(np.float64) for name in ("fit_seconds", "peak_memory"))
    statuses, reasons = runs["status"].tolist(), runs["reason"].tolist()
    for (dataset, method, bits), own in rows_by(runs, ["dataset", "method", "bits"]):
        if dataset not in index.datasets or method not in index.methods or bits not in index.bits:
            continue
        wrong: dict[str, list[str]] = {}
        for row in own.tolist():
            if statuses[row] != "done":
                wrong.setdefault(statuses[row], []).append(str(reasons[row]))
        fit, peak = _known(seconds[own]), _known(memory[own])
        found.append(
            {
                "at": [
                    index.datasets.index(dataset),
                    index.bits.index(bits),
                    index.methods.index(str(method)),
                ],
                "fit": _round(fit.mean(), 5) if len(fit) else None,
                "memory": _round(peak.max() / 2**20, 1) if len(peak) else None,
                "wrong": [
                    {"status": status, "cells": len(said), "reason": said[0]}
                    for status, said in sorted(wrong.items())
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
    finite = np.isfinite(values)
    whole: list[int | None] = np.where(finite, SCALE * values, 0).round().astype(int).tolist()
    for place in np.flatnonzero(~finite).tolist():
        whole[place] = None
    return whole


def _known(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the numbers that there are."""
    return values[~np.isnan(values)]


def _round(value: Any, digits: int = 7) -> float | None:
    """Return a number as JSON shows it; what is not a number is nothing."""
    if value is None or not math.isfinite(value):
        return None
    return round(float(value), digits)
