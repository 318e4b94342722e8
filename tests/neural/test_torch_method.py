"""The base class of neural methods: batches, seeds, devices, encoding."""

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from hashbench import TorchMethod, neural
from hashbench.checks.methods import toy
from hashbench.core.errors import DeclinedError, HashbenchError
from hashbench.neural.device import has_bfloat16, run_device, seeded
from hashbench.neural.inputs import InputScaler
from hashbench.neural.losses import cosines, mse
from hashbench.neural.networks import mlp
from hashbench.plugins.registry import discover
from hashbench.plugins.source_hash import source_hash

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch


NEURAL = {
    name: plugin.cls
    for name, plugin in sorted(discover().methods.items())
    if issubclass(plugin.cls, TorchMethod)
}


class Agreeing(TorchMethod):
    """Views agree on codes whose similarities are those of the first view."""

    name = "agreeing"
    supervised = False
    epochs = 4
    batch_size = 16

    def __init__(self, n_bits=16, random_state=None):
        self.n_bits, self.random_state = n_bits, random_state

    def networks(self, widths):
        return [mlp((d, 20, self.n_bits), dropout=0.5) for d in widths]

    def loss(self, batch):
        self.seen = [*getattr(self, "seen", []), batch]
        first, second = (self.forward(x, view).tanh() for view, x in enumerate(batch.views))
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
    assert method.total_steps_ == 12


def test_an_incomplete_last_batch_can_be_dropped():
    views, labels = toy(n=33)
    dropping = type("Dropping", (Agreeing,), {"drop_last": True})
    needing = type("Needing", (Agreeing,), {"min_batch_size": 2})
    for cls in (dropping, needing):
        method = cls(n_bits=8, random_state=0).fit(views, labels)
        assert {len(batch.rows) for batch in method.seen} == {16}
    single = needing(n_bits=8, random_state=0).fit([X[:1] for X in views], labels[:1])
    assert {len(batch.rows) for batch in single.seen} == {2}


def test_rows_read_batch_by_batch_give_the_same_codes(monkeypatch):
    views, labels = toy(dtype=np.float32)
    at_once = Agreeing(n_bits=8, random_state=3).fit(views, labels)
    monkeypatch.setattr("hashbench.neural.method.SCALED_ONCE_BYTES", 0)
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
        "from hashbench.neural.device import same_threads\n"
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


def count_calls(monkeypatch, names):
    """Count calls of tensor methods by the files of neural methods and their base class."""
    counts = dict.fromkeys(names, 0)

    def counted(name, original):
        def call(*arguments, **keywords):
            caller = sys._getframe(1).f_code.co_filename
            counts[name] += Path(caller).resolve().parent.name in ("methods", "neural")
            return original(*arguments, **keywords)

        return call

    for name in names:
        monkeypatch.setattr(torch.Tensor, name, counted(name, getattr(torch.Tensor, name)))
    return counts


@pytest.mark.parametrize("name", NEURAL)
def test_training_reads_no_value_from_the_device_per_batch(monkeypatch, name):
    counts = count_calls(
        monkeypatch, ["__float__", "__bool__", "__int__", "item", "tolist", "cpu", "numpy"]
    )
    views, labels = toy(48)
    seen = []
    for batch_size in (48, 8):
        before = dict(counts)
        NEURAL[name](n_bits=8, epochs=2, batch_size=batch_size, random_state=0).fit(views, labels)
        seen.append({key: counts[key] - before[key] for key in counts})
    assert seen[0] == seen[1]
    assert seen[0]["tolist"] == 2  # the losses of each epoch


@pytest.mark.parametrize("name", NEURAL)
def test_networks_train_in_bfloat16_where_it_is_supported_and_encode_in_float32(monkeypatch, name):
    views, labels = toy(48)
    monkeypatch.setattr("hashbench.neural.method.has_bfloat16", lambda device: True)
    method = NEURAL[name](n_bits=8, epochs=2, random_state=0).fit(views, labels)
    found = []
    linear = next(m for m in method.networks_[0].modules() if isinstance(m, torch.nn.Linear))
    linear.register_forward_hook(lambda module, given, output: found.append(output.dtype))
    x = torch.as_tensor(method.scalers_[0].transform(views[0]))
    method.set_training(True)
    assert method.forward(x, 0).dtype == torch.float32
    method.set_training(False)
    assert method.encode(views[0], 0).shape == (48, 8)
    assert found == [torch.bfloat16, torch.float32]
    assert np.isfinite(method.objective_).all()


def test_the_cpu_does_not_train_in_bfloat16_and_autocast_can_be_switched_off(monkeypatch):
    assert not has_bfloat16("cpu")
    monkeypatch.setattr("hashbench.neural.method.has_bfloat16", lambda device: True)
    views, labels = toy()
    losses = [
        type("Precise", (Agreeing,), {"autocast": autocast})(n_bits=8, random_state=0)
        .fit(views, labels)
        .objective_
        for autocast in (True, False)
    ]
    assert losses[0] != losses[1]
    monkeypatch.undo()
    assert Agreeing(n_bits=8, random_state=0).fit(views, labels).objective_ == losses[1]


@pytest.mark.parametrize(("interval", "expected"), [("epoch", 4), ("step", 12)])
def test_schedulers_are_stepped_after_every_epoch_or_every_batch(interval, expected):
    class Scheduled(Agreeing):
        scheduler_interval = interval

        def configure_optimizers(self):
            optimizer = torch.optim.SGD(self.parameters(), lr=1.0)
            self.scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
            return [optimizer], [self.scheduler]

    views, labels = toy(n=40)
    method = Scheduled(n_bits=8, random_state=0).fit(views, labels)
    assert method.scheduler.get_last_lr() == [0.5**expected]


def test_batches_of_unsupervised_methods_have_no_labels():
    views, labels = toy()
    assert Agreeing(n_bits=8, random_state=0).fit(views, labels).seen[0].labels is None
    supervised = type("Supervised", (Agreeing,), {"supervised": True})
    batch = supervised(n_bits=8, random_state=0).fit(views, labels).seen[0]
    np.testing.assert_array_equal(batch.labels.numpy(), labels[batch.rows.numpy()])


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
    found = InputScaler(X, scaling).transform(X)
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


@pytest.mark.parametrize("part", ["method", "inputs", "optimizers", "losses"])
def test_the_source_hash_of_a_method_changes_with_the_base_class(monkeypatch, part):
    plugin = discover().methods["dsph"]
    before = source_hash.__wrapped__(plugin)
    file, read = Path(neural.__file__).resolve().with_name(f"{part}.py"), Path.read_bytes
    monkeypatch.setattr(
        Path, "read_bytes", lambda p: read(p) + (b"\nx = 1\n" if p == file else b"")
    )
    assert source_hash.__wrapped__(plugin) != before


def test_an_unknown_scaling_is_refused():
    with pytest.raises(HashbenchError, match="scaling"):
        InputScaler(np.ones((3, 2)), "zcore")


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
    chosen = ("-m", "dsph[epochs=60,batch_size=8]", "-d", "synthetic[rows=200]", "-b", "16")
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
