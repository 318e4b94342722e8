"""BertAdam: the optimiser of the methods that come from CLIP.

It is not in PyTorch. Unlike Adam it corrects no bias, shrinks every weight by itself, and cuts
the gradient of each tensor to length one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any


class BertAdam:
    """m <- .9 m + .1 g, v <- .98 v + .02 g^2, w <- w - rate_t (m / (sqrt v + 1e-6) + decay w).

    The rate rises linearly over the first tenth of the steps and then follows half a cosine that
    began with the first step, so that it falls a little where the two meet.

    Parameters
    ----------
    parameters : tensors; one with an attribute ``pieces`` stands for so many equal parts of it,
        whose gradients are cut one by one
    rate : the largest rate
    steps : how many steps there will be
    decay : how much of a weight each step takes away, times the rate
    warm_up : the part of the steps in which the rate rises
    """

    def __init__(
        self,
        parameters: Iterable[Any],
        rate: float,
        steps: int,
        decay: float = 0.2,
        warm_up: float = 0.1,
    ) -> None:
        self.rate, self.steps, self.decay, self.warm_up = rate, steps, decay, warm_up
        self.parameters = [
            (p, p.detach().clone().zero_(), p.detach().clone().zero_(), getattr(p, "pieces", 1))
            for p in parameters
        ]
        self.done = 0

    def zero_grad(self) -> None:
        """Forget the gradients."""
        for parameter, *_ in self.parameters:
            parameter.grad = None

    def current_rate(self) -> float:
        """Return the rate of the next step; the first one is zero."""
        part = self.done / max(self.steps, 1)
        if part < self.warm_up:
            return self.rate * part / self.warm_up
        return self.rate * 0.5 * (1 + math.cos(math.pi * part))

    def step(self) -> None:
        """Take a step along the gradients."""
        import torch

        rate = self.current_rate()
        with torch.no_grad():
            for parameter, mean, square, pieces in self.parameters:
                if parameter.grad is None:
                    continue
                g = parameter.grad.reshape(pieces, -1)
                g = g * (1 / (g.norm(dim=1, keepdim=True) + 1e-6)).clamp(max=1)
                g = g.reshape(parameter.shape)
                mean.mul_(0.9).add_(g, alpha=0.1)
                square.mul_(0.98).addcmul_(g, g, value=0.02)
                parameter.mul_(1 - rate * self.decay)
                parameter.addcdiv_(mean, square.sqrt().add_(1e-6), value=-rate)
        self.done += 1
