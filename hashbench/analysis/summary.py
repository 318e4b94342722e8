"""Means over seeds, and who is best: what most tables and figures show of scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hashbench.analysis import tests
from hashbench.data.splits import SEARCHED
from hashbench.plugins.numerical_tolerance import tolerance

if TYPE_CHECKING:
    import pandas as pd

    from hashbench.analysis.results import Results


def grouped(table: pd.DataFrame, *keys: str) -> Iterator[tuple[Any, pd.DataFrame]]:
    """Yield the groups of a table in their order: the values of the keys, and the rows."""
    for values, group in table.groupby(list(keys), sort=False, observed=True):
        yield (values if len(keys) > 1 else values[0]), group


def records(table: pd.DataFrame) -> list[Any]:
    """Return the rows of a table, their fields as attributes."""
    return list(table.itertuples(index=False))


#: Columns of scores that no group depends on.
EXTRA_COLUMNS = ("pessimistic", "optimistic", "chance", "chance_error")


def over_seeds(table: pd.DataFrame, values: Sequence[str] = ("value",)) -> pd.DataFrame:
    """Return means over seeds.

    Parameters
    ----------
    table : a tidy table with a column "seed"
    values : the columns with numbers; all others but `EXTRA_COLUMNS` define the groups

    Returns
    -------
    DataFrame
        The other columns; for one value "mean", "std" and "seeds", for several each under its own
        name and another with "_std". The standard deviation is that of a sample, 0 for one seed.
    """
    keys = [name for name in table.columns if name not in (*values, "seed", *EXTRA_COLUMNS)]
    groups = table.groupby(keys, sort=False, observed=True, dropna=False)
    summary = groups[list(values)].mean()
    spread = groups[list(values)].std(ddof=1).fillna(0.0)
    for name in values:
        summary[f"{name}_std"] = spread[name]
    summary["seeds"] = groups["seed"].nunique()
    if len(values) == 1:
        summary = summary.rename(columns={values[0]: "mean", f"{values[0]}_std": "std"})
    return summary.reset_index()


def one_database(scores: pd.DataFrame) -> pd.DataFrame:
    """Return the scores of one part of the database and one kind of codes per dataset: the first.

    What averages over tasks or methods must not average over these.
    """
    searched = scores[SEARCHED]
    first = scores.groupby("dataset", sort=False)[SEARCHED].transform("first")
    return scores[(searched == first).all(axis=1)]


class BySeed(NamedTuple):
    """Scores of one comparison: one row per seed, one column per method, nan if there is none."""

    seeds: list[int]
    methods: list[str]
    values: tests.Floats


def by_seed(scores: pd.DataFrame, keys: Sequence[str]) -> Iterator[tuple[tuple[Any, ...], BySeed]]:
    """Yield comparisons in their order, with the values of the keys; seeds and methods ascend.

    Faster than a pivot of pandas per comparison: a study has hundreds of them.

    Parameters
    ----------
    scores : columns method, seed, value and the keys
    keys : the columns that define a comparison
    """
    methods, method = np.unique(scores["method"].to_numpy(object), return_inverse=True)
    seeds, seed = np.unique(scores["seed"].to_numpy(), return_inverse=True)
    numbers = scores["value"].to_numpy(np.float64)
    for key, own in rows_by(scores, keys):
        columns, column = np.unique(method[own], return_inverse=True)
        rows, row = np.unique(seed[own], return_inverse=True)
        values = np.full((len(rows), len(columns)), np.nan)
        values[row, column] = numbers[own]
        yield key, BySeed(seeds[rows].tolist(), methods[columns].tolist(), values)


def rows_by(
    table: pd.DataFrame, keys: Sequence[str]
) -> Iterator[tuple[tuple[Any, ...], npt.NDArray[np.intp]]]:
    """Yield the groups of a table in their order: the values of the keys, and which rows."""
    group = table.groupby(list(keys), sort=False, observed=True).ngroup().to_numpy()
    order = np.argsort(group, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(group[order])) + 1) if len(order) else []
    columns = [table[key].tolist() for key in keys]
    for rows in parts:
        yield tuple(column[rows[0]] for column in columns), rows


def rank_methods(means: Mapping[str, float], seeds: int) -> dict[str, int]:
    """Return the rank of each method: one more than the number of methods that are better.

    Differences within the numerical tolerance of one of the two methods count as ties.
    """
    shares = {method: tolerance(method) / seeds**0.5 for method in means}
    return {
        method: 1
        + sum(
            other - mean > (0 if rival == method else max(shares[rival], shares[method]))
            for rival, other in means.items()
        )
        for method, mean in means.items()
    }


class MeanRank(NamedTuple):
    """A method over several slices: its mean rank, and its mean score."""

    rank: float
    score: float


def mean_ranks(slices: Sequence[Mapping[str, float]]) -> dict[str, MeanRank]:
    """Return methods from best to worst: by mean rank over slices, ties by mean score.

    Equal scores share their mean rank. This is the one rule for who is best, in the terminal, on
    the page and in statistics. Methods without a score in every slice are left out: their mean
    would be of other slices.

    Parameters
    ----------
    slices : scores by method, for each dataset, code length and task

    Examples
    --------
    >>> list(mean_ranks([{"a": 0.9, "b": 0.8}, {"a": 0.5, "b": 0.7}]))
    ['b', 'a']
    """
    complete = (
        [name for name in slices[0] if all(name in each for each in slices)] if slices else []
    )
    if not complete:
        return {}
    scores = np.array([[each[name] for name in complete] for each in slices])
    means = zip(complete, tests.ranks(scores).mean(axis=0), scores.mean(axis=0), strict=True)
    found = {name: MeanRank(float(rank), float(score)) for name, rank, score in means}
    order = sorted(found, key=lambda name: (found[name].rank, -found[name].score, name))
    return {name: found[name] for name in order}


def outcomes(results: Results) -> pd.DataFrame:
    """Return the status of each method's cells, which tables print instead of a missing number.

    Returns
    -------
    DataFrame
        dataset, method, bits, planned (number of seeds) and status (of the first cell that is not
        done, or "done")
    """
    runs = results.runs()
    groups = runs.groupby(["dataset", "method", "bits"], sort=False)
    found = groups["status"].agg(_worst).reset_index()
    found["planned"] = groups["seed"].nunique().to_numpy()
    return found[["dataset", "method", "bits", "planned", "status"]]


def _worst(statuses: pd.Series[str]) -> str:
    other = [status for status in statuses if status != "done"]
    return other[0] if other else "done"
