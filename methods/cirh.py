"""CIRH: a teacher network on both views and a graph makes codes, which two hash functions learn.

S1 = a1 cos(X, X) + (1 - a1) cos(Y, Y) with each row's smallest entries set to zero, S2 =
2 sigmoid(S1) - 1 + I made symmetric, and A = a2 S1 + (1 - a2) S2 within a batch. The teacher
mixes each row with two of its neighbours, x~ = .7 x + .2 x(3) + .1 x(4); passes both views
through graph layers on A, separately and jointly, to H_I, H_T, H_J, and these to H; and minimises

    lambda1 [ mse(x^, x~) + mse(y^, y~) ]
    + lambda2 [ mse(A, cos(H_I, H_I)) + mse(A, cos(H_T, H_T)) + mse(A, cos(H, H)) ] + mse(H, B),

B = sign H, x^ and y^ decoded from H and H_I, H_T. The hash functions h_i, h_t then minimise

    mse(h_i, B) + mse(h_t, B) + mse(h_i, h_t)
    + beta [ mse(cos(h_i, h_t), A) + mse(cos(h_i, h_i), A) + mse(cos(h_t, h_t), A) ].

An epoch trains the teacher on all batches, then the hash functions on the same batches.

Cost: n^2 d once, to find the smallest entries of each row, then passes over the features. No
(n, n) matrix is stored.

Deviations
----------
- The released code takes the A of the hash functions from other rows than their batch; here both
  are of the same rows.
- Batches of 128 instead of 512, so that small data have as many steps, and 35 epochs.
- The number of entries of a row that are dropped is a part of the number of training rows, not
  fixed for each dataset.
- The released code keeps the epoch that is best on the test queries; here the last one is used.
"""

from __future__ import annotations

from typing import Any, ClassVar

from hashbench import (
    COUNT_OR_ZERO,
    FRACTION,
    NON_NEGATIVE,
    POSITIVE,
    Bounds,
    Linear,
    Log,
    Paper,
    TorchMethod,
)
from hashbench.neural.losses import cosines, mse, normalize, sign
from hashbench.neural.networks import mlp
from hashbench.neural.similarity import JointCosines

INNER = 512  # width of the teacher's layers


class CIRH(TorchMethod):
    """Correlation-identity reconstruction hashing.

    Parameters
    ----------
    n_bits : int
        Code length.
    image_weight : float
        a1, the weight of the image in the similarity; that of the text is 1 - a1.
    direct : float
        a2, the weight of S1 in the graph.
    dropped : float
        The part of the training rows whose similarities to a row are set to zero.
    reconstruction, correlation : float
        lambda1 and lambda2.
    beta : float
        Weight of the graph in the hash functions.
    image_hidden, text_hidden : int
        Widths of the hash functions' hidden layers; 0: the number of columns of the view.
    dropout : float
        Part of the hidden layers that training sets to zero.
    lr, teacher_lr : float
        Learning rates of the hash functions and of the teacher.
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

    name = "cirh"
    title = "CIRH"
    supervised = False
    scalable = False
    paper = Paper(
        "L. Zhu, X. Wu, J. Li, Z. Zhang, W. Guan, H. T. Shen",
        "Work together: correlation-identity reconstruction hashing for unsupervised cross-modal "
        "retrieval",
        "IEEE Transactions on Knowledge and Data Engineering",
        2022,
        fidelity="consistent",
    )
    min_batch_size = 2
    two_views = True

    space: ClassVar = {"image_weight": Linear(0, 1), "beta": Log(1e-3, 1), "lr": Log(3e-5, 1e-3)}
    allowed: ClassVar = {
        "image_weight": FRACTION, "direct": FRACTION, "dropped": FRACTION,
        "reconstruction": NON_NEGATIVE, "correlation": NON_NEGATIVE, "beta": NON_NEGATIVE,
        "image_hidden": COUNT_OR_ZERO, "text_hidden": COUNT_OR_ZERO, "teacher_lr": POSITIVE,
        "batch_size": Bounds(ge=2, whole=True),
    }  # fmt: skip

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
        lr: float = 1e-4,
        teacher_lr: float = 1e-3,
        epochs: int = 35,
        patience: int = 0,
        batch_size: int = 128,
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
        self.lr = lr
        self.teacher_lr = teacher_lr
        self.epochs = epochs
        self.patience = patience
        self.batch_size = batch_size
        self.scaling = scaling
        self.random_state = random_state

    def networks(self, widths):
        """Return one hidden layer per view, with large initial weights of the output layer."""
        from torch import nn

        hidden = (self.image_hidden or widths[0], self.text_hidden or widths[1])
        networks = [
            mlp((d, h, self.n_bits), self.dropout) for d, h in zip(widths, hidden, strict=True)
        ]
        for net in networks:
            nn.init.normal_(net[-1].weight)
            net.append(nn.Tanh())
        return networks

    def forward(self, x, view):
        """Return the values of a hash function, whose input has rows of length one."""
        return super().forward(normalize(x), view)

    def setup(self, data):
        """Make the teacher, and find the smallest similarity of each row that stays in S1."""
        import torch

        self.teacher_ = teacher(self.n_features_in_, self.n_bits).to(self.device_)
        self.similarity_ = JointCosines(data, (self.image_weight, 1 - self.image_weight))
        kept = data.n - round(self.dropped * data.n)
        self.thresholds_ = self.similarity_.thresholds(kept)
        self.signs_ = torch.zeros(data.n, self.n_bits, device=self.device_)

    def configure_optimizers(self):
        """Use Adam, one for the teacher and one for the hash functions."""
        from torch.optim import Adam

        teacher = Adam(self.teacher_.parameters(), lr=self.teacher_lr)
        return [teacher, Adam(self.parameters(), lr=self.lr)], []

    def graph(self, batch):
        """Return A of the rows of a batch."""
        import torch

        C = self.similarity_.among(batch.views)
        S1 = C * (self.thresholds_[batch.rows, None] <= C)
        S2 = 2 * S1.sigmoid() - 1 + torch.eye(len(S1), device=S1.device)
        return self.direct * S1 + (1 - self.direct) * (S2 + S2.T) / 2

    def training_epoch(self, data, epoch, rng):
        """Train the teacher on every batch, then the hash functions on the same batches."""
        teacher_optimizer, hash_optimizer = self.optimizers_
        batches = list(self.row_batches(data.n, rng))
        for rows in batches:
            batch = data.batch(rows, epoch)
            loss, H = self.teacher_loss(batch, self.graph(batch))
            self.minimize(loss, teacher_optimizer)
            self.signs_[batch.rows] = sign(H)
        losses = []
        for rows in batches:
            batch = data.batch(rows, epoch)
            loss = self.hash_loss(batch, self.graph(batch), self.signs_[batch.rows])
            losses.append(self.minimize(loss, hash_optimizer))
        return losses

    def teacher_loss(self, batch, A):
        """Return the teacher's loss and its outputs H."""
        import torch

        t = self.teacher_
        order = A.topk(min(4, len(A)), dim=1).indices
        third, fourth = order[:, min(2, len(A) - 1)], order[:, min(3, len(A) - 1)]
        mixed = [0.7 * x + 0.2 * x[third] + 0.1 * x[fourth] for x in batch.views]
        V = [normalize(t[f"view{m}"](x).relu()) for m, x in enumerate(mixed)]
        G = [t[f"after_graph{m}"](A @ t[f"graph{m}"](v)).relu() for m, v in enumerate(V)]
        first, second = t["joint_graph"](torch.cat(V)).chunk(2)
        both = t["after_joint"](torch.cat([A @ first + second, first + A @ second]))
        J = sum(both.chunk(2)).relu()
        HI, HT = t["hash0"](torch.cat([G[0], J], 1)), t["hash1"](torch.cat([J, G[1]], 1))
        H = t["hash"](torch.cat([HI, t["hash_joint"](J), HT], 1)).tanh()
        decoded = [t[f"decode{m}"](H + own.tanh()) for m, own in enumerate((HI, HT))]
        rebuilt = sum(mse(d, x) for d, x in zip(decoded, mixed, strict=True))
        related = sum(mse(A, cosines(h, h)) for h in (HI, HT, H))
        loss = self.reconstruction * rebuilt + self.correlation * related + mse(H, sign(H))
        return loss, H

    def hash_loss(self, batch, A, B):
        """Return the loss of the hash functions."""
        image, text = (self.forward(x, view) for view, x in enumerate(batch.views))
        near = mse(image, B) + mse(text, B) + mse(image, text)
        pairs = ((image, text), (image, image), (text, text))
        return near + self.beta * sum(mse(cosines(a, b), A) for a, b in pairs)

    def finish(self, data):
        """Set the codes of the training rows; delete the teacher and the training rows."""
        self.codes_ = (self.signs_ > 0).cpu().numpy()
        del self.similarity_, self.teacher_


def teacher(widths, bits):
    """Return the layers of the teacher."""
    from torch import nn

    def linear(n_in, n_out):
        return nn.Sequential(nn.Linear(n_in, n_out), nn.BatchNorm1d(n_out))

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
