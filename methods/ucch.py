"""UCCH: each pair is told from others in a memory of binary codes, and from its batch.

With unit outputs u = f(x), v = g(y) and a memory M of one unit row for each training row,
minimises alpha Lc + (1 - alpha) Lr:

- Lc: the cross-entropy of finding sign(M_p) of a row's own place p among `negatives` signs of
  random places, by cosine over a temperature, for u and for v. Then M_p moves towards (u + v)/2.
  In the first epoch the batch's own mean codes take the memory's place.
- Lr: the cross-entropy of finding v_i among all v_j by u_i . v_j, and the other way round, where
  entries that are more than a margin below u_i . v_i are lowered by a shift.

Cost: n rows k a batch of n, as long as a table of n x rows is smaller than the codes of all
negatives, and n k `negatives` beyond; every epoch reads the features once.

Deviations
----------
- The original has two hidden layers of 8192 for images; here both views have one.
- The original keeps the epoch that is best on 2,000 labelled database rows; here the last counts.
- 12 epochs instead of 20 to 100.
"""

from __future__ import annotations

from typing import Any, ClassVar

from hashbench import Citation, TorchMethod
from hashbench.neural.functions import normalise, perceptron, sign
from hashbench.plugins.space import Linear, Log


class UCCH(TorchMethod):
    """Unsupervised contrastive cross-modal hashing.

    Parameters
    ----------
    n_bits : int
    alpha : float
        Weight of the contrast with the memory; the ranking has the rest.
    margin, shift : float
        Of the ranking.
    temperature : float
        Of the contrast.
    negatives : int
        Places drawn from the memory for each row.
    momentum : float
        What a place in the memory keeps of itself.
    hidden : int
        Width of the hidden layer.
    rate : float
        Rate of Adam; a tenth of it after every 30 epochs.
    epochs, batch : int
        Passes over the training rows, and rows a step.
    patience : int
        0 for all epochs; else stop after the epoch that is best on validation rows, once so many
        later ones are not better.
    scaling : str
        What the networks see, see :data:`hashbench.neural.inputs.SCALINGS`.
    random_state : int, Generator or None
    """

    name = "ucch"
    title = "UCCH"
    supervised = False
    fidelity = "paper"
    paper = Citation(
        "P. Hu, H. Zhu, J. Lin, D. Peng, Y.-P. Zhao, X. Peng",
        "Unsupervised contrastive cross-modal hashing",
        "IEEE Transactions on Pattern Analysis and Machine Intelligence",
        2023,
    )
    drop_last = True
    two_views = True

    space: ClassVar = {
        "alpha": Linear(0.1, 0.9),
        "margin": Linear(0.05, 0.5),
        "rate": Log(3e-5, 1e-3),
    }

    def __init__(
        self,
        n_bits: int = 16,
        alpha: float = 0.7,
        margin: float = 0.2,
        shift: float = 0.1,
        temperature: float = 0.9,
        negatives: int = 4096,
        momentum: float = 0.4,
        hidden: int = 8192,
        rate: float = 1e-4,
        epochs: int = 12,
        patience: int = 0,
        batch: int = 256,
        scaling: str = "rows",
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.alpha = alpha
        self.margin = margin
        self.shift = shift
        self.temperature = temperature
        self.negatives = negatives
        self.momentum = momentum
        self.hidden = hidden
        self.rate = rate
        self.epochs = epochs
        self.patience = patience
        self.batch = batch
        self.scaling = scaling
        self.random_state = random_state

    def networks(self, widths):
        """One hidden layer a view."""
        return [perceptron((d, self.hidden, self.n_bits)) for d in widths]

    def begin(self, data):
        """Fill the memory with random codes."""
        import torch

        self.memory_ = normalise(sign(torch.randn(data.n, self.n_bits, device=self.device_)))

    def optimisers(self):
        """Adam for everything."""
        from torch import optim

        layers = [p for net in self.networks_ for p in net.parameters()]
        return [optim.Adam(layers, lr=self.rate, weight_decay=1e-6)]

    def step(self, batch):
        """Cut the gradient of all parameters together to length one."""
        from torch import nn

        (optimiser,) = self.optimisers_
        for group in optimiser.param_groups:
            group["lr"] = self.rate * 0.1 ** ((batch.epoch - 1) // 30)
        loss = self.loss(batch)
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_([p for net in self.networks_ for p in net.parameters()], 1.0)
        optimiser.step()
        return float(loss.detach())

    def loss(self, batch):
        """Contrast with the memory and ranking in the batch; moves the memory on."""
        u, v = (
            normalise(net(x).tanh()) for net, x in zip(self.networks_, batch.views, strict=True)
        )
        mean = (u + v).detach() / 2
        first = batch.epoch == 1
        contrast = self._contrast_batch if first else self._contrast_memory
        kept = 0.0 if first else self.momentum
        total = self.alpha * contrast(u, v, batch.rows, mean)
        moved = kept * self.memory_[batch.rows] + (1 - kept) * normalise(mean)
        self.memory_[batch.rows] = normalise(moved)
        similarity = u @ v.T
        return total + (1 - self.alpha) * (self._ranking(similarity) + self._ranking(similarity.T))

    def _contrast_batch(self, u, v, rows, mean):
        scale = self.temperature * self.n_bits**0.5
        logits = [w @ sign(mean).T / scale for w in (u, v)]
        return sum((x.logsumexp(dim=1) - x.diagonal()).mean() for x in logits)

    def _contrast_memory(self, u, v, rows, mean):
        import torch

        n, places = len(rows), len(self.memory_)
        drawn = torch.randint(places, (n, self.negatives), device=rows.device)
        scale = self.temperature * self.n_bits**0.5
        total = 0
        if places <= 5 * self.negatives:
            # A place drawn c times counts c times: a table of all places needs no gathering.
            cells = drawn + places * torch.arange(n, device=rows.device)[:, None]
            counts = torch.bincount(cells.flatten(), minlength=n * places).view(n, places)
            counts[torch.arange(n, device=rows.device), rows] += 1
            weights = counts.to(u.dtype).log()
            for w in (u, v):
                logits = w @ sign(self.memory_).T / scale
                own = logits.gather(1, rows[:, None])[:, 0]
                total += ((logits + weights).logsumexp(dim=1) - own).mean()
            return total
        candidates = sign(self.memory_[torch.cat([rows[:, None], drawn], dim=1)])
        for w in (u, v):
            logits = (candidates @ w[:, :, None])[:, :, 0] / scale
            total += (logits.logsumexp(dim=1) - logits[:, 0]).mean()
        return total

    def _ranking(self, similarity):
        own = similarity.diagonal()
        beaten = (similarity < (own - self.margin)[:, None]).detach()
        lowered = similarity - self.shift * beaten
        return (lowered.logsumexp(dim=1) - own + self.margin).mean()
