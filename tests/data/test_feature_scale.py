"""The scale of a view is measured on training rows, and noted when it is unusual."""

import numpy as np

from hashbench.data.feature_scale import measure, unusual

NAMES = ("image", "text")


def views(image=1.0, text=1.0):
    rng = np.random.default_rng(0)
    return [scale * rng.standard_normal((200, d)) / d**0.5 for scale, d in ((image, 16), (text, 9))]


def notes(found, steps="none"):
    rows = np.arange(150)
    return unusual(NAMES, [measure(steps, X, rows) for X in found])


def test_what_is_measured():
    X = np.zeros((300, 2))
    X[:200, 0] = np.tile([3.0, -3.0], 100)
    X[200:] = 1e6  # no training rows
    found = measure("none", X, np.arange(200))
    assert found.lengths == (3, 3, 3)
    np.testing.assert_allclose(found.spreads, (0.15, 1.5, 2.85))
    assert measure("l2", X, np.arange(200)).lengths == (1, 1, 1)


def test_ordinary_features_are_not_mentioned():
    assert notes(views()) == []


def test_long_and_short_rows_are_noted_unless_they_are_normalised():
    found = views(image=100)
    long, ratio = notes(found)
    assert long.startswith("image:")
    assert "99.9" in long
    assert "104 times" in ratio
    assert notes(found, "l2") == []
    short = notes(views(text=0.01))[0]
    assert short.startswith("text:")
    assert "0.00959" in short


def test_few_rows_or_columns_that_outweigh_the_others_are_noted():
    found = views()
    found[0][:30] *= 100
    (line,) = notes(found)
    assert line.startswith("image:")
    assert "157 times" in line
    found = views()
    found[1][:, 0] *= 300
    line = notes(found)[0]
    assert line.startswith("text:")
    assert "170 times" in line


def test_zeros_and_nan_are_not_noted_as_unusual_scale():
    found = views()
    assert notes([found[0], np.zeros((200, 3))]) == []
    found[0][0, 0] = np.nan
    assert notes(found) == []
