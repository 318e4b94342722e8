import numpy as np
import pytest

from hashbench.checks.methods import toy
from hashbench.methods.fddh import FDDH
from tests.methods.restated.fddh import restate


@pytest.mark.filterwarnings("ignore::UserWarning")  # 3 bits are too few for 4 classes
@pytest.mark.parametrize("n_bits", [3, 4, 9])  # with 3 bits the objective rises and the fit stops
@pytest.mark.parametrize("tolerance", [0.0, 1e-2])
def test_objective_and_codes_equal_the_restated_ones(n_bits, tolerance):
    views, Y = toy(70, multilabel=True)
    parameters = {"anchors": 20, "mu": 0.5, "gamma": 0.1, "iterations": 6, "tolerance": tolerance}
    method = FDDH(n_bits, random_state=5, **parameters).fit(views, Y)
    objective = []
    codes, _ = restate(views, Y.astype(float), n_bits, 5, record=objective.append, **parameters)
    assert method.objective_ == pytest.approx(objective, rel=1e-9)
    assert np.array_equal(method.codes_, codes)


@pytest.mark.parametrize("seed", range(4))
def test_objective_never_rises_with_a_bit_for_every_class(seed):
    views, Y = toy(70, multilabel=True)
    method = FDDH(n_bits=9, mu=0.1, gamma=1, anchors=20, tolerance=0, random_state=seed)
    objective = np.array(method.fit(views, Y).objective_)
    assert (np.diff(objective) <= 1e-9 * objective[0]).all()


def test_the_default_weights_give_one_code_per_class():
    views, Y = toy(70)
    codes = FDDH(n_bits=16, random_state=0).fit(views, Y).codes_
    assert len(np.unique(codes, axis=0)) == 4


def test_fewer_bits_than_classes_warn():
    views, Y = toy(70)
    with pytest.warns(UserWarning, match="3 bits"):
        FDDH(n_bits=3, random_state=0).fit(views, Y)
