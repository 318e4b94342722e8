import numpy as np
import pytest

from hashbench import HashbenchError
from hashbench.checks.methods import toy
from hashbench.methods.pca_itq import PCAITQ


@pytest.mark.parametrize("view", [0, 1])
def test_the_coded_view_encodes_to_the_learned_codes(view):
    views, _ = toy(n=100, dims=(9, 6))
    method = PCAITQ(n_bits=6, view=view, random_state=0).fit(views)
    assert (method.encode(views[view], view) == method.codes_).mean() > 0.999
    W = method.projections_[view]
    np.testing.assert_allclose(W.T @ W, np.eye(6), atol=1e-9)  # A R with orthonormal A


def test_more_bits_than_columns_are_all_in_use():
    views, _ = toy(n=200, dims=(12, 4))
    codes = PCAITQ(n_bits=16, random_state=0).fit(views).codes_
    assert ((codes.mean(axis=0) > 0.05) & (codes.mean(axis=0) < 0.95)).all()


def test_a_missing_view_is_refused():
    with pytest.raises(HashbenchError, match="view"):
        PCAITQ(view=2).fit(toy()[0])
