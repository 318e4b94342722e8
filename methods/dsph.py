"""DSPH: every class has a learned point, and codes gather at the points of their labels.

Minimises over one linear hash layer a view, h = tanh(dropout(W x + b)), and proxies P

    sum_views [ mean_{L_ic = 1} (1 - C_ic) + mean_{L_ic = 0} max(0, C_ic - theta) ]
    + alpha sum_pairs mean max(0, cos(h_i, h_j) - theta),        C = cos(h, P),

the last term over pairs of rows that have several labels each and share none; pairs run within
every view and between any two. L (n, c): labels; P (c, k): proxies, one a class. theta =
1 - 2 d / k, d the distance that the c proxies can have as binary words of length k.

Cost: n k (d + c) + n^2 k a batch of n rows; every epoch reads the features once.

Deviations
----------
- The paper trains CLIP under the hash layers; here they stand on features as they are given.
- d comes from Griesmer's bound, not from a table of the best codes known: equal for up to 32
  classes at 16 to 128 bits, and at most one more elsewhere.
- The released code keeps the epoch that is best on the test queries; here the last one counts.
"""

from __future__ import annotations

from typing import Any, ClassVar

from hashbench import Citation, TorchMethod
from hashbench.neural.functions import cosines
from hashbench.neural.optimisers import BertAdam
from hashbench.plugins.space import Linear, Log


class DSPH(TorchMethod):
    """Deep semantic-aware proxy hashing.

    Parameters
    ----------
    n_bits : int
    alpha : float
        Weight of keeping apart rows that share no label.
    dropout : float
        Part of the values before tanh that training sets to zero.
    rate : float
        Largest rate of the hash layers.
    proxy_rate : float
        Rate of the proxies.
    epochs, batch : int
        Passes over the training rows, and rows a step.
    patience : int
        0 for all epochs; else stop after the epoch that is best on validation rows, once so many
        later ones are not better.
    scaling : str
        What the hash layers see, see :data:`hashbench.neural.inputs.SCALINGS`.
    random_state : int, Generator or None
    """

    name = "dsph"
    title = "DSPH"
    supervised = True
    fidelity = "paper"
    paper = Citation(
        "Y. Huo, Q. Qin, J. Dai, L. Wang, W. Zhang, L. Huang, C. Wang",
        "Deep semantic-aware proxy hashing for multi-label cross-modal retrieval",
        "IEEE Transactions on Circuits and Systems for Video Technology",
        2024,
    )

    space: ClassVar = {
        "rate": Log(1e-4, 1e-2),
        "proxy_rate": Log(2e-3, 0.2),
        "dropout": Linear(0, 0.5),
    }

    def __init__(
        self,
        n_bits: int = 16,
        alpha: float = 0.8,
        dropout: float = 0.2,
        rate: float = 1e-3,
        proxy_rate: float = 0.02,
        epochs: int = 100,
        patience: int = 0,
        batch: int = 128,
        scaling: str = "rows",
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.alpha = alpha
        self.dropout = dropout
        self.rate = rate
        self.proxy_rate = proxy_rate
        self.epochs = epochs
        self.patience = patience
        self.batch = batch
        self.scaling = scaling
        self.random_state = random_state

    def networks(self, widths):
        """One linear layer a view; the dropout acts on the bits, before tanh."""
        from torch import nn

        return [
            nn.Sequential(nn.Linear(d, self.n_bits), nn.Dropout(self.dropout), nn.Tanh())
            for d in widths
        ]

    def begin(self, data):
        """Draw the proxies."""
        import torch

        classes = data.labels.shape[1]
        proxies = torch.randn(classes, self.n_bits, device=self.device_) * (2 / classes) ** 0.5
        self.proxies_ = proxies.requires_grad_()
        self.threshold_ = 1 - 2 * word_distance(self.n_bits, classes) / self.n_bits

    def optimisers(self):
        """BertAdam for the hash layers, gradient descent with momentum for the proxies."""
        from torch import optim

        layers = [p for net in self.networks_ for p in net.parameters()]
        descent = {"lr": self.proxy_rate, "momentum": 0.9, "weight_decay": 5e-4}
        return [BertAdam(layers, self.rate, self.steps_), optim.SGD([self.proxies_], **descent)]

    def loss(self, batch):
        """Near to the proxies of a row's labels, away from all others."""
        L, theta = batch.labels, self.threshold_
        H = [net(x) for net, x in zip(self.networks_, batch.views, strict=True)]
        total = 0
        for h in H:
            C = cosines(h, self.proxies_)
            total += ((1 - C) * L).sum() / L.sum().clamp(min=1)
            total += ((C - theta).clamp(min=0) * (1 - L)).sum() / (1 - L).sum().clamp(min=1)
        several = L.sum(dim=1) > 1
        apart = L[several] @ L[several].T == 0
        if apart.any():
            H = [h[several] for h in H]
            for m, first in enumerate(H):
                for second in H[m:]:
                    too_near = (cosines(first, second) - theta).clamp(min=0)
                    total += self.alpha * too_near[apart].mean()
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
