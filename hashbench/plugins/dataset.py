"""Base class of datasets: aligned views with labels, and the protocols that split them.

A split follows from a dataset, a protocol and a seed. Queries are never training rows and never in
the database. By default half of the other rows train, and all of them are the database: numbers
tell its seen half from its unseen half.
"""

from __future__ import annotations

import hashlib
import typing
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy

from hashbench.core.errors import HashbenchError, unknown
from hashbench.core.parameters import Parametrised
from hashbench.core.validation import class_columns
from hashbench.plugins.downloads import DataFile
from hashbench.plugins.method import Citation
from hashbench.plugins.protocol import (
    ALL,
    DEFAULT,
    DEFAULT_QUERY,
    SEEN,
    UNSEEN,
    Protocol,
    Rows,
    half,
    part_positions,
    seen_first,
)


@dataclass(frozen=True)
class Split:
    """Rows of a dataset for training, queries and database.

    Attributes
    ----------
    train, query : rows of the dataset
    database : all rows that are searched
    altered : changes to the training labels, which row numbers do not show
    trainable : rows that count as seen, where a method trains on a part of them; `train` if None
    parts : parts of the database that are scored: "unseen", "seen" or "all"; by default those
        that have rows, and "all" if both have
    copies : queries that do not count in a view because they equal a row of the database there;
        one row of bool per view, empty if all count
    paired : whether only a query's own row is relevant, which is in the database then
    """

    train: Rows
    query: Rows
    database: Rows
    altered: str = ""
    trainable: Rows | None = None
    parts: tuple[str, ...] = ()
    copies: npt.NDArray[np.bool_] = field(default_factory=lambda: np.zeros((0, 0), bool))
    paired: bool = False

    def __post_init__(self) -> None:
        for part in ("train", "query", "database"):
            rows = np.asarray(getattr(self, part), np.intp)
            if len(rows) == 0:
                raise HashbenchError(f"split: {part} is empty; at least one row")
            if len(np.unique(rows)) != len(rows):
                raise HashbenchError(f"split: {part} names a row twice")
            object.__setattr__(self, part, rows)
        for part in ("train",) if self.paired else ("train", "database"):
            shared = np.intersect1d(self.query, getattr(self, part))
            if len(shared):
                raise HashbenchError(f"split: row {shared[0]} is in query and in {part}")
        if not self.parts:
            parts = self.present_parts
            object.__setattr__(self, "parts", parts if len(parts) == 1 else (*parts, ALL))

    @cached_property
    def is_seen(self) -> npt.NDArray[np.bool_]:
        """Whether each row of the database is a training row."""
        return np.isin(self.database, self.train if self.trainable is None else self.trainable)

    def positions(self, part: str) -> Rows:
        """Return the positions in the database of the rows of a part."""
        return part_positions(self.is_seen, part)

    @property
    def present_parts(self) -> tuple[str, ...]:
        """Those of "unseen" and "seen" that have rows."""
        return tuple(part for part in (UNSEEN, SEEN) if len(self.positions(part)))

    @cached_property
    def hash(self) -> str:
        """A short hash of all of the above, which names the split in records."""
        digest = hashlib.sha256()
        for rows in (self.train, self.query, self.database, self.is_seen, self.copies):
            digest.update(np.asarray(rows, "<i8").tobytes() + b"|")
        digest.update(f"{self.altered}|{' '.join(self.parts)}".encode())
        return digest.hexdigest()[:16]


@dataclass(frozen=True)
class ContactSheet:
    """Small pictures of all items in one: item i is in line i // columns, column i % columns.

    Attributes
    ----------
    png : the picture's file
    size : width and height of an item's picture, in pixels
    columns : pictures per line
    """

    png: bytes
    size: int
    columns: int


@dataclass
class Data:
    """A loaded dataset.

    Attributes
    ----------
    views : list of (n, d_m) arrays, memory maps, data frames or CSR matrices
    labels : (n, c) array of 0 and 1, or one class number or text per row, which is converted; or
        None: then only a query's own row is relevant, and supervised methods are skipped
    view_names, label_names : names, in the order of the views and of the label columns
    strings : text of each item for display, or None
    pictures : pictures of the items, or None
    given : the source's own rows by part ("train", "query", "database"), where it has a split
    recipe : how the features were computed, as JSON, if the file says so
    notes : facts found while loading that a reader of results should know
    """

    views: list[Any]
    labels: npt.NDArray[np.uint8] | Any
    view_names: tuple[str, ...] = ("image", "text")
    label_names: tuple[str, ...] = ()
    strings: Sequence[str] | None = None
    pictures: ContactSheet | None = None
    given: Mapping[str, Rows] = field(default_factory=dict)
    recipe: str = ""
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.views = [X.to_numpy() if hasattr(X, "to_numpy") else X for X in self.views]
        if self.labels is None:
            self.labels = np.zeros((self.views[0].shape[0], 0), np.uint8)
        self.labels, names = class_columns(self.labels)
        self.label_names = tuple(self.label_names) or names

    @property
    def n_rows(self) -> int:
        """Number of items."""
        return int(self.labels.shape[0])

    @property
    def has_labels(self) -> bool:
        """Whether there are classes."""
        return bool(self.labels.shape[1])

    @cached_property
    def fingerprint(self) -> str:
        """A hash of every view and label, and of the recipe: equal data have equal fingerprints."""
        digest = hashlib.sha256(self.recipe.encode())
        for X in (*self.views, self.labels):
            digest.update(f"{X.shape}".encode())  # a sparse matrix does not store it
            for part in array_parts(X):
                digest.update(f"{part.shape}{part.dtype.str}".encode())
                for start in range(0, part.shape[0], 1 << 14):
                    digest.update(np.ascontiguousarray(part[start : start + (1 << 14)]).data)
        return digest.hexdigest()[:16]


def array_parts(X: Any) -> tuple[npt.NDArray[Any], ...]:
    """Return the arrays that a dense or a CSR matrix consists of."""
    return (X.data, X.indices, X.indptr) if scipy.sparse.issparse(X) else (X,)  # type: ignore[attr-defined]


class SplitProtocol(typing.Protocol):
    """A named way to divide the rows of a dataset."""

    @property
    def description(self) -> str:
        """One line for listings."""

    def __call__(self, data: Data, rng: np.random.Generator) -> Split:
        """Return the split; only ``rng`` may be random."""


@dataclass(frozen=True)
class RandomQuery:
    """Random queries among the rows with labels; the other rows are the database.

    All rows of the database, or some, are training rows.

    Parameters
    ----------
    query : a fraction of the rows if below 1, otherwise their number
    train : how many of the database's rows are trained on; all if None
    """

    query: float
    train: int | None = None

    @property
    def description(self) -> str:
        """One line for listings."""
        part = f"{self.query:.0%} of the rows" if self.query < 1 else f"{self.query:.0f} rows"
        return f"{part} at random as queries, {_trained_text(self.train)}"

    def __call__(self, data: Data, rng: np.random.Generator) -> Split:
        """Return the split."""
        n = data.n_rows
        count = round(self.query * n) if self.query < 1 else int(self.query)
        _check_queries(count, n)
        order = rng.permutation(n)
        labelled = order[np.asarray(data.labels)[order].any(axis=1)] if data.has_labels else order
        _check_queries(count, len(labelled) + 1)
        query = np.sort(labelled[:count])
        database = np.setdiff1d(order, query)
        return Split(_sample_rows(database, self.train, rng), query, database)


@dataclass(frozen=True)
class HalfTrained:
    """Random queries among the rows with labels; half of the other rows train.

    All other rows are the database: a seen half and an unseen half.

    Parameters
    ----------
    query : a fraction of the rows if below 1, otherwise their number
    """

    query: float = DEFAULT_QUERY

    @property
    def description(self) -> str:
        """One line for listings."""
        part = f"{self.query:.0%} of the rows" if self.query < 1 else f"{self.query:.0f} rows"
        return f"{part} at random as queries, half of the others trained on, all others searched"

    def __call__(self, data: Data, rng: np.random.Generator) -> Split:
        """Return the split."""
        split = RandomQuery(self.query)(data, rng)
        train = half(split.database, rng)
        return Split(train, split.query, seen_first(train, split.database))


@dataclass(frozen=True)
class LastQuery:
    """The last rows are queries, the others database, as in several released files."""

    query: int
    train: int | None = None

    @property
    def description(self) -> str:
        """One line for listings."""
        return f"the last {self.query} rows as queries, {_trained_text(self.train)}"

    def __call__(self, data: Data, rng: np.random.Generator) -> Split:
        """Return the split."""
        _check_queries(self.query, data.n_rows)
        rows = np.arange(data.n_rows)
        database = rows[: -self.query]
        return Split(_sample_rows(database, self.train, rng), rows[-self.query :], database)


@dataclass(frozen=True)
class GivenSplit:
    """The split that comes with the data."""

    description: str = "the split that comes with the data"

    def __call__(self, data: Data, rng: np.random.Generator) -> Split:
        """Return the split."""
        if not {"train", "query"} <= set(data.given):
            raise HashbenchError("split: the data come without a split of their own")
        train, query = data.given["train"], data.given["query"]
        return Split(train, query, data.given.get("database", train))


def _check_queries(count: int, n_rows: int) -> None:
    if not 1 <= count < n_rows:
        raise HashbenchError(
            f"split: found {count} queries of {n_rows} rows; at least one query and one other row"
        )


def _trained_text(train: int | None) -> str:
    return "train = database" if train is None else f"{train} of the database trained on"


def _sample_rows(rows: Rows, count: int | None, rng: np.random.Generator) -> Rows:
    if count is None:
        return rows
    if not 1 <= count <= len(rows):
        raise HashbenchError(f"split: found {count} training rows of {len(rows)} in the database")
    return np.sort(rng.choice(rows, size=count, replace=False))


class Dataset(Parametrised, ABC):
    """A dataset plugin: where the data come from, how they are split and preprocessed.

    A subclass gives the class attributes below, ``load``, and an ``__init__`` if it has
    parameters, which a selection sets as in ``synthetic[rows=500]``.
    """

    plugin_kind: ClassVar[str] = "datasets"

    name: str  #: what the user types; a class attribute, except of files given by their path
    title: ClassVar[str] = ""  #: what a table prints; the name if empty
    source: ClassVar[Citation | None] = None
    licence: ClassVar[str] = ""  #: terms and attribution, where the source states them
    synthetic: ClassVar[bool] = False  #: generated data; every report states it
    protocols: ClassVar[Mapping[str, SplitProtocol]] = {DEFAULT: HalfTrained()}
    #: by name; the first is taken if none is selected. Every dataset has "default"
    preprocessing: ClassVar[str | tuple[str, ...]] = ("none", "none")
    #: one for all views, or one per view, fitted on training rows: see hashbench.data.preprocessing
    files: ClassVar[tuple[DataFile, ...]] = ()  #: its files: see hashbench.plugins.downloads

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if isinstance(cls.protocols, Mapping):  # otherwise the registry says what is wrong
            cls.protocols = {**cls.protocols, DEFAULT: cls.protocols.get(DEFAULT, HalfTrained())}

    @abstractmethod
    def load(self) -> Data:
        """Return views and labels."""

    @classmethod
    def default_protocol(cls) -> str:
        """Return the name of the protocol that is taken if none is selected: the first."""
        return next(iter(cls.protocols))

    def split(self, data: Data, protocol: str | Protocol, seed: int) -> Split:
        """Split the rows by a protocol, given as an object or as its text.

        The same seed always gives the same split.
        """
        # The stream is the split's own: no method's random state coincides with it.
        rng = np.random.default_rng([seed, 0x5B11])
        if isinstance(protocol, str):
            protocol = Protocol.parse(protocol)
        if protocol.rows:
            split = Split(*protocol.choose_rows(data.n_rows, data.given, rng))
        elif protocol.name not in self.protocols:
            raise unknown(f"protocol of {self.name}", protocol.name, self.protocols)
        else:
            split = self.protocols[protocol.name](data, rng)
        rows = split.train, split.query, split.database
        altered = f"{protocol.label_options} {seed}" if protocol.label_options else ""
        if protocol.options:
            split = Split(*protocol.apply_options(data.labels, rows, seed), altered)
        if not data.has_labels:
            return pair_queries(split)
        return replace(split, parts=protocol.scored_parts(split.present_parts))


def pair_queries(split: Split) -> Split:
    """Return a split whose database holds the queries' own rows, the only relevant ones, too."""
    database = np.concatenate([split.database, split.query])
    return replace(split, database=database, parts=(UNSEEN,), paired=True)
