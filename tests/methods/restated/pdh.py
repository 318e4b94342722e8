"""PDH with liblinear's support vector machines and the documented decorrelation."""

import numpy as np
from sklearn.svm import LinearSVC

from tests.methods.restated.common import canonical_directions, ignore, sign

PARAMETERS = {"iterations": 2}
# The method's machines stop at 1e-5 of their objective, these at their minimum. A bit that flips
# is a label of the other view's machine in the next sweep: 99 % agree after two sweeps, 93 % after
# six, and all of them if the method's machines go on to 1e-12.
AGREEMENT = 0.98


def restate(views, Y, n_bits, seed, iterations, record=ignore):
    means = [V.mean(axis=0) for V in views]
    X = [V - mean for V, mean in zip(views, means, strict=True)]
    ridge = 1e-4 * (len(X[0]) - 1)
    _, start, _ = canonical_directions(*X, n_bits, ridge, ridge)
    B = sign(X[1] @ start)
    W = [None, None]
    for _ in range(iterations):
        objective = 0
        for view in (0, 1):
            W[view] = np.column_stack([machine(X[view], bit) for bit in B.T])
            Z = X[view] @ W[view]
            objective += np.square(W[view]).sum() / 2 + np.square(np.maximum(0, 1 - B * Z)).sum()
            Z = (Z - Z.mean(axis=0)) / Z.std(axis=0)
            left, _, right = np.linalg.svd(Z, full_matrices=False)
            B = sign(left @ right)  # the nearest matrix with uncorrelated columns
            objective += np.square(B.T @ B / len(B) - np.eye(n_bits)).sum()
        record(objective)
    return None, lambda Z, view: (Z - means[view]) @ W[view] >= 0


def machine(X, bit):
    """Return the w that minimises ||w||^2 / 2 + sum max(0, 1 - bit o X w)^2."""
    svm = LinearSVC(C=1.0, loss="squared_hinge", dual=False, fit_intercept=False, tol=1e-8)
    return svm.fit(X, bit).coef_[0]
