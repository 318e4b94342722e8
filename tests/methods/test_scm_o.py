import os
from pathlib import Path

import numpy as np
import pytest
import scipy

from hashbench.checks.methods import toy
from hashbench.methods.scm_o import SCMO
from hashbench.methods.scm_s import SCMS
from tests.helpers.data import needs_data
from tests.methods.restated.scm_s import restate


@pytest.mark.parametrize("multilabel", [False, True])
def test_objective_and_codes_of_sequential_bits_equal_the_restated_ones(multilabel):
    views, labels = toy(n=80, multilabel=multilabel)
    method = SCMS(n_bits=6, stop=False).fit(views, labels)
    objective = []
    _, encode = restate(
        views, labels.astype(float), 6, None, 1e-6, stop=False, record=objective.append
    )
    np.testing.assert_allclose(method.objective_, objective, rtol=1e-9)
    for view, X in enumerate(views):
        assert np.array_equal(method.encode(X, view), encode(X, view))


def weak_labels(classes, dims):
    """Return views and labels that make scm-s stop before the last bit."""
    views, labels = toy(n=80, classes=classes, dims=dims)
    rng = np.random.default_rng(1)
    return [X + 3 * rng.standard_normal(X.shape) for X in views], labels


def test_bits_after_the_stop_are_cca_directions_weakest_first():
    views, labels = weak_labels(4, (12, 9))
    method = SCMS(n_bits=16).fit(views, labels)
    objective = []
    _, encode = restate(views, labels.astype(float), 16, None, 1e-6, record=objective.append)
    assert 0 < len(objective) < 16
    np.testing.assert_allclose(method.objective_, objective, rtol=1e-9)
    for view, X in enumerate(views):
        assert np.array_equal(method.encode(X, view), encode(X, view))


def test_bits_beyond_the_rank_are_constant_and_give_a_warning():
    views, labels = toy(classes=4)
    with pytest.warns(UserWarning, match="3 of 16"):
        method = SCMO(n_bits=16).fit(views, labels)  # centred one-hot labels of 4 classes: rank 3
    for m, X in enumerate(views):
        codes = method.encode(X, m)
        assert codes[:, 3:].all()
        assert not (codes[:, :3] == codes[0, :3]).all(axis=0).any()


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("cls", [SCMO, SCMS])
def test_noise_bits_replace_the_constant_ones_alone(cls):
    views, labels = weak_labels(4, (12, 5))
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


@pytest.mark.filterwarnings("ignore::UserWarning")
@needs_data
@pytest.mark.parametrize(("bits", "learned"), [(8, 7), (16, 13), (24, 18), (32, 24), (64, 48)])
def test_stops_on_wiki_where_the_authors_code_stops(bits, learned):
    data = scipy.io.loadmat(Path(os.environ["HASHBENCH_DATA"]) / "wiki" / "WikiData.mat")
    method = SCMS(n_bits=bits).fit([data["I_tr"], data["T_tr"]], data["L_tr"])
    assert len(method.objective_) == learned
