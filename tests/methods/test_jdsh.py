import numpy as np
import pytest

from hashbench.checks.methods import toy
from hashbench.methods.jdsh import JDSH
from tests.helpers.neural_batches import batch_of, cosine, outputs

pytest.importorskip("torch")
pytestmark = pytest.mark.torch


def test_target_and_loss_follow_their_formulas():
    views, labels = toy(18, (6, 5))
    method = JDSH(n_bits=7, hidden=9, epochs=1, random_state=0).fit(views, labels)
    batch = batch_of(method, views, labels, epoch=9)
    image, text = (2 * cosine(X, X) - 1 for X in (x.numpy().astype(float) for x in batch.views))
    joint = cosine(image, text)
    S = 0.5 * image + 0.1 * text + 0.4 * (joint + joint.T) / 2
    sides = set()
    for i, j in np.ndindex(*S.shape):
        J = S[i, j]
        if J < -0.49 - 2 * 0.019:
            S[i, j], side = J * (1 + 0.1 * np.exp(-(J + 0.52))), "left"
        elif J > -0.49 + 4 * 0.088:
            S[i, j], side = J * (1 + 0.2 * np.exp(J - 0.68)), "right"
        else:
            side = "between"
        sides.add(side)
    assert sides == {"left", "between", "right"}
    S *= 1.4
    np.testing.assert_allclose(method.target(batch.views).numpy(), S, atol=1e-5)
    b, t = (np.tanh(3 * value) for value in outputs(method, batch))
    between = cosine(b, t)
    within = np.square(cosine(b, b) - S).mean() + np.square(cosine(t, t) - S).mean()
    expected = 0.1 * within + 2 * np.square(between - S).mean() - np.diag(between).mean()
    assert float(method.loss(batch).detach()) == pytest.approx(expected, rel=1e-4)


def test_the_image_network_is_linear_and_the_text_network_is_not():
    image, text = JDSH(n_bits=8).networks((6, 5))
    assert len(image) == 1
    assert text[0].out_features == 4096
