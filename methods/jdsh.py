"""JDSH: DJSRH with a joint similarity whose smallest and largest entries are stretched.

With S_I = 2 cos(x, x) - 1 and S_T = 2 cos(y, y) - 1 of the features in a batch, and S_h the
cosines between rows of S_I and rows of S_T,

    J = w_I S_I + w_T S_T + w_h (S_h + S_h') / 2,

entries below `left` become J (1 + l1 exp(low - J)), entries above `right` become
J (1 + l2 exp(J - high)), and S = mu J. The networks f, g minimise, with codes
b_i = tanh(a f(x)), b_t = tanh(a g(y)) and a = sqrt(epoch),

    intra [ mse(cos(b_i, b_i), S) + mse(cos(b_t, b_t), S) ] + 2 mse(cos(b_i, b_t), S)
    - mean_i cos(b_i, b_t)_ii.

Cost: n^2 (d + k + n) per batch of n rows besides the networks; every epoch reads the features once.

Deviations
----------
- The original learns a linear layer on a frozen AlexNet; here on the given features.
- The constants of the stretching were fitted by hand to histograms of two datasets; the defaults
  are those of MIRFlickr.
- The released code reports the epoch that is best on the test queries; here the last one is used.
- 40 epochs instead of 300.
"""

from __future__ import annotations

from typing import Any, ClassVar

from hashbench import NON_NEGATIVE, POSITIVE, Linear, Paper, TorchMethod
from hashbench.neural.losses import cosines, mse
from hashbench.neural.networks import mlp


class JDSH(TorchMethod):
    """Joint-modal distribution-based similarity hashing.

    Parameters
    ----------
    n_bits : int
        Code length.
    image_weight, text_weight, joint_weight : float
        w_I, w_T and w_h, the weights of the similarities in J.
    mu : float
        Scale of the similarity to reconstruct.
    intra : float
        Weight of reconstructing within a view.
    left, right : float
        Entries of J below ``left`` and above ``right`` are stretched.
    low, high : float
        Constants of the stretching.
    left_stretch, right_stretch : float
        l1 and l2.
    hidden : int
        Width of the hidden layer of the text's network; the image's is linear.
    image_lr, text_lr : float
        Learning rates of the two networks.
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

    name = "jdsh"
    title = "JDSH"
    supervised = False
    paper = Paper(
        "S. Liu, S. Qian, Y. Guan, J. Zhan, L. Ying",
        "Joint-modal distribution-based similarity hashing for large-scale unsupervised deep "
        "cross-modal retrieval",
        "ACM SIGIR Conference on Research and Development in Information Retrieval",
        2020,
        fidelity="consistent",
    )
    drop_last = True
    two_views = True

    space: ClassVar = {
        "image_weight": Linear(0, 1),
        "joint_weight": Linear(0, 1),
        "mu": Linear(1, 2),
    }
    allowed: ClassVar = {
        "image_weight": NON_NEGATIVE, "text_weight": NON_NEGATIVE, "joint_weight": NON_NEGATIVE,
        "mu": POSITIVE, "intra": NON_NEGATIVE, "left_stretch": NON_NEGATIVE,
        "right_stretch": NON_NEGATIVE, "image_lr": POSITIVE, "text_lr": POSITIVE,
    }  # fmt: skip

    def __init__(
        self,
        n_bits: int = 16,
        image_weight: float = 0.5,
        text_weight: float = 0.1,
        joint_weight: float = 0.4,
        mu: float = 1.4,
        intra: float = 0.1,
        left: float = -0.528,
        right: float = -0.138,
        low: float = -0.52,
        high: float = 0.68,
        left_stretch: float = 0.1,
        right_stretch: float = 0.2,
        hidden: int = 4096,
        image_lr: float = 0.01,
        text_lr: float = 0.01,
        epochs: int = 40,
        patience: int = 0,
        batch_size: int = 32,
        scaling: str = "rows",
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.image_weight = image_weight
        self.text_weight = text_weight
        self.joint_weight = joint_weight
        self.mu = mu
        self.intra = intra
        self.left = left
        self.right = right
        self.low = low
        self.high = high
        self.left_stretch = left_stretch
        self.right_stretch = right_stretch
        self.hidden = hidden
        self.image_lr = image_lr
        self.text_lr = text_lr
        self.epochs = epochs
        self.patience = patience
        self.batch_size = batch_size
        self.scaling = scaling
        self.random_state = random_state

    def networks(self, widths):
        """Return a linear layer for the image and one hidden layer for the text."""
        image, text = widths
        return [mlp((image, self.n_bits)), mlp((text, self.hidden, self.n_bits))]

    def configure_optimizers(self):
        """Use gradient descent with momentum and one learning rate per view."""
        from torch.optim import SGD

        groups = [
            {"params": net.parameters(), "lr": lr}
            for net, lr in zip(self.networks_, (self.image_lr, self.text_lr), strict=True)
        ]
        return [SGD(groups, momentum=0.9, weight_decay=5e-4)], []

    def target(self, views):
        """Return the stretched joint similarity S of a batch."""
        import torch

        image, text = (2 * cosines(x, x) - 1 for x in views)
        joint = cosines(image, text)
        J = self.image_weight * image + self.text_weight * text
        J = J + self.joint_weight * (joint + joint.T) / 2
        lower = J * (1 + self.left_stretch * (self.low - J).exp())
        upper = J * (1 + self.right_stretch * (J - self.high).exp())
        return self.mu * torch.where(self.left > J, lower, torch.where(self.right < J, upper, J))

    def loss(self, batch):
        """Return the error of reconstructing S, minus the mean cosine between codes of a pair."""
        S, a = self.target(batch.views), batch.epoch**0.5
        image, text = ((a * self.forward(x, view)).tanh() for view, x in enumerate(batch.views))
        between = cosines(image, text)
        within = mse(cosines(image, image), S) + mse(cosines(text, text), S)
        return self.intra * within + 2 * mse(between, S) - between.diagonal().mean()
