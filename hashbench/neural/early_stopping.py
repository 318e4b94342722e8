"""Early stopping on validation rows, which are training rows and never queries.

Many released codes keep the epoch that is best on the test queries. Here a network is trained
without the validation rows and scored on them after every epoch. Then it is trained again on all
rows, for the number of epochs that was best.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from hashbench.core.errors import HashbenchError
from hashbench.core.validation import Matrix
from hashbench.neural.device import same_threads
from hashbench.plugins.method import Method


class EarlyStopping:
    """Scores a method on validation rows after every epoch and tells when to stop.

    The validation rows are the queries. With labels the other training rows are the database, and
    rows that share a label are relevant. Without labels the validation rows are the database too,
    and only a row's own other view is relevant.

    Parameters
    ----------
    views : list of (n, d_m) arrays, all training rows
    labels : (n, c) array of 0.0 and 1.0, or None
    validation : positions of the validation rows
    patience : number of epochs without a better score after which training stops

    Attributes
    ----------
    train_views, train_labels : the rows that are left for training
    best_epoch, best_score : the best epoch so far, and its AP, the mean over all pairs of views
    """

    def __init__(
        self,
        views: Sequence[Matrix],
        labels: Matrix | None,
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
        self.train_views = [X[rest] for X in views]
        self.train_labels = None if labels is None else labels[rest]
        self.queries = [X[chosen] for X in views]
        if labels is None:
            pairs: Matrix = np.eye(len(chosen))
            self.database, self.query_labels, self.database_labels = self.queries, pairs, pairs
        else:
            self.database = self.train_views
            self.query_labels, self.database_labels = labels[chosen], labels[rest]
        self.best_epoch, self.best_score = 0, -np.inf

    def should_stop(self, method: Method, epoch: int) -> bool:
        """Score an epoch; return whether the best one was `patience` epochs ago."""
        from hashbench.measures import evaluate

        queries = [method.encode(X, view) for view, X in enumerate(self.queries)]
        database = [method.encode(X, view) for view, X in enumerate(self.database)]
        with same_threads():
            scores = [
                evaluate(query, items, self.query_labels, self.database_labels, "AP")["AP"]
                for i, query in enumerate(queries)
                for j, items in enumerate(database)
                if i != j
            ]
        score = float(np.mean(scores))
        if score > self.best_score:
            self.best_epoch, self.best_score = epoch, score
        return epoch - self.best_epoch >= self.patience
