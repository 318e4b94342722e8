"""How far rounding moves scores: measured by changed features, and by other kernels."""

import os

import numpy as np
import pytest

from hashbench.api import sensitivity
from hashbench.cli import main
from hashbench.plugins import numerical_tolerance
from hashbench.plugins.numerical_tolerance import STEADY, Measured, measured, tolerance
from hashbench.plugins.registry import discover

QUICK = ["dch", "edsh", "random", "scm-o", "fddh"]

#: The parity of the last bits of the features decides its codes: any rounding changes all.
SHAKEN = """
import numpy as np
import hashbench


class Shaken(hashbench.Method):
    name = "shaken"
    supervised = False

    def __init__(self, n_bits=16, random_state=None):
        self.n_bits = n_bits
        self.random_state = random_state

    def fit(self, views, labels=None):
        self.begin_fit(views, labels)
        return self

    def encode(self, X, view):
        X, view = self.check_encode(X, view)
        last = np.ascontiguousarray(X[:, : self.n_bits]).view(f"u{X.itemsize}")
        return last % 2 == 1
"""


def test_a_method_that_reads_last_digits_is_found_out(tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("HASHBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(sensitivity, "coretypes", lambda: (sensitivity.architecture(),))
    path = tmp_path / "shaken.py"
    path.write_text(SHAKEN)
    plugin = discover([path]).methods["shaken"]
    found = sensitivity.sensitivity([plugin], seeds=1, plugins=[path])["shaken"]
    assert found.float32 > STEADY
    assert found.kernels == 0
    assert (found.seeds, found.compared) == (1, sensitivity.architecture())
    assert found.source


def test_the_command_stores_what_tables_read(tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("HASHBENCH_CACHE", str(tmp_path / "cache"))
    found = Measured(0.0, 0.004, 0.001, seeds=5, compared="Haswell")
    asked = []

    def measure(methods, plugins=()):
        asked.extend(plugins)
        return {method.name: found for method in methods}

    monkeypatch.setattr(sensitivity, "sensitivity", measure)
    path = tmp_path / "shaken.py"
    path.write_text(SHAKEN)
    with pytest.raises(SystemExit):
        main(["check", str(path), "--sensitivity"])
    assert asked == [path]
    measured.cache_clear()
    assert tolerance("shaken") == 0.004
    assert numerical_tolerance.read(tmp_path / "cache" / "sensitivity.csv") == {"shaken": found}


def test_kernels_are_those_that_a_process_reports():
    kernels = sensitivity.coretypes()
    assert len(set(kernels)) == len(kernels)
    known = {name for names in sensitivity.CORETYPES.values() for name in names}
    assert set(kernels) <= known
    if sensitivity.architecture() in known and "OPENBLAS_CORETYPE" not in os.environ:
        assert sensitivity.architecture() in kernels


def test_changes_and_spread():
    here = {"float64": [[0.5, 0.2], [0.4, 0.3]], "float64 changed": [[0.5, 0.2], [0.4, 0.31]]}
    here |= {"float32": [[0.5, 0.2]] * 2, "float32 changed": [[0.48, 0.2], [0.5, 0.2]]}
    there = {"float64": [[0.5, 0.25], [0.4, 0.3]], "float32": [[0.5, 0.2], [0.44, 0.2]]}
    assert sensitivity.changes(here) == pytest.approx({"float64": 0.01, "float32": 0.02})
    assert sensitivity.spread([here, there]) == pytest.approx(0.06)
    assert sensitivity.spread([here]) == 0


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    sensitivity.prepare(folder, "default", 0)
    return sensitivity.rows(folder, "default", 0)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(n, marks=[] if n in QUICK else pytest.mark.slow)
        for n in numerical_tolerance.read(numerical_tolerance.shipped())
    ],
)
@pytest.mark.parametrize("dtype", sensitivity.CHANGES)
@pytest.mark.filterwarnings("ignore")
def test_rounding_moves_no_score_further_than_is_said(name, dtype, rows):
    """Other roundings than those that were recorded: twice as far is within chance."""
    prepared, split = rows
    plugin = discover([]).methods[name]
    base, moved = (
        np.array(sensitivity.score(plugin, sensitivity.changed(prepared, dtype, draw), split, 0))
        for draw in (None, 7)
    )
    assert np.abs(moved - base).max() <= max(STEADY, 2 * tolerance(name))
