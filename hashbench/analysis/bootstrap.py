"""Bootstrap over queries: how far a difference depends on which items are queries.

On one fixed split there is no other evidence. An item that is a query more than once (in both
views, under several seeds, at several code lengths) is resampled as one item.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hashbench.analysis.tests import Floats
from hashbench.core.errors import HashbenchError

#: Items that are resampled at once, so that they fit into a processor's cache.
RESAMPLED = 2**18

SAMPLES = 10_000

#: Means of scores closer to zero than this differ from it by rounding only.
ROUNDING = 1e-12


class Bootstrap(NamedTuple):
    """A paired comparison of two methods over items."""

    difference: float
    low: float
    high: float
    p_value: float


def paired_bootstrap(
    difference: Floats,
    rng: np.random.Generator,
    weights: Floats | None = None,
    samples: int = SAMPLES,
    level: float = 0.95,
) -> Bootstrap:
    """Test a mean difference by resampling items.

    Parameters
    ----------
    difference : (items,)
        One value per item: the first method's minus the second's.
    rng : numpy.random.Generator
    weights : (items,), optional
        Weight of each item in the mean; equal by default.
    samples : int
    level : float
        Of the percentile interval.

    Returns
    -------
    Bootstrap
        Weighted mean, its interval, and the two-sided p-value: twice the share of resampled means
        on the other side of zero.
    """
    difference = np.asarray(difference, np.float64)
    n = len(difference)
    if not n:
        raise HashbenchError("bootstrap: found no query with a value in both methods")
    share = _shares(weights)
    total = difference if share is None else difference * share
    means = np.empty(samples)
    for start, indices in _resample_indices(n, samples, rng):
        divisor = n if share is None else np.take(share, indices).sum(axis=1)
        means[start : start + len(indices)] = np.take(total, indices).sum(axis=1) / divisor
    (low,), (high,), (p_value,) = _outcomes(means[None], level)
    mean = float(total.sum() / (n if share is None else share.sum()))
    return Bootstrap(mean, float(low), float(high), float(p_value))


def resampled_means(
    values: Floats,
    rng: np.random.Generator,
    weights: Floats | None = None,
    samples: int = SAMPLES,
) -> Floats:
    """Return the means of columns over the same resamples of items: (columns, samples).

    Parameters
    ----------
    values : (items, columns)
    rng, weights, samples : as of :func:`paired_bootstrap`, whose items it draws
    """
    n = len(values)
    share = _shares(weights)
    means = np.empty((values.shape[1], samples))
    for start, indices in _resample_indices(n, samples, rng):
        rows = len(indices)
        indices += n * np.arange(rows, dtype=np.int32)[:, None]
        # how often each item is in a sample: one product for all columns
        counts = (
            np.bincount(indices.ravel(), minlength=rows * n).reshape(rows, n).astype(np.float64)
        )
        if share is not None:
            counts *= share
        means[:, start : start + rows] = (counts @ values / counts.sum(axis=1)[:, None]).T
    return means


class Pairs(NamedTuple):
    """Comparisons of all pairs of methods, each (pairs,), in the order of `np.triu_indices`."""

    low: Floats
    high: Floats
    p_value: Floats


def all_pairs(means: Floats, level: float = 0.95) -> Pairs:
    """Return intervals and p-values of :func:`paired_bootstrap` for every pair of methods.

    Parameters
    ----------
    means : (methods, samples), of :func:`resampled_means`
    level : float
    """
    found = [
        _outcomes(means[position] - means[position + 1 :], level)
        for position in range(len(means) - 1)
    ]
    empty: list[Floats] = [np.empty(0)]  # one method alone has no pair
    return Pairs(*(np.concatenate([*empty, *(each[part] for each in found)]) for part in range(3)))


def _shares(weights: Floats | None) -> Floats | None:
    """Return the weights of items, or None if all are equal."""
    if weights is None or np.ptp(weights) <= 1e-12 * weights[0]:
        return None
    return np.asarray(weights, np.float64)


def _resample_indices(
    n: int, samples: int, rng: np.random.Generator
) -> Iterator[tuple[int, npt.NDArray[np.int32]]]:
    """Yield the number of the first sample of a batch, and the items of each of its samples."""
    batch = max(1, RESAMPLED // n)
    for start in range(0, samples, batch):
        size = (min(batch, samples - start), n)
        yield start, rng.integers(n, size=size, dtype=np.int32)


def _outcomes(means: Floats, level: float) -> tuple[Floats, Floats, Floats]:
    """Return the intervals and p-values of resampled means: (comparisons, samples)."""
    samples = means.shape[1]
    least = (means <= ROUNDING).sum(axis=1)
    most = (means >= -ROUNDING).sum(axis=1)
    ordered = np.sort(means, axis=1)  # faster than a partition at four positions
    ends = []
    for share in ((1 - level) / 2, (1 + level) / 2):
        position = share * (samples - 1)
        below = int(position)
        above = min(below + 1, samples - 1)
        ends.append(
            ordered[:, below] + (position - below) * (ordered[:, above] - ordered[:, below])
        )
    return ends[0], ends[1], np.minimum(1.0, 2 * np.minimum(least, most) / samples)
