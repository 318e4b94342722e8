"""DJSRH: codes whose cosines reconstruct a joint similarity of the features in a batch.

In a batch of n rows, S_I = 2 cos(x, x) - 1 and S_T = 2 cos(y, y) - 1 of the features make

    J = beta S_I + (1 - beta) S_T,     S = mu [ (1 - eta) J + eta J J' / n ],

and the networks f, g minimise, with codes b_i = tanh(a f(x)), b_t = tanh(a g(y)),

    lambda1 mse(cos(b_i, b_i), S) + mse(cos(b_i, b_t), S) + lambda2 mse(cos(b_t, b_t), S).

a = sqrt(epoch) brings the codes nearer to +1 and -1 from epoch to epoch.

Cost: n^2 (d + k) per batch besides the networks; every epoch reads the features once.

Deviations
----------
- The original trains AlexNet on pixels; here both views have the network that it has for text.
- Defaults are the original's for Wiki, except for 25 epochs instead of 200.
"""

from __future__ import annotations

from typing import Any, ClassVar

from hashbench import FRACTION, NON_NEGATIVE, POSITIVE, Linear, Paper, TorchMethod
from hashbench.neural.losses import cosines, mse
from hashbench.neural.networks import mlp


class DJSRH(TorchMethod):
    """Deep joint-semantics reconstructing hashing.

    Parameters
    ----------
    n_bits : int
        Code length.
    beta : float
        Weight of the images in the joint similarity; that of the text is 1 - beta.
    eta : float
        Weight of the second-order similarity.
    mu : float
        Scale of the similarity to reconstruct.
    image_weight, text_weight : float
        lambda1 and lambda2, the weights of reconstructing within a view.
    hidden : int
        Width of the hidden layer.
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

    name = "djsrh"
    title = "DJSRH"
    supervised = False
    paper = Paper(
        "S. Su, Z. Zhong, C. Zhang",
        "Deep joint-semantics reconstructing hashing for large-scale unsupervised cross-modal "
        "retrieval",
        "IEEE International Conference on Computer Vision",
        2019,
        fidelity="consistent",
    )
    drop_last = True
    two_views = True

    space: ClassVar = {"beta": Linear(0, 1), "eta": Linear(0, 0.8), "mu": Linear(1, 2)}
    allowed: ClassVar = {
        "beta": FRACTION, "eta": NON_NEGATIVE, "mu": POSITIVE, "image_weight": NON_NEGATIVE,
        "text_weight": NON_NEGATIVE, "image_lr": POSITIVE, "text_lr": POSITIVE,
    }  # fmt: skip

    def __init__(
        self,
        n_bits: int = 16,
        beta: float = 0.3,
        eta: float = 0.4,
        mu: float = 1.5,
        image_weight: float = 0.3,
        text_weight: float = 0.3,
        hidden: int = 4096,
        image_lr: float = 0.01,
        text_lr: float = 0.01,
        epochs: int = 25,
        patience: int = 0,
        batch_size: int = 32,
        scaling: str = "rows",
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.beta = beta
        self.eta = eta
        self.mu = mu
        self.image_weight = image_weight
        self.text_weight = text_weight
        self.hidden = hidden
        self.image_lr = image_lr
        self.text_lr = text_lr
        self.epochs = epochs
        self.patience = patience
        self.batch_size = batch_size
        self.scaling = scaling
        self.random_state = random_state

    def networks(self, widths):
        """Return one hidden layer per view."""
        return [mlp((d, self.hidden, self.n_bits)) for d in widths]

    def configure_optimizers(self):
        """Use gradient descent with momentum and one learning rate per view."""
        from torch.optim import SGD

        groups = [
            {"params": net.parameters(), "lr": lr}
            for net, lr in zip(self.networks_, (self.image_lr, self.text_lr), strict=True)
        ]
        return [SGD(groups, momentum=0.9, weight_decay=5e-4)], []

    def target(self, views):
        """Return the joint similarity S of a batch."""
        image, text = (2 * cosines(x, x) - 1 for x in views)
        J = self.beta * image + (1 - self.beta) * text
        return self.mu * ((1 - self.eta) * J + self.eta * J @ J.T / len(J))

    def loss(self, batch):
        """Return the error of reconstructing S within and between the views."""
        S, a = self.target(batch.views), batch.epoch**0.5
        image, text = ((a * self.forward(x, view)).tanh() for view, x in enumerate(batch.views))
        return (
            self.image_weight * mse(cosines(image, image), S)
            + mse(cosines(image, text), S)
            + self.text_weight * mse(cosines(text, text), S)
        )
