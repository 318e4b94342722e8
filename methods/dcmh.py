"""DCMH: inner products of real codes are log-odds of sharing a label.

Minimises over networks F = f(X), G = g(Y) and codes B in {-1, +1}

    - sum_ij [ S_ij T_ij - log(1 + exp T_ij) ] + gamma ( ||B - F||^2 + ||B - G||^2 )
    + eta ( ||F'1||^2 + ||G'1||^2 ),      T = F G' / 2,

S_ij = 1 where rows i and j share a label; F, G (n, k). An epoch sets B = sign(F + G), then trains
one view's network after the other on random rows, against buffers of the networks' latest outputs
for all rows. With more than two views, T runs over every pair of them.

Cost: a step on b rows is b n k, because all n training rows enter it; S is computed for the rows
of the step. Memory: one (n, k) buffer per view.

Deviations
----------
- The original trains a convolutional network on pixels; here every view has the network that the
  original has for text.
- 50 epochs at ten times the learning rate replace the original's 500: the sum of learning rates is
  the same, and so is the result. The learning rate is lower where columns times hidden units
  exceed those of Wiki (128 x 8192), because the largest stable one is.
- The logarithm is computed as softplus, which does not overflow.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

from hashbench import NON_NEGATIVE, POSITIVE, Log, Paper, TorchMethod
from hashbench.neural.losses import share_label, sign
from hashbench.neural.networks import mlp

#: Columns times hidden units up to which training is stable at the full learning rate.
STABLE = 128 * 8192


class DCMH(TorchMethod):
    """Deep cross-modal hashing.

    Parameters
    ----------
    n_bits : int
        Code length.
    gamma : float
        Weight of the distance between codes and outputs.
    eta : float
        Weight of the balance of bits.
    hidden : int
        Width of the hidden layer.
    lr, last_lr : float
        Learning rates of the first and the last epoch; it falls geometrically between them.
    weight_decay : float
    epochs : int
        Each draws as many random rows as there are, some of them more than once.
    batch_size : int
        Rows per step.
    patience : int
        0 trains for all epochs. Otherwise training stops once so many epochs have not been better
        on validation rows, and the best number of epochs is used.
    scaling : str
        Scaling of the features, see :data:`hashbench.neural.inputs.SCALINGS`.
    random_state : int, Generator or None
        Seed of the initial weights and of the order of rows.
    """

    name = "dcmh"
    title = "DCMH"
    supervised = True
    discrete = True
    scalable = False
    paper = Paper(
        "Q.-Y. Jiang, W.-J. Li",
        "Deep cross-modal hashing",
        "IEEE Conference on Computer Vision and Pattern Recognition",
        2017,
        fidelity="consistent",
    )

    space: ClassVar = {"gamma": Log(0.1, 10), "eta": Log(0.1, 10), "lr": Log(0.03, 0.5)}
    allowed: ClassVar = {
        "gamma": NON_NEGATIVE, "eta": NON_NEGATIVE, "last_lr": POSITIVE,
        "weight_decay": NON_NEGATIVE,
    }  # fmt: skip

    def __init__(
        self,
        n_bits: int = 16,
        gamma: float = 1.0,
        eta: float = 1.0,
        hidden: int = 8192,
        lr: float = 0.316,
        last_lr: float = 0.01,
        weight_decay: float = 5e-4,
        epochs: int = 50,
        patience: int = 0,
        batch_size: int = 128,
        scaling: str = "rows",
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.gamma = gamma
        self.eta = eta
        self.hidden = hidden
        self.lr = lr
        self.last_lr = last_lr
        self.weight_decay = weight_decay
        self.epochs = epochs
        self.patience = patience
        self.batch_size = batch_size
        self.scaling = scaling
        self.random_state = random_state

    def networks(self, widths):
        """Return one hidden layer per view, with small initial weights."""
        from torch import nn

        networks = [mlp((d, self.hidden, self.n_bits)) for d in widths]
        for parameter in (p for net in networks for p in net.parameters()):
            nn.init.normal_(parameter, std=0.01)
        return networks

    def setup(self, data):
        """Fill the buffers with zeros, so that the codes of the first epoch are zero as well."""
        import torch

        shape = (len(self.networks_), data.n, self.n_bits)
        self.buffers_ = torch.zeros(shape, device=self.device_)

    def configure_optimizers(self):
        """Use gradient descent with a learning rate that falls geometrically."""
        from torch.optim import SGD
        from torch.optim.lr_scheduler import ExponentialLR

        groups = [
            {"params": net.parameters(), "lr": self.lr * min(1.0, STABLE / (d * self.hidden))}
            for net, d in zip(self.networks_, self.n_features_in_, strict=True)
        ]
        optimizer = SGD(groups, weight_decay=self.weight_decay)
        factor = (self.last_lr / self.lr) ** (1 / max(self.epochs - 1, 1))
        return [optimizer], [ExponentialLR(optimizer, factor)]

    def training_epoch(self, data, epoch, rng):
        """Set the codes, then train the networks one after the other, the last view first."""
        B = self.buffers_.sum(dim=0).sign()
        size = min(self.batch_size, data.n)
        losses = []
        for view in reversed(range(len(self.networks_))):
            for _ in range(math.ceil(data.n / size)):
                rows = rng.choice(data.n, size, replace=False)
                loss = self.step_loss(data, rows, view, B)
                # The loss depends on the parameters of this view only: no others are changed.
                losses.append(self.minimize(loss, *self.optimizers_))
        return losses

    def step_loss(self, data, rows, view, B):
        """Return the objective of one view's network, for some rows against all rows."""
        from torch.nn.functional import softplus

        H = self.forward(data.view(view, rows), view)
        own = self.buffers_[view]
        own[rows] = H.detach()
        S = share_label(data.labels[rows], data.labels)
        total = self.gamma * (B[rows] - H).square().sum()
        rest = own.sum(dim=0) - H.detach().sum(dim=0)
        total = total + self.eta * (H.sum(dim=0) + rest).square().sum()
        for other, buffer in enumerate(self.buffers_):
            if other != view:
                T = H @ buffer.T / 2
                total = total + (softplus(T) - S * T).sum()
        return total / (len(rows) * data.n)

    def finish(self, data):
        """Set the codes of the training rows."""
        self.codes_ = (sign(self.buffers_.sum(dim=0)) > 0).cpu().numpy()
