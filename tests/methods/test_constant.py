import numpy as np
import pytest

from hashbench import evaluate
from hashbench.checks.methods import toy
from hashbench.methods.constant import Constant


def test_the_expected_precision_is_the_share_of_relevant_rows():
    views, Y = toy(n=200)
    method = Constant(n_bits=5).fit(views)
    queries, database = method.encode(views[0][:50], 0), method.encode(views[1][50:], 1)
    found = evaluate(queries, database, Y[:50], Y[50:], "P@10")["P@10"]
    relevant = Y[:50] @ Y[50:].T > 0
    assert found == pytest.approx(np.mean(relevant))
