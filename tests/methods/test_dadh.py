import numpy as np
import pytest

from hashbench.checks.methods import toy
from hashbench.methods.dadh import DADH
from tests.helpers.neural_batches import batch_of, cosine

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch


def test_the_triplet_loss_is_the_sum_over_all_triplets():
    _, labels = toy(10, classes=4, multilabel=True)
    labels[2] = 0
    image, text = np.random.default_rng(1).normal(size=(2, 10, 6))
    distance = np.maximum(0, 1 - cosine(image, text))
    common = labels.astype(int) @ labels.T.astype(int)
    expected = 0.0
    for i in range(10):
        gains = np.sort(2.0 ** common[i] - 1)[::-1]
        ideal = (gains / np.log2(np.arange(2, 12))).sum()
        for j in np.flatnonzero(common[i]):
            for other in np.flatnonzero(common[i] == 0):
                weight = ((2.0 ** common[i, j] - 1) - (2.0 ** common[i, other] - 1)) / ideal
                hinge = max(0, 10 * weight * (distance[i, j] - distance[i, other] + 0.4))
                expected += 1.21 * hinge
    H = [torch.tensor(X) for X in (image, text)]
    found = DADH().triplets(H, torch.tensor(labels, dtype=torch.float64))
    assert float(found) == pytest.approx(expected)


def test_rows_with_equal_labels_have_equal_codes():
    views, labels = toy(60)
    method = DADH(n_bits=8, hidden=32, epochs=3, random_state=0).fit(views, labels)
    for label in np.unique(labels, axis=0):
        codes = method.codes_[(labels == label).all(axis=1)]
        assert (codes == codes[0]).all()


def test_the_learning_rate_falls_after_the_first_epoch_and_every_hundred():
    views, labels = toy(20)
    method = DADH(n_bits=4, hidden=16, epochs=102, lr=1e-3, random_state=0)
    rates = []
    step = method.training_step
    method.training_step = lambda batch: (
        rates.append(method.optimizers_[0].param_groups[0]["lr"]),
        step(batch),
    )[1]
    method.fit(views, labels)
    np.testing.assert_allclose(
        [rates[0], rates[1], rates[100], rates[101]], [1e-3, 8e-4, 8e-4, 6.4e-4]
    )


def test_a_step_minimises_the_losses_of_both_discriminators_and_of_the_networks(monkeypatch):
    views, labels = toy(20)
    method = DADH(n_bits=4, hidden=16, epochs=1, random_state=0).fit(views, labels)
    batch = batch_of(method, views, labels)
    method.optimizers_, _ = method.configure_optimizers()
    # Linear discriminators have the same gradient everywhere; this one has length 5.
    linear = torch.nn.Linear(4, 1, bias=False)
    linear.weight.data = torch.tensor([[3.0, 4.0, 0.0, 0.0]])
    method.discriminators_ = [linear, linear]
    losses = []

    def keep(loss, optimizer):
        losses.append(float(loss.detach()))
        return losses[-1]

    monkeypatch.setattr(DADH, "minimize", staticmethod(keep))
    value = method.training_step(batch)

    F = [net[0](x) for net, x in zip(method.networks_, batch.views, strict=True)]
    H = [net[1](f) for net, f in zip(method.networks_, F, strict=True)]
    B = method.signs_[batch.rows]
    discriminators = 0.0
    for image, text in (F, H):
        real, fake = linear(image).sigmoid(), linear(text).sigmoid()
        likelihood = real.log().mean() + (1 - fake).log().mean()
        discriminators += 10 * (5 - 1) ** 2 - float(likelihood.detach())
    network = 10 * (method.triplets(H, batch.labels) + method.triplets(H[::-1], batch.labels))
    network += 1.1 * ((B - H[0]).square().sum() + (B - H[1]).square().sum())
    network -= linear(F[1]).sigmoid().log().mean() + linear(H[1]).sigmoid().log().mean()
    assert losses == pytest.approx([discriminators, float(network.detach())], rel=1e-4)
    assert value == losses[-1]
