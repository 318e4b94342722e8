"""SCM-Seq with the n x n label similarity formed, one generalised eigenproblem per bit."""

import numpy as np

from tests.methods.restated.common import canonical_directions, ignore, sign
from tests.methods.restated.scm_o import leading_pairs, similarity

PARAMETERS = {"ridge_scatter": 1e-6}


def restate(views, Y, n_bits, seed, ridge_scatter, stop=True, record=ignore):
    means = [X.mean(axis=0) for X in views]
    X, Z = (view - mean for view, mean in zip(views, means, strict=True))
    residual = n_bits * similarity(Y)
    pairs, before = [], np.inf
    while len(pairs) < n_bits:
        w_x, w_z, strength = leading_pairs(X.T @ residual @ Z, X, Z, 1, ridge_scatter)
        if stop and strength > before:
            break
        residual = residual - sign(X @ w_x) @ sign(Z @ w_z).T
        pairs.append((w_x, w_z))
        before = strength
        record(np.square(residual).sum())
    left = n_bits - len(pairs)
    if left:  # unsupervised CCA, the weakest direction first
        A, B, _ = canonical_directions(X, Z, left, ridge_scatter, ridge_scatter)
        pairs.append((A[:, ::-1], B[:, ::-1]))
    W = [np.hstack(directions) for directions in zip(*pairs, strict=True)]
    return None, lambda X, view: (X - means[view]) @ W[view] >= 0
