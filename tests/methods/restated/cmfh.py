"""CMFH with V held as an (n, k) matrix, in the three versions in use."""

import numpy as np

from tests.methods.restated.common import ignore

PARAMETERS = {}  # stops by itself after some 90 iterations


def restate(
    views,
    Y,
    n_bits,
    seed,
    variant="v1",
    lam=0.5,
    mu=100.0,
    gamma=0.01,
    tolerance=0.01,
    iterations=None,
    record=ignore,
):
    rng, eye = np.random.default_rng(seed), np.eye(n_bits)
    means = [X.mean(axis=0) for X in views]
    X = [x - mean for x, mean in zip(views, means, strict=True)]
    weights = [lam] + [(1 - lam) / (len(X) - 1)] * (len(X) - 1)
    couplings = [mu * w if variant == "v2" else mu for w in weights]
    # Both releases penalise U by gamma, the first one P too, and the second one scales P down.
    ridges = [gamma / w if variant == "paper" else gamma for w in weights]
    ridge = gamma if variant == "v1" else gamma / mu
    scale = 1 / mu**2 if variant == "v2" else 1
    V = rng.random((len(X[0]), n_bits))
    P = [rng.random((x.shape[1], n_bits)) for x in X]
    last = np.inf
    for _ in range(iterations or (25 if variant == "v2" else 500)):
        U = [x.T @ V @ np.linalg.inv(V.T @ V + r * eye) for x, r in zip(X, ridges, strict=True)]
        system, right = (sum(couplings) + gamma) * eye, 0
        for x, w, c, u, p in zip(X, weights, couplings, U, P, strict=True):
            system = system + w * u.T @ u
            right = right + x @ (w * u + c * p)
        V = right @ np.linalg.inv(system)
        P = [scale * np.linalg.inv(x.T @ x + ridge * np.eye(x.shape[1])) @ (x.T @ V) for x in X]
        terms = [(gamma, V)]
        for x, w, c, u, p in zip(X, weights, couplings, U, P, strict=True):
            terms += [(w, x - V @ u.T), (c, V - x @ p), (gamma, u), (gamma, p)]
        record(sum(factor * np.square(M).sum() for factor, M in terms))
        # The first release stops by norms that are not squared; the second does not stop early.
        norms = sum(factor * np.linalg.norm(M) for factor, M in terms)
        if variant != "v2" and last - norms < tolerance:
            break
        last = norms
    return V >= 0, lambda Z, view: (Z - means[view]) @ P[view] >= 0
