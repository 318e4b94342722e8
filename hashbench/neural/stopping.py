"""When to stop: the epoch that is best on validation rows, which are never queries.

Many released codes keep the epoch that is best on the test queries. Here a network is trained
without the validation rows and scored on them after every epoch; then it is trained anew on all
rows, for as many epochs as were best.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from hashbench.base.errors import HashbenchError
from hashbench.base.validation import Matrix
from hashbench.neural.runtime import same_threads
from hashbench.plugins.method import Method


class Watch:
    """Scores a method on validation rows after every epoch, and says when to stop.

    With labels the rows left for training are searched; without, the validation rows themselves,
    of which each finds its own other view.

    Attributes
    ----------
    epoch, best : the best epoch so far, and its AP, the mean over all pairs of views
    """

    def __init__(
        self,
        views: Sequence[Matrix],
        labels: Matrix,
        validation: npt.NDArray[np.intp],
        patience: int,
    ) -> None:
        n = views[0].shape[0]
        chosen = np.asarray(validation, np.intp)
        rest = np.setdiff1d(np.arange(n), chosen)
        if not 0 < len(chosen) < n or len(rest) + len(chosen) != n:
            raise HashbenchError(
                f"validation: found {len(chosen)} positions; allowed: some of the {n} training "
                "rows, not all, each once"
            )
        self.patience = patience
        self.train, self.train_labels = [X[rest] for X in views], labels[rest]
        self.asking = [X[chosen] for X in views]
        if labels.shape[1]:
            self.asked, self.asked_labels = self.train, self.train_labels
            self.asking_labels = labels[chosen]
        else:
            self.asked, self.asking_labels = self.asking, np.eye(len(chosen))
            self.asked_labels = self.asking_labels
        self.epoch, self.best = 0, -np.inf

    def is_over(self, method: Method, epoch: int) -> bool:
        """Score an epoch; True if the best one lies `patience` epochs back."""
        from hashbench.measures import evaluate

        queries = [method.encode(X, view) for view, X in enumerate(self.asking)]
        items = [method.encode(X, view) for view, X in enumerate(self.asked)]
        with same_threads():
            scores = [
                evaluate(query, item, self.asking_labels, self.asked_labels, "AP")["AP"]
                for i, query in enumerate(queries)
                for j, item in enumerate(items)
                if i != j
            ]
        score = float(np.mean(scores))
        if score > self.best:
            self.epoch, self.best = epoch, score
        return epoch - self.epoch >= self.patience
