import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hashbench.core.codes import pack
from hashbench.measures import bit_statistics as module
from hashbench.measures.bit_statistics import code_statistics


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 6), st.sampled_from([0, 1, 70]))
def test_against_counting_pairs(seed, bits, padding):
    generator = np.random.default_rng(seed)
    codes = np.pad(generator.random((40, bits)) < 0.6, ((0, 0), (0, padding)))
    labels = generator.random((40, 70)) < 0.03
    found = code_statistics(pack(codes), bits + padding, pack(labels))
    same = [
        pair
        for pair in itertools.combinations(range(40), 2)
        if (codes[pair[0]] == codes[pair[1]]).all()
    ]
    assert found.collisions == len(same)
    assert found.collisions_apart == sum(not (labels[i] & labels[j]).any() for i, j in same)
    assert found.distinct == len({tuple(code) for code in codes})
    share = codes.mean(axis=0)
    assert found.ones == pytest.approx(share.mean())
    assert found.imbalance == pytest.approx(np.abs(share - 0.5).mean())
    changing = codes[:, (share > 0) & (share < 1)]
    assert found.constant == bits + padding - changing.shape[1]
    if changing.shape[1] < 2:
        assert found.correlation is None
        return
    matrix = np.corrcoef(changing.astype(float), rowvar=False)
    pairs = np.abs(matrix[np.triu_indices(len(matrix), 1)])
    assert found.correlation == pytest.approx(pairs.mean(), abs=1e-12)
    assert found.largest_correlation == pytest.approx(pairs.max(), abs=1e-12)


def test_blocks_of_rows_change_nothing(monkeypatch):
    codes = np.random.default_rng(0).random((50, 9)) < 0.5
    whole = code_statistics(pack(codes), 9)
    monkeypatch.setattr(module, "BLOCK_ROWS", 7)
    assert code_statistics(pack(codes), 9) == whole


def test_a_constant_code_is_one_collision():
    labels = pack(np.array([[1, 0], [1, 0], [0, 1], [0, 0], [0, 0]], bool))
    found = code_statistics(pack(np.ones((5, 3), bool)), 3, labels)
    assert (found.distinct, found.constant, found.imbalance) == (1, 3, 0.5)
    assert found.collisions == 10
    assert found.collisions_apart == 9  # all but the pair of the first class
    assert code_statistics(pack(np.ones((5, 3), bool)), 3).collisions_apart is None
