"""CCQ with one-hot codes of every item formed, for two views."""

import numpy as np

from tests.methods.restated.common import best_rotation, ignore

PARAMETERS = {"lam": 0.7, "tolerance": 0.6}  # ends at the first comparison of objectives


def restate(views, Y, n_bits, seed, lam, tolerance=1e-12, iterations=100, record=ignore):
    rng = np.random.default_rng(seed)
    means = [V.mean(axis=0) for V in views]
    X = [V - mean for V, mean in zip(views, means, strict=True)]
    weights = (1, lam)
    d = min(n_bits, *(x.shape[1] for x in X))
    sizes = [256] * (n_bits // 8) + [2 ** (n_bits % 8)] * (n_bits % 8 > 0)

    # Each view begins with codebooks of its own: random rows of its first d columns.
    B, V = [], []
    for x in X:
        z = x[:, :d]
        books = [z[rng.choice(len(z), size, replace=False)] for size in sizes]
        B.append(greedy([z], books, [1]))
        V.append(B[-1] @ np.vstack(books))
    R = [np.eye(x.shape[1], d) for x in X]
    for iteration in range(iterations):
        # The texts' first words do not span all directions: there R stays near what it was.
        R = [best_rotation(x.T @ v + 1e-8 * r) for x, v, r in zip(X, V, R, strict=True)]
        Z = [x @ r for x, r in zip(X, R, strict=True)]
        system = sum(w * b.T @ b for w, b in zip(weights, B, strict=True))
        right = sum(w * b.T @ z for w, b, z in zip(weights, B, Z, strict=True))
        C = np.linalg.solve(system + 1e-3 * np.eye(sum(sizes)), right)
        books = np.split(C, np.cumsum(sizes)[:-1])
        B = [greedy(Z, books, weights)] * 2  # from now on the views share their codes
        V = [B[0] @ C] * 2
        objective = sum(
            w * np.square(x - v @ r.T).sum() for w, x, v, r in zip(weights, X, V, R, strict=True)
        )
        record(objective)
        if iteration == 0:
            first = last = objective
        elif iteration % 10 == 0:
            if last - objective < tolerance * first:
                break
            last = objective
    W = [np.linalg.solve(x.T @ x + 1e-3 * np.eye(x.shape[1]), x.T @ V[0]) for x in X]

    def vectors(Z, view, role):
        q = (Z - means[view]) @ W[view]
        if role == "query":
            return np.hstack([2 * q, np.ones((len(q), 1))])
        v = greedy([q], books, [1]) @ C
        return np.hstack([v, -np.square(v).sum(axis=1, keepdims=True)])

    return None, vectors


def greedy(Z, books, weights):
    """Return one-hot codes: each codebook's word nearest to what the ones before it leave."""
    rest, hot = list(Z), []
    for C in books:
        distances = sum(
            w * np.square(r[:, None] - C).sum(axis=2) for w, r in zip(weights, rest, strict=True)
        )
        hot.append(np.eye(len(C))[distances.argmin(axis=1)])
        rest = [r - hot[-1] @ C for r in rest]
    return np.hstack(hot)
