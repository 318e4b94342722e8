"""Harder protocols: options that make any split of any dataset harder.

``disjoint=true``, ``unseen=0.2``, ``noise=0.2`` and ``labelled=0.1`` stand behind a protocol's
name, as in ``standard; unseen=0.2``, so that results say so and a study asks for the same again.
What they draw follows from the seed. Queries and database are always judged by their true labels.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from hashbench.base.errors import HashbenchError
from hashbench.plugins.rows import Rows

#: Between a protocol's name and its hardships.
BEHIND = "; "

Labels = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Hardship:
    """What is made harder; the defaults change nothing.

    Attributes
    ----------
    disjoint : the database holds no training row
    unseen : share of the classes that training never sees; queries are theirs alone
    noise : share of the training rows whose labels are wrong
    labelled : share of the training rows that have labels; supervised methods train on these
    """

    disjoint: bool = False
    unseen: float = 0.0
    noise: float = 0.0
    labelled: float = 1.0

    def __post_init__(self) -> None:
        if not isinstance(self.disjoint, bool):
            raise HashbenchError(f"disjoint: found {self.disjoint!r}; allowed: true or false")
        for name, low, high in (("unseen", 0, 1), ("noise", 0, 1), ("labelled", 0, 1)):
            value = getattr(self, name)
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if not number or not low <= value <= high or (name, value) in ENDS:
                raise HashbenchError(f"{name}: found {value!r}; allowed: {ALLOWED[name]}")

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Hardship:
        """Return what a selection asks for, among other things."""
        return cls(**{key: settings[key] for key in KEYS if key in settings})

    @classmethod
    def parse(cls, text: str) -> Hardship:
        """Read what `str` wrote."""
        said = dict(item.split("=", 1) for item in text.split(",") if item)
        values: dict[str, Any] = {
            key: value == "true" if key == "disjoint" else float(value)
            for key, value in said.items()
        }
        return cls(**values)

    @property
    def changed(self) -> dict[str, Any]:
        """What differs from nothing, by name."""
        own = {each.name: (getattr(self, each.name), each.default) for each in fields(self)}
        return {name: value for name, (value, default) in own.items() if value != default}

    def __str__(self) -> str:
        shown = {**self.changed, **({"disjoint": "true"} if self.disjoint else {})}
        return ",".join(f"{name}={_plain(value)}" for name, value in shown.items())

    @property
    def of_labels(self) -> str:
        """The part that changes labels and no rows: what row numbers do not tell."""
        return ",".join(
            f"{key}={_plain(value)}"
            for key, value in self.changed.items()
            if key in ("noise", "labelled")
        )

    @property
    def words(self) -> str:
        """What a caption says."""
        parts = {
            "disjoint": "no training row in the database",
            "unseen": f"{self.unseen:.0%} of the classes unseen in training, queries of these only",
            "noise": f"{self.noise:.0%} of the training rows with wrong labels",
            "labelled": f"{self.labelled:.0%} of the training rows labelled",
        }
        return ", ".join(parts[name] for name in self.changed)


KEYS = tuple(each.name for each in fields(Hardship))
ENDS = {("unseen", 1), ("labelled", 0)}
ALLOWED = {
    "unseen": "a share from 0 to below 1",
    "noise": "a share from 0 to 1",
    "labelled": "a share above 0, up to 1",
}


def divide(protocol: str) -> tuple[str, Hardship]:
    """Return a protocol's own name and what is made harder."""
    name, _, text = protocol.partition(BEHIND)
    return name, Hardship.parse(text)


def harder_rows(
    hardship: Hardship, labels: Labels, parts: tuple[Rows, Rows, Rows], seed: int
) -> tuple[Rows, Rows, Rows]:
    """Return the rows trained on, asked and searched, made harder."""
    train, query, database = parts
    if hardship.unseen:
        hidden = unseen_classes(labels, hardship.unseen, seed)
        seen = np.asarray(labels[:, ~hidden].any(axis=1))
        touched = np.asarray(labels[:, hidden].any(axis=1))
        train, query = train[~touched[train]], query[touched[query] & ~seen[query]]
        if not len(train) or not len(query):
            raise HashbenchError(
                f"unseen={_plain(hardship.unseen)}: found {len(train)} training rows without and "
                f"{len(query)} queries with only unseen classes; at least one of each"
            )
    if hardship.disjoint:
        rest = np.setdiff1d(database, train)
        if not len(rest):  # all of it was trained on: half of it no longer is
            rng = np.random.default_rng([seed, 0xD15])
            rest = np.sort(rng.choice(database, size=(len(database) + 1) // 2, replace=False))
            train = np.setdiff1d(train, rest)
        database = rest
    return train, query, database


def unseen_classes(labels: Labels, share: float, seed: int) -> npt.NDArray[np.bool_]:
    """Return which classes training never sees: a share of them, at least one."""
    classes = labels.shape[1]
    count = min(max(1, round(share * classes)), classes - 1)
    chosen = np.random.default_rng([seed, 0x05E]).choice(classes, size=count, replace=False)
    return np.isin(np.arange(classes), chosen)


def wrong_labels(labels: Labels, share: float, seed: int) -> Labels:
    """Return labels of which a share of the rows are wrong.

    Each label of such a row goes to a class that the row does not have, drawn at random.
    """
    rng = np.random.default_rng([seed, 0x0E7])
    wrong = np.array(labels)
    chosen = rng.choice(len(labels), size=round(share * len(labels)), replace=False)
    for row in chosen:
        own, free = np.flatnonzero(labels[row]), np.flatnonzero(labels[row] == 0)
        moved = rng.choice(free, size=min(len(own), len(free)), replace=False)
        wrong[row] = 0
        wrong[row, moved] = 1
    return wrong


def labelled_rows(count: int, share: float, seed: int) -> Rows:
    """Return which of the training rows have labels, at least one."""
    rng = np.random.default_rng([seed, 0x1AB])
    chosen = rng.choice(count, size=max(1, round(share * count)), replace=False)
    return np.asarray(np.sort(chosen), np.intp)


def _plain(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float | int) else str(value)
