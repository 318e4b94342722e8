import os
from pathlib import Path

import numpy as np
import pytest
import scipy

from hashbench.checks.methods import toy
from hashbench.linalg import signs
from hashbench.methods.cca import CCA
from hashbench.methods.scm_o import SCMO
from hashbench.methods.scm_s import SCMS


def generalised_pair(C, Cxx, Cyy):
    """Leading pair of C Cyy^-1 C' w = s^2 Cxx w, by a dense solver."""
    values, vectors = scipy.linalg.eigh(C @ np.linalg.solve(Cyy, C.T), Cxx)
    wx = vectors[:, -1]
    return wx, np.linalg.solve(Cyy, C.T @ wx) / np.sqrt(values[-1])


def similarity(Y):
    G = Y / np.maximum(np.sqrt(np.square(Y).sum(axis=1, keepdims=True)), 1e-300)
    return 2 * G @ G.T - 1


def same_up_to_joint_flips(ours, theirs):
    flips = [(a != b).mean(axis=0) for a, b in zip(ours, theirs, strict=True)]
    return all(np.isin(flip, (0, 1)).all() for flip in flips) and np.array_equal(*flips)


def centred(views):
    return [X - X.mean(axis=0) for X in views]


@pytest.mark.parametrize("multilabel", [False, True])
def test_sequential_bits_equal_the_direct_deflation(multilabel):
    views, labels = toy(n=80, multilabel=multilabel)
    k, ridge = 6, 1e-6
    X, Y = centred(views)
    C = k * X.T @ similarity(labels.astype(float)) @ Y
    Cxx, Cyy = (Z.T @ Z + ridge * np.eye(Z.shape[1]) for Z in (X, Y))
    codes, objective = [], []
    residual = k * similarity(labels.astype(float))
    for _ in range(k):
        wx, wy = generalised_pair(C, Cxx, Cyy)
        hx, hy = signs(X @ wx), signs(Y @ wy)
        C = C - np.outer(X.T @ hx, Y.T @ hy)
        residual = residual - np.outer(hx, hy)
        objective.append(np.square(residual).sum())
        codes.append((hx > 0, hy > 0))
    direct = [np.column_stack(bits) for bits in zip(*codes, strict=True)]

    method = SCMS(n_bits=k, stop=False).fit(views, labels)
    ours = [method.encode(Z, m) for m, Z in enumerate(views)]
    assert same_up_to_joint_flips(ours, direct)
    np.testing.assert_allclose(method.objective_, objective, rtol=1e-9)


def test_stop_falls_back_on_cca_directions_weakest_first():
    views, labels = toy(n=80, dims=(12, 9))
    rng = np.random.default_rng(1)
    views = [X + 3 * rng.standard_normal(X.shape) for X in views]  # weak labels make it stop
    k = 16
    free = SCMS(n_bits=k, stop=False).fit(views, labels)
    stopped = SCMS(n_bits=k).fit(views, labels)
    learned = len(stopped.objective_)
    assert 0 < learned < k
    for m in range(2):
        np.testing.assert_allclose(
            stopped.projections_[m][:, :learned], free.projections_[m][:, :learned]
        )
    left = k - learned
    cca = CCA(n_bits=left, ridge=1e-6).fit(views)
    for m in range(2):
        np.testing.assert_allclose(
            stopped.projections_[m][:, learned:], cca.projections_[m][:, ::-1], atol=1e-9
        )


def test_orthogonal_directions_solve_the_generalised_eigenproblem():
    views, labels = toy(n=80, multilabel=True)
    X, Y = centred(views)
    M0 = X.T @ similarity(labels.astype(float)) @ Y
    Cxx, Cyy = (Z.T @ Z + 1e-6 * np.eye(Z.shape[1]) for Z in (X, Y))
    values, vectors = scipy.linalg.eigh(M0 @ np.linalg.solve(Cyy, M0.T), Cxx)
    Wx = vectors[:, ::-1][:, :3]
    Wy = np.linalg.solve(Cyy, M0.T @ Wx) / np.sqrt(values[::-1][:3])
    method = SCMO(n_bits=3).fit(views, labels)
    ours = [method.encode(Z, m) for m, Z in enumerate(views)]
    assert same_up_to_joint_flips(ours, [X @ Wx >= 0, Y @ Wy >= 0])


def test_bits_beyond_the_rank_are_constant_and_said_so():
    views, labels = toy(classes=4)
    with pytest.warns(UserWarning, match="3 of 16 bits"):
        method = SCMO(n_bits=16).fit(views, labels)  # centred one-hot labels of 4 classes: rank 3
    for m, X in enumerate(views):
        codes = method.encode(X, m)
        assert codes[:, 3:].all()
        assert not (codes[:, :3] == codes[0, :3]).all(axis=0).any()


@pytest.mark.filterwarnings("ignore:scm-.. found directions")
@pytest.mark.parametrize("cls", [SCMO, SCMS])
def test_noise_bits_replace_the_constant_ones_alone(cls):
    views, labels = toy(n=80, classes=4, dims=(12, 5))
    rng = np.random.default_rng(1)
    views = [X + 3 * rng.standard_normal(X.shape) for X in views]  # weak labels make scm-s stop
    constant = cls(n_bits=32).fit(views, labels)
    noisy = cls(n_bits=32, noise_bits=True, random_state=0).fit(views, labels)
    without = ~constant.projections_[0].any(axis=0)
    assert 0 < without.sum() < 32
    for m, X in enumerate(views):
        ours, plain = noisy.encode(X, m), constant.encode(X, m)
        np.testing.assert_array_equal(ours[:, ~without], plain[:, ~without])
        assert not (ours[:, without] == ours[0, without]).all(axis=0).any()


def test_three_views_agree_pairwise():
    views, labels = toy(n=200, dims=(12, 8, 6))
    method = SCMS(n_bits=8).fit(views, labels)
    codes = [method.encode(X, m) for m, X in enumerate(views)]
    learned = len(method.objective_)
    for m in range(3):
        agreement = (codes[m] == codes[m - 1]).mean(axis=0)
        assert (agreement[:learned] > 0.6).all()


@pytest.mark.filterwarnings("ignore:scm-s. found directions")
@pytest.mark.skipif("HASHBENCH_DATA" not in os.environ, reason="HASHBENCH_DATA is not set")
@pytest.mark.parametrize(("bits", "learned"), [(8, 7), (16, 13), (24, 18), (32, 24), (64, 48)])
def test_stops_on_wiki_where_the_authors_code_stops(bits, learned):
    data = scipy.io.loadmat(Path(os.environ["HASHBENCH_DATA"]) / "wiki" / "WikiData.mat")
    method = SCMS(n_bits=bits).fit([data["I_tr"], data["T_tr"]], data["L_tr"])
    assert len(method.objective_) == learned
