"""Are two programs equal for practical purposes? Both one-sided tests, at a fixed tolerance.

That a difference is not significant says little: two bad measurements never differ. Here equality
has to be shown: two programs are *equivalent* if both one-sided tests (Schuirmann 1987) reject that
the means differ by more than the tolerance, which is to say that the 90 % interval of the
difference lies inside it. They are *different* if all of that interval lies outside. Everything
else is *open*: the runs are too few or too unlike to tell.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import binomtest, t

LEVEL = 0.05

#: Means of AP that are nearer than this are equal for practical purposes. It is the same for all
#: methods, also for noisy ones.
TOLERANCE = 0.01

#: What is compared, by how much chance there is in it.
RUNS, ONE_RUN, NUMBERS = "runs", "one run", "numbers"

EQUIVALENT, OPEN, DIFFERENT = "equivalent", "open", "different"

#: An equivalent method has at least this share of its comparisons shown equivalent.
SHOWN = 2 / 3

#: The sign test leaves out differences below this, and says "biased" at this level.
VISIBLE, BIAS_LEVEL = 0.001, 0.01


def judge(table: pd.DataFrame, tolerance: float = TOLERANCE) -> pd.DataFrame:
    """Return what can be said of each comparison.

    Parameters
    ----------
    table : columns ours, ours_std, seeds (how many runs of ours), theirs, theirs_std, their_seeds
    tolerance : difference of means that makes no practical difference

    Returns
    -------
    DataFrame
        compared: ``runs`` with runs (Welch's interval); runs with ``one run`` (which has no spread
        of its own and is taken to be as far from its mean as the others are from theirs); or two
        ``numbers``, where nothing is random. low and high, the 90 % interval of the difference;
        verdict.
    """
    own_runs, their_runs = table["seeds"], table["their_seeds"]
    own_std, their_std = table["ours_std"].fillna(0.0), table["theirs_std"].fillna(0.0)
    single = own_runs.eq(1) | their_runs.eq(1)
    own = own_std.mask(own_runs.eq(1), their_std) ** 2 / own_runs
    their = their_std.mask(their_runs.eq(1), own_std) ** 2 / their_runs
    error = np.sqrt(own + their)
    # Welch and Satterthwaite; where one is a single run, the other's spread is all that is known
    parts = own**2 / (own_runs - 1).clip(lower=1) + their**2 / (their_runs - 1).clip(lower=1)
    freedom = (own + their) ** 2 / parts.where(parts > 0)
    freedom = freedom.mask(single, np.maximum(own_runs, their_runs) - 1).clip(lower=1)
    half = (t.ppf(1 - LEVEL, freedom) * error).where(error > 0, 0.0)
    difference = table["ours"] - table["theirs"]
    verdict = np.where(difference.abs() - half > tolerance, DIFFERENT, OPEN)
    verdict = np.where(difference.abs() + half <= tolerance, EQUIVALENT, verdict)
    compared = np.where(single, np.where(error > 0, ONE_RUN, NUMBERS), RUNS)
    return pd.DataFrame(
        {
            "compared": compared,
            "low": difference - half,
            "high": difference + half,
            "verdict": verdict,
        },
        index=table.index,
    )


class Bias(NamedTuple):
    """The sign test of one method: rankings with ours higher, with ours lower, and the p-value."""

    above: int
    below: int
    p_value: float

    @property
    def shown(self) -> bool:
        """Say whether the differences have one sign too often for chance."""
        return self.p_value <= BIAS_LEVEL


def sign_test(rows: pd.DataFrame) -> Bias:
    """Test whether ours is higher as often as lower.

    Measures of one ranking depend on each other, so that their mean difference counts once.
    ``rows`` has a difference and what identifies a ranking: all of its columns data, method, form,
    bits, task and database that exist.
    """
    keys = ["dataset", "data", "method", "form", "bits", "task", "database"]
    means = rows.groupby([key for key in keys if key in rows])["difference"].mean()
    above, below = int((means >= VISIBLE).sum()), int((means <= -VISIBLE).sum())
    total = above + below
    return Bias(above, below, float(binomtest(above, total).pvalue) if total else 1.0)


def word(rows: pd.DataFrame) -> str:
    """Return the fidelity that a method's comparisons earn, see ``FIDELITIES``."""
    if rows["verdict"].eq(DIFFERENT).any():
        return "differs"
    if rows["verdict"].eq(EQUIVALENT).mean() < SHOWN:
        return "consistent"
    return "equivalent, biased" if sign_test(rows).shown else "equivalent"
