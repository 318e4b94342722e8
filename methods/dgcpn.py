"""DGCPN: codes whose cosines follow similarities and common neighbours of the training rows.

With C = a1 cos(Y, Y) + (1 - a1) cos(X, X) over all n training rows and Pi the transition matrix
of its graph (each row's K most similar rows but itself, weighted, rows summing to one), the
target is

    S = 2 [ (1 - a2) C + a2 beta Pi Pi' ] - 1,      beta = 2 K.

For codes b_i, b_t of a batch, ii = cos(b_i, b_i), it = cos(b_i, b_t), tt = cos(b_t, b_t):

    L = mean (it_jj - 1.5)^2
        + sim_weight sum over ii, it, tt of mse off the diagonal to S
        + cons_weight [ mse(it, ii) + mse(it, tt) + mse(ii, tt) + mse(it, it') ].

Each batch takes three steps: both networks on L(b_i, b_t), then each network on L with the other's
codes replaced by their signs.

Cost: b n d per batch of b rows, because common neighbours are counted over all n training rows.
No (n, n) matrix is stored; the original stores three.

Deviations
----------
- The original fixes K for each dataset; here it is a part of the number of training rows.
- A row is excluded from its own neighbours by its index, not as the most similar row.
- The original stops by labelled validation rows; here the last epoch is used.
- 10 epochs instead of up to 100.
"""

from __future__ import annotations

from typing import Any, ClassVar

from hashbench import FRACTION, NON_NEGATIVE, Linear, Log, Paper, TorchMethod
from hashbench.neural.losses import cosines, mse, sign
from hashbench.neural.networks import mlp
from hashbench.neural.similarity import JointCosines

PAIR_TARGET = 1.5  # larger than any cosine, so that pairs are always pulled together


class DGCPN(TorchMethod):
    """Deep graph-neighbor coherence preserving network.

    Parameters
    ----------
    n_bits : int
        Code length.
    text_weight : float
        a1, the weight of the text in the similarity; that of the image is 1 - a1.
    coherence : float
        a2, the weight of common neighbours in the target.
    neighbours : float
        K, as a part of the number of training rows.
    sim_weight, cons_weight : float
        Weights of following the target and of agreement between views.
    hidden : int
        Width of the hidden layer.
    dropout : float
        Part of the hidden layer that training sets to zero.
    lr : float
        Learning rate.
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

    name = "dgcpn"
    title = "DGCPN"
    supervised = False
    scalable = False
    paper = Paper(
        "J. Yu, H. Zhou, Y. Zhan, D. Tao",
        "Deep graph-neighbor coherence preserving network for unsupervised cross-modal hashing",
        "AAAI Conference on Artificial Intelligence",
        2021,
        fidelity="consistent",
    )
    two_views = True

    space: ClassVar = {
        "text_weight": Linear(0, 1),
        "coherence": Linear(0, 0.8),
        "lr": Log(1e-3, 0.02),
    }
    allowed: ClassVar = {
        "text_weight": FRACTION, "coherence": NON_NEGATIVE, "neighbours": FRACTION,
        "sim_weight": NON_NEGATIVE, "cons_weight": NON_NEGATIVE,
    }  # fmt: skip

    def __init__(
        self,
        n_bits: int = 16,
        text_weight: float = 0.01,
        coherence: float = 0.3,
        neighbours: float = 0.4,
        sim_weight: float = 1.0,
        cons_weight: float = 1.0,
        hidden: int = 4096,
        dropout: float = 0.5,
        lr: float = 0.005,
        epochs: int = 10,
        patience: int = 0,
        batch_size: int = 32,
        scaling: str = "rows",
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.text_weight = text_weight
        self.coherence = coherence
        self.neighbours = neighbours
        self.sim_weight = sim_weight
        self.cons_weight = cons_weight
        self.hidden = hidden
        self.dropout = dropout
        self.lr = lr
        self.epochs = epochs
        self.patience = patience
        self.batch_size = batch_size
        self.scaling = scaling
        self.random_state = random_state

    def networks(self, widths):
        """Return one hidden layer per view; the text's output layer has larger initial weights."""
        from torch import nn

        networks = [mlp((d, self.hidden, self.n_bits), self.dropout) for d in widths]
        nn.init.normal_(networks[1][-1].weight, std=0.3)
        return [net.append(nn.Tanh()) for net in networks]

    def setup(self, data):
        """Find the smallest similarity of each row's neighbours."""
        self.similarity_ = JointCosines(data, (1 - self.text_weight, self.text_weight))
        self.kept_ = max(round(self.neighbours * data.n), 1)
        self.thresholds_ = self.similarity_.thresholds(self.kept_)

    def configure_optimizers(self):
        """Use gradient descent with momentum."""
        from torch.optim import SGD

        return [SGD(self.parameters(), lr=self.lr, momentum=0.9, weight_decay=5e-4)], []

    def target(self, batch):
        """Return S of the rows of a batch."""
        import torch

        C = self.similarity_.with_all(batch.views)
        near = C * (self.thresholds_[batch.rows, None] <= C)
        near[torch.arange(len(C), device=C.device), batch.rows] = 0
        sums = near.sum(dim=1, keepdim=True)
        walk = near / torch.where(sums.abs() > 1e-6, sums, torch.ones_like(sums))
        Q = 2 * self.kept_ * walk @ walk.T
        return 2 * ((1 - self.coherence) * C[:, batch.rows] + self.coherence * Q) - 1

    def training_step(self, batch):
        """Take one step on real codes, then one per view against the signs of the other."""
        S = self.target(batch)
        loss = self.minimize(self.pair_loss(*self._codes(batch), S), *self.optimizers_)
        image, text = self._codes(batch)
        # Signs have no gradient: each of these steps changes one network only.
        self.minimize(self.pair_loss(image, sign(text), S), *self.optimizers_)
        self.minimize(self.pair_loss(sign(image), text, S), *self.optimizers_)
        return loss

    def _codes(self, batch):
        return [self.forward(x, view) for view, x in enumerate(batch.views)]

    def pair_loss(self, image, text, S):
        """Return L of the codes of a batch."""
        ii, it, tt = cosines(image, image), cosines(image, text), cosines(text, text)
        off = 1 - S.new_ones(len(S)).diag()
        pair = (it.diagonal() - PAIR_TARGET).square().mean()
        similar = sum(mse(C * off, S * off) for C in (ii, it, tt))
        consistent = mse(it, ii) + mse(it, tt) + mse(ii, tt) + mse(it, it.T)
        return pair + self.sim_weight * similar + self.cons_weight * consistent

    def finish(self, data):
        """Delete the reference to the training rows."""
        del self.similarity_
