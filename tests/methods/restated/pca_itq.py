"""PCA-ITQ of the texts, and ridge regression of the images onto their codes."""

import numpy as np

from tests.methods.restated.common import best_rotation, random_rotation, sign, upright

PARAMETERS = {}


def restate(views, Y, n_bits, seed):
    rng = np.random.default_rng(seed)
    means = [V.mean(axis=0) for V in views]
    X, T = (V - mean for V, mean in zip(views, means, strict=True))
    A = upright(np.linalg.eigh(T.T @ T)[1][:, ::-1][:, :n_bits])
    R = random_rotation(n_bits, rng)
    for _ in range(50):
        B = sign(T @ A @ R)
        R = best_rotation((T @ A).T @ B)
    B = sign(T @ A @ R)
    # The ridge is relative to the mean eigenvalue of the scatter matrix.
    system = X.T @ X + 0.1 * np.trace(X.T @ X) / X.shape[1] * np.eye(X.shape[1])
    W = np.linalg.solve(system, X.T @ (B - B.mean(axis=0)))

    def encode(Z, view):
        if view == 1:
            return (Z - means[1]) @ A @ R >= 0
        return (Z - means[0]) @ W + B.mean(axis=0) >= 0

    return B > 0, encode
