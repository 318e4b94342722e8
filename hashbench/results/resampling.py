"""Inference over queries: how far a difference depends on which items were asked.

On one fixed split there is nothing else to learn from. An item that is asked more than once (from
both views, under several seeds, at several code lengths) is one item: it is drawn whole.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hashbench.base.errors import HashbenchError
from hashbench.results.stats import Floats

#: Values that a bootstrap draws at once: what stays in a processor's cache.
RESAMPLED = 2**18

SAMPLES = 10_000


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
    """Resample items to see how sure a mean difference is.

    Parameters
    ----------
    difference : (items,)
        One value an item: the first method's minus the second's.
    rng : numpy.random.Generator
    weights : (items,), optional
        How much an item counts in the mean; equally by default.
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
    even = weights is None or np.ptp(weights) <= 1e-12 * weights[0]
    share = np.ones(n) if even or weights is None else np.asarray(weights, np.float64)
    total = difference * share
    means = np.empty(samples)
    batch = max(1, RESAMPLED // n)
    for start in range(0, samples, batch):
        part = means[start : start + batch]
        drawn = rng.integers(n, size=(len(part), n), dtype=np.int32)
        divisor = n if even else np.take(share, drawn).sum(axis=1)
        part[:] = np.take(total, drawn).sum(axis=1) / divisor
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    side = min((means <= 0).mean(), (means >= 0).mean())
    mean = float(total.sum() / share.sum())
    return Bootstrap(mean, float(low), float(high), float(min(1.0, 2 * side)))
