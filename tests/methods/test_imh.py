import numpy as np
import pytest

from hashbench.checks.methods import toy
from hashbench.linalg import anchor_rows
from hashbench.methods.imh import IMH


def laplacian(X, neighbours):
    """The Laplacian from all pairs of rows."""
    D = np.square(X[:, None] - X[None]).sum(axis=2)
    np.fill_diagonal(D, np.inf)
    G = np.zeros_like(D)
    np.put_along_axis(G, np.argsort(D, axis=1, kind="stable")[:, :neighbours], 1, axis=1)
    G = (G + G.T) / 2
    return np.diag(G.sum(axis=1)) - G


def direct(views, k, u, beta=1e-3, lam=1e-3, neighbours=10, skip=1):
    """The paper's closed form with n x n inverses, for two views and finite u."""
    eye = np.eye(len(views[0]))
    A1, A2 = (eye - Z @ np.linalg.solve(Z.T @ Z + beta * np.eye(Z.shape[1]), Z.T) for Z in views)
    L1, L2 = (lam * laplacian(Z, neighbours) for Z in views)
    E = np.linalg.solve(A2 + L2 + u * eye, u * eye)
    C = A1 + E.T @ A2 @ E + u * (eye - E).T @ (eye - E) + L1 + E.T @ L2 @ E
    F = np.linalg.eigh((C + C.T) / 2)[1][:, skip : k + skip]
    return [
        np.linalg.solve(Z.T @ Z + beta * np.eye(Z.shape[1]), Z.T @ part)
        for Z, part in zip(views, (F, E @ F), strict=True)
    ]


@pytest.mark.parametrize("dense_rows", [2000, 0])  # the dense and the Lanczos way
def test_equals_the_closed_form_over_all_pairs_of_items(dense_rows, monkeypatch):
    monkeypatch.setattr("hashbench.methods.imh.DENSE_ROWS", dense_rows)
    views, _ = toy(n=150, dims=(7, 5))
    method = IMH(n_bits=4, lam=0.01, random_state=0).fit(views)
    for u, rtol in ((1e4, 1e-2), (1e8, 1e-4)):
        for ours, theirs in zip(method.projections_, direct(views, 4, u, lam=0.01), strict=True):
            flips = np.sign((ours * theirs).sum(axis=0))
            np.testing.assert_allclose(ours, theirs * flips, atol=rtol * np.abs(theirs).max())


def test_bits_are_thresholded_at_the_training_medians():
    views, _ = toy(n=101)
    method = IMH(n_bits=6, random_state=0).fit(views)
    for m, X in enumerate(views):
        np.testing.assert_array_equal(method.encode(X, m).sum(axis=0), 50)
        np.testing.assert_array_equal(method.encode(X[:1], m), method.encode(X, m)[:1])


def test_batch_medians_depend_on_the_batch():
    views, _ = toy(n=100)
    method = IMH(n_bits=6, batch_thresholds=True, random_state=0).fit(views)
    for rows in (20, 50, 100):
        np.testing.assert_array_equal(method.encode(views[0][:rows], 0).sum(axis=0), rows // 2)


def test_centring_and_skipping_belong_together():
    views, _ = toy(n=150, dims=(7, 5))
    # Rows that sum to one have the constant vector among their combinations.
    views = [np.exp(X) / np.exp(X).sum(axis=1, keepdims=True) for X in views]
    raw = IMH(n_bits=3, random_state=0).fit(views)
    centred = IMH(n_bits=3, centred=True, skip=0, random_state=0).fit(views)
    trivial = IMH(n_bits=1, skip=0, random_state=0).fit(views)
    values = trivial.project(views[0], 0)
    assert values.std() < 0.02 * np.sqrt(1 / 150)  # a unit vector over 150 rows, nearly constant
    for m, X in enumerate(views):
        agree = (raw.encode(X, m) == centred.encode(X, m)).mean(axis=0)
        assert (np.maximum(agree, 1 - agree) > 0.9).all()


def test_bits_beyond_the_features_are_constant_and_said_to_be():
    views, _ = toy(n=200, dims=(7, 5))
    with pytest.warns(UserWarning, match="determine 11 directions; 5 of 16 bits are constant"):
        method = IMH(n_bits=16, random_state=0).fit(views)
    codes = method.encode(views[0], 0)
    assert (codes[:, 11:] == codes[0, 11:]).all()
    assert np.allclose(codes[:, :11].mean(axis=0), 0.5)


def test_the_spectral_problem_is_that_of_the_sample():
    views, _ = toy(n=400, dims=(7, 5))
    method = IMH(n_bits=3, max_rows=100, random_state=0).fit(views)
    rows = np.sort(anchor_rows(400, 100, np.random.default_rng(0)))
    theirs = direct([X[rows] for X in views], 3, 1e8)
    for ours, W in zip(method.projections_, theirs, strict=True):
        flips = np.sign((ours * W).sum(axis=0))
        np.testing.assert_allclose(ours, W * flips, atol=1e-4 * np.abs(W).max())
    np.testing.assert_array_equal(method.encode(views[0], 0).sum(axis=0), 200)  # medians of all
