"""BertAdam against its formula, step by step in numpy."""

import numpy as np
import pytest

from hashbench.neural.optimizers import bert_adam

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch


def test_steps_follow_the_formula():
    rng = np.random.default_rng(0)
    start, gradients = rng.normal(size=(4, 3)), rng.normal(size=(7, 4, 3))
    w = torch.tensor(start, requires_grad=True)
    optimizer, scheduler = bert_adam([w], lr=0.1, total_steps=20)
    expected, m, v = start.copy(), 0, 0
    for t, gradient in enumerate(gradients):
        w.grad = torch.tensor(gradient)
        optimizer.step()
        scheduler.step()
        g = gradient / max(1, np.linalg.norm(gradient) + 1e-6)
        m, v = 0.9 * m + 0.1 * g, 0.98 * v + 0.02 * g**2
        lr = 0.1 * (t / 2 if t < 2 else 0.5 * (1 + np.cos(np.pi * t / 20)))
        expected = expected - lr * (m / (np.sqrt(v) + 1e-6) + 0.2 * expected)
        np.testing.assert_allclose(w.detach().numpy(), expected, rtol=1e-6)


def test_gradients_of_the_blocks_of_a_tensor_are_clipped_separately():
    gradient = np.array([[3.0, 4.0], [0.3, 0.4]])
    whole = torch.zeros(2, 2, dtype=torch.float64, requires_grad=True)
    parts = [torch.zeros(2, dtype=torch.float64, requires_grad=True) for _ in range(2)]
    merged = bert_adam([{"params": [whole], "clip_blocks": 2}], 0.1, 4)
    separate = bert_adam(parts, 0.1, 4)
    for _ in range(3):
        whole.grad = torch.tensor(gradient)
        for part, g in zip(parts, gradient, strict=True):
            part.grad = torch.tensor(g)
        for optimizer, scheduler in (merged, separate):
            optimizer.step()
            scheduler.step()
    np.testing.assert_allclose(whole.detach(), torch.stack(parts).detach())
    assert whole.abs().sum() > 0
