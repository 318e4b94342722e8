"""SCM-Orth with the n x n label similarity formed, as a generalised eigenproblem."""

import numpy as np
import scipy

from tests.methods.restated.common import unit_rows, upright

PARAMETERS = {"ridge_scatter": 1e-6}


def restate(views, Y, n_bits, seed, ridge_scatter):
    means = [X.mean(axis=0) for X in views]
    X, Z = (view - mean for view, mean in zip(views, means, strict=True))
    # X'S Z has the rank of the centred labels, c - 1 with one class per row. Further bits have
    # no direction and are constant.
    rank = min(n_bits, Y.shape[1] - 1)
    W = [np.zeros((view.shape[1], n_bits)) for view in views]
    W[0][:, :rank], W[1][:, :rank], _ = leading_pairs(
        X.T @ similarity(Y) @ Z, X, Z, rank, ridge_scatter
    )
    return None, lambda X, view: (X - means[view]) @ W[view] >= 0


def similarity(Y):
    """Return S = 2 G G' - 1 1', where G has label rows of norm one."""
    G = unit_rows(Y)
    return 2 * G @ G.T - 1


def leading_pairs(C, X, Z, count, ridge):
    """Return w_x, w_z and s of C Czz^-1 C' w_x = s^2 Cxx w_x, w_z = Czz^-1 C' w_x / s.

    A pair may change its sign, which changes no distance. The method makes the largest entry of
    w_x positive, in coordinates in which Cxx = I: those of the eigenvectors of X'X.
    """
    Cxx, Czz = (F.T @ F + ridge * np.eye(F.shape[1]) for F in (X, Z))
    squares, vectors = scipy.linalg.eigh(C @ np.linalg.solve(Czz, C.T), Cxx)
    W, s = vectors[:, ::-1][:, :count], np.sqrt(squares[::-1][:count])
    scatter, axes = np.linalg.eigh(Cxx)
    axes, scale = upright(axes), np.sqrt(scatter)
    W = axes / scale @ upright((axes * scale).T @ W)
    return W, np.linalg.solve(Czz, C.T @ W) / s, s
