import numpy as np
import pytest

from hashbench.checks.methods import toy
from hashbench.methods.ridge_labels import RidgeLabels
from tests.methods.restated import ridge_labels


@pytest.mark.parametrize("n_bits", [3, 5, 12])
def test_fewer_bits_than_labels_and_more(n_bits):
    views, Y = toy(n=100, classes=5)
    method = RidgeLabels(n_bits=n_bits, ridge=0.1, random_state=0).fit(views, Y)
    codes, encode = ridge_labels.restate(views, Y, n_bits, seed=0, ridge=0.1)
    np.testing.assert_array_equal(method.codes_, codes)
    for view, X in enumerate(views):
        np.testing.assert_array_equal(method.encode(X, view), encode(X, view))


def test_learned_codes_depend_on_labels_alone():
    views, Y = toy(n=100, classes=5)
    codes = RidgeLabels(n_bits=12, random_state=0).fit(views, Y).codes_
    others = [X[::-1] for X in views]
    np.testing.assert_array_equal(
        RidgeLabels(n_bits=12, random_state=0).fit(others, Y).codes_, codes
    )


def test_rows_of_one_class_agree_on_more_bits_than_others():
    views, Y = toy(n=200, classes=4)
    method = RidgeLabels(n_bits=16, random_state=0).fit(views, Y)
    image, text = (method.encode(X, view) for view, X in enumerate(views))
    agreement = (image[:, None] == text[None]).mean(axis=2)
    same = Y @ Y.T > 0
    assert agreement[same].mean() > agreement[~same].mean() + 0.2
