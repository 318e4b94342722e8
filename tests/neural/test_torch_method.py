"""The base class of neural methods: batches, seeds, devices, encoding."""

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from hashbench import TorchMethod, neural
from hashbench.base.errors import DeclinedError, HashbenchError
from hashbench.checks.methods import toy
from hashbench.neural.functions import cosines, mse, perceptron
from hashbench.neural.inputs import Inputs
from hashbench.neural.runtime import run_device, seeded
from hashbench.plugins.provenance import source_hash
from hashbench.plugins.registry import discover

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch


class Agreeing(TorchMethod):
    """Views agree on codes whose similarities are those of the first view."""

    name = "agreeing"
    supervised = False
    epochs = 4
    batch = 16

    def __init__(self, n_bits=16, random_state=None):
        self.n_bits, self.random_state = n_bits, random_state

    def networks(self, widths):
        return [perceptron((d, 20, self.n_bits), dropout=0.5) for d in widths]

    def loss(self, batch):
        self.seen = [*getattr(self, "seen", []), batch]
        first, second = (net(x).tanh() for net, x in zip(self.networks_, batch.views, strict=True))
        return mse(cosines(first, second), cosines(batch.views[0], batch.views[0]))


def test_an_epoch_has_every_row_once_in_a_new_order():
    views, labels = toy(n=40)
    method = Agreeing(n_bits=8, random_state=0).fit(views, labels)
    assert [len(batch.rows) for batch in method.seen] == [16, 16, 8] * 4
    assert [batch.epoch for batch in method.seen[::3]] == [1, 2, 3, 4]
    orders = [
        np.concatenate([batch.rows.numpy() for batch in method.seen[start : start + 3]])
        for start in (0, 3)
    ]
    for order in orders:
        assert sorted(order) == list(range(40))
    assert list(orders[0]) != list(orders[1])
    assert len(method.objective_) == method.epochs
    assert method.steps_ == 12


def test_an_incomplete_last_batch_can_be_dropped():
    views, labels = toy(n=33)
    dropping = type("Dropping", (Agreeing,), {"drop_last": True})
    needing = type("Needing", (Agreeing,), {"least_batch": 2})
    for cls in (dropping, needing):
        method = cls(n_bits=8, random_state=0).fit(views, labels)
        assert {len(batch.rows) for batch in method.seen} == {16}
    single = needing(n_bits=8, random_state=0).fit([X[:1] for X in views], labels[:1])
    assert {len(batch.rows) for batch in single.seen} == {2}


def test_rows_read_batch_by_batch_give_the_same_codes(monkeypatch):
    views, labels = toy(dtype=np.float32)
    at_once = Agreeing(n_bits=8, random_state=3).fit(views, labels)
    monkeypatch.setattr("hashbench.neural.method.KEPT_BYTES", 0)
    by_batch = Agreeing(n_bits=8, random_state=3).fit(views, labels)
    assert at_once.objective_ == by_batch.objective_
    np.testing.assert_array_equal(at_once.encode(views[0], 0), by_batch.encode(views[0], 0))


def test_a_fit_does_not_change_the_random_state_of_torch():
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    views, labels = toy()
    Agreeing(n_bits=8, random_state=0).fit(views, labels)
    assert torch.equal(torch.rand(3), expected)
    assert not torch.are_deterministic_algorithms_enabled()
    with seeded(1, "cpu"):
        assert torch.are_deterministic_algorithms_enabled()


def test_scoring_between_epochs_does_not_change_the_threads_of_torch():
    code = (
        "import torch; from hashbench import evaluate; "
        "from hashbench.neural.runtime import same_threads\n"
        "with same_threads(): evaluate([[0, 1]], [[0, 1]], [0], [0], 'AP')\n"
        "print(torch.get_num_threads())"
    )
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "2"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "1"


def test_dropout_is_off_after_training():
    views, labels = toy()
    method = Agreeing(n_bits=8, random_state=0).fit(views, labels)
    assert not any(net.training for net in method.networks_)
    np.testing.assert_array_equal(method.encode(views[0], 0), method.encode(views[0], 0))


def test_a_loss_that_is_not_finite_is_an_error():
    class Diverging(Agreeing):
        def loss(self, batch):
            return self.networks_[0](batch.views[0]).sum() * float("inf")

    views, labels = toy()
    with pytest.raises(HashbenchError, match="loss"):
        Diverging(n_bits=8, random_state=0).fit(views, labels)


def test_a_method_for_two_views_declines_three():
    views, labels = toy(dims=(6, 5, 4))
    cls = type("Pair", (Agreeing,), {"two_views": True})
    with pytest.raises(DeclinedError, match="views"):
        cls(n_bits=8).fit(views, labels)


def test_the_device_comes_from_the_environment(monkeypatch):
    monkeypatch.setenv("HASHBENCH_DEVICE", "cpu")
    assert run_device("x") == "cpu"
    monkeypatch.setenv("HASHBENCH_DEVICE", "abacus")
    with pytest.raises(HashbenchError, match="device"):
        run_device("x")
    monkeypatch.setenv("HASHBENCH_DEVICE", "auto")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert run_device("x") == "cuda"


@pytest.mark.parametrize("scaling", ["rows", "unit", "zscore", "none"])
def test_scalings_follow_their_definitions(scaling):
    X = np.random.default_rng(0).normal(3, 2, (50, 7))
    X[:, 6] = 0.1  # constant
    found = Inputs(X, scaling).transform(X)
    assert found.dtype == np.float32
    lengths = np.linalg.norm(found, axis=1)
    if scaling == "none":
        np.testing.assert_allclose(found, X, rtol=1e-6)
    elif scaling == "zscore":
        np.testing.assert_allclose(found[:, :6].std(axis=0), 1, rtol=1e-5)
        np.testing.assert_allclose(found.mean(axis=0), 0, atol=1e-5)
        assert not found[:, 6].any()
    else:
        np.testing.assert_allclose(lengths, 7**0.5 if scaling == "rows" else 1, rtol=1e-5)
        centred = X - X.mean(axis=0)
        cosine = np.sum(centred * found, axis=1) / np.linalg.norm(centred, axis=1) / lengths
        np.testing.assert_allclose(cosine, 1, rtol=1e-5)


@pytest.mark.parametrize("part", ["method", "inputs", "optimisers", "functions"])
def test_the_source_hash_of_a_method_changes_with_the_base_class(monkeypatch, part):
    plugin = discover().methods["dsph"]
    before = source_hash.__wrapped__(plugin)
    file, read = Path(neural.__file__).resolve().with_name(f"{part}.py"), Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda p: read(p) + (b"#" if p == file else b""))
    assert source_hash.__wrapped__(plugin) != before


def test_an_unknown_scaling_is_refused():
    with pytest.raises(HashbenchError, match="scaling"):
        Inputs(np.ones((3, 2)), "zcore")


def test_an_unknown_device_is_refused_before_anything_runs(hashbench, tmp_path):
    flags = ("-m", "dsph", "-d", "synthetic[rows=200]", "-o", tmp_path / "out")
    refused = hashbench("run", *flags, "--device", "abacus")
    assert refused.returncode == 2
    assert "device" in refused.stderr
    assert "abacus" in refused.stderr
    assert not (tmp_path / "out").exists()


def test_one_cell_at_a_time_or_two_give_the_same_codes(hashbench, tmp_path):
    flags = ("-m", "dsph[epochs=3],random", "-d", "synthetic[rows=200]")
    codes = []
    for jobs in ("1", "2"):
        done = hashbench("run", *flags, "-b", "16", "-j", jobs, "-o", tmp_path / jobs)
        assert done.returncode == 0, done.stderr
        found = sorted((tmp_path / jobs / "cells").glob("*/codes.npz"))
        codes.append({path.parent.name: path.read_bytes() for path in found})
    assert len(codes[0]) == 2
    assert codes[0] == codes[1]


@pytest.mark.slow
def test_a_kill_in_the_middle_of_a_fit_changes_no_code(hashbench, tmp_path):
    chosen = ("-m", "dsph[epochs=60,batch=8]", "-d", "synthetic[rows=200]", "-b", "16")
    flags = (*chosen, "--no-report")
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    command = [sys.executable, "-m", "hashbench", "run", *flags, "-o", str(killed)]
    run = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while run.poll() is None and not any(
        "iteration" in log.read_text(errors="replace") for log in killed.glob(".work/*/live.log")
    ):
        time.sleep(0.01)
    run.kill()
    run.wait()
    assert not list(killed.glob("cells/*/codes.npz")), "the fit was over before the kill"
    for out in (killed, whole):
        done = hashbench("run", *flags, "-o", out)
        assert done.returncode == 0, done.stderr
    codes = [
        {path.parent.name: path.read_bytes() for path in out.glob("cells/*/codes.npz")}
        for out in (killed, whole)
    ]
    assert len(codes[0]) == 1
    assert codes[0] == codes[1]
