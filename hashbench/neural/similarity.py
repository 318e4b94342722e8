"""Joint similarities of all training rows, for methods whose target is a graph of them.

The (n, n) matrix is never stored: the entries that a batch needs are computed from the features.
"""

from __future__ import annotations

from collections.abc import Sequence

from hashbench.neural.losses import Tensor, normalize
from hashbench.neural.method import TrainingRows

#: Number of training rows whose similarities are computed at a time.
BLOCK_ROWS = 8192


class JointCosines:
    """C = sum_m w_m cos(X_m, X_m) over the training rows.

    Parameters
    ----------
    data : the training rows
    weights : w_m, one per view
    """

    def __init__(self, data: TrainingRows, weights: Sequence[float]) -> None:
        self.data, self.weights = data, weights
        self.n = data.n

    def among(self, views: Sequence[Tensor]) -> Tensor:
        """Return the similarities within a batch."""
        unit = [normalize(x) for x in views]
        return sum(w * x @ x.T for w, x in zip(self.weights, unit, strict=True))

    def with_all(self, views: Sequence[Tensor]) -> Tensor:
        """Return the similarities of a batch with every training row."""
        unit = [normalize(x) for x in views]
        found = self.data.torch.zeros(len(unit[0]), self.n, device=self.data.device)
        for start in range(0, self.n, BLOCK_ROWS):
            rows = slice(start, start + BLOCK_ROWS)
            for view, (weight, x) in enumerate(zip(self.weights, unit, strict=True)):
                found[:, rows].addmm_(x, normalize(self.data.view(view, rows)).T, alpha=weight)
        return found

    def thresholds(self, kept: int) -> Tensor:
        """Return each row's ``kept``-th largest similarity, the one with itself included."""
        kept = min(max(kept, 1), self.n)
        found = self.data.torch.empty(self.n, device=self.data.device)
        for start in range(0, self.n, 256):
            rows = slice(start, start + 256)
            views = [self.data.view(view, rows) for view in range(len(self.weights))]
            found[rows] = self.with_all(views).kthvalue(self.n - kept + 1, dim=1).values
        return found
