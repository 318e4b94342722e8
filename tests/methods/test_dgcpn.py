import numpy as np
import pytest

from hashbench.checks.methods import toy
from hashbench.methods.dgcpn import DGCPN
from tests.helpers.neural_batches import batch_of, cosine, rows_of

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch


def test_the_target_is_built_over_all_rows():
    views, labels = toy(25, (6, 5))
    method = DGCPN(n_bits=4, hidden=7, epochs=1, text_weight=0.3, random_state=0)
    method.fit(views, labels)
    method.setup(rows_of(method, views, labels))
    batch = batch_of(method, views, labels)
    image, text = (x.numpy().astype(float) for x in batch.views)
    C = 0.3 * cosine(text, text) + 0.7 * cosine(image, image)
    Pi = np.zeros_like(C)
    for i in range(25):
        near = [j for j in np.argsort(-C[i])[:10] if j != i]  # .4 of the rows, without itself
        Pi[i, near] = C[i, near] / C[i, near].sum()
    S = 2 * (0.7 * C + 0.3 * 2 * 10 * Pi @ Pi.T) - 1
    rows = np.array([4, 20, 7, 11])
    part = rows_of(method, views, labels).batch(rows, 1)
    np.testing.assert_allclose(method.target(part).numpy(), S[np.ix_(rows, rows)], atol=1e-4)


def test_the_loss_follows_its_formula():
    rng = np.random.default_rng(0)
    image, text, S = rng.normal(size=(3, 9, 9))
    ii, it, tt = cosine(image, image), cosine(image, text), cosine(text, text)
    off = ~np.eye(9, dtype=bool)
    expected = np.square(np.diag(it) - 1.5).mean()
    expected += 2 * sum(np.square(C - S)[off].sum() / 81 for C in (ii, it, tt))
    pairs = ((it, ii), (it, tt), (ii, tt), (it, it.T))
    expected += 3 * sum(np.square(a - b).mean() for a, b in pairs)
    found = DGCPN(sim_weight=2, cons_weight=3).pair_loss(*map(torch.tensor, (image, text, S)))
    assert float(found) == pytest.approx(expected)


def test_a_batch_trains_both_networks_then_the_image_then_the_text(monkeypatch):
    views, labels = toy(32)
    method = DGCPN(n_bits=4, hidden=8, epochs=1, random_state=0)
    changed = []
    minimize = DGCPN.minimize

    def spy(loss, *optimizers):
        before = [net[0].weight.detach().clone() for net in method.networks_]
        value = minimize(loss, *optimizers)
        changed.append(
            [
                not torch.equal(net[0].weight, old)
                for net, old in zip(method.networks_, before, strict=True)
            ]
        )
        return value

    monkeypatch.setattr(DGCPN, "minimize", staticmethod(spy))
    method.fit(views, labels)
    assert changed == [[True, True], [True, False], [False, True]]
