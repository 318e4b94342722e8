import numpy as np
import pytest

from hashbench.checks.methods import toy
from hashbench.methods.ucch import UCCH
from tests.helpers.neural_batches import batch_of, outputs

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch


def fitted(**parameters):
    views, labels = toy(20, (6, 5))
    method = UCCH(n_bits=6, hidden=9, epochs=2, random_state=0, **parameters).fit(views, labels)
    return method, batch_of(method, views, labels, epoch=2)


def unit(X):
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def softmax_loss(logits, own):
    return -np.mean([x[i] - np.log(np.exp(x).sum()) for x, i in zip(logits, own, strict=True)])


def codes(method, batch):
    return [unit(np.tanh(output)) for output in outputs(method, batch)]


def ranking_loss(u, v):
    total = 0.0
    for similarity in (u @ v.T, v @ u.T):
        lowered = similarity - 0.1 * (similarity < np.diag(similarity)[:, None] - 0.2)
        total += softmax_loss(lowered, range(len(u))) + 0.2
    return total


@pytest.mark.parametrize("negatives", [50, 3])  # of 20 rows: counted in a table, and gathered
def test_later_epochs_contrast_with_random_rows_of_the_memory(monkeypatch, negatives):
    method, batch = fitted(negatives=negatives)
    drawn = np.random.default_rng(0).integers(20, size=(20, negatives))
    monkeypatch.setattr(torch, "randint", lambda *_, **__: torch.tensor(drawn))
    signs = np.where(method.memory_.numpy() >= 0, 1.0, -1.0)
    u, v = codes(method, batch)
    contrast = 0.0
    for w in (u, v):
        logits = [signs[[i, *drawn[i]]] @ w[i] / (0.9 * np.sqrt(6)) for i in range(20)]
        contrast += softmax_loss(logits, [0] * 20)
    expected = 0.7 * contrast + 0.3 * ranking_loss(u, v)
    assert float(method.loss(batch).detach()) == pytest.approx(expected, rel=1e-4)


def test_the_first_epoch_contrasts_within_the_batch_and_fills_the_memory():
    method, batch = fitted()
    batch.epoch = 1
    u, v = codes(method, batch)
    mean = (u + v) / 2
    signs = np.where(mean >= 0, 1.0, -1.0)
    contrast = sum(softmax_loss(w @ signs.T / (0.9 * np.sqrt(6)), range(20)) for w in (u, v))
    expected = 0.7 * contrast + 0.3 * ranking_loss(u, v)
    assert float(method.loss(batch).detach()) == pytest.approx(expected, rel=1e-4)
    np.testing.assert_allclose(method.memory_.numpy(), unit(mean), atol=1e-5)


def test_the_memory_moves_towards_the_codes():
    method, batch = fitted()
    before = method.memory_.numpy().copy()
    u, v = codes(method, batch)
    method.loss(batch)
    expected = unit(0.4 * before + 0.6 * unit((u + v) / 2))
    np.testing.assert_allclose(method.memory_.numpy(), expected, atol=1e-5)
