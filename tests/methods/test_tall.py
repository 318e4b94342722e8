"""What every method owes to tall data: no copy of its views, no product in mixed precision."""

import tracemalloc
import warnings

import numpy as np
import pytest

from hashbench import TorchMethod
from hashbench.checks.methods import toy
from hashbench.plugins import method as module
from hashbench.plugins.registry import discover

# Neural methods see scaled rows of their own, see tests/neural.
METHODS = {
    name: plugin.cls
    for name, plugin in sorted(discover().of("methods").items())
    if not issubclass(plugin.cls, TorchMethod)
}
LINEAR = [name for name, cls in METHODS.items() if cls.scalable and not cls.kernel]
ROWS = (8192, 12288)  # more than a block of rows
# These copy rows to learn from, few among many: pairs, rows of a dictionary, of a graph.
FEW = {"cmssh": {"pairs": 500}, "lssh": {"max_rows": 200, "atoms": 4}, "imh": {"max_rows": 200}}


def quick(name, **params):
    method = METHODS[name](random_state=0, **params, **FEW.get(name, {}))
    if "iterations" in method.defaults():
        method.set_params(iterations=2)
    return method


class Watched(np.ndarray):
    """An array that remembers products of its float32 rows with anything in float64."""

    mixed: list

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **kwargs):
        plain = [np.asarray(x) if isinstance(x, Watched) else x for x in inputs]
        if ufunc is np.matmul and {x.dtype for x in plain} == {np.dtype("f4"), np.dtype("f8")}:
            Watched.mixed.append([(x.shape, str(x.dtype)) for x in plain])
        if out is not None:
            kwargs["out"] = tuple(np.asarray(x) for x in out)
        result = getattr(ufunc, method)(*plain, **kwargs)
        return result.view(Watched) if isinstance(result, np.ndarray) else result


@pytest.mark.parametrize("name", METHODS)
def test_features_are_multiplied_in_their_own_precision(name, monkeypatch):
    """A float64 factor makes a float64 copy of the features for every product with them."""
    views, labels = toy(n=300, dims=(24, 16), dtype=np.float32)
    check = module.check_views
    monkeypatch.setattr(
        module,
        "check_views",
        lambda views: [X.view(Watched) for X in check(views)],
    )
    monkeypatch.setattr(Watched, "mixed", [], raising=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        quick(name, n_bits=4).fit(views, labels)
    wide = [
        shapes for shapes in Watched.mixed if any(min(s) >= 16 and max(s) >= 300 for s, _ in shapes)
    ]
    assert not wide


@pytest.mark.slow
@pytest.mark.parametrize("name", LINEAR)
def test_memory_grows_less_than_the_views(name, monkeypatch):
    # FCMH clusters reduced features: fewer columns than these views have, as is usual.
    monkeypatch.setattr("hashbench.methods.fcmh.CLUSTERED_COLUMNS", 16)
    peaks = []
    for n in ROWS:
        views, labels = toy(n=n, dims=(128, 64), dtype=np.float32)
        method = quick(name, n_bits=2)
        tracemalloc.start()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            method.fit(views, labels)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] - peaks[0] < (ROWS[1] - ROWS[0]) * 4 * (128 + 64)
