"""PQ: k-means of scikit-learn in parts of regressed labels, with every word looked up by itself."""

import numpy as np
from sklearn.cluster import KMeans

from tests.methods.restated import real_valued

PARAMETERS = {"ridge": 0.3}


def restate(views, Y, n_bits, seed, ridge):
    rng = np.random.default_rng(seed)
    unit = real_valued.restate(views, Y, n_bits, seed, ridge)[1]
    books = [first_codebooks(unit(X, m, "database"), n_bits, rng) for m, X in enumerate(views)]

    def vectors(X, view, role):
        Z = unit(X, view, role)
        return Z if role == "query" else quantised(Z, books[view])

    return None, vectors


def first_codebooks(Z, n_bits, rng):
    """Return 256 words per codebook; of what is no multiple of 8 bits, two codebooks of half."""
    sizes = [2**8] * (n_bits // 8) if n_bits % 8 == 0 else [2 ** (n_bits // 2)] * 2
    return [
        lloyd(part, part[rng.choice(distinct(part), size, replace=False)], 100)
        for part, size in zip(cut(Z, len(sizes)), sizes, strict=True)
    ]


def distinct(Z):
    """Return the first row of each group of equal ones."""
    first = {tuple(row): i for i, row in reversed(list(enumerate(Z.round(6))))}
    return sorted(first.values())


def cut(Z, parts):
    """Return consecutive columns; where they cannot be equally many, the first ones have more."""
    d, more = divmod(Z.shape[1], parts)
    ends = np.cumsum([d + (j < more) for j in range(parts)])
    return [Z[:, end - d - (j < more) : end] for j, end in enumerate(ends)]


def lloyd(Z, start, iterations):
    found = KMeans(len(start), init=start, n_init=1, tol=0, max_iter=iterations, algorithm="lloyd")
    return found.fit(Z).cluster_centers_


def quantised(Z, books):
    rows = []
    for z in Z:
        parts = cut(z[None], len(books))
        rows.append(
            [
                C[np.square(C - part).sum(axis=1).argmin()]
                for part, C in zip(parts, books, strict=True)
            ]
        )
    return np.array([np.concatenate(row) for row in rows])
