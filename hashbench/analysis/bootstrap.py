"""The range test of one split: initialisations and queries are resampled together.

Queries alone would take the luck of an initialisation for a property of the method.
"""

from __future__ import annotations

import math

import numpy as np

from hashbench.analysis.tests import (
    ALPHA,
    ROUNDING,
    Floats,
    RangeTest,
    nothing_known,
    raised_variance,
)
from hashbench.core.errors import HashbenchError

#: Smallest number of initialisations that is tested.
LEAST_INITIALISATIONS = 3

SAMPLES = 4_000

#: Resamples at once, to bound memory.
BATCH = 250


def resampled_range_test(
    values: Floats, rng: np.random.Generator, samples: int = SAMPLES
) -> RangeTest:
    """Compare all methods on one split by resampling its queries and their initialisations.

    A resample draws queries, the same for all methods, and for each method initialisations from the
    deviations of all methods that have random numbers, scaled up for those that vary more (see
    `tests.raised_variance`): three tell little about one method's variance. They are divided by the
    square root of a chi-square variable over its degrees of freedom, because their variance is an
    estimate. The range of the methods' deviations from their means, over all resamples, is the
    distribution that p-values and intervals come from. Without differences between queries and with
    normal deviations it is Tukey's.

    Parameters
    ----------
    values : (initialisations, queries, methods), three or more initialisations
    samples : number of resamples
    """
    values = np.asarray(values, np.float64)
    seeds, queries, methods = values.shape
    if seeds < LEAST_INITIALISATIONS or not queries or methods < 2:
        raise HashbenchError(
            f"resampled range test: found shape {values.shape}; allowed: "
            f"{LEAST_INITIALISATIONS} or more initialisations, 1 or more queries, 2 or more methods"
        )
    means = values.mean(axis=(0, 1))
    by_query = values.mean(axis=0) - means
    by_seed = values.mean(axis=1) - means
    random = np.flatnonzero(np.ptp(by_seed, axis=0) > ROUNDING)
    freedom = (seeds - 1) * len(random) if len(random) else math.inf
    # deviations from an estimated mean are too small by this factor
    residuals = by_seed[:, random] * math.sqrt(seeds / (seeds - 1))
    own = (residuals**2).mean(axis=0)
    pooled = float(own.mean()) if len(random) else 0.0
    raised = np.sqrt(raised_variance(own, pooled, seeds - 1) / (pooled or 1.0))
    ranges, square, left = [], 0.0, samples
    while left:
        size = min(BATCH, left)
        counts = rng.multinomial(queries, np.full(queries, 1 / queries), size=size)
        deviations = counts @ by_query / queries
        if len(random):
            drawn = raised * rng.choice(residuals.ravel(), size=(size, *raised.shape, seeds)).mean(
                axis=2
            )
            scale = np.sqrt(rng.chisquare(freedom, size=(size, 1)) / freedom)
            deviations[:, random] += drawn / scale
        ranges.append(np.ptp(deviations, axis=1))
        square += float((deviations**2).sum())
        left -= size
    ordered = np.sort(np.concatenate(ranges))
    error = math.sqrt(square / (samples * methods))
    if ordered[-1] <= ROUNDING:
        return nothing_known(means, freedom)
    distance = np.abs(np.subtract.outer(means, means))
    larger = samples - np.searchsorted(ordered, distance, side="left")
    p_values = (larger + 1) / (samples + 1)
    # the smallest distance whose p-value is at most ALPHA
    position = samples - int(ALPHA * (samples + 1) - 1) - 1
    widths = np.full((methods, methods), ordered[position])
    return RangeTest(means, error, freedom, p_values, widths)
