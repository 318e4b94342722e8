import numpy as np
import pytest

from hashbench.checks.methods import toy
from hashbench.methods.djsrh import DJSRH
from tests.helpers.neural_batches import batch_of, cosine, outputs

pytest.importorskip("torch")
pytestmark = pytest.mark.torch


def test_target_and_loss_follow_their_formulas():
    views, labels = toy(18, (6, 5))
    method = DJSRH(
        n_bits=7, hidden=9, epochs=1, image_weight=0.2, text_weight=0.6, random_state=0
    ).fit(views, labels)
    batch = batch_of(method, views, labels, epoch=4)
    image, text = (X.numpy().astype(float) for X in batch.views)
    J = 0.3 * (2 * cosine(image, image) - 1) + 0.7 * (2 * cosine(text, text) - 1)
    S = 1.5 * (0.6 * J + 0.4 * J @ J.T / 18)
    np.testing.assert_allclose(method.target(batch.views).numpy(), S, atol=1e-5)
    b, t = (np.tanh(2 * value) for value in outputs(method, batch))  # sqrt(epoch 4)
    expected = (
        0.2 * np.square(cosine(b, b) - S).mean()
        + np.square(cosine(b, t) - S).mean()
        + 0.6 * np.square(cosine(t, t) - S).mean()
    )
    assert float(method.loss(batch).detach()) == pytest.approx(expected, rel=1e-4)


def test_each_view_has_its_own_learning_rate():
    views, labels = toy(64)
    still = DJSRH(n_bits=4, epochs=1, image_lr=1e-30, random_state=0).fit(views, labels)
    moved = DJSRH(n_bits=4, epochs=3, image_lr=1e-30, random_state=0).fit(views, labels)
    image, text = (
        (one[0].weight - other[0].weight).abs().max()
        for one, other in zip(still.networks_, moved.networks_, strict=True)
    )
    assert image == 0 < text
