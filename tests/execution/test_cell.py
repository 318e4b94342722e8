"""One cell, computed without any executor."""

from __future__ import annotations

import time

import numpy as np
import pytest

from hashbench.core.codes import unpack
from hashbench.core.errors import HashbenchError
from hashbench.core.npz import read_arrays
from hashbench.core.records import to_json
from hashbench.data.prepare import DataSpec, Prepared, load_dataset, prepare_split
from hashbench.execution.cell import Cell, random_state
from hashbench.execution.cell_codes import CellCodes
from hashbench.execution.compute_cell import check_codes, compute
from hashbench.plugins.method import VectorMethod
from hashbench.plugins.protocol import Protocol
from hashbench.plugins.registry import Plugin, discover
from hashbench.plugins.source_hash import source_hash

REQUEST = {"protocol": {"name": "default"}, "seed": 0, "train_rows": None}
DATASET = DataSpec("synthetic", (("rows", 100),))


@pytest.fixture(scope="module")
def registry():
    return discover()


@pytest.fixture
def computed(registry, tmp_path):
    """Return a function that computes a cell and gives its arrays and its record."""

    def run(method: str, request=REQUEST, **parameters):
        folder, cache = tmp_path / method, tmp_path / "cache"
        folder.mkdir(exist_ok=True)
        facts = load_dataset(registry, folder, cache, to_json(DATASET), [request])
        name = f"split-{facts['splits'][0]}"
        if not (cache / name).exists():
            prepare_split(
                registry, folder, cache, to_json(DATASET), facts["fingerprint"], request,
                ["none", "none"], name,
            )  # fmt: skip
        plugin = registry.methods[method]
        defaults = plugin.cls.defaults()
        own = {k: v for k, v in defaults.items() if k not in ("n_bits", "random_state")}
        cell = Cell(
            dataset="synthetic",
            fingerprint=facts["fingerprint"],
            protocol=Protocol("default"),
            split=facts["splits"][0],
            preprocessing=("none", "none"),
            method=method,
            params="",
            parameters={**own, **parameters},
            source=source_hash(plugin),
            bits=12,
            seed=0,
        )
        record = compute(registry, folder, cache, to_json(cell), name)
        return CellCodes.load(folder / "codes.npz"), record, Prepared.open(cache / name), folder

    return run


def test_codes_are_those_of_the_method_itself(registry, computed):
    codes, record, prepared, folder = computed("edsh", iterations=3)
    method = registry.methods["edsh"].cls(n_bits=12, iterations=3, random_state=random_state(0))
    method.fit(prepared.train, prepared.train_labels)
    for view in range(2):
        for role in ("query", "database"):
            expected = method.encode(getattr(prepared, role)[view], view)
            assert np.array_equal(unpack(getattr(codes, role)[view], 12), expected)
    assert np.array_equal(unpack(codes.learned[0], 12), method.codes_)
    assert record["learned"] is True
    history = read_arrays(folder / "history.npz")
    assert np.array_equal(history["objective"], method.objective_)
    assert len(history["objective_seconds"]) == 3


def test_methods_without_learned_codes_store_none(computed):
    codes, record, _, folder = computed("cca")
    assert (len(codes.query), len(codes.database), codes.learned, codes.n_bits) == (2, 2, (), 12)
    assert record["learned"] is False
    assert not (folder / "history.npz").exists()


def test_vectors_are_stored_as_they_are(registry, computed):
    plugin = next(p for p in registry.methods.values() if issubclass(p.cls, VectorMethod))
    codes, record, prepared, _ = computed(plugin.name)
    assert codes.n_bits is None
    assert codes.query[0].dtype == np.float32
    assert len(codes.database[1]) == len(prepared.database[1])
    assert record["item_bytes"] > 0


def test_bytes_per_item_are_stored_with_every_cell(computed):
    _, codes, *_ = computed("cca")
    assert (codes["hamming"], codes["item_bytes"]) == (True, 12 / 8)
    _, vectors, prepared, _ = computed("int8")
    assert (vectors["hamming"], vectors["item_bytes"]) == (False, prepared.train_labels.shape[1])


def test_asymmetric_distances_compare_real_queries_with_codes(computed):
    plain, *_ = computed("edsh", iterations=3)
    codes, record, *_ = computed("edsh", iterations=3, distance="asymmetric")
    assert (codes.n_bits, record["hamming"], record["item_bytes"]) == (None, False, 12 / 8)
    for view in (0, 1):
        assert np.array_equal(codes.query[view] >= 0, unpack(plain.query[view], 12))
        assert np.array_equal(codes.database[view], 2.0 * unpack(plain.database[view], 12) - 1)
    assert np.array_equal(codes.learned[0], 2.0 * unpack(plain.learned[0], 12) - 1)
    assert len(np.unique(codes.query[0])) > 2


def test_recording_the_objective_is_no_training_time(registry, computed, monkeypatch):
    cls = registry.methods["edsh"].cls
    record = cls.record_objective

    def slowly(self, objective):
        record(self, lambda: time.sleep(0.1) or objective())

    monkeypatch.setattr(cls, "record_objective", slowly)
    _, record, *_ = computed("edsh", iterations=4)
    assert record["seconds"]["recording"] > 0.4
    assert record["seconds"]["fit"] < 0.4


def test_every_phase_is_timed(computed):
    _, record, *_ = computed("random")
    assert set(record["seconds"]) == {"load", "fit", "recording", "encode", "search_per_query"}
    assert all(seconds >= 0 for seconds in record["seconds"].values())
    assert record["peak"] >= record["resident_at_start"] > 0


def test_the_same_seed_gives_every_method_the_same_random_state():
    assert random_state(0) == random_state(0)
    assert len({random_state(seed) for seed in range(100)}) == 100


def test_another_source_than_planned_is_refused(registry, computed, monkeypatch):
    monkeypatch.setattr("hashbench.execution.compute_cell.source_hash", lambda plugin: "changed")
    with pytest.raises(HashbenchError, match=r"random.*source changed"):
        computed("random")


@pytest.mark.parametrize("codes", [np.ones((3, 4), int), np.where(np.eye(3, 4), 1, -1)])
def test_usual_forms_of_codes_are_taken(codes):
    assert np.array_equal(unpack(check_codes(codes, 3, 4, "codes"), 4), codes == 1)


def test_source_hash_covers_what_a_plugin_builds_on(tmp_path):
    (tmp_path / "base_for_test.py").write_text("class Base:\n    x = 1\n")
    child = (
        "import sys\nsys.path.insert(0, {folder!r})\nfrom base_for_test import Base\n"
        "from hashbench import Method\n"
        "class Child(Base, Method):\n    name = 'child'\n    supervised = False\n"
        "    def __init__(self, n_bits=8, random_state=None): ...\n"
        "    def fit(self, views, labels=None): return self\n"
        "    def encode(self, X, view): return X\n"
    )
    path = tmp_path / "child.py"
    path.write_text(child.format(folder=str(tmp_path)))
    plugin = discover([path]).methods["child"]
    before = source_hash(plugin)
    (tmp_path / "base_for_test.py").write_text("class Base:\n    x = 2\n")
    again = Plugin("methods", "child-again", plugin.cls, plugin.path, "local")
    assert source_hash(again) != before
    assert source_hash(plugin) == before, "what was imported counts, not what a file became"
