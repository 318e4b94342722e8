import numpy as np
import pytest

from hashbench.checks.methods import toy
from hashbench.methods.dcmh import DCMH
from tests.helpers.neural_batches import rows_of

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch


def test_the_gradient_of_a_step_follows_its_formula():
    views, labels = toy(20, (6, 5), multilabel=True)
    method = DCMH(n_bits=4, hidden=7, epochs=2, gamma=0.5, eta=2, random_state=0)
    method.fit(views, labels)
    data, rows = rows_of(method, views, labels), np.array([3, 8, 15])
    B = torch.randn(20, 4).sign()
    seen = {}

    def keep(network, given, H):
        H.retain_grad()
        seen["H"] = H

    method.networks_[1].register_forward_hook(keep)
    method.step_loss(data, rows, 1, B).backward()
    H, F, G = seen["H"].detach().numpy(), *method.buffers_.numpy().astype(float)
    np.testing.assert_allclose(G[rows], H, atol=1e-6)  # the step writes its outputs into the buffer
    S = (labels[rows] @ labels.T > 0).astype(float)
    D = 0.5 * (1 / (1 + np.exp(-0.5 * H @ F.T)) - S) @ F
    D += 2 * 0.5 * (H - B.numpy()[rows]) + 2 * 2 * G.sum(axis=0)
    np.testing.assert_allclose(seen["H"].grad.numpy(), D / (3 * 20), rtol=1e-3, atol=1e-6)


def test_learned_codes_are_the_signs_of_the_sum_of_both_views():
    views, labels = toy()
    method = DCMH(n_bits=8, hidden=32, epochs=3, random_state=0).fit(views, labels)
    np.testing.assert_array_equal(method.codes_, method.buffers_.sum(dim=0).numpy() >= 0)


def test_the_learning_rate_falls_geometrically_and_is_lower_for_wide_inputs(monkeypatch):
    views, labels = toy(dims=(12, 8))
    monkeypatch.setattr("hashbench.methods.dcmh.STABLE", 10 * 32)
    method = DCMH(n_bits=4, hidden=32, epochs=3, lr=0.4, last_lr=0.1, random_state=0)
    rates = []
    epoch = method.training_epoch

    def keep(data, *arguments):
        rates.append([group["lr"] for group in method.optimizers_[0].param_groups])
        return epoch(data, *arguments)

    method.training_epoch = keep
    method.fit(views, labels)
    image, text = np.transpose(rates)
    np.testing.assert_allclose(text, [0.4, 0.2, 0.1])  # 8 columns: below the bound
    np.testing.assert_allclose(image, np.multiply(text, 10 / 12))


def test_a_step_of_one_view_changes_no_other_network():
    views, labels = toy(20)
    method = DCMH(n_bits=4, hidden=8, epochs=2, random_state=0).fit(views, labels)
    method.optimizers_, _ = method.configure_optimizers()
    before = [[p.detach().clone() for p in net.parameters()] for net in method.networks_]
    loss = method.step_loss(rows_of(method, views, labels), np.arange(5), 1, torch.ones(20, 4))
    method.minimize(loss, *method.optimizers_)
    image, text = (
        any(not torch.equal(p, q) for p, q in zip(net.parameters(), old, strict=True))
        for net, old in zip(method.networks_, before, strict=True)
    )
    assert not image
    assert text
