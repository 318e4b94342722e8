"""Splits that a selection asks for: ``query=500``, ``train=0.5``, ``database=rows.npy``.

Their text is the protocol's name, so that results say how they were divided and a study file
divides them again.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hashbench.base.errors import HashbenchError

Rows = npt.NDArray[np.intp]

PARTS = ("query", "train", "database")

#: What may be said of a split, in the order in which it is written.
KEYS = (*PARTS, "permutation")

#: The part of the rows that asks if the data have no split and none is asked for.
QUERIES = "0.25"

ALLOWED = "a number, a share below 1, first-N, last-N, or a file of row numbers from 0"


def split_text(settings: Mapping[str, Any]) -> str:
    """Return the canonical text of what a selection says of a split; paths become absolute.

    Examples
    --------
    >>> split_text({"train": 2000, "query": 0.2, "preprocess": "l2"})
    'query=0.2,train=2000'
    """
    said = []
    for key in KEYS:
        value = settings.get(key)
        if value is not None:
            text = str(value)
            path = Path(text).expanduser()
            said.append(f"{key}={path.resolve() if path.is_file() else text}")
    return ",".join(said)


def choose(
    text: str, n_rows: int, given: Mapping[str, Rows], rng: np.random.Generator
) -> tuple[Rows, Rows, Rows]:
    """Return the rows trained on, asked and searched.

    Queries are taken of all rows, the database of the rest, the training rows of the database;
    what is not said is the data's own split, or a quarter of the rows as queries and all others
    as database and training rows. With ``permutation=SEED``, rows are put in the order of
    numpy's old generator with that seed: the first are queries, the next are trained on, and all
    after the queries are searched.
    """
    said = dict(item.split("=", 1) for item in text.split(","))
    if "permutation" in said:
        return _permuted(said, n_rows)
    own = "query" not in said and {"train", "query"} <= set(given)
    query = given["query"] if own else _take("query", said.get("query", QUERIES), n_rows, rng)
    rest = np.setdiff1d(np.arange(n_rows), query)
    database = np.asarray(given.get("database", given["train"])) if own else rest
    if "database" in said:
        database = _take("database", said["database"], n_rows, rng, rest)
    train = np.asarray(given["train"]) if own and "database" not in said else database
    if "train" in said:
        train = _take("train", said["train"], n_rows, rng, train)
    return train, np.asarray(query), database


def _permuted(said: Mapping[str, str], n_rows: int) -> tuple[Rows, Rows, Rows]:
    if "database" in said or "query" not in said:
        raise HashbenchError(
            "split: found permutation without query=N or with database=; allowed: permutation, "
            "query and train"
        )
    seed, query, train = (_whole(key, said.get(key, "0")) for key in ("permutation", *PARTS[:2]))
    order = np.random.RandomState(seed).permutation(n_rows)  # the generator of the papers
    if not 1 <= query < n_rows or query + train > n_rows:
        raise HashbenchError(
            f"split: found {query} queries and {train} training rows of {n_rows}; fewer than all"
        )
    database = order[query:]
    trained = database[:train] if train else database
    return np.sort(trained), np.sort(order[:query]), np.sort(database)


def _whole(key: str, text: str) -> int:
    if not text.isdecimal() or int(text) >= 1 << 32:
        raise HashbenchError(f"split: {key}: found {text!r}; allowed: a whole number")
    return int(text)


def _take(
    key: str, text: str, n_rows: int, rng: np.random.Generator, of: Rows | None = None
) -> Rows:
    """Return the rows that one key asks for, of those it may take."""
    rows = np.arange(n_rows) if of is None else of
    if Path(text).is_file():
        return _rows_in(key, Path(text), n_rows)
    end, _, number = text.partition("-")
    if end in ("first", "last") and number:
        count = _count(key, number, len(rows))
        return rows[:count] if end == "first" else rows[-count:]
    return np.sort(rng.permutation(rows)[: _count(key, text, len(rows))])


def _count(key: str, text: str, n_rows: int) -> int:
    try:
        number = float(text)
    except ValueError:
        raise HashbenchError(f"split: {key}: found {text!r}; allowed: {ALLOWED}") from None
    share = 0 < number < 1
    if not share and not (number.is_integer() and 1 <= number <= n_rows):
        raise HashbenchError(f"split: {key}: found {text} of {n_rows} rows; allowed: {ALLOWED}")
    return max(1, round(number * n_rows)) if share else int(number)


def _rows_in(key: str, path: Path, n_rows: int) -> Rows:
    try:
        rows = np.load(path) if path.suffix == ".npy" else np.loadtxt(path, delimiter=None, ndmin=1)
        whole = rows.ravel().astype(np.intp)
        right = bool((rows.ravel() == whole).all()) and whole.size > 0
    except (OSError, ValueError) as error:
        raise HashbenchError(
            f"split: {key}: {path.name}: cannot be read ({error}); allowed: {ALLOWED}"
        ) from error
    if not right or not ((whole >= 0) & (whole < n_rows)).all():
        raise HashbenchError(
            f"split: {key}: {path.name}: found rows that are not there; allowed: 0 to {n_rows - 1}"
        )
    return whole
