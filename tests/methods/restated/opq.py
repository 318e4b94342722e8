"""OPQ: Procrustes rotations and single steps of k-means in turn, for two views."""

import numpy as np

from tests.methods.restated import real_valued
from tests.methods.restated.common import best_rotation, ignore
from tests.methods.restated.pq import cut, first_codebooks, lloyd, quantised

PARAMETERS = {"ridge": 0.3, "iterations": 2}


def restate(views, Y, n_bits, seed, ridge, iterations, record=ignore):
    rng = np.random.default_rng(seed)
    unit = real_valued.restate(views, Y, n_bits, seed, ridge)[1]
    Z = [unit(X, view, "database") for view, X in enumerate(views)]
    books = [first_codebooks(z, n_bits, rng) for z in Z]
    R = [np.eye(z.shape[1]) for z in Z]
    for _ in range(iterations):
        V = [quantised(z @ r, C) for z, r, C in zip(Z, R, books, strict=True)]
        record(sum(np.square(z @ r - v).sum() for z, r, v in zip(Z, R, V, strict=True)))
        R = [best_rotation(z.T @ v) for z, v in zip(Z, V, strict=True)]
        for view, (z, r) in enumerate(zip(Z, R, strict=True)):
            parts = cut(z @ r, len(books[view]))
            books[view] = [lloyd(p, C, 1) for p, C in zip(parts, books[view], strict=True)]

    def vectors(X, view, role):
        z = unit(X, view, role) @ R[view]
        return z if role == "query" else quantised(z, books[view])

    return None, vectors
