"""KDLFH: codes as of DLFH, and one kernel logistic regression for every bit."""

import numpy as np
from scipy.spatial.distance import cdist

from tests.methods.restated.common import ignore, rbf
from tests.methods.restated.dlfh import learn_codes

PARAMETERS = {"anchors": 60, "iterations": 10}


def logistic(K, K0, b, eta):
    """Return w that minimises sum_i log(1 + exp(-b_i k_i'w)) + eta w'K0 w, by Newton's method."""

    def loss(w):
        return np.logaddexp(0, -b * (K @ w)).sum() + eta * w @ K0 @ w

    w = np.zeros(K.shape[1])
    for _ in range(50):
        p = 1 / (1 + np.exp(b * (K @ w)))
        gradient = -K.T @ (b * p) + 2 * eta * K0 @ w
        hessian = K.T @ (K * (p * (1 - p))[:, None]) + 2 * eta * K0 + 1e-10 * np.eye(len(w))
        step = np.linalg.solve(hessian, gradient)
        while loss(w - step) > loss(w) + 1e-9:
            step /= 2
        w = w - step
        if gradient @ step < 1e-10:
            break
    return w


def restate(views, Y, n_bits, seed, anchors, iterations, lam=8.0, penalty=1e-2, record=ignore):
    rng = np.random.default_rng(seed)
    codes = learn_codes(len(views), Y, n_bits, rng, lam, iterations, record)
    rows = rng.choice(len(Y), size=anchors, replace=False)
    points = [X[rows] for X in views]
    widths = [np.square(cdist(X, X)).mean() for X in views]
    W = []
    for X, B, Z, width in zip(views, codes, points, widths, strict=True):
        K, K0 = rbf(X, Z, width), rbf(Z, Z, width)
        W.append(np.column_stack([logistic(K, K0, b, penalty) for b in B.T]))
    return (
        [B > 0 for B in codes],
        lambda X, view: rbf(X, points[view], widths[view]) @ W[view] >= 0,
    )
