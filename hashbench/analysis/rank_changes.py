"""Changes of ranks, agreement of two rankings, and the expected best of a number of trials."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pandas as pd

Floats = npt.NDArray[np.float64]


def expected_best(scores: Sequence[float]) -> Floats:
    """Return the expected best of the first k trials, for each k, over all orders of the trials.

    The k first of a random order are a random subset. Its best is the i-th smallest of n scores
    if that one is in it and the other k - 1 are among the i - 1 below, so that the expectation is
    the sum of s_i C(i - 1, k - 1) / C(n, k): exact, whatever the number of orders.

    Examples
    --------
    >>> expected_best([0.1, 0.4, 0.2]).round(3).tolist()
    [0.233, 0.333, 0.4]
    """
    ascending, n = sorted(scores), len(scores)
    return np.array(
        [
            math.fsum(
                score * (math.comb(below, k - 1) / math.comb(n, k))
                for below, score in enumerate(ascending)
            )
            for k in range(1, n + 1)
        ]
    )


def to_ranks(values: pd.Series[float]) -> pd.Series[int]:
    """Return ranks as tables print them: 1 is the highest, equals share the better one."""
    return values.rank(ascending=False, method="min").astype(int)


def change(before: int, after: int) -> str:
    """Write a change of rank.

    Examples
    --------
    >>> change(5, 2), change(2, 5), change(3, 3)
    ('↑3', '↓3', '=')
    """
    if before == after:
        return "="
    return f"↑{before - after}" if after < before else f"↓{after - before}"


def tau(before: Sequence[float], after: Sequence[float]) -> float | None:
    """Return Kendall's tau between two rankings; None if it is undefined."""
    from scipy.stats import kendalltau

    if len(before) < 2:
        return None
    found = float(kendalltau(before, after).statistic)
    return None if math.isnan(found) else found


def tau_words(before: Sequence[float], after: Sequence[float]) -> str:
    """Describe the agreement of two rankings by Kendall's tau, or why it is undefined."""
    found = tau(before, after)
    if found is not None:
        return f"Kendall's tau between the rankings {found:.2f}"
    if len(before) < 2:
        return "one method has no ranking to compare"
    return "all methods are equal in one of the rankings, which no tau can compare"
