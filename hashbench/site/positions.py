"""Positions of methods, datasets and measures in the page's lists, by which its data name them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hashbench.analysis.results import Results
from hashbench.render.style import Style

#: The columns that name a slice; the page has one selector for each, in this order.
SLICE = ["dataset", "task", "bits", "database", "measure"]

#: Kinds of database codes, as the page explains them.
DATABASES = {
    "encoded": "the hash functions applied to the database's features",
    "learned": "codes found in training, which saw the database's labels",
}


class Positions:
    """The values of each selector and the methods, in the order in which the page lists them."""

    def __init__(self, results: Results, style: Style) -> None:
        found = set(results.scores()["database"])
        self.methods = list(style.methods)
        self.values: dict[str, list[Any]] = {
            "dataset": list(style.datasets),
            "task": list(results.tasks),
            "bits": list(results.bits),
            "database": [name for name in DATABASES if name in found],
            "measure": list(results.measures),
        }

    def of(self, names: Mapping[str, Any]) -> list[int]:
        """Return the positions of a slice's values, as far as they are named."""
        return [
            values.index(names[column]) for column, values in self.values.items() if column in names
        ]
