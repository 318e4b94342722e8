"""SePH with the n x n affinities formed, and one logistic regression per view and bit."""

import numpy as np
import scipy
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans

from tests.methods.restated.common import rbf, sign

# With more kernel points some start from equal rows and lose all of theirs in k-means. Which of
# several equally distant rows such a cluster then gets is a matter of rounding.
PARAMETERS = {"iterations": 40, "anchors": 16, "alpha": 0.02, "penalty": 0.05}


def restate(views, Y, n_bits, seed, iterations, anchors, alpha, penalty):
    rng = np.random.default_rng(seed)
    codes, _ = learn_codes(Y, n_bits, rng, iterations, alpha)
    start = rng.choice(len(Y), anchors, replace=False)
    functions = []
    for X in views:
        width = cdist(X, X, "sqeuclidean").mean()
        lloyd = KMeans(anchors, init=X[start], n_init=1, tol=0, max_iter=100, algorithm="lloyd")
        points = lloyd.fit(X).cluster_centers_
        K, K0 = rbf(X, points, width), rbf(points, points, width)
        W = np.column_stack([logistic_regression(K, K0, t, penalty) for t in sign(codes - 0.5).T])
        functions.append(lambda Z, points=points, width=width, W=W: rbf(Z, points, width) @ W)
    return codes, lambda X, view: functions[view](X) >= 0


def learn_codes(labels, n_bits, rng, iterations, alpha):
    """Return the codes of the best iterate and the costs of all; the descent is that of t-SNE."""
    n = len(labels)
    Y = np.empty((n, n_bits))
    Y[np.lexsort(labels.T)] = 1e-4 * rng.standard_normal((n, n_bits))  # drawn in label order
    weight = alpha / (n_bits * n)
    change, gains = np.zeros_like(Y), np.ones_like(Y)
    iterates, costs = [], []
    for _ in range(iterations):
        divergence, gradient = affinity_loss(Y, labels)
        gradient = gradient + 2 * weight * (np.abs(Y) - 1) * np.sign(Y)
        gains = np.where(np.sign(gradient) != np.sign(change), gains + 0.2, gains * 0.8)
        gains = np.maximum(gains, 0.01)
        change = 0.5 * change - 500 * gains * gradient
        Y = Y + change
        Y = Y - Y.mean(axis=0)
        iterates.append(Y)
        costs.append(divergence + weight * np.square(np.abs(Y) - 1).sum())  # Q of the last iterate
    return iterates[np.argmin(costs)] >= 0, costs


def affinity_loss(Y, labels):
    """Return KL(P || Q) without the entropy of P, and its gradient with respect to Y."""
    lengths = np.linalg.norm(labels, axis=1, keepdims=True)
    G = labels / np.where(lengths > 0, lengths, 1)
    P, N = G @ G.T, 1 / (1 + cdist(Y, Y, "sqeuclidean") / 4)
    np.fill_diagonal(P, 0)
    np.fill_diagonal(N, 0)
    P, Q = P / P.sum(), N / N.sum()
    forces = (P - Q) * N
    gradient = forces.sum(axis=1, keepdims=True) * Y - forces @ Y  # sum_j f_ij (y_i - y_j)
    return -np.sum(P[P > 0] * np.log(Q[P > 0])), gradient


def logistic_regression(K, K0, t, penalty):
    """Minimise sum_i log(1 + exp(-t_i k_i'w)) + penalty w'K0 w."""

    def value(w):
        return np.logaddexp(0, -t * (K @ w)).sum() + penalty * w @ K0 @ w

    def gradient(w):
        return -K.T @ (t * scipy.special.expit(-t * (K @ w))) + 2 * penalty * K0 @ w

    def hessian(w):
        p = scipy.special.expit(K @ w)
        return K.T @ np.diag(p * (1 - p)) @ K + 2 * penalty * K0

    start = np.zeros(K.shape[1])
    return scipy.optimize.minimize(
        value, start, jac=gradient, hess=hessian, method="trust-exact", options={"gtol": 1e-8}
    ).x
