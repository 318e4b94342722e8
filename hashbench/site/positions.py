"""Positions of methods, datasets and measures in the page's lists, by which its data name them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from hashbench.analysis.results import Results
from hashbench.data.splits import SEARCHED, Searched
from hashbench.render.style import Style

#: The columns that name a slice; the page has one selector for each, in this order, except that
#: one selects a part of the database with the kind of codes.
SLICE = ["dataset", "task", "bits", *SEARCHED, "measure"]

#: What is searched, as the page explains it.
DATABASES = {
    "unseen": "rows that were not trained on",
    "seen": "training rows",
    "all": "the protocol's whole database",
}
CODES = {
    "encoded": "codes by the hash functions",
    "learned": "codes that training itself gave these rows",
}


@dataclass(frozen=True)
class Positions:
    """The values of each selector and the methods, in the order in which the page lists them."""

    methods: list[str]
    values: dict[str, list[Any]]

    @classmethod
    def of_study(cls, results: Results, style: Style) -> Self:
        """Return those of a study."""
        values: dict[str, list[Any]] = {
            "dataset": list(style.datasets),
            "task": list(results.tasks),
            "bits": list(results.bits),
            "database": list(results.searched),
            "measure": list(results.measures),
        }
        return cls(list(style.methods), values)

    def of(self, names: Mapping[str, Any]) -> list[int]:
        """Return the positions of a slice's values, as far as they are named."""
        if "codes" in names:
            names = {**names, "database": Searched(names["database"], names["codes"])}
        return [
            values.index(names[column]) for column, values in self.values.items() if column in names
        ]
