"""Every method against its authors' own code, on the data that code was run on."""

import os

import fidelity
import numpy as np
import pytest

from hashbench.registry import discover

pytestmark = pytest.mark.skipif(
    "HASHBENCH_DATA" not in os.environ, reason="HASHBENCH_DATA is not set: no real data"
)

CASES = [
    (dataset, name, bits)
    for dataset in fidelity.SOURCES
    for name, bits in fidelity.referenced(dataset)
    if name in discover().methods
]


@pytest.mark.parametrize(("dataset", "name", "bits"), CASES)
def test_as_good_as_the_authors_code(dataset, name, bits):
    table = fidelity.compare(dataset, name, bits)
    table = table[~table.apply(fidelity.explained, axis=1)]
    outside = table[~table["within"]]
    assert table["ours"].notna().all()
    assert outside.empty, "\n" + outside.to_string(index=False)


@pytest.mark.parametrize("bits", [8, 16, 24, 32])
def test_scm_s_finds_the_very_codes(bits):
    method = discover().get("methods", "scm-s").cls(n_bits=bits)
    train, query, train_labels, _ = fidelity.split_parts("wiki")
    method.fit(train, train_labels)
    theirs = np.load(fidelity.REFERENCE / "scm_s_wiki_codes.npz")
    flips = []
    for view, word in enumerate(("image", "text")):
        for part, X in (("query", query[view]), ("database", train[view])):
            stored = np.unpackbits(theirs[f"{word}_{part}_{bits}"], axis=1)[:, :bits]
            flips.append((method.encode(X, view) != stored.astype(bool)).mean(axis=0))
    flips = np.array(flips)
    # A bit may be flipped in both views at once: then it differs everywhere.
    assert np.isin(flips, [0, 1]).all()
    assert (flips == flips[0]).all()
