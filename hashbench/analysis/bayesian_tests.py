"""How probable it is that one method is better, as good, or worse (Benavoli et al. 2017).

A p-value is the probability of such scores if nothing differed. These are the probabilities, given
the scores, that A is better than B by more than a margin, within it, or worse.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hashbench.analysis.tests import Floats, corrected_test

#: Differences of scores up to this have no practical importance.
MARGIN = 0.01

#: Pseudo-observation at zero with this weight: the prior of the signed-rank test.
PRIOR = 0.5

SAMPLES = 5_000


class Probabilities(NamedTuple):
    """Of the first method being better, equal within the margin, and worse; nan if unknown."""

    better: Floats
    equal: Floats
    worse: Floats


def over_splits(difference: Floats, overlap: float, margin: float = MARGIN) -> Probabilities:
    """Return the posterior of a mean difference over random splits: the correlated t-test.

    Parameters
    ----------
    difference : (splits, ...)
    overlap : queries for each other row
    """
    from scipy.special import stdtr

    test = corrected_test(difference, overlap)
    spread = test.error > 0
    scale = np.where(spread, test.error, 1.0)
    better = stdtr(test.freedom, (test.mean - margin) / scale)
    worse = stdtr(test.freedom, (-margin - test.mean) / scale)
    # no spread at all: equal methods are equal; of others nothing is known
    same = ~spread & (test.mean == 0)
    better, worse = (
        np.where(spread, each, np.where(same, 0.0, np.nan)) for each in (better, worse)
    )
    return Probabilities(better, 1 - better - worse, worse)


def over_datasets(
    difference: Floats, rng: np.random.Generator, margin: float = MARGIN
) -> Probabilities:
    """Return the outcome of the Bayesian signed-rank test over datasets.

    Parameters
    ----------
    difference : (datasets,)
    rng : numpy.random.Generator
    """
    values = np.concatenate([[0.0], np.asarray(difference, np.float64)])
    weights = rng.dirichlet([PRIOR, *np.ones(len(values) - 1)], size=SAMPLES).T.copy()
    sums = values[:, None] + values[None, :]
    regions = [sums > 2 * margin, np.abs(sums) <= 2 * margin, sums < -2 * margin]
    # one row per dataset: sums over the few rows run along the many samples
    better, equal, worse = (((r.astype(float) @ weights) * weights).sum(axis=0) for r in regions)
    first = int(((better >= equal) & (better >= worse)).sum())
    last = int(((worse > better) & (worse > equal)).sum())
    return Probabilities(*(np.asarray(n / SAMPLES) for n in (first, SAMPLES - first - last, last)))
