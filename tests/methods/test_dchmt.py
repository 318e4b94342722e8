import numpy as np
import pytest

from hashbench.checks.methods import toy
from hashbench.methods.dchmt import DCHMT
from tests.helpers.neural_batches import batch_of, outputs

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch


def test_the_loss_is_the_sum_over_all_pairs():
    views, labels = toy(14, (6, 5), 4, multilabel=True)
    method = DCHMT(n_bits=5, epochs=1, vartheta=0.75, random_state=0).fit(views, labels)
    batch = batch_of(method, views, labels)
    found = float(method.loss(batch).detach())
    Z = []
    for output in outputs(method, batch):
        two = np.exp(output.reshape(14, 5, 2))
        Z.append((two / two.sum(axis=2, keepdims=True)).reshape(14, 10))
    margin, expected = np.sqrt(2 * 5 * 0.75), 0.0
    for first, second in ((0, 0), (0, 1), (1, 1)):
        for i in range(14):
            for j in range(14):
                distance = np.linalg.norm(Z[first][i] - Z[second][j])
                alike = (labels[i] & labels[j]).any()
                part = distance if alike else max(0, margin - distance)
                expected += part**2 / 14**2
    assert found == pytest.approx(expected, rel=1e-3)


def test_gradients_are_finite_where_distances_are_zero():
    views, labels = toy(20)
    views = [np.repeat(X[:5], 4, axis=0) for X in views]
    method = DCHMT(n_bits=8, epochs=3, random_state=0).fit(views, np.repeat(labels[:5], 4, axis=0))
    for parameter in method.networks_[0].parameters():
        assert torch.isfinite(parameter).all()


def test_a_bit_is_the_larger_of_its_two_outputs():
    views, labels = toy()
    method = DCHMT(n_bits=6, epochs=2, random_state=0).fit(views, labels)
    pairs = outputs(method, batch_of(method, views, labels))[0].reshape(-1, 6, 2)
    np.testing.assert_array_equal(method.encode(views[0], 0), pairs.argmax(axis=2).astype(bool))


def test_initial_weights_are_those_of_one_layer_of_two_outputs_per_bit():
    first, _, last = DCHMT(n_bits=40).networks((30, 20))[0]
    assert 0.9 * np.sqrt(3) < last.weight.abs().max() <= np.sqrt(3)
    assert 0.9 * np.sqrt(6 / 128) < first.weight.abs().max() <= np.sqrt(6 / 128)


def test_gradients_of_the_last_layer_are_clipped_per_bit():
    views, labels = toy()
    method = DCHMT(n_bits=6, epochs=1, random_state=0).fit(views, labels)
    (optimizer,), _ = method.configure_optimizers()
    blocks = {p: group["clip_blocks"] for group in optimizer.param_groups for p in group["params"]}
    for first, _, last in method.networks_:
        assert [blocks[p] for p in (*first.parameters(), *last.parameters())] == [1, 1, 6, 6]
