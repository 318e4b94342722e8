import warnings

import numpy as np
import pytest

from hashbench.checks.methods import toy
from hashbench.methods.dashi import DASHi
from hashbench.methods.dasht import DASHt


@pytest.mark.parametrize(("cls", "source"), [(DASHi, 0), (DASHt, 1)])
def test_regressed_views_agree_with_the_codes(cls, source):
    views, labels = toy(n=300, dims=(12, 8, 6))
    method = cls(n_bits=16, random_state=0).fit(views, labels)
    for m, X in enumerate(views):
        agreement = (method.encode(X, m) == method.codes_).mean()
        assert agreement == 1 if m == source else agreement > 0.8


def test_the_scale_of_a_view_changes_nothing():
    views, labels = toy(n=150)
    plain = DASHi(n_bits=8, random_state=0).fit(views, labels)
    scaled = DASHi(n_bits=8, random_state=0).fit([views[0] * 1024, views[1] / 64], labels)
    np.testing.assert_array_equal(plain.codes_, scaled.codes_)
    np.testing.assert_array_equal(plain.encode(views[1], 1), scaled.encode(views[1] / 64, 1))


def test_few_directions_are_spread_over_all_bits():
    views, labels = toy(n=200, classes=4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        codes = DASHi(n_bits=32, random_state=0).fit(views, labels).codes_
    assert np.isin(codes.mean(axis=0), (0, 1)).sum() == 0


def test_uncorrelated_labels_give_constant_bits_and_a_warning():
    views, labels = toy()
    with pytest.warns(UserWarning, match="constant"):
        method = DASHt(n_bits=8, random_state=0).fit(views, np.ones_like(labels[:, :1]))
    assert method.codes_.all()
