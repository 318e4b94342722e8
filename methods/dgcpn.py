"""DGCPN: codes whose cosines follow similarities and common neighbours of the training rows.

With C = a1 cos(Y, Y) + (1 - a1) cos(X, X) over all n training rows and Pi the transition matrix
of its graph (each row's K most similar rows but itself, weighted, rows summing to one), the
target is

    S = 2 [ (1 - a2) C + a2 beta Pi Pi' ] - 1,      beta = 2 K.

For codes b_i, b_t of a batch, ii = cos(b_i, b_i), it = cos(b_i, b_t), tt = cos(b_t, b_t):

    L = mean (it_jj - 1.5)^2
        + sim_weight sum over ii, it, tt of mse off the diagonal to S
        + cons_weight [ mse(it, ii) + mse(it, tt) + mse(ii, tt) + mse(it, it') ].

Each batch makes three steps: both networks on L(b_i, b_t), then each on L with the other's codes
replaced by their signs.

Cost: a batch of b rows is b n d, because common neighbours are counted over all n training rows.
Nothing with n rows and n columns is held; the original holds three such matrices.

Deviations
----------
- The original's K is a number for a dataset; here it is a part of the training rows.
- A row itself is left out of its neighbours by its place, not as the most similar one.
- The original stops by labelled validation rows; here the last epoch counts.
- 10 epochs instead of up to 100.
"""

from __future__ import annotations

from typing import Any, ClassVar

from hashbench import Citation, TorchMethod
from hashbench.neural.functions import cosines, mse, perceptron, sign
from hashbench.neural.similarity import JointCosines
from hashbench.plugins.space import Linear, Log

PAIR_TARGET = 1.5  # of a cosine: never reached, a constant pull


class DGCPN(TorchMethod):
    """Deep graph-neighbor coherence preserving network.

    Parameters
    ----------
    n_bits : int
    text_weight : float
        a1, the weight of the text in the similarity; the image has the rest.
    coherence : float
        a2, the weight of common neighbours in the target.
    neighbours : float
        K as a part of the training rows.
    sim_weight, cons_weight : float
        Weights of following the target and of agreement between views.
    hidden : int
        Width of the hidden layer.
    dropout : float
        Part of the hidden layer that training sets to zero.
    rate : float
    epochs, batch : int
        Passes over the training rows, and rows a step.
    patience : int
        0 for all epochs; else stop after the epoch that is best on validation rows, once so many
        later ones are not better.
    scaling : str
        What the networks and the similarities see, see
        :data:`hashbench.neural.inputs.SCALINGS`.
    random_state : int, Generator or None
    """

    name = "dgcpn"
    title = "DGCPN"
    supervised = False
    scalable = False
    fidelity = "paper"
    paper = Citation(
        "J. Yu, H. Zhou, Y. Zhan, D. Tao",
        "Deep graph-neighbor coherence preserving network for unsupervised cross-modal hashing",
        "AAAI Conference on Artificial Intelligence",
        2021,
    )
    two_views = True

    space: ClassVar = {
        "text_weight": Linear(0, 1),
        "coherence": Linear(0, 0.8),
        "rate": Log(1e-3, 0.02),
    }

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
        rate: float = 0.005,
        epochs: int = 10,
        patience: int = 0,
        batch: int = 32,
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
        self.rate = rate
        self.epochs = epochs
        self.patience = patience
        self.batch = batch
        self.scaling = scaling
        self.random_state = random_state

    def networks(self, widths):
        """One hidden layer a view; the text's output layer starts larger."""
        from torch import nn

        networks = [perceptron((d, self.hidden, self.n_bits), self.dropout) for d in widths]
        nn.init.normal_(networks[1][-1].weight, std=0.3)
        return [net.append(nn.Tanh()) for net in networks]

    def begin(self, data):
        """Find out which similarities of each row count as neighbours."""
        self.similarity_ = JointCosines(data, (1 - self.text_weight, self.text_weight))
        self.kept_ = max(round(self.neighbours * data.n), 1)
        self.thresholds_ = self.similarity_.thresholds(self.kept_)

    def optimisers(self):
        """Gradient descent with momentum, for each view apart."""
        from torch import optim

        descent = {"lr": self.rate, "momentum": 0.9, "weight_decay": 5e-4}
        return [optim.SGD(net.parameters(), **descent) for net in self.networks_]

    def target(self, batch):
        """S of the rows of a batch."""
        import torch

        C = self.similarity_.with_all(batch.views)
        near = C * (self.thresholds_[batch.rows, None] <= C)
        near[torch.arange(len(C), device=C.device), batch.rows] = 0
        sums = near.sum(dim=1, keepdim=True)
        walk = near / torch.where(sums.abs() > 1e-6, sums, torch.ones_like(sums))
        Q = 2 * self.kept_ * walk @ walk.T
        return 2 * ((1 - self.coherence) * C[:, batch.rows] + self.coherence * Q) - 1

    def step(self, batch):
        """One step on real codes, one for each view against the signs of the other."""
        S = self.target(batch)
        image_step, text_step = self.optimisers_
        value = self.descend(self.pair_loss(*self._codes(batch), S), image_step, text_step)
        image, text = self._codes(batch)
        self.descend(self.pair_loss(image, sign(text), S), image_step)
        self.descend(self.pair_loss(sign(image), text, S), text_step)
        return value

    def _codes(self, batch):
        return [net(x) for net, x in zip(self.networks_, batch.views, strict=True)]

    def pair_loss(self, image, text, S):
        """L of the codes of a batch."""
        ii, it, tt = cosines(image, image), cosines(image, text), cosines(text, text)
        off = 1 - S.new_ones(len(S)).diag()
        pair = (it.diagonal() - PAIR_TARGET).square().mean()
        similar = sum(mse(C * off, S * off) for C in (ii, it, tt))
        consistent = mse(it, ii) + mse(it, tt) + mse(ii, tt) + mse(it, it.T)
        return pair + self.sim_weight * similar + self.cons_weight * consistent

    def finish(self, data):
        """Let the training rows go."""
        del self.similarity_
