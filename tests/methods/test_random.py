import numpy as np

from hashbench.checks.methods import toy
from hashbench.methods.random import Random


def test_equal_views_agree_on_half_of_the_bits():
    views = [np.random.default_rng(0).standard_normal((400, 30))] * 2
    method = Random(n_bits=64, random_state=0).fit(views)
    first, second = (method.encode(X, view) for view, X in enumerate(views))
    # The share of equal entries of one bit has a standard deviation of 0.12 in 30 dimensions.
    assert abs((first == second).mean() - 0.5) < 0.05


def test_views_are_centred():
    views, _ = toy()
    method, shifted = Random(random_state=1).fit(views), Random(random_state=1)
    shifted.fit([X + 100 for X in views])
    for view, X in enumerate(views):
        np.testing.assert_array_equal(shifted.encode(X + 100, view), method.encode(X, view))
