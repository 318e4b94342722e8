import numpy as np
import pytest

from hashbench.checks.methods import toy
from hashbench.linalg import sweep
from hashbench.plugins.registry import discover

FSH = discover().get("methods", "fsh").cls


def signs(values):
    return np.where(values >= 0, 1.0, -1.0)


def direct(views, k, seed, anchors, neighbours, iterations, penalty=300.0):
    """The released algorithm, with the loop over pairs of rows and anchors written out."""
    rng = np.random.default_rng(seed)
    unit = [v / np.linalg.norm(v, axis=1, keepdims=True) for v in views]
    X = [u - u.mean(axis=0) for u in unit]
    n = len(X[0])
    rows = rng.choice(n, size=anchors, replace=False)
    distance = [np.linalg.norm(x[:, None] - x[None, rows], axis=2) for x in X]
    near = [np.argsort(d, axis=1, kind="stable")[:, :neighbours] for d in distance]
    A = [np.zeros((n, anchors)) for _ in X]
    for m, other in ((0, 1), (1, 0)):
        for i in range(n):
            for j in range(anchors):
                p, q = near[m][i], near[other][rows[j]]
                A[m][i, j] = np.exp(-distance[m][rows][np.ix_(p, q)] / 2).mean()
    W = [rng.standard_normal((x.shape[1], k)) for x in X]
    Bs, eta = X[1][rows] @ W[1], 0.5
    objective = []
    for _ in range(iterations):
        D = eta * A[0] + (1 - eta) * A[1]
        B = signs(D @ Bs + 2 * penalty * (X[0] @ W[0] + X[1] @ W[1]))
        Bs = signs(D.T @ B)
        W = [np.linalg.lstsq(x, B, rcond=None)[0] for x in X]
        error = sum(np.square(B - x @ w).sum() for x, w in zip(X, W, strict=True))
        objective.append(penalty * error - np.trace(Bs.T @ D.T @ B))
        P = [anchors - np.trace(Bs.T @ a.T @ B) for a in A]
        eta = (P[0] / (P[0] + P[1])) ** 2
    return B, W, objective


@pytest.mark.parametrize("dims", [(12, 8), (60, 8)])  # (60, 8): more columns than rows
def test_equals_the_algorithm_written_out(dims):
    views, _ = toy(n=50, dims=dims)
    method = FSH(n_bits=6, anchors=20, neighbours=4, iterations=5, random_state=1).fit(views)
    B, W, objective = direct(views, 6, 1, 20, 4, len(method.objective_))
    np.testing.assert_array_equal(method.codes_, B > 0)
    np.testing.assert_allclose(method.objective_, objective, rtol=1e-9, atol=1e-6)
    for ours, theirs in zip(method.projections_, W, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-8)


@pytest.mark.parametrize("dims", [(12, 8), (12, 8, 5)])
def test_every_step_but_that_of_the_weights_descends(monkeypatch, dims):
    monkeypatch.setattr(FSH, "_weights", lambda self, P: np.full(len(P), 1 / len(P)))
    for seed in range(4):
        views, _ = toy(n=200, dims=dims, seed=seed)
        objective = np.array(FSH(n_bits=16, random_state=seed).fit(views).objective_)
        assert len(objective) > 2
        assert (np.diff(objective) <= 1e-9 * np.abs(objective[:-1])).all()


def test_ends_when_nothing_changes():
    views, _ = toy(n=200)
    short = FSH(n_bits=8, random_state=0).fit(views)
    used = len(short.objective_)
    assert used < 100
    # The last iteration repeated the one before it, so leaving it out changes nothing.
    shorter = FSH(n_bits=8, random_state=0, iterations=used - 1).fit(views)
    np.testing.assert_array_equal(short.codes_, shorter.codes_)
    for one, other in zip(short.projections_, shorter.projections_, strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_scale_of_a_row_does_not_matter():
    views, _ = toy(n=80)
    factors = np.random.default_rng(0).integers(1, 9, size=(80, 1)).astype(float)
    plain = FSH(n_bits=8, random_state=0).fit(views)
    scaled = FSH(n_bits=8, random_state=0).fit([views[0] * factors, views[1]])
    assert (plain.codes_ == scaled.codes_).mean() > 0.99
    assert (plain.encode(views[0], 0) == scaled.encode(views[0], 0)).mean() > 0.99


def test_adding_what_has_changed_gives_the_same_codes(monkeypatch):
    rng = np.random.default_rng(0)
    labels = np.eye(4)[rng.integers(0, 4, 700)]
    views = [
        (labels @ rng.standard_normal((4, d)) + rng.standard_normal((700, d))).astype(np.float32)
        for d in (24, 16)
    ]
    whole = FSH(8, anchors=20, random_state=0).fit(views)
    monkeypatch.setattr(sweep, "LARGE", 0)
    monkeypatch.setattr(sweep, "COMPILED_WIDTH", 8)
    added = []
    add = sweep.Sweep.add
    monkeypatch.setattr(
        sweep.Sweep, "add", lambda self, X, T: (added.append(len(X)), add(self, X, T))
    )
    changed = FSH(8, anchors=20, random_state=0).fit(views)
    assert len(changed.objective_) > 3
    assert changed.objective_ == pytest.approx(whole.objective_, rel=1e-5)
    assert np.array_equal(changed.codes_, whole.codes_)
    passes = 2 * len(changed.objective_)
    assert sum(added) < 0.7 * 700 * passes, "rows whose bits stayed are left out"
