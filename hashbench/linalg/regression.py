"""Ridge regression whose penalty means the same on any features."""

from __future__ import annotations

from hashbench.linalg.features import mean_squared_distance
from hashbench.linalg.ridge import Ridge
from hashbench.validation import Matrix


def relative_ridge(X: Matrix, strength: float, mean: Matrix) -> Ridge:
    """Return the regression on X - 1 mean' with a penalty relative to the size of X.

    The penalty is ``strength`` times the mean eigenvalue of the scatter matrix, so that scaling
    the features or repeating the rows changes nothing. One pass over X more than :class:`Ridge`.

    Parameters
    ----------
    X : (n, d)
    strength : float
    mean : (d,)
        The column means of X.
    """
    n, d = X.shape
    # The squared norm of the centred rows is n / 2 times their mean squared distance.
    eigenvalue = mean_squared_distance(X) * n / (2 * d)
    # Rows that are all equal have no size to be relative to; they predict nothing anyway.
    return Ridge(X, strength * (eigenvalue if eigenvalue > 0 else 1.0), mean)
