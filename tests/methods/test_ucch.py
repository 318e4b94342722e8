import numpy as np
import pytest
from neural_batches import batch_of, values

from hashbench.checks.methods import toy
from hashbench.methods.ucch import UCCH

torch = pytest.importorskip("torch")


def fitted(**parameters):
    views, labels = toy(20, (6, 5))
    method = UCCH(n_bits=6, hidden=9, epochs=2, random_state=0, **parameters).fit(views, labels)
    return method, batch_of(method, views, labels, epoch=2)


def unit(X):
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def softmax_loss(logits, own):
    return -np.mean([x[i] - np.log(np.exp(x).sum()) for x, i in zip(logits, own, strict=True)])


def outputs(method, batch):
    return [unit(np.tanh(value)) for value in values(method, batch)]


def test_the_table_of_places_gives_what_gathering_gives(monkeypatch):
    method, batch = fitted(negatives=50)
    u, v = (torch.tensor(x, dtype=torch.float32) for x in outputs(method, batch))
    drawn = torch.randint(20, (20, 50), generator=torch.Generator().manual_seed(0))
    monkeypatch.setattr(torch, "randint", lambda *_, **__: drawn)
    by_table = method._contrast_memory(u, v, batch.rows, None)
    signs = np.where(method.memory_.numpy() >= 0, 1.0, -1.0)
    expected = 0.0
    for w in (u.numpy(), v.numpy()):
        logits = [signs[[i, *drawn[i].tolist()]] @ w[i] / (0.9 * np.sqrt(6)) for i in range(20)]
        expected += softmax_loss(logits, [0] * 20)
    assert float(by_table) == pytest.approx(expected, rel=1e-5)
    method.negatives = 3  # now a table of 20 places is the larger
    monkeypatch.setattr(torch, "randint", lambda *_, **__: drawn)
    assert float(method._contrast_memory(u, v, batch.rows, None)) == pytest.approx(expected)


def test_the_first_epoch_contrasts_within_the_batch_and_fills_the_memory():
    method, batch = fitted()
    batch.epoch = 1
    u, v = outputs(method, batch)
    mean = (u + v) / 2
    signs = np.where(mean >= 0, 1.0, -1.0)
    contrast = sum(softmax_loss(w @ signs.T / (0.9 * np.sqrt(6)), range(20)) for w in (u, v))
    ranking = 0.0
    for similarity in (u @ v.T, v @ u.T):
        lowered = similarity - 0.1 * (similarity < np.diag(similarity)[:, None] - 0.2)
        ranking += softmax_loss(lowered, range(20)) + 0.2
    expected = 0.7 * contrast + 0.3 * ranking
    assert float(method.loss(batch).detach()) == pytest.approx(expected, rel=1e-4)
    np.testing.assert_allclose(method.memory_.numpy(), unit(mean), atol=1e-5)


def test_the_memory_moves_towards_the_codes():
    method, batch = fitted()
    before = method.memory_.numpy().copy()
    u, v = outputs(method, batch)
    method.loss(batch)
    expected = unit(0.4 * before + 0.6 * unit((u + v) / 2))
    np.testing.assert_allclose(method.memory_.numpy(), expected, atol=1e-5)
