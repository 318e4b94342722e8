import warnings

import numpy as np
import pytest
import scipy

from hashbench.conformance import toy
from hashbench.methods.cca import CCA


def test_codes_are_the_signs_of_the_textbook_directions():
    views, _ = toy(n=200, dims=(9, 6))
    X, Y = (view - view.mean(axis=0) for view in views)
    Cxx, Cyy = X.T @ X + 1e-4 * np.eye(9), Y.T @ Y + 1e-4 * np.eye(6)
    Cxy = X.T @ Y
    values, vectors = scipy.linalg.eigh(Cxy @ np.linalg.solve(Cyy, Cxy.T), Cxx)
    a = vectors[:, ::-1][:, :4]
    b = np.linalg.solve(Cyy, Cxy.T @ a) / np.sqrt(values[::-1][:4])
    method = CCA(n_bits=4).fit(views)
    ours = [method.encode(view, m) for m, view in enumerate(views)]
    theirs = [X @ a >= 0, Y @ b >= 0]
    for bit in range(4):  # a pair of directions may be flipped, but only together
        flips = {
            np.mean(mine[:, bit] != its[:, bit]) for mine, its in zip(ours, theirs, strict=True)
        }
        assert flips in ({0.0}, {1.0})


def test_bits_beyond_the_rank_are_constant_and_said_to_be():
    views, _ = toy(dims=(12, 5))
    with pytest.warns(UserWarning, match="5 correlated directions; 3 of 8 bits are constant"):
        method = CCA(n_bits=8).fit(views)
    for m, X in enumerate(views):
        codes = method.encode(X, m)
        assert (codes[:, 5:] == codes[0, 5:]).all()
        assert codes[:, :5].any(axis=0).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shorter = CCA(n_bits=5).fit(views)
    np.testing.assert_array_equal(shorter.encode(views[0], 0), method.encode(views[0], 0)[:, :5])
