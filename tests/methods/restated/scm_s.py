"""SCM-Seq with the n x n label similarity formed, one generalised eigenproblem per bit."""

import numpy as np

from tests.methods.restated.common import canonical_directions, sign
from tests.methods.restated.scm_o import leading_pairs, similarity

PARAMETERS = {"ridge": 1e-6}


def restate(views, Y, n_bits, seed, ridge, stop=True):
    means = [X.mean(axis=0) for X in views]
    W, _ = updates(views, Y, n_bits, ridge, stop)
    return None, lambda X, view: (X - means[view]) @ W[view] >= 0


def updates(views, Y, n_bits, ridge, stop=True):
    """Return the hash functions of both views and the objective after every learned bit."""
    X, Z = (view - view.mean(axis=0) for view in views)
    residual = n_bits * similarity(Y)
    pairs, objective, before = [], [], np.inf
    while len(pairs) < n_bits:
        w_x, w_z, strength = leading_pairs(X.T @ residual @ Z, X, Z, 1, ridge)
        if stop and strength > before:
            break
        pairs.append((w_x, w_z))
        residual = residual - sign(X @ w_x) @ sign(Z @ w_z).T
        objective.append(np.square(residual).sum())
        before = strength
    left = n_bits - len(pairs)
    if left:  # unsupervised CCA, the weakest direction first
        A, B, _ = canonical_directions(X, Z, left, ridge, ridge)
        pairs.append((A[:, ::-1], B[:, ::-1]))
    return [np.hstack(directions) for directions in zip(*pairs, strict=True)], objective
