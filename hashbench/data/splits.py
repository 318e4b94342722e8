"""What the store keeps of a split: rows, labels and strings, all that measures and reports need."""

from __future__ import annotations

import hashlib
import itertools
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from hashbench.core.codes import Words, pack, unpack
from hashbench.core.errors import DamagedError
from hashbench.core.io import arrays_checksum, load_checked_arrays, save_checked_arrays
from hashbench.plugins.dataset import ContactSheet, Data, Split
from hashbench.plugins.protocol import ALL, Rows, part_positions

TEXTS = ("parts", "view_names", "label_names", "query_strings", "database_strings")


class SearchTask(NamedTuple):
    """A task: queries of one view against the database of another.

    Attributes
    ----------
    name : ``image->text``
    asked, searched : the positions of the two views
    """

    name: str
    asked: int
    searched: int


class Searched(NamedTuple):
    """What is searched: a part of the database, and which codes of it.

    Attributes
    ----------
    database : "unseen", "seen" or "all"
    codes : "encoded", or "learned", which only seen rows have
    """

    database: str
    codes: str

    def __str__(self) -> str:
        part = "whole" if self.database == ALL else self.database
        return f"{part} database, {self.codes} codes"


#: The columns of tables that say what was searched.
SEARCHED = [*Searched._fields]


@dataclass(frozen=True, eq=False)
class StoredSplit:
    """A split with what is shown and judged of its rows.

    Attributes
    ----------
    train, query, database : rows of the dataset
    is_seen : whether each row of the database is a training row
    copies : (views, queries) queries that do not count, see
        :class:`hashbench.plugins.dataset.Split`
    parts : parts of the database that are scored, see :class:`hashbench.plugins.dataset.Split`
    query_labels, database_labels : packed, 64 classes to a word
    n_labels : number of classes
    view_names, label_names : names; those of labels may be missing
    query_strings, database_strings : what a report shows for an item, or None
    columns : of each view, before preprocessing; empty if not known
    """

    train: Rows
    query: Rows
    database: Rows
    is_seen: npt.NDArray[np.bool_]
    parts: tuple[str, ...]
    query_labels: Words
    database_labels: Words
    n_labels: int
    view_names: tuple[str, ...] = ("image", "text")
    label_names: tuple[str, ...] = ()
    query_strings: tuple[str, ...] | None = None
    database_strings: tuple[str, ...] | None = None
    columns: tuple[int, ...] = ()
    copies: npt.NDArray[np.bool_] = field(default_factory=lambda: np.zeros((0, 0), bool))

    @classmethod
    def of(cls, split: Split, data: Data) -> Self:
        """Return what is to be kept of a split of a dataset."""
        strings: dict[str, tuple[str, ...]] = {}
        if data.strings is not None:
            for part in ("query", "database"):
                chosen = (str(data.strings[row]) for row in getattr(split, part))
                strings[f"{part}_strings"] = tuple(chosen)
        return cls(
            train=split.train,
            query=split.query,
            database=split.database,
            is_seen=split.is_seen,
            parts=split.parts,
            query_labels=_pack_labels(data.labels[split.query]),
            database_labels=_pack_labels(data.labels[split.database]),
            n_labels=int(data.labels.shape[1]),
            view_names=tuple(data.view_names),
            label_names=tuple(data.label_names),
            columns=tuple(int(X.shape[1]) for X in data.views),
            copies=split.copies,
            **strings,
        )

    def _arrays(self) -> dict[str, Any]:
        """Return an array an attribute; what is None is left out."""
        arrays: dict[str, Any] = {
            name: getattr(self, name)
            for name in (
                "train", "query", "database", "is_seen", "query_labels", "database_labels",
                "copies",
            )
        }  # fmt: skip
        arrays["n_labels"] = np.asarray(self.n_labels)
        arrays["columns"] = np.asarray(self.columns, np.int64)
        for name in TEXTS:
            texts = getattr(self, name)
            if texts is not None:
                arrays[name] = np.asarray(texts, dtype=np.str_)
        return arrays

    def save(self, path: Path) -> None:
        """Write an npz file with an array an attribute, and their checksum."""
        save_checked_arrays(path, self._arrays())

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read what `save` wrote; DamagedError if it is not that any more."""
        arrays: dict[str, Any] = dict(load_checked_arrays(path))
        try:
            for name in (*TEXTS, "columns"):
                if name in arrays:
                    arrays[name] = tuple(arrays[name].tolist())
            return cls(**{**arrays, "n_labels": int(arrays["n_labels"])})
        except (TypeError, KeyError, ValueError) as error:
            raise DamagedError(f"it is no split ({error})") from error

    @cached_property
    def checksum(self) -> str:
        """A hash of everything above."""
        return arrays_checksum(self._arrays())

    def positions(self, part: str) -> Rows:
        """Return the positions in the database of the rows of a part."""
        return part_positions(self.is_seen, part)

    def copied(self, task: SearchTask) -> npt.NDArray[np.bool_] | None:
        """Return which queries do not count in a task; None if all do."""
        return self.copies[task.asked] if self.copies.any() else None

    @cached_property
    def labels_per_row(self) -> float:
        """Mean number of labels of queries and database rows."""
        words = np.concatenate([self.query_labels, self.database_labels])
        return float(np.bitwise_count(words).sum() / len(words))

    def partners(self, part: str) -> Rows:
        """Return the position of each query's own row among the rows of a part, -1 for none."""
        rows = self.database[self.positions(part)]
        order = np.argsort(rows, kind="stable")
        found = np.minimum(np.searchsorted(rows, self.query, sorter=order), len(rows) - 1)
        return np.where(rows[order[found]] == self.query, order[found], -1)

    @cached_property
    def learned_rows(self) -> Rows | None:
        """The training row of every seen row of the database; None if some were not trained on."""
        order = np.argsort(self.train, kind="stable")
        seen = self.database[self.is_seen]
        if not len(seen) or not np.isin(seen, self.train).all():
            return None
        return np.asarray(order[np.searchsorted(self.train, seen, sorter=order)], np.intp)

    @property
    def tasks(self) -> tuple[SearchTask, ...]:
        """Every view against every other, in their order."""
        return tuple(
            SearchTask(f"{asked}->{searched}", a, b)
            for (a, asked), (b, searched) in itertools.permutations(enumerate(self.view_names), 2)
        )

    def string(self, part: str, position: int) -> str:
        """Return what a report shows for a query or an item; nothing if there is nothing."""
        strings = self.query_strings if part == "query" else self.database_strings
        return "" if strings is None else strings[position]

    def labels(self, part: str, position: int) -> list[str]:
        """Return the names of the labels of a query or an item; numbers if they have no names."""
        words = self.query_labels if part == "query" else self.database_labels
        has = unpack(words[[position]], self.n_labels)[0]
        named = len(self.label_names) == len(has)
        names = self.label_names if named else [f"label {number}" for number in range(len(has))]
        return [name for name, there in zip(names, has, strict=True) if there]


def _pack_labels(labels: npt.NDArray[np.uint8]) -> Words:
    """Return packed labels; one word of zeros where there are no classes."""
    return pack(labels.astype(bool) if labels.shape[1] else np.zeros((len(labels), 1), bool))


def split_name(fingerprint: str, split: Split) -> str:
    """Return a name for a split of one dataset: rows alone do not tell whose rows they are."""
    return hashlib.sha256(f"{fingerprint} {split.hash}".encode()).hexdigest()[:16]


def pictures_name(fingerprint: str) -> str:
    """Return the name of the file with a dataset's pictures, beside those of its splits."""
    return f"pictures-{fingerprint}"


def save_pictures(pictures: ContactSheet, path: Path) -> None:
    """Write the pictures of a dataset's items, so that reports never need the dataset."""
    arrays = {
        "png": np.frombuffer(pictures.png, np.uint8),
        "size": np.asarray(pictures.size),
        "columns": np.asarray(pictures.columns),
    }
    save_checked_arrays(path, arrays)


def load_pictures(path: Path) -> ContactSheet:
    """Read what :func:`save_pictures` wrote."""
    arrays = load_checked_arrays(path)
    return ContactSheet(arrays["png"].tobytes(), int(arrays["size"]), int(arrays["columns"]))
