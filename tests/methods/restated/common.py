"""What several papers have in common, written out."""

import numpy as np
import scipy


def sign(X):
    """Return +1 where X >= 0 and -1 elsewhere."""
    return np.where(X >= 0, 1.0, -1.0)


def rbf(X, anchors, width):
    """Return exp(-||x - a||^2 / width) for every row and anchor, by differences."""
    distances = np.square(X[:, None, :] - anchors[None, :, :]).sum(axis=2)
    return np.exp(-distances / width)


def anchor_features(views, counts, rng):
    """Return centred RBF features of the training rows, one array per view, and their maps.

    Anchors are random rows; the width is twice the mean squared distance to them.
    """
    features, maps = [], []
    for X, count in zip(views, counts, strict=True):
        chosen = np.sort(rng.choice(len(X), size=min(count, len(X)), replace=False))
        anchors = X[chosen]
        width = 2 * np.square(X[:, None, :] - anchors[None, :, :]).sum(axis=2).mean()
        K = rbf(X, anchors, width)
        mean = K.mean(axis=0)
        features.append(K - mean)
        maps.append(lambda Z, a=anchors, w=width, m=mean: rbf(Z, a, w) - m)
    return features, maps


def canonical_directions(X, Y, k, ridge_x, ridge_y):
    """Return k pairs of canonical directions of two centred views, and their correlations.

    Solves Cxy Cyy^-1 Cyx a = rho^2 Cxx a with b = Cyy^-1 Cyx a / rho, where Cxx = X'X + ridge I. A
    direction's sign is arbitrary: the largest entry of a is positive.
    """
    Cxx, Cyy = X.T @ X + ridge_x * np.eye(X.shape[1]), Y.T @ Y + ridge_y * np.eye(Y.shape[1])
    Cxy = X.T @ Y
    values, vectors = scipy.linalg.eigh(Cxy @ np.linalg.solve(Cyy, Cxy.T), Cxx)
    A, correlations = vectors[:, ::-1][:, :k], np.sqrt(values[::-1][:k])
    A = A * sign(A[np.abs(A).argmax(axis=0), np.arange(k)])
    return A, np.linalg.solve(Cyy, Cxy.T @ A) / correlations, correlations


def random_rotation(k, rng):
    """Return a uniformly distributed orthogonal matrix: QR with a positive diagonal of R."""
    Q, triangle = np.linalg.qr(rng.standard_normal((k, k)))
    return Q * np.sign(np.diag(triangle))


def best_rotation(A):
    """Return the matrix R with orthonormal columns that maximises tr(R'A)."""
    left, _, right = np.linalg.svd(A, full_matrices=False)
    return left @ right


def ignore(value):
    """Do nothing with a value of the objective: the default of `record` in restatements."""


def unit_rows(X):
    """Return X with rows of unit norm."""
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def best_rotation_near(A, last):
    """Return the rotation R that maximises tr(R'A), by the singular vectors of A.

    Where A has singular values of zero, several rotations are best: this is the one nearest to
    the last rotation.
    """
    left, values, right = np.linalg.svd(A)
    r = (values > 1e-8 * values[0]).sum()
    free_left, _, free_right = np.linalg.svd(left[:, r:].T @ last @ right[r:].T)
    return left[:, :r] @ right[:r] + left[:, r:] @ free_left @ free_right @ right[r:]


def balanced_factor(Z, rng, zero=1e-6):
    """Return V that maximises tr(Z'V) subject to V'V = n I and V'1 = 0, (n, k).

    Directions that Z does not determine (squared singular values of at most `zero`, or of rounding
    errors) are random, and orthogonal to the others as the constraints demand.
    """
    n, k = Z.shape
    left, values, right = np.linalg.svd(Z - Z.mean(axis=0), full_matrices=False)
    r = (values**2 > max(zero, 10 * k * np.finfo(float).eps * values[0] ** 2)).sum()
    left, right = left[:, :r], right[:r]
    V = left @ right
    if r < k:
        E = rng.standard_normal((n, k))
        E -= E.mean(axis=0)
        E -= left @ (left.T @ E)
        E -= E @ right.T @ right
        more, _, turned = np.linalg.svd(E, full_matrices=False)
        count = min(k, n - 1) - r  # n rows have n - 1 directions orthogonal to 1
        V += more[:, :count] @ turned[:count]
    return np.sqrt(n) * V


def regress(F, T, ridge):
    """Return (F'F + ridge I)^-1 F'T."""
    return np.linalg.solve(F.T @ F + ridge * np.eye(F.shape[1]), F.T @ T)


def upright(vectors):
    """Return columns whose largest entry is positive, for eigenvectors: their signs are arbitrary.

    Every later value depends on this choice, and the methods make the same one.
    """
    largest = np.abs(vectors).argmax(axis=0)
    return vectors * sign(vectors[largest, np.arange(vectors.shape[1])])
