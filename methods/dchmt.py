"""DCHMT: each bit is chosen between two softmax outputs, and pairs are pulled or pushed apart.

A network a view gives two values a bit; their softmax is z (n, 2k), k pairs that sum to one.
With D the Euclidean distances between rows of z, S_ij = 1 where rows share a label and margin
m = sqrt(2 k vartheta), minimises over every pair of views, each with itself included,

    mean (S D)^2 + mean (1 - S) max(0, m - D)^2,

means over all n^2 entries of a batch. A bit is 1 if its second output is the larger.

Cost: n^2 k a batch of n rows; every epoch reads the features once.

Deviations
----------
- The paper trains CLIP under the networks; here they stand on features as they are given.
- The released code has a layer of two outputs for each bit; here one layer has them all, with
  the same initial weights, and gradients cut bit by bit as there.
- The released code keeps the epoch that is best on the test queries; here the last one counts.
- 40 epochs instead of 100.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

from hashbench import Citation, TorchMethod
from hashbench.neural.functions import perceptron, sharing
from hashbench.neural.optimisers import BertAdam
from hashbench.plugins.space import Choice, Linear, Log


class DCHMT(TorchMethod):
    """Differentiable cross-modal hashing, without its transformers.

    Parameters
    ----------
    n_bits : int
    vartheta : float
        The part of the bits in which rows without a common label are to differ.
    hidden : int
        Width of the hidden layer.
    rate : float
        Largest rate.
    epochs, batch : int
        Passes over the training rows, and rows a step.
    patience : int
        0 for all epochs; else stop after the epoch that is best on validation rows, once so many
        later ones are not better.
    scaling : str
        What the networks see, see :data:`hashbench.neural.inputs.SCALINGS`.
    random_state : int, Generator or None
    """

    name = "dchmt"
    title = "DCHMT"
    supervised = True
    fidelity = "paper"
    paper = Citation(
        "J. Tu, X. Liu, Z. Lin, R. Hong, M. Wang",
        "Differentiable cross-modal hashing via multimodal transformers",
        "ACM International Conference on Multimedia",
        2022,
    )

    space: ClassVar = {
        "rate": Log(1e-4, 1e-2),
        "vartheta": Linear(0.25, 1),
        "hidden": Choice(64, 128, 256),
    }

    def __init__(
        self,
        n_bits: int = 16,
        vartheta: float = 0.5,
        hidden: int = 128,
        rate: float = 1e-3,
        epochs: int = 40,
        patience: int = 0,
        batch: int = 128,
        scaling: str = "rows",
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.vartheta = vartheta
        self.hidden = hidden
        self.rate = rate
        self.epochs = epochs
        self.patience = patience
        self.batch = batch
        self.scaling = scaling
        self.random_state = random_state

    def networks(self, widths):
        """One hidden layer a view, then two values a bit."""
        from torch import nn

        networks = [perceptron((d, self.hidden, 2 * self.n_bits)) for d in widths]
        for first, _, last in networks:
            # Kaiming's bounds by what a layer gives: the last one is k layers of two outputs.
            for layer, outputs in ((first, self.hidden), (last, 2)):
                bound = math.sqrt(6 / outputs)
                nn.init.uniform_(layer.weight, -bound, bound)
                nn.init.zeros_(layer.bias)
            last.weight.pieces = last.bias.pieces = self.n_bits
        return networks

    def optimisers(self):
        """BertAdam for everything."""
        layers = [p for net in self.networks_ for p in net.parameters()]
        return [BertAdam(layers, self.rate, self.steps_)]

    def values(self, x, view):
        """The second output of each bit minus the first."""
        first, second = self._outputs(x, view).unbind(dim=2)
        return second - first

    def _outputs(self, x, view):
        return self.networks_[view](x).reshape(len(x), self.n_bits, 2)

    def loss(self, batch):
        """Similar pairs at distance zero, others at the margin or beyond."""
        import torch

        S = sharing(batch.labels)
        margin = math.sqrt(2 * self.n_bits * self.vartheta)
        Z = [self._outputs(x, m).softmax(dim=2).flatten(1) for m, x in enumerate(batch.views)]
        total = 0
        for m, first in enumerate(Z):
            for second in Z[m:]:
                D = torch.cdist(first, second)  # unlike a root by hand, no gradient at zero
                total += (S * D.square()).mean()
                total += ((1 - S) * (margin - D).clamp(min=0).square()).mean()
        return total
