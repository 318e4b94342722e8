"""CIRH: a network that sees both views and a graph makes codes; two hash functions follow it.

S1 = a1 cos(X, X) + (1 - a1) cos(Y, Y) with each row's smallest entries set to zero, S2 =
2 sigmoid(S1) - 1 + I made symmetric, and A = a2 S1 + (1 - a2) S2 within a batch. The teacher
mixes each row with two of its neighbours, x~ = .7 x + .2 x(3) + .1 x(4); passes both views
through graph layers on A, apart and together, to H_I, H_T, H_J, and these to H; and minimises

    lambda1 [ mse(x^, x~) + mse(y^, y~) ]
    + lambda2 [ mse(A, cos(H_I, H_I)) + mse(A, cos(H_T, H_T)) + mse(A, cos(H, H)) ] + mse(H, B),

B = sign H, x^ and y^ decoded from H and H_I, H_T. The hash functions h_i, h_t then minimise

    mse(h_i, B) + mse(h_t, B) + mse(h_i, h_t)
    + beta [ mse(cos(h_i, h_t), A) + mse(cos(h_i, h_i), A) + mse(cos(h_t, h_t), A) ].

An epoch is a pass of the teacher and, in the same order of rows, one of the hash functions.

Cost: n^2 d once, for what the smallest entries of each row are, then passes over the features.
Nothing with n rows and n columns is held.

Deviations
----------
- The released code cuts the A of the hash functions at other rows than they see; here the same.
- Batches of 128 instead of 512, so that small data have as many steps, and 35 epochs.
- How many entries of a row are dropped is a part of the training rows, not a number.
- The released code keeps the epoch that is best on the test queries; here the last one counts.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from hashbench import Citation, TorchMethod
from hashbench.neural.functions import cosines, mse, normalise, perceptron, sign
from hashbench.neural.similarity import JointCosines
from hashbench.plugins.space import Linear, Log

INNER = 512  # width of the teacher's layers


class CIRH(TorchMethod):
    """Correlation-identity reconstruction hashing.

    Parameters
    ----------
    n_bits : int
    image_weight : float
        a1, the weight of the image in the similarity; the text has the rest.
    direct : float
        a2, the weight of S1 in the graph.
    dropped : float
        The part of the training rows whose similarities to a row are set to zero.
    reconstruction, correlation : float
        lambda1 and lambda2.
    beta : float
        Weight of the graph in the hash functions.
    image_hidden, text_hidden : int
        Widths of the hash functions' hidden layers; 0 stands for the columns of the view.
    dropout : float
        Part of the hidden layers that training sets to zero.
    rate, teacher_rate : float
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

    name = "cirh"
    title = "CIRH"
    supervised = False
    scalable = False
    fidelity = "paper"
    paper = Citation(
        "L. Zhu, X. Wu, J. Li, Z. Zhang, W. Guan, H. T. Shen",
        "Work together: correlation-identity reconstruction hashing for unsupervised cross-modal "
        "retrieval",
        "IEEE Transactions on Knowledge and Data Engineering",
        2022,
    )
    least_batch = 2
    two_views = True

    space: ClassVar = {"image_weight": Linear(0, 1), "beta": Log(1e-3, 1), "rate": Log(3e-5, 1e-3)}

    def __init__(
        self,
        n_bits: int = 16,
        image_weight: float = 0.6,
        direct: float = 0.6,
        dropped: float = 0.6,
        reconstruction: float = 10.0,
        correlation: float = 1.0,
        beta: float = 0.01,
        image_hidden: int = 4096,
        text_hidden: int = 0,
        dropout: float = 0.3,
        rate: float = 1e-4,
        teacher_rate: float = 1e-3,
        epochs: int = 35,
        patience: int = 0,
        batch: int = 128,
        scaling: str = "rows",
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.image_weight = image_weight
        self.direct = direct
        self.dropped = dropped
        self.reconstruction = reconstruction
        self.correlation = correlation
        self.beta = beta
        self.image_hidden = image_hidden
        self.text_hidden = text_hidden
        self.dropout = dropout
        self.rate = rate
        self.teacher_rate = teacher_rate
        self.epochs = epochs
        self.patience = patience
        self.batch = batch
        self.scaling = scaling
        self.random_state = random_state

    def networks(self, widths):
        """One hidden layer a view, and an output layer with large weights."""
        from torch import nn

        hidden = (self.image_hidden or widths[0], self.text_hidden or widths[1])
        networks = [
            perceptron((d, h, self.n_bits), self.dropout)
            for d, h in zip(widths, hidden, strict=True)
        ]
        for net in networks:
            nn.init.normal_(net[-1].weight)
            net.append(nn.Tanh())
        return networks

    def values(self, x, view):
        """A hash function sees rows of length one."""
        return self.networks_[view](normalise(x))

    def begin(self, data):
        """Make the teacher, and find out which similarities of each row count."""
        self.teacher_ = teacher(self.n_features_, self.n_bits).to(self.device_)
        self.similarity_ = JointCosines(data, (self.image_weight, 1 - self.image_weight))
        kept = data.n - round(self.dropped * data.n)
        self.thresholds_ = self.similarity_.thresholds(kept)
        self.codes_ = np.zeros((data.n, self.n_bits), bool)

    def optimisers(self):
        """Adam for the teacher and for the hash functions."""
        from torch import optim

        layers = [p for net in self.networks_ for p in net.parameters()]
        return [
            optim.Adam(self.teacher_.parameters(), lr=self.teacher_rate),
            optim.Adam(layers, lr=self.rate),
        ]

    def graph(self, batch):
        """A of the rows of a batch."""
        import torch

        C = self.similarity_.among(batch.views)
        S1 = C * (self.thresholds_[batch.rows, None] <= C)
        S2 = 2 * S1.sigmoid() - 1 + torch.eye(len(S1), device=S1.device)
        return self.direct * S1 + (1 - self.direct) * (S2 + S2.T) / 2

    def run_epoch(self, data, epoch, rng):
        """Teach on every batch, then let the hash functions follow in the same order."""
        of_teacher, of_hash = self.optimisers_
        learned = []
        for batch in self.batches(data, epoch, rng):
            A = self.graph(batch)
            loss, H = self.teach(batch, A)
            self.descend(loss, of_teacher)
            self.codes_[batch.rows.cpu().numpy()] = (H >= 0).cpu().numpy()
            learned.append((batch.rows.cpu().numpy(), sign(H)))
        losses = []
        for rows, B in learned:
            batch = data.batch(rows, epoch)
            losses.append(self.descend(self.follow(batch, self.graph(batch), B), of_hash))
        return sum(losses) / len(losses)

    def teach(self, batch, A):
        """Return the teacher's loss and its values H."""
        import torch

        t = self.teacher_
        order = A.topk(min(4, len(A)), dim=1).indices
        third, fourth = order[:, min(2, len(A) - 1)], order[:, min(3, len(A) - 1)]
        mixed = [0.7 * x + 0.2 * x[third] + 0.1 * x[fourth] for x in batch.views]
        V = [normalise(t[f"view{m}"](x).relu()) for m, x in enumerate(mixed)]
        G = [t[f"after_graph{m}"](A @ t[f"graph{m}"](v)).relu() for m, v in enumerate(V)]
        first, second = t["joint_graph"](torch.cat(V)).chunk(2)
        both = t["after_joint"](torch.cat([A @ first + second, first + A @ second]))
        J = sum(both.chunk(2)).relu()
        HI, HT = t["hash0"](torch.cat([G[0], J], 1)), t["hash1"](torch.cat([J, G[1]], 1))
        H = t["hash"](torch.cat([HI, t["hash_joint"](J), HT], 1)).tanh()
        decoded = [t[f"decode{m}"](H + own.tanh()) for m, own in enumerate((HI, HT))]
        rebuilt = sum(mse(d, x) for d, x in zip(decoded, mixed, strict=True))
        related = sum(mse(A, cosines(each, each)) for each in (HI, HT, H))
        loss = self.reconstruction * rebuilt + self.correlation * related + mse(H, sign(H))
        return loss, H.detach()

    def follow(self, batch, A, B):
        """Return the loss of the hash functions."""
        image, text = (self.values(x, m) for m, x in enumerate(batch.views))
        near = mse(image, B) + mse(text, B) + mse(image, text)
        pairs = ((image, text), (image, image), (text, text))
        return near + self.beta * sum(mse(cosines(a, b), A) for a, b in pairs)

    def finish(self, data):
        """Let the training rows and the teacher go."""
        del self.similarity_, self.teacher_


def teacher(widths, bits):
    """Return the layers of the network that sees both views."""
    from torch import nn

    def linear(before, after, bias=True):
        return nn.Sequential(nn.Linear(before, after, bias=bias), nn.BatchNorm1d(after))

    layers = {
        "joint_graph": nn.Linear(INNER, INNER, bias=False),
        "after_joint": nn.BatchNorm1d(INNER),
        "hash_joint": linear(INNER, bits),
        "hash": linear(3 * bits, bits),
    }
    for m, d in enumerate(widths):
        layers[f"view{m}"] = linear(d, INNER)
        layers[f"graph{m}"] = nn.Linear(INNER, INNER, bias=False)
        layers[f"after_graph{m}"] = nn.BatchNorm1d(INNER)
        layers[f"hash{m}"] = linear(2 * INNER, bits)
        layers[f"decode{m}"] = nn.Sequential(*linear(bits, INNER), nn.ReLU(), *linear(INNER, d))
    return nn.ModuleDict(layers)
