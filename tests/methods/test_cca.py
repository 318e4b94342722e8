import warnings

import numpy as np
import pytest

from hashbench.checks.methods import toy
from hashbench.methods.cca import CCA


def test_bits_beyond_the_rank_are_constant_and_a_warning_says_so():
    views, _ = toy(dims=(12, 5))
    with pytest.warns(UserWarning, match="constant"):
        method = CCA(n_bits=8).fit(views)
    for m, X in enumerate(views):
        codes = method.encode(X, m)
        assert (codes[:, 5:] == codes[0, 5:]).all()
        assert codes[:, :5].any(axis=0).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shorter = CCA(n_bits=5).fit(views)
    np.testing.assert_array_equal(shorter.encode(views[0], 0), method.encode(views[0], 0)[:, :5])
