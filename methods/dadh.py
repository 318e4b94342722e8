"""DADH: weighted triplets, codes regressed on labels, and discriminators between the views.

Feature networks a_x, a_y give f_i, f_t; hash layers give h_i, h_t = tanh(W f + b). Minimises, for a
batch,

    alpha T + (beta + .1) ( ||B - h_i||^2 + ||B - h_t||^2 ) + gamma A,

T sums 12.1 w_ijl max(0, d_ij - d_il + margin) over triplets: anchor i in one view, j and l in the
other, d = max(0, 1 - cos(h, h')), j shares labels with i and l shares none. With r_ij labels in
common, w_ijl = (2^{r_ij} - 1) / Z_i, Z_i the ideal DCG of anchor i in the batch. A is the loss of
text against two discriminators, of features and of codes, which learn to tell images ("real") from
text ("fake"). After each epoch P = (L'L + lambda I)^-1 L'B and B = sign(L P + mu/2 (H_i + H_t)).

Cost: n^3 triplets per batch of n rows; every epoch reads the features once. Memory: B, H_i + H_t.

Deviations
----------
- Hidden width 1024 instead of 8192, and 20 epochs instead of 300, for a CPU.
- The factor 1.21 of the triplets and the .1 added to beta are in the released code, not in the
  paper; so is that the discriminators change the networks of the text only.
- The released code weights triplets only if alpha is exactly 10; here always.
- The released code keeps the epoch that is best on the test queries; here the last one is used.
- Rows without labels, whose ideal DCG is zero, take no part in triplets.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

from hashbench import NON_NEGATIVE, Bounds, Linear, Log, Paper, TorchMethod
from hashbench.neural.losses import cosines, sign
from hashbench.neural.networks import mlp

WEIGHT = 12.1  # of the triplets: 10 times 1.21, from two flags of the released code
GRADIENT_PENALTY = 10.0  # weight of the penalty on the discriminators' gradients


class DADH(TorchMethod):
    """Deep adversarial discrete hashing.

    Parameters
    ----------
    n_bits : int
        Code length.
    alpha, beta, gamma : float
        Weights of triplets, quantisation and discriminators.
    mu : float
        Weight of the networks' outputs in the codes.
    penalty : float
        lambda, the ridge penalty of the regression of codes on labels.
    margin : float
        Margin of the triplets.
    hidden : int
        Width of the first layer; the next two have a half and a quarter of it.
    dropout : float
        Part of each layer that training sets to zero.
    lr : float
        Learning rate, multiplied by .8 after the first epoch and every 100 epochs thereafter.
    epochs : int
        Passes over the training rows.
    batch_size : int
        Rows per batch.
    patience : int
        0 trains for all epochs. Otherwise training stops once so many epochs have not been better
        on validation rows, and the best number of epochs is used.
    scaling : str
        Scaling of the features, see :data:`hashbench.neural.inputs.SCALINGS`.
    random_state : int, Generator or None
        Seed of the initial weights and of the order of rows.
    """

    name = "dadh"
    title = "DADH"
    supervised = True
    discrete = True
    paper = Paper(
        "C. Bai, C. Zeng, Q. Ma, J. Zhang, S. Chen",
        "Deep adversarial discrete hashing for cross-modal retrieval",
        "ACM International Conference on Multimedia Retrieval",
        2020,
        fidelity="consistent",
    )
    min_batch_size = 2
    two_views = True

    space: ClassVar = {
        "alpha": Log(1, 100),
        "beta": Log(0.1, 10),
        "margin": Linear(0.1, 0.8),
        "lr": Log(1e-5, 1e-3),
    }
    allowed: ClassVar = {
        "alpha": NON_NEGATIVE, "beta": NON_NEGATIVE, "gamma": NON_NEGATIVE, "mu": NON_NEGATIVE,
        "penalty": NON_NEGATIVE, "margin": NON_NEGATIVE, "hidden": Bounds(ge=4, whole=True),
        "batch_size": Bounds(ge=2, whole=True),
    }  # fmt: skip

    def __init__(
        self,
        n_bits: int = 16,
        alpha: float = 10.0,
        beta: float = 1.0,
        gamma: float = 1.0,
        mu: float = 1e-5,
        penalty: float = 1.0,
        margin: float = 0.4,
        hidden: int = 1024,
        dropout: float = 0.0,
        lr: float = 5e-5,
        epochs: int = 20,
        patience: int = 0,
        batch_size: int = 128,
        scaling: str = "rows",
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.alpha = alpha
        self.beta = beta
        self.gamma = gamma
        self.mu = mu
        self.penalty = penalty
        self.margin = margin
        self.hidden = hidden
        self.dropout = dropout
        self.lr = lr
        self.epochs = epochs
        self.patience = patience
        self.batch_size = batch_size
        self.scaling = scaling
        self.random_state = random_state

    def networks(self, widths):
        """Return three layers of features, then the hash layer, per view."""
        from torch import nn

        def features(d):
            layers = []
            for out in (self.hidden, self.hidden // 2, self.hidden // 4):
                layers += [nn.Linear(d, out), nn.BatchNorm1d(out), nn.ReLU()]
                layers += [nn.Dropout(self.dropout)] if self.dropout else []
                d = out
            return nn.Sequential(*layers)

        return [
            nn.Sequential(
                features(d), nn.Sequential(nn.Linear(self.hidden // 4, self.n_bits), nn.Tanh())
            )
            for d in widths
        ]

    def setup(self, data):
        """Make the discriminators, random codes and the buffer of H_i + H_t."""
        import torch
        from torch import nn

        m = self.hidden // 4
        self.discriminators_ = [mlp((m, m // 2, m // 4, 1)), mlp((self.n_bits, 512, 1))]
        for discriminator in self.discriminators_:
            for layer in discriminator.to(self.device_):
                if isinstance(layer, nn.Linear):
                    nn.init.kaiming_normal_(layer.weight)
                    nn.init.zeros_(layer.bias)
        self.signs_ = sign(torch.randn(data.n, self.n_bits, device=self.device_))
        self.outputs_ = torch.zeros(data.n, self.n_bits, device=self.device_)

    def configure_optimizers(self):
        """Use Adam, one for the networks and one for the discriminators."""
        from torch.optim import Adam
        from torch.optim.lr_scheduler import LambdaLR

        networks = Adam(self.parameters(), lr=self.lr, weight_decay=5e-4)
        layers = [p for net in self.discriminators_ for p in net.parameters()]
        discriminators = Adam(layers, lr=self.lr, betas=(0.5, 0.9), weight_decay=1e-4)
        scheduler = LambdaLR(
            networks, lambda epochs: max(0.8 ** math.ceil(epochs / 100), 1e-6 / self.lr)
        )
        return [networks, discriminators], [scheduler]

    def training_epoch(self, data, epoch, rng):
        """Train on all batches, then compute the codes from labels and outputs."""
        import torch

        losses = super().training_epoch(data, epoch, rng)
        L = data.labels
        system = L.T @ L + self.penalty * torch.eye(L.shape[1], device=L.device)
        P = torch.linalg.solve(system, L.T @ self.signs_)
        self.signs_ = sign(L @ P + self.mu / 2 * self.outputs_)
        return losses

    def training_step(self, batch):
        """Take one step of the discriminators, then one of the networks."""
        networks, discriminators = self.optimizers_
        with self.mixed_precision():
            F = [net[0](x).float() for net, x in zip(self.networks_, batch.views, strict=True)]
            H = [net[1](f).float() for net, f in zip(self.networks_, F, strict=True)]
        self.outputs_[batch.rows] = (H[0] + H[1]).detach()
        self.minimize(self.discriminator_loss(F, H), discriminators)
        return self.minimize(self.network_loss(batch, F, H), networks)

    def network_loss(self, batch, F, H):
        """Return the loss of the networks, given features F and outputs H of both views."""
        from torch.nn.functional import logsigmoid

        B = self.signs_[batch.rows]
        total = self.alpha * (self.triplets(H, batch.labels) + self.triplets(H[::-1], batch.labels))
        total = total + (self.beta + 0.1) * sum((B - h).square().sum() for h in H)
        of_features, of_codes = self.discriminators_
        # The discriminator of codes changes the hash layer alone.
        scores = (of_features(F[1]), of_codes(self.networks_[1][1](F[1].detach())))
        return total - self.gamma * sum(logsigmoid(score).mean() for score in scores)

    def triplets(self, H, L):
        """Return T with the anchors in the first view of H and the others in the second."""
        import torch

        D = (1 - cosines(*H)).clamp(min=0)
        common = L @ L.T
        gains = 2**common - 1
        ranks = torch.arange(2, len(L) + 2, dtype=L.dtype, device=L.device).log2()
        ideal = (gains.sort(dim=1, descending=True).values / ranks).sum(dim=1)
        weights = WEIGHT * gains / torch.where(ideal > 0, ideal, torch.ones_like(ideal))[:, None]
        hinges = (D[:, :, None] - D[:, None, :] + self.margin).clamp(min=0)
        return ((hinges @ (common == 0).to(L.dtype)[:, :, None])[:, :, 0] * weights).sum()

    def discriminator_loss(self, F, H):
        """Return the cross-entropy of both discriminators plus the penalty on their gradients."""
        import torch
        from torch.nn.functional import logsigmoid

        total = 0
        for discriminator, pair in zip(self.discriminators_, (F, H), strict=True):
            real, fake = (z.detach() for z in pair)
            weights = torch.rand_like(real)  # one per coordinate, as in the released code
            between = (weights * real + (1 - weights) * fake).requires_grad_()
            (gradient,) = torch.autograd.grad(
                discriminator(between).sum(), between, create_graph=True
            )
            likelihood = (
                logsigmoid(discriminator(real)).mean() + logsigmoid(-discriminator(fake)).mean()
            )
            total += GRADIENT_PENALTY * (gradient.norm(dim=1) - 1).square().mean()
            total -= self.gamma * likelihood
        return total

    def finish(self, data):
        """Set the codes of the training rows."""
        self.codes_ = (self.signs_ > 0).cpu().numpy()
