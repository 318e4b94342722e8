"""CVH: distances between the projections of an item's two views, minimised as one eigenproblem.

Under the constraint A'X'X A + B'T'T B = 2 I, sum_i ||A'x_i - B't_i||^2 is smallest where
tr(A'X'T B) is largest: at the leading generalised eigenvectors of the stacked views. A ridge is
added to the constraint.
"""

import numpy as np
import scipy

from tests.methods.restated.common import sign, upright

PARAMETERS = {}


def restate(views, Y, n_bits, seed):
    means = [V.mean(axis=0) for V in views]
    X, T = (V - mean for V, mean in zip(views, means, strict=True))
    d = X.shape[1]
    stacked = scipy.linalg.block_diag(X, T)
    ridge = 1e-4 * (len(X) - 1)  # of the covariance, here added to the scatter matrix
    constraint = stacked.T @ stacked + ridge * np.eye(stacked.shape[1])
    between = np.zeros_like(constraint)
    between[:d, d:] = X.T @ T
    W = scipy.linalg.eigh(between + between.T, constraint)[1][:, ::-1][:, :n_bits]
    W = W * sign(np.sum(W[:d] * upright(W[:d]), axis=0))  # both views' directions turn together
    return None, lambda Z, view: (Z - means[view]) @ (W[:d] if view == 0 else W[d:]) >= 0
