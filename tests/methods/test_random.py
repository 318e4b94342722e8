import numpy as np

from hashbench.checks.methods import toy
from hashbench.methods.constant import Constant
from hashbench.methods.random import Random


def test_random_projections_of_the_views_are_independent():
    views = [np.random.default_rng(0).standard_normal((400, 30))] * 2
    method = Random(n_bits=64, random_state=0).fit(views)
    first, second = (method.encode(X, m) for m, X in enumerate(views))
    # Even equal views agree on half the bits: projections of 30 dimensions vary by 0.12 a bit.
    assert abs((first == second).mean() - 0.5) < 0.05


def test_random_bits_split_the_training_rows():
    views, _ = toy(n=300)
    method = Random(n_bits=32, random_state=1).fit([X + 100 for X in views])
    balance = method.encode(views[0] + 100, 0).mean(axis=0)
    assert ((balance > 0.2) & (balance < 0.8)).all()


def test_constant_is_constant():
    views, _ = toy()
    method = Constant(n_bits=5).fit(views)
    assert method.encode(views[0], 0).shape == (60, 5)
    assert len(np.unique(np.vstack([method.encode(X, m) for m, X in enumerate(views)]), axis=0)) < 2
