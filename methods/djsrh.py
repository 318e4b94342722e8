"""DJSRH: codes whose cosines reconstruct a joint similarity of the features in a batch.

In a batch of n rows, S_I = 2 cos(x, x) - 1 and S_T = 2 cos(y, y) - 1 of the features make

    J = beta S_I + (1 - beta) S_T,     S = mu [ (1 - eta) J + eta J J' / n ],

and the networks f, g minimise, with codes b_i = tanh(a f(x)), b_t = tanh(a g(y)),

    lambda1 mse(cos(b_i, b_i), S) + mse(cos(b_i, b_t), S) + lambda2 mse(cos(b_t, b_t), S).

a = sqrt(epoch) hardens the codes as training goes on.

Cost: n^2 (d + k) a batch besides the networks; every epoch reads the features once.

Deviations
----------
- The original trains AlexNet on pixels; here both views have the network of the text.
- Defaults are the original's for Wiki, but for 25 epochs instead of 200.
"""

from __future__ import annotations

from typing import Any, ClassVar

from hashbench import Citation, TorchMethod
from hashbench.neural.functions import cosines, mse, perceptron
from hashbench.plugins.space import Linear


class DJSRH(TorchMethod):
    """Deep joint-semantics reconstructing hashing.

    Parameters
    ----------
    n_bits : int
    beta : float
        Weight of the images in the joint similarity; the text has the rest.
    eta : float
        Weight of the second-order similarity.
    mu : float
        Scale of the similarity to reconstruct.
    image_weight, text_weight : float
        lambda1 and lambda2, the weights of reconstructing within a view.
    hidden : int
        Width of the hidden layer.
    image_rate, text_rate : float
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

    name = "djsrh"
    title = "DJSRH"
    supervised = False
    fidelity = "paper"
    paper = Citation(
        "S. Su, Z. Zhong, C. Zhang",
        "Deep joint-semantics reconstructing hashing for large-scale unsupervised cross-modal "
        "retrieval",
        "IEEE International Conference on Computer Vision",
        2019,
    )
    drop_last = True
    two_views = True

    space: ClassVar = {"beta": Linear(0, 1), "eta": Linear(0, 0.8), "mu": Linear(1, 2)}

    def __init__(
        self,
        n_bits: int = 16,
        beta: float = 0.3,
        eta: float = 0.4,
        mu: float = 1.5,
        image_weight: float = 0.3,
        text_weight: float = 0.3,
        hidden: int = 4096,
        image_rate: float = 0.01,
        text_rate: float = 0.01,
        epochs: int = 25,
        patience: int = 0,
        batch: int = 32,
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
        self.image_rate = image_rate
        self.text_rate = text_rate
        self.epochs = epochs
        self.patience = patience
        self.batch = batch
        self.scaling = scaling
        self.random_state = random_state

    def networks(self, widths):
        """One hidden layer a view."""
        return [perceptron((d, self.hidden, self.n_bits)) for d in widths]

    def optimisers(self):
        """Gradient descent with momentum, a rate a view."""
        from torch import optim

        rates = (self.image_rate, self.text_rate)
        return [
            optim.SGD(net.parameters(), lr=rate, momentum=0.9, weight_decay=5e-4)
            for net, rate in zip(self.networks_, rates, strict=True)
        ]

    def target(self, views):
        """The joint similarity S of a batch."""
        image, text = (2 * cosines(x, x) - 1 for x in views)
        J = self.beta * image + (1 - self.beta) * text
        return self.mu * ((1 - self.eta) * J + self.eta * J @ J.T / len(J))

    def loss(self, batch):
        """Reconstruct the target within and between the views."""
        S, a = self.target(batch.views), batch.epoch**0.5
        image, text = (
            (a * net(x)).tanh() for net, x in zip(self.networks_, batch.views, strict=True)
        )
        return (
            self.image_weight * mse(cosines(image, image), S)
            + mse(cosines(image, text), S)
            + self.text_weight * mse(cosines(text, text), S)
        )
