"""UCCH: contrastive learning of pairs, against a memory of binary codes and within the batch.

With unit outputs u = f(x), v = g(y) and a memory M of one unit row for each training row,
minimises alpha Lc + (1 - alpha) Lr:

- Lc: the cross-entropy of finding the signs of a row's own memory M_p among those of `negatives`
  random rows, by cosine over a temperature, for u and for v. Then M_p moves towards (u + v)/2.
  In the first epoch the mean codes of the batch replace the memory.
- Lr: the cross-entropy of finding v_i among all v_j by u_i . v_j, and vice versa, where
  entries that are more than a margin below u_i . v_i are lowered by a shift.

Cost: b n k per batch of b rows, n training rows, or b k `negatives` if n is more than five times
`negatives`; every epoch reads the features once.

Deviations
----------
- The original has two hidden layers of 8192 for images; here both views have one.
- The original keeps the epoch that is best on 2,000 labelled database rows; here the last one is
  used.
- 12 epochs instead of 20 to 100.
"""

from __future__ import annotations

from typing import Any, ClassVar

from hashbench import COUNT, FRACTION, NON_NEGATIVE, POSITIVE, Linear, Log, Paper, TorchMethod
from hashbench.neural.losses import normalize, sign
from hashbench.neural.networks import mlp


class UCCH(TorchMethod):
    """Unsupervised contrastive cross-modal hashing.

    Parameters
    ----------
    n_bits : int
        Code length.
    alpha : float
        Weight of Lc; that of Lr is 1 - alpha.
    margin, shift : float
        Constants of Lr.
    temperature : float
        Temperature of Lc.
    negatives : int
        Number of rows of the memory drawn for each row of a batch.
    momentum : float
        Weight of the old value when a row of the memory is updated.
    hidden : int
        Width of the hidden layer.
    lr : float
        Learning rate, divided by ten after every 30 epochs.
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

    name = "ucch"
    title = "UCCH"
    supervised = False
    paper = Paper(
        "P. Hu, H. Zhu, J. Lin, D. Peng, Y.-P. Zhao, X. Peng",
        "Unsupervised contrastive cross-modal hashing",
        "IEEE Transactions on Pattern Analysis and Machine Intelligence",
        2023,
        fidelity="consistent",
    )
    drop_last = True
    two_views = True

    space: ClassVar = {
        "alpha": Linear(0.1, 0.9),
        "margin": Linear(0.05, 0.5),
        "lr": Log(3e-5, 1e-3),
    }
    allowed: ClassVar = {
        "alpha": FRACTION, "margin": NON_NEGATIVE, "shift": NON_NEGATIVE, "temperature": POSITIVE,
        "negatives": COUNT, "momentum": FRACTION,
    }  # fmt: skip

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
        lr: float = 1e-4,
        epochs: int = 12,
        patience: int = 0,
        batch_size: int = 256,
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
        self.lr = lr
        self.epochs = epochs
        self.patience = patience
        self.batch_size = batch_size
        self.scaling = scaling
        self.random_state = random_state

    def networks(self, widths):
        """Return one hidden layer per view."""
        return [mlp((d, self.hidden, self.n_bits)) for d in widths]

    def setup(self, data):
        """Fill the memory with random codes."""
        import torch

        self.memory_ = normalize(sign(torch.randn(data.n, self.n_bits, device=self.device_)))

    def configure_optimizers(self):
        """Use Adam with a learning rate that falls every 30 epochs."""
        from torch.optim import Adam
        from torch.optim.lr_scheduler import StepLR

        optimizer = Adam(self.parameters(), lr=self.lr, weight_decay=1e-6)
        return [optimizer], [StepLR(optimizer, step_size=30, gamma=0.1)]

    def training_step(self, batch):
        """Take one step, with the gradient of all parameters together clipped to length one."""
        from torch.nn.utils import clip_grad_norm_

        (optimizer,) = self.optimizers_
        optimizer.zero_grad()
        loss = self.loss(batch)
        loss.backward()
        clip_grad_norm_(self.parameters(), 1.0)
        optimizer.step()
        return loss.detach()

    def loss(self, batch):
        """Return alpha Lc + (1 - alpha) Lr, and update the memory."""
        u, v = (normalize(self.forward(x, m).tanh()) for m, x in enumerate(batch.views))
        mean = (u + v).detach() / 2
        first = batch.epoch == 1
        contrast = self._contrast_batch if first else self._contrast_memory
        kept = 0.0 if first else self.momentum
        total = self.alpha * contrast(u, v, batch.rows, mean)
        moved = kept * self.memory_[batch.rows] + (1 - kept) * normalize(mean)
        self.memory_[batch.rows] = normalize(moved)
        similarity = u @ v.T
        return total + (1 - self.alpha) * (self._ranking(similarity) + self._ranking(similarity.T))

    def _contrast_batch(self, u, v, rows, mean):
        scale = self.temperature * self.n_bits**0.5
        logits = [w @ sign(mean).T / scale for w in (u, v)]
        return sum((x.logsumexp(dim=1) - x.diagonal()).mean() for x in logits)

    def _contrast_memory(self, u, v, rows, mean):
        import torch

        b, n = len(rows), len(self.memory_)
        drawn = torch.randint(n, (b, self.negatives), device=rows.device)
        candidates = torch.cat([rows[:, None], drawn], dim=1)
        scale = self.temperature * self.n_bits**0.5
        total = 0
        if n <= 5 * self.negatives:
            # One product with the whole memory: a row that was drawn c times has weight c.
            counts = torch.zeros(b, n, device=rows.device)
            counts.scatter_add_(1, candidates, torch.ones_like(candidates, dtype=counts.dtype))
            weights = counts.log()
            for w in (u, v):
                logits = w @ sign(self.memory_).T / scale
                own = logits.gather(1, rows[:, None])[:, 0]
                total += ((logits + weights).logsumexp(dim=1) - own).mean()
            return total
        codes = sign(self.memory_[candidates])
        for w in (u, v):
            logits = (codes @ w[:, :, None])[:, :, 0] / scale
            total += (logits.logsumexp(dim=1) - logits[:, 0]).mean()
        return total

    def _ranking(self, similarity):
        own = similarity.diagonal()
        far = (similarity < (own - self.margin)[:, None]).detach()
        lowered = similarity - self.shift * far
        return (lowered.logsumexp(dim=1) - own + self.margin).mean()
