import numpy as np
import pytest

from hashbench.linalg import (
    column_means,
    each,
    inner,
    project,
    random_codes,
    row_blocks,
    squared_norm,
    times,
    together,
)

RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 6)).astype(np.float32)
W, MEAN = RNG.standard_normal((6, 3)), RNG.standard_normal(6)


def test_products_with_the_features_keep_their_precision():
    assert times(X, W).dtype == project(X, W, MEAN).dtype == np.float32
    np.testing.assert_allclose(times(X, W), X @ W, atol=1e-5)
    np.testing.assert_allclose(project(X, W, MEAN), (X - MEAN) @ W, atol=1e-5)


def test_sums_over_rows_end_in_double_precision():
    many = np.full((70_000, 1), 0.1, np.float32)
    assert inner(X, X).dtype == column_means([X])[0].dtype == np.float64
    assert column_means([many])[0][0] == pytest.approx(np.float32(0.1), rel=1e-12)
    assert squared_norm(many) == pytest.approx(700, rel=1e-6)


def test_what_belongs_to_a_view_goes_together_or_not_at_all():
    assert each(max, [1, 5], [3, 2]) == [3, 5]
    with pytest.raises(ValueError, match="shorter"):
        list(together([1, 2], [1]))


def test_blocks_of_rows_are_all_rows_once():
    assert [list(range(10))[rows] for rows in row_blocks(10, 4)] == [
        [0, 1, 2, 3],
        [4, 5, 6, 7],
        [8, 9],
    ]
    assert list(row_blocks(0)) == []
    assert list(row_blocks(slice(3, 8), 4)) == [slice(3, 7), slice(7, 8)]


def test_random_codes_are_signs_whose_draw_does_not_depend_on_the_precision():
    single, double = (random_codes(np.random.default_rng(1), 9, 4, d) for d in (np.float32, float))
    assert single.dtype == np.float32
    assert set(np.unique(single)) == {-1, 1}
    assert np.array_equal(single, double)
