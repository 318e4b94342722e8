"""BertAdam against its formula, step by step in numpy."""

import numpy as np
import pytest

from hashbench.neural.optimisers import BertAdam

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch


def test_steps_follow_the_formula():
    rng = np.random.default_rng(0)
    start, gradients = rng.normal(size=(4, 3)), rng.normal(size=(7, 4, 3))
    w = torch.tensor(start, requires_grad=True)
    optimiser = BertAdam([w], rate=0.1, steps=20)
    expected, m, v = start.copy(), 0, 0
    for t, gradient in enumerate(gradients):
        w.grad = torch.tensor(gradient)
        optimiser.step()
        g = gradient / max(1, np.linalg.norm(gradient) + 1e-6)
        m, v = 0.9 * m + 0.1 * g, 0.98 * v + 0.02 * g**2
        rate = 0.1 * (t / 2 if t < 2 else 0.5 * (1 + np.cos(np.pi * t / 20)))
        expected = expected - rate * (m / (np.sqrt(v) + 1e-6) + 0.2 * expected)
        np.testing.assert_allclose(w.detach().numpy(), expected, rtol=1e-6)


def test_gradients_of_the_pieces_of_a_tensor_are_clipped_separately():
    gradient = np.array([[3.0, 4.0], [0.3, 0.4]])
    whole = torch.zeros(2, 2, dtype=torch.float64, requires_grad=True)
    whole.pieces = 2
    parts = [torch.zeros(2, dtype=torch.float64, requires_grad=True) for _ in range(2)]
    merged, separate = BertAdam([whole], 0.1, 4), BertAdam(parts, 0.1, 4)
    for _ in range(3):
        whole.grad = torch.tensor(gradient)
        for part, g in zip(parts, gradient, strict=True):
            part.grad = torch.tensor(g)
        merged.step()
        separate.step()
    np.testing.assert_allclose(whole.detach(), torch.stack(parts).detach())
    assert whole.abs().sum() > 0
