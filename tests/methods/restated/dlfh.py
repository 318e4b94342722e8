"""DLFH with the whole of the model rebuilt for every bit."""

import itertools

import numpy as np

from tests.methods.restated.common import ignore, regress, sign

PARAMETERS = {}


def renew(B, other, S, lam):
    """Renew the bits of all rows of B, one after the other, given the sampled codes `other`."""
    m, k = other.shape
    for j in range(k):
        A = 1 / (1 + np.exp(-lam / k * B @ other.T))
        p = lam / k * (S - A) @ other[:, j] + m * lam**2 / (4 * k**2) * B[:, j]
        B[:, j] = sign(p.round(12))  # p may be zero, which rounding errors must not hide


def learn_codes(n_views, Y, k, rng, lam, iterations, record=ignore):
    """Return the codes of every view, learned against those of all others."""
    S = (Y @ Y.T > 0).astype(float)
    codes = [sign(rng.standard_normal((len(Y), k))) for _ in range(n_views)]
    columns = np.unique(np.linspace(0, len(Y) - 1, 100).astype(int))  # of the objective
    for _ in range(iterations):
        C = rng.choice(len(Y), k, replace=False)
        for U in codes:
            others = [V[C] for V in codes if V is not U]
            renew(U, np.vstack(others), np.hstack([S[:, C]] * len(others)), lam)
        T = [lam / k * U @ V[columns].T for U, V in itertools.permutations(codes, 2)]
        record(np.mean([np.logaddexp(0, t) - S[:, columns] * t for t in T]))
    return codes


def restate(views, Y, n_bits, seed, lam=8.0, iterations=30, ridge_scatter=1e-6, record=ignore):
    rng = np.random.default_rng(seed)
    codes = learn_codes(len(views), Y, n_bits, rng, lam, iterations, record)
    W = [regress(X, B, ridge_scatter) for X, B in zip(views, codes, strict=True)]
    return [B > 0 for B in codes], lambda X, view: X @ W[view] >= 0
