import numpy as np
import pytest

from hashbench.base.errors import HashbenchError
from hashbench.checks.methods import toy
from hashbench.methods.dch import DCH


def signed(codes):
    return np.where(codes, 1.0, -1.0)


def test_relaxed_codes_depend_on_the_labels_alone():
    views, Y = toy(80, (9, 6), 5, multilabel=True)
    method = DCH(n_bits=8, random_state=0).fit(views, Y)
    _, groups = np.unique(Y, axis=0, return_inverse=True)
    for group in range(groups.max() + 1):
        assert len(np.unique(method.codes_[groups == group], axis=0)) == 1


def test_hash_functions_equal_the_n_by_n_regression():
    views, Y = toy(80, (9, 6), 5, multilabel=True)
    method = DCH(n_bits=8, ridge=0.3, random_state=0).fit(views, Y)
    for X, P in zip(views, method.projections_, strict=True):
        Xc = X - X.mean(axis=0)
        direct = Xc.T @ np.linalg.solve(Xc @ Xc.T + 0.3 * np.eye(80), signed(method.codes_))
        np.testing.assert_allclose(P, direct, atol=1e-9)


def test_recorded_objective_is_the_formula():
    views, Y = toy(80, (9, 6), 5, multilabel=True)
    method = DCH(n_bits=8, mu=0.01, code_step="discrete", iterations=3, random_state=0).fit(
        views, Y
    )
    B = signed(method.codes_)
    W = np.linalg.solve(B.T @ B + np.eye(8), B.T @ Y)
    value = np.square(Y - B @ W).sum() + np.square(W).sum()
    for X, P in zip(views, method.projections_, strict=True):
        residual = B - (X - X.mean(axis=0)) @ P
        value += 0.01 * (np.square(residual).sum() + 0.01 * np.square(P).sum())
    assert method.objective_[-1] == pytest.approx(value)


@pytest.mark.parametrize("anchors", [0, 20])
@pytest.mark.parametrize("seed", range(5))
def test_discrete_objective_never_rises(seed, anchors):
    views, Y = toy(80, (9, 6), 5, multilabel=True)
    method = DCH(
        n_bits=12, mu=0.05, code_step="discrete", anchors=anchors, iterations=8, random_state=seed
    ).fit(views, Y)
    objective = np.array(method.objective_)
    assert (np.diff(objective) <= 1e-9 * objective[0]).all()


def test_unknown_code_step_is_named():
    views, Y = toy(80, (9, 6), 5, multilabel=True)
    with pytest.raises(HashbenchError, match="unknown code_step of dch 'relax'; did you mean"):
        DCH(code_step="relax").fit(views, Y)
