"""DSPH: every class has a learned proxy, and codes are drawn to the proxies of their labels.

Minimises over one linear hash layer per view, h = tanh(dropout(W x + b)), and proxies P

    sum_views [ mean_{L_ic = 1} (1 - C_ic) + mean_{L_ic = 0} max(0, C_ic - theta) ]
    + alpha sum_pairs mean max(0, cos(h_i, h_j) - theta),        C = cos(h, P),

the last term over pairs of rows that have several labels each and share none; pairs run within
every view and between any two. L (n, c): labels; P (c, k): proxies, one per class. theta =
1 - 2 d / k, d the distance that c binary words of length k can have from each other.

Cost: n k (columns + c) + n^2 k per batch of n rows; every epoch reads the features once.

Deviations
----------
- The paper trains CLIP below the hash layers; here their input is the given features.
- d comes from Griesmer's bound, not from a table of the best codes known: equal for up to 32
  classes at 16 to 128 bits, and at most one more elsewhere.
- The released code keeps the epoch that is best on the test queries; here the last one is used.
"""

from __future__ import annotations

from typing import Any, ClassVar

from hashbench import NON_NEGATIVE, POSITIVE, Linear, Log, Paper, TorchMethod
from hashbench.neural.losses import cosines
from hashbench.neural.optimizers import bert_adam


class DSPH(TorchMethod):
    """Deep semantic-aware proxy hashing.

    Parameters
    ----------
    n_bits : int
        Code length.
    alpha : float
        Weight of the distance between rows that share no label.
    dropout : float
        Part of the values before tanh that training sets to zero.
    lr : float
        Learning rate of the hash layers, multiplied by
        :func:`hashbench.neural.optimizers.warmup_cosine`.
    proxy_lr : float
        Learning rate of the proxies.
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

    name = "dsph"
    title = "DSPH"
    supervised = True
    paper = Paper(
        "Y. Huo, Q. Qin, J. Dai, L. Wang, W. Zhang, L. Huang, C. Wang",
        "Deep semantic-aware proxy hashing for multi-label cross-modal retrieval",
        "IEEE Transactions on Circuits and Systems for Video Technology",
        2024,
        fidelity="consistent",
    )

    scheduler_interval = "step"

    space: ClassVar = {
        "lr": Log(1e-4, 1e-2),
        "proxy_lr": Log(2e-3, 0.2),
        "dropout": Linear(0, 0.5),
    }
    allowed: ClassVar = {"alpha": NON_NEGATIVE, "proxy_lr": POSITIVE}

    def __init__(
        self,
        n_bits: int = 16,
        alpha: float = 0.8,
        dropout: float = 0.2,
        lr: float = 1e-3,
        proxy_lr: float = 0.02,
        epochs: int = 100,
        patience: int = 0,
        batch_size: int = 128,
        scaling: str = "rows",
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.alpha = alpha
        self.dropout = dropout
        self.lr = lr
        self.proxy_lr = proxy_lr
        self.epochs = epochs
        self.patience = patience
        self.batch_size = batch_size
        self.scaling = scaling
        self.random_state = random_state

    def networks(self, widths):
        """Return one linear layer per view, with dropout of bits before tanh."""
        from torch import nn

        return [
            nn.Sequential(nn.Linear(d, self.n_bits), nn.Dropout(self.dropout), nn.Tanh())
            for d in widths
        ]

    def setup(self, data):
        """Draw the initial proxies."""
        import torch

        classes = data.labels.shape[1]
        proxies = torch.randn(classes, self.n_bits, device=self.device_) * (2 / classes) ** 0.5
        self.proxies_ = proxies.requires_grad_()
        self.multilabel_ = bool((data.labels.sum(dim=1) > 1).any())
        self.threshold_ = 1 - 2 * word_distance(self.n_bits, classes) / self.n_bits

    def configure_optimizers(self):
        """Use BertAdam for the hash layers, gradient descent with momentum for the proxies."""
        from torch.optim import SGD

        layers, scheduler = bert_adam(self.parameters(), self.lr, self.total_steps_)
        proxies = SGD([self.proxies_], lr=self.proxy_lr, momentum=0.9, weight_decay=5e-4)
        return [layers, proxies], [scheduler]

    def loss(self, batch):
        """Return the loss of a batch against the proxies and between its rows."""
        L, theta = batch.labels, self.threshold_
        H = [self.forward(x, view) for view, x in enumerate(batch.views)]
        total = 0
        for h in H:
            C = cosines(h, self.proxies_)
            total += ((1 - C) * L).sum() / L.sum().clamp(min=1)
            total += ((C - theta).clamp(min=0) * (1 - L)).sum() / (1 - L).sum().clamp(min=1)
        if not self.multilabel_:
            return total
        several = L.sum(dim=1) > 1
        pairs = (several[:, None] & several & (L @ L.T == 0)).to(L.dtype)
        for m, first in enumerate(H):
            for second in H[m:]:
                too_near = (cosines(first, second) - theta).clamp(min=0) * pairs
                total += self.alpha * too_near.sum() / pairs.sum().clamp(min=1)
        return total


def word_distance(bits: int, classes: int) -> int:
    """Return the largest distance that Griesmer's bound allows a linear code with enough words.

    Examples
    --------
    >>> [word_distance(bits, 10) for bits in (16, 32, 64, 128)]
    [8, 16, 33, 68]
    """
    message = max((classes - 1).bit_length(), 1)
    distance = 0
    while sum(-(-(distance + 1) // 2**i) for i in range(message)) <= bits:
        distance += 1
    return distance
