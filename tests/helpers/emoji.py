"""A part of the embedded data, small enough for restatements that form every matrix."""

from functools import cache

import numpy as np

from hashbench.data import preprocessing
from hashbench.plugins.registry import discover

ROWS, QUERIES, IMAGE, TEXT = 600, 200, 80, 150


@cache
def emoji_part():
    """Return training views, their labels and query views, in float64.

    Rows are chosen at random; columns are those with the largest variance. Features are
    preprocessed as a study does it and then shifted, so that a method that forgets to centre them
    is noticed.
    """
    dataset = discover().datasets["emoji"].cls()
    data = dataset.load()
    rng = np.random.default_rng(0)
    order = rng.permutation(data.n_rows)
    train, query = np.sort(order[:ROWS]), np.sort(order[ROWS : ROWS + QUERIES])
    parts = []
    for X, steps, columns in zip(data.views, dataset.preprocessing, (IMAGE, TEXT), strict=True):
        transform = preprocessing.fit(steps, X, train)
        rows = [np.asarray(transform(X[part]), np.float64) for part in (train, query)]
        chosen = np.sort(np.argsort(rows[0].var(axis=0))[::-1][:columns])
        shift = rows[0].std() * rng.standard_normal(columns)
        parts.append([part[:, chosen] + shift for part in rows])
    return [p[0] for p in parts], data.labels[train].astype(np.uint8), [p[1] for p in parts]
