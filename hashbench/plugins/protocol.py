"""Protocols: how the rows of a dataset become training rows, queries and database.

A protocol is one of the dataset's by name, or a choice of rows (``query=500``). The database is all
rows that are searched: *seen* ones, which are training rows, and *unseen* ones. Options make any
protocol harder: ``unseen_classes``, ``label_noise`` and ``label_fraction``. Tables print it as
text, such as ``standard; unseen_classes=0.2``. Evaluation always uses the true labels.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hashbench.core.errors import HashbenchError

Rows = npt.NDArray[np.intp]
Labels = npt.NDArray[np.uint8]

PARTS = ("query", "train", "database")

#: Keys of a selection that choose rows, in the order in which they are printed.
ROW_KEYS = (*PARTS, "permutation")

#: Options that make a protocol harder: the value without effect, and the values allowed.
OPTIONS: dict[str, tuple[Any, str]] = {
    "unseen_classes": (0.0, "a share from 0 to below 1"),
    "label_noise": (0.0, "a share from 0 to 1"),
    "label_fraction": (1.0, "a share above 0, up to 1"),
}

#: Keys of a dataset selection that are not parameters of the dataset.
RESERVED_KEYS = ("protocol", "preprocess", "copies", *ROW_KEYS, *OPTIONS)

#: What `copies` may be: queries that equal a row of the database count, or do not.
KEEP, DROP = "keep", "drop"

#: Between the name or the rows and the options, in the text of a protocol.
SEPARATOR = "; "

#: The protocol that every dataset offers.
DEFAULT = "default"

#: Fraction of the rows used as queries if neither data nor selection define a split.
DEFAULT_QUERY = 0.25

#: Parts of a database, in the order in which they are listed; `all` is the whole.
SEEN, UNSEEN, ALL = "seen", "unseen", "all"

#: Where codes come from: hash functions, or training.
ENCODED, LEARNED = "encoded", "learned"

#: Learned codes where a method has them, otherwise encoded ones, as papers compare.
EITHER = "learned-or-encoded"

ALLOWED_ROWS = "a number, a share below 1, first-N, last-N, or a file of row numbers from 0"


@dataclass(frozen=True)
class Protocol:
    """How to split a dataset.

    Attributes
    ----------
    name : a protocol of the dataset; empty if `rows` choose the rows
    rows : keys of :data:`ROW_KEYS` with their values
    unseen_classes : share of the classes that training never sees; queries have only these
    label_noise : share of the training rows whose labels are wrong
    label_fraction : share of the training rows that have labels, for supervised methods
    copies : whether queries count that equal a row of the database in the view that is searched
        with: "keep" or "drop"; empty for what the protocol does, see `drops_copies`
    """

    name: str = ""
    rows: tuple[tuple[str, str], ...] = ()
    unseen_classes: float = 0.0
    label_noise: float = 0.0
    label_fraction: float = 1.0
    copies: str = ""

    def __post_init__(self) -> None:
        if self.copies not in ("", KEEP, DROP):
            raise HashbenchError(f"copies: found {self.copies!r}; allowed: {KEEP}, {DROP}")
        for name, (_, allowed) in OPTIONS.items():
            value = getattr(self, name)
            is_flag, is_number = isinstance(value, bool), isinstance(value, int | float)
            right = is_number and not is_flag and 0 <= value <= 1
            right &= (name, value) not in (("unseen_classes", 1), ("label_fraction", 0))
            if not right:
                raise HashbenchError(f"{name}: found {value!r}; allowed: {allowed}")

    @classmethod
    def select(cls, settings: Mapping[str, Any], default: str) -> Protocol:
        """Return the protocol of a selection's settings; paths become absolute."""
        rows = tuple(
            (key, _absolute_path(str(settings[key])))
            for key in ROW_KEYS
            if settings.get(key) is not None
        )
        name = "" if rows else str(settings.get("protocol", default))
        options = {key: settings[key] for key in OPTIONS if key in settings}
        return cls(name, rows, **options, copies=str(settings.get("copies", "")))

    @classmethod
    def parse(cls, text: str) -> Protocol:
        """Return the protocol of a text that a user typed or a table printed.

        Examples
        --------
        >>> Protocol.parse("standard; label_noise=0.2").label_noise
        0.2
        """
        base, _, options = text.partition(SEPARATOR)
        rows = tuple(_key_values(base)) if "=" in base else ()
        values: dict[str, Any] = dict(_key_values(options))
        numbers = {key: float(value) for key, value in values.items() if key != "copies"}
        return cls("" if rows else base, rows, **{**values, **numbers})

    def __str__(self) -> str:
        options = [f"{name}={_short(value)}" for name, value in self.options.items()]
        options += [f"copies={self.copies}"] if self.copies else []
        return SEPARATOR.join(filter(None, (self.base, ",".join(options))))

    @property
    def base(self) -> str:
        """The protocol without its options."""
        return self.name or ",".join(f"{key}={value}" for key, value in self.rows)

    @property
    def options(self) -> dict[str, Any]:
        """The options that have an effect."""
        values = {name: getattr(self, name) for name in OPTIONS}
        return {name: value for name, value in values.items() if value != OPTIONS[name][0]}

    @property
    def label_options(self) -> str:
        """The options that change labels but no rows, as text."""
        return ",".join(
            f"{name}={_short(value)}"
            for name, value in self.options.items()
            if name in ("label_noise", "label_fraction")
        )

    def describe_options(self) -> str:
        """Return the options as a caption states them."""
        words = {
            "unseen_classes": f"{self.unseen_classes:.0%} of the classes unseen in training, "
            "queries of these only",
            "label_noise": f"{self.label_noise:.0%} of the training rows with wrong labels",
            "label_fraction": f"{self.label_fraction:.0%} of the training rows labelled",
        }
        return ", ".join(words[name] for name in self.options)

    def choose_rows(
        self, n_rows: int, given: Mapping[str, Rows], rng: np.random.Generator
    ) -> tuple[Rows, Rows, Rows]:
        """Return training rows, queries and database as chosen by `rows`.

        Queries are taken from all rows, the database from the rest, the training rows from the
        database. The default is the data's own split, or a quarter of the rows as queries, all
        others as database and half of the database as training rows. With ``permutation=SEED``,
        rows are put in the order of numpy's legacy generator with that seed: the first are
        queries, the next are training rows (all others unless ``train`` is given), and all after
        the queries are the database.
        """
        rows = dict(self.rows)
        if "permutation" in rows:
            return _permute_rows(rows, n_rows)
        own = "query" not in rows and {"train", "query"} <= set(given)
        query = (
            given["query"]
            if own
            else _take("query", rows.get("query", str(DEFAULT_QUERY)), n_rows, rng)
        )
        rest = np.setdiff1d(np.arange(n_rows), query)
        database = np.asarray(given.get("database", given["train"])) if own else rest
        if "database" in rows:
            database = _take("database", rows["database"], n_rows, rng, rest)
        own &= "database" not in rows
        if "train" in rows:
            of = np.asarray(given["train"]) if own else database
            train = _take("train", rows["train"], n_rows, rng, of)
        else:
            train = np.asarray(given["train"]) if own else half(database, rng)
        return train, np.asarray(query), seen_first(train, database)

    def apply_options(
        self, labels: Labels, parts: tuple[Rows, Rows, Rows], seed: int
    ) -> tuple[Rows, Rows, Rows]:
        """Return training rows, queries and database after the options that change rows."""
        train, query, database = parts
        if self.unseen_classes:
            hidden = unseen_classes(labels, self.unseen_classes, seed)
            seen = np.asarray(labels[:, ~hidden].any(axis=1))
            touched = np.asarray(labels[:, hidden].any(axis=1))
            train, query = train[~touched[train]], query[touched[query] & ~seen[query]]
            if not len(train) or not len(query):
                raise HashbenchError(
                    f"unseen_classes={_short(self.unseen_classes)}: found {len(train)} training "
                    f"rows without and {len(query)} queries with only unseen classes; at least one "
                    "of each"
                )
        return train, query, database

    def scored_parts(self, present: tuple[str, ...]) -> tuple[str, ...]:
        """Return the parts of the database that are scored, of those that have rows.

        Published numbers mean a protocol's whole database. Unseen classes have relevant rows
        among the unseen ones only, so that the parts would not compare.
        """
        if self.unseen_classes:
            return (ALL,)
        return (*present, ALL) if self.is_published and len(present) > 1 else present

    @property
    def is_published(self) -> bool:
        """Whether the protocol is one of a paper or of the data's authors."""
        return "permutation" in dict(self.rows) or self.name not in ("", DEFAULT)

    @property
    def drops_copies(self) -> bool:
        """Whether queries are left out that equal a row of the database; papers keep them."""
        return self.copies == DROP if self.copies else not self.is_published


def half(rows: Rows, rng: np.random.Generator) -> Rows:
    """Return a random half of some rows, sorted; of an odd number the larger half."""
    return np.sort(rng.choice(rows, size=(len(rows) + 1) // 2, replace=False))


def part_positions(is_seen: npt.NDArray[np.bool_], part: str) -> Rows:
    """Return the positions in the database of the rows of a part."""
    chosen = {SEEN: is_seen, UNSEEN: ~is_seen, ALL: np.ones(len(is_seen), bool)}
    return np.flatnonzero(chosen[part])


def seen_first(train: Rows, database: Rows) -> Rows:
    """Return the rows of a database with the training rows first, if it holds them all.

    Prepared training rows are then the first rows of the prepared database: they are stored once.
    """
    if not np.isin(train, database).all():
        return database
    return np.concatenate([train, np.setdiff1d(database, train)])


def unseen_classes(labels: Labels, share: float, seed: int) -> npt.NDArray[np.bool_]:
    """Return a mask of the classes that training never sees: a share of them, at least one."""
    classes = labels.shape[1]
    count = min(max(1, round(share * classes)), classes - 1)
    chosen = np.random.default_rng([seed, 0x05E]).choice(classes, size=count, replace=False)
    return np.isin(np.arange(classes), chosen)


def wrong_labels(labels: Labels, share: float, seed: int) -> Labels:
    """Return labels of which a share of the rows are wrong.

    Each label of such a row moves to a random class that the row does not have.
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
    """Return the positions of the training rows that have labels, at least one."""
    rng = np.random.default_rng([seed, 0x1AB])
    chosen = rng.choice(count, size=max(1, round(share * count)), replace=False)
    return np.asarray(np.sort(chosen), np.intp)


def _key_values(text: str) -> list[tuple[str, str]]:
    found = (item.partition("=") for item in text.split(",") if item)
    return [(key, value) for key, _, value in found]


def _absolute_path(text: str) -> str:
    path = Path(text).expanduser()
    return str(path.resolve()) if path.is_file() else text


def _short(value: float) -> str:
    return f"{value:g}"


def _permute_rows(rows: Mapping[str, str], n_rows: int) -> tuple[Rows, Rows, Rows]:
    if "database" in rows or "query" not in rows:
        raise HashbenchError(
            "split: found permutation without query=N or with database=; allowed: permutation, "
            "query and train"
        )
    seed, query, train = (
        _parse_whole(key, rows.get(key, "0")) for key in ("permutation", *PARTS[:2])
    )
    order = np.random.RandomState(seed).permutation(n_rows)  # the generator of the papers
    if not 1 <= query < n_rows or query + train > n_rows:
        raise HashbenchError(
            f"split: found {query} queries and {train} training rows of {n_rows}; fewer than all"
        )
    database = order[query:]
    trained = database[:train] if train else database
    return np.sort(trained), np.sort(order[:query]), np.sort(database)


def _parse_whole(key: str, text: str) -> int:
    if not text.isdecimal() or int(text) >= 1 << 32:
        raise HashbenchError(f"split: {key}: found {text!r}; allowed: a whole number")
    return int(text)


def _take(
    key: str, text: str, n_rows: int, rng: np.random.Generator, of: Rows | None = None
) -> Rows:
    """Return the rows that one key chooses, from all rows or from those given."""
    rows = np.arange(n_rows) if of is None else of
    if Path(text).is_file():
        return _read_rows(key, Path(text), n_rows)
    end, _, number = text.partition("-")
    if end in ("first", "last") and number:
        count = _parse_count(key, number, len(rows))
        return rows[:count] if end == "first" else rows[-count:]
    return np.sort(rng.permutation(rows)[: _parse_count(key, text, len(rows))])


def _parse_count(key: str, text: str, n_rows: int) -> int:
    try:
        number = float(text)
    except ValueError:
        raise HashbenchError(f"split: {key}: found {text!r}; allowed: {ALLOWED_ROWS}") from None
    share = 0 < number < 1
    if not share and not (number.is_integer() and 1 <= number <= n_rows):
        raise HashbenchError(
            f"split: {key}: found {text} of {n_rows} rows; allowed: {ALLOWED_ROWS}"
        )
    return max(1, round(number * n_rows)) if share else int(number)


def _read_rows(key: str, path: Path, n_rows: int) -> Rows:
    try:
        rows = np.load(path) if path.suffix == ".npy" else np.loadtxt(path, delimiter=None, ndmin=1)
        whole = rows.ravel().astype(np.intp)
        right = bool((rows.ravel() == whole).all()) and whole.size > 0
    except (OSError, ValueError) as error:
        raise HashbenchError(
            f"split: {key}: {path.name}: cannot be read ({error}); allowed: {ALLOWED_ROWS}"
        ) from error
    if not right or not ((whole >= 0) & (whole < n_rows)).all():
        raise HashbenchError(
            f"split: {key}: {path.name}: found rows that are not there; allowed: 0 to {n_rows - 1}"
        )
    return whole
