"""DCMH: inner products of real codes are log-odds of sharing a label.

Minimises over networks F = f(X), G = g(Y) and codes B in {-1, +1}

    - sum_ij [ S_ij T_ij - log(1 + exp T_ij) ] + gamma ( ||B - F||^2 + ||B - G||^2 )
    + eta ( ||F'1||^2 + ||G'1||^2 ),      T = F G' / 2,

S_ij = 1 where rows share a label; F, G (n, k). An epoch sets B = sign(F + G), then steps one
view's network after the other on random rows, against buffers of what the networks last said of
all rows. With more than two views, T runs over every pair of them.

Cost: a step on b rows is b n k, because all n training rows enter it; S is made for the rows of
a step. Memory: one buffer (n, k) a view.

Deviations
----------
- The original trains a convolutional network on pixels; here every view has the text's network.
- 50 epochs at ten times the rate have the sum of rates of the original's 500, and come to the
  same place. The rate falls with columns times hidden units beyond those of Wiki (128 x 8192),
  because the largest stable one does.
- The logarithm is computed as softplus, which does not overflow.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from hashbench import Citation, TorchMethod
from hashbench.neural.functions import perceptron, sign
from hashbench.plugins.space import Log

#: Columns times hidden units up to which the rate is stable as it is.
STABLE = 128 * 8192


class DCMH(TorchMethod):
    """Deep cross-modal hashing.

    Parameters
    ----------
    n_bits : int
    gamma : float
        Weight of the codes' closeness to the networks' values.
    eta : float
        Weight of the balance of bits.
    hidden : int
        Width of the hidden layer.
    rate, last_rate : float
        Rates of the first and the last epoch; between them they fall geometrically.
    decay : float
        Weight decay.
    epochs, batch : int
        Epochs, and rows a step; an epoch draws as many rows as there are, some of them twice.
    patience : int
        0 for all epochs; else stop after the epoch that is best on validation rows, once so many
        later ones are not better.
    scaling : str
        What the networks see, see :data:`hashbench.neural.inputs.SCALINGS`.
    random_state : int, Generator or None
    """

    name = "dcmh"
    title = "DCMH"
    supervised = True
    discrete = True
    scalable = False
    fidelity = "paper"
    paper = Citation(
        "Q.-Y. Jiang, W.-J. Li",
        "Deep cross-modal hashing",
        "IEEE Conference on Computer Vision and Pattern Recognition",
        2017,
    )

    space: ClassVar = {"gamma": Log(0.1, 10), "eta": Log(0.1, 10), "rate": Log(0.03, 0.5)}

    def __init__(
        self,
        n_bits: int = 16,
        gamma: float = 1.0,
        eta: float = 1.0,
        hidden: int = 8192,
        rate: float = 0.316,
        last_rate: float = 0.01,
        decay: float = 5e-4,
        epochs: int = 50,
        patience: int = 0,
        batch: int = 128,
        scaling: str = "rows",
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.gamma = gamma
        self.eta = eta
        self.hidden = hidden
        self.rate = rate
        self.last_rate = last_rate
        self.decay = decay
        self.epochs = epochs
        self.patience = patience
        self.batch = batch
        self.scaling = scaling
        self.random_state = random_state

    def networks(self, widths):
        """One hidden layer a view, with small weights."""
        from torch import nn

        networks = [perceptron((d, self.hidden, self.n_bits)) for d in widths]
        for parameter in (p for net in networks for p in net.parameters()):
            nn.init.normal_(parameter, std=0.01)
        return networks

    def begin(self, data):
        """Make the buffers; the codes of the first epoch are zero, as they are."""
        import torch

        shape = (len(self.networks_), data.n, self.n_bits)
        self.buffers_ = torch.zeros(shape, device=self.device_)

    def optimisers(self):
        """Plain gradient descent."""
        from torch import optim

        descent = {"lr": self.rate, "weight_decay": self.decay}
        return [optim.SGD(net.parameters(), **descent) for net in self.networks_]

    def run_epoch(self, data, epoch, rng):
        """Set the codes, then step the views one after the other, the last one first."""
        B = self.buffers_.sum(dim=0).sign()
        part = (epoch - 1) / max(self.epochs - 1, 1)
        rate = self.rate * (self.last_rate / self.rate) ** part
        size = min(self.batch, data.n)
        losses = []
        for view in reversed(range(len(self.networks_))):
            optimiser = self.optimisers_[view]
            stable = STABLE / (self.n_features_[view] * self.hidden)
            optimiser.param_groups[0]["lr"] = rate * min(1.0, stable)
            for _ in range(-(-data.n // size)):
                rows = rng.choice(data.n, size, replace=False)
                loss = self.step_loss(data, rows, view, B)
                losses.append(self.descend(loss, optimiser))
        return float(np.mean(losses))

    def step_loss(self, data, rows, view, B):
        """The objective as one view's network sees it, on some rows against all."""
        from torch.nn.functional import softplus

        H = self.networks_[view](data.view(view, rows))
        own = self.buffers_[view]
        own[rows] = H.detach()
        S = (data.labels[rows] @ data.labels.T > 0).to(H.dtype)
        total = self.gamma * (B[rows] - H).square().sum()
        rest = own.sum(dim=0) - H.detach().sum(dim=0)
        total = total + self.eta * (H.sum(dim=0) + rest).square().sum()
        for other, buffer in enumerate(self.buffers_):
            if other != view:
                T = H @ buffer.T / 2
                total = total + (softplus(T) - S * T).sum()
        return total / (len(rows) * data.n)

    def finish(self, data):
        """Keep the codes of the training rows."""
        self.codes_ = (sign(self.buffers_.sum(dim=0)) > 0).cpu().numpy()
