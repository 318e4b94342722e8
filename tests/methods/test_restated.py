"""Every method against a restatement of its paper's updates, on the embedded data."""

import importlib
import warnings

import numpy as np
import pytest

from hashbench.plugins.registry import discover
from tests.helpers.emoji import emoji_part

METHODS = {
    name: plugin.cls
    for name, plugin in discover().methods.items()
    if plugin.origin == "built in" and "torch" not in plugin.cls.requires
}
BITS = 12


def fitted(cls, parameters, seed):
    views, labels, _ = emoji_part()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return cls(n_bits=BITS, random_state=seed, **parameters).fit(views, labels)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("name", METHODS)
def test_the_method_computes_what_its_paper_says(name, seed):
    restated = importlib.import_module(f"tests.methods.restated.{name.replace('-', '_')}")
    views, labels, queries = emoji_part()
    method = fitted(METHODS[name], restated.PARAMETERS, seed)
    learned, encode = restated.restate(
        views, labels.astype(float), BITS, seed, **restated.PARAMETERS
    )
    if not method.hamming:
        compare_vectors(method, encode, queries)
        return
    least = getattr(restated, "AGREEMENT", 0.999)
    for view, X in enumerate(queries):
        assert (method.encode(X, view) == encode(X, view)).mean() >= least
    ours = getattr(method, "codes_", None)
    assert (ours is None) == (learned is None)
    for one, other in zip(listed(ours), listed(learned), strict=True):
        assert (one == other).mean() >= least


def compare_vectors(method, vectors, queries):
    for view, X in enumerate(queries):
        for role in ("query", "database"):
            np.testing.assert_allclose(
                method.vectors(X, view, role), vectors(X, view, role), rtol=1e-4, atol=1e-5
            )


def listed(codes):
    return [] if codes is None else codes if isinstance(codes, list | tuple) else [codes]
