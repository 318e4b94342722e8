"""ACQ: both rotations written out, for two views."""

import numpy as np

from tests.methods.restated.common import (
    best_rotation,
    canonical_directions,
    random_rotation,
    sign,
)

PARAMETERS = {"eta": 0.7}  # at the default, 1, both views have the same codes


def restate(views, Y, n_bits, seed, eta):
    rng = np.random.default_rng(seed)
    n = len(views[0])
    means = [V.mean(axis=0) for V in views]
    X, T = (V - mean for V, mean in zip(views, means, strict=True))
    # The ridge is relative to the mean eigenvalue of a view's scatter matrix.
    ridges = [10 * np.trace(V.T @ V) / V.shape[1] for V in (X, T)]
    Px, Pt, _ = canonical_directions(X, T, n_bits, *ridges)
    Vx, Vt = np.sqrt(n) * X @ Px, np.sqrt(n) * T @ Pt
    Rx = Rt = random_rotation(n_bits, rng)
    for _ in range(50):
        Bx = sign(Vx @ Rx + eta * Vt @ Rt)
        Bt = sign(Vt @ Rt + eta * Vx @ Rx)
        Rx = best_rotation(Vx.T @ (Bx + eta * Bt))
        Rt = best_rotation(Vt.T @ (Bt + eta * Bx))
    learned = [Vx @ Rx + eta * Vt @ Rt >= 0, Vt @ Rt + eta * Vx @ Rx >= 0]
    W = [Px @ Rx, Pt @ Rt]
    return learned, lambda Z, view: (Z - means[view]) @ W[view] >= 0
