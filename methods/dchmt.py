"""DCHMT: every bit is a softmax over two outputs; distances follow whether rows share a label.

The network of a view gives two values per bit; their softmax is z (n, 2k), k pairs that sum to one.
With D the Euclidean distances between rows of z, S_ij = 1 where rows share a label and margin
m = sqrt(2 k vartheta), minimises over every pair of views, each with itself included,

    mean (S D)^2 + mean (1 - S) max(0, m - D)^2,

means over all n^2 entries of a batch. A bit is 1 if its second output is the larger.

Cost: n^2 k per batch of n rows; every epoch reads the features once.

Deviations
----------
- The paper trains CLIP below the networks; here their input is the given features.
- The released code has one layer of two outputs per bit; here one layer has the outputs of all
  bits, with the same initial weights, and its gradients are clipped bit by bit as there.
- The released code keeps the epoch that is best on the test queries; here the last one is used.
- 40 epochs instead of 100.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

from hashbench import FRACTION, Choice, Linear, Log, Paper, TorchMethod
from hashbench.neural.losses import share_label
from hashbench.neural.networks import mlp
from hashbench.neural.optimizers import bert_adam


class DCHMT(TorchMethod):
    """Differentiable cross-modal hashing, without its transformers.

    Parameters
    ----------
    n_bits : int
        Code length.
    vartheta : float
        The part of the bits in which rows without a common label should differ.
    hidden : int
        Width of the hidden layer.
    lr : float
        Learning rate, multiplied by :func:`hashbench.neural.optimizers.warmup_cosine`.
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

    name = "dchmt"
    title = "DCHMT"
    supervised = True
    paper = Paper(
        "J. Tu, X. Liu, Z. Lin, R. Hong, M. Wang",
        "Differentiable cross-modal hashing via multimodal transformers",
        "ACM International Conference on Multimedia",
        2022,
        fidelity="consistent",
    )

    scheduler_interval = "step"

    space: ClassVar = {
        "lr": Log(1e-4, 1e-2),
        "vartheta": Linear(0.25, 1),
        "hidden": Choice(64, 128, 256),
    }
    allowed: ClassVar = {"vartheta": FRACTION}

    def __init__(
        self,
        n_bits: int = 16,
        vartheta: float = 0.5,
        hidden: int = 128,
        lr: float = 1e-3,
        epochs: int = 40,
        patience: int = 0,
        batch_size: int = 128,
        scaling: str = "rows",
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.vartheta = vartheta
        self.hidden = hidden
        self.lr = lr
        self.epochs = epochs
        self.patience = patience
        self.batch_size = batch_size
        self.scaling = scaling
        self.random_state = random_state

    def networks(self, widths):
        """Return one hidden layer per view, then two outputs per bit."""
        from torch import nn

        networks = [mlp((d, self.hidden, 2 * self.n_bits)) for d in widths]
        for first, _, last in networks:
            # Kaiming's bounds by the number of outputs: the last layer is k layers of two outputs.
            for layer, outputs in ((first, self.hidden), (last, 2)):
                bound = math.sqrt(6 / outputs)
                nn.init.uniform_(layer.weight, -bound, bound)
                nn.init.zeros_(layer.bias)
        return networks

    def configure_optimizers(self):
        """Use BertAdam; the gradients of the last layer are clipped for each bit separately."""
        first = [p for net in self.networks_ for p in net[0].parameters()]
        last = [p for net in self.networks_ for p in net[-1].parameters()]
        groups = [{"params": first}, {"params": last, "clip_blocks": self.n_bits}]
        optimizer, scheduler = bert_adam(groups, self.lr, self.total_steps_)
        return [optimizer], [scheduler]

    def hash_values(self, x, view):
        """Return the second output of each bit minus the first."""
        first, second = self._outputs(x, view).unbind(dim=2)
        return second - first

    def _outputs(self, x, view):
        return self.forward(x, view).reshape(len(x), self.n_bits, 2)

    def loss(self, batch):
        """Return the sum of both means over all pairs of views."""
        import torch

        S = share_label(batch.labels, batch.labels)
        margin = math.sqrt(2 * self.n_bits * self.vartheta)
        Z = [self._outputs(x, m).softmax(dim=2).flatten(1) for m, x in enumerate(batch.views)]
        total = 0
        for m, first in enumerate(Z):
            for second in Z[m:]:
                D = torch.cdist(
                    first, second
                )  # its gradient is zero, not infinite, at distance zero
                total += (S * D.square()).mean()
                total += ((1 - S) * (margin - D).clamp(min=0).square()).mean()
        return total
