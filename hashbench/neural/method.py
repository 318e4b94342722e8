"""The base class of neural methods: networks, a loss and optimizers; everything else is here.

A method gives one network per view and the loss of a batch. :class:`TorchMethod` scales the input,
draws the batches, steps optimizers and learning rate schedules, records the mean loss of every
epoch and encodes. On the CPU the same seed and number of threads give the same bytes.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt

from hashbench.core.codes import Bits
from hashbench.core.errors import DeclinedError, HashbenchError
from hashbench.core.validation import BLOCK_ROWS, Matrix
from hashbench.neural.device import has_bfloat16, import_torch, run_device, seeded
from hashbench.neural.early_stopping import EarlyStopping
from hashbench.neural.inputs import SCALINGS, InputScaler
from hashbench.neural.losses import Tensor
from hashbench.plugins.allowed import COUNT, COUNT_OR_ZERO, POSITIVE, Allowed, Bounds
from hashbench.plugins.method import Method, TrainingData
from hashbench.plugins.space import Choice

Rows = npt.NDArray[np.intp]

#: Training rows that take at most so many bytes are scaled once; larger ones batch by batch.
SCALED_ONCE_BYTES = 1 << 29


@dataclass
class Batch:
    """Some training rows, as tensors.

    Attributes
    ----------
    rows : (n,) positions among the training rows
    views : list of (n, d_m), scaled
    labels : (n, c) of 0.0 and 1.0; None if unsupervised
    epoch : counted from 1
    """

    rows: Tensor
    views: list[Tensor]
    labels: Tensor
    epoch: int


class TrainingRows:
    """The scaled training rows, from which batches are taken.

    Attributes
    ----------
    n : number of rows
    labels : (n, c) tensor of 0.0 and 1.0; None if unsupervised
    """

    def __init__(
        self,
        views: Sequence[Matrix],
        labels: Matrix | None,
        scalers: Sequence[InputScaler],
        device: str,
    ) -> None:
        self.torch = import_torch("a neural method")
        self.views, self.scalers, self.device = views, scalers, device
        self.n = views[0].shape[0]
        self.labels = None if labels is None else self._tensor(labels)
        once = sum(X.size for X in views) * np.dtype(np.float32).itemsize <= SCALED_ONCE_BYTES
        self.scaled = (
            [self._tensor(s.transform(X)) for s, X in zip(scalers, views, strict=True)]
            if once
            else None
        )

    def _tensor(self, array: npt.NDArray[Any]) -> Tensor:
        return self.torch.as_tensor(np.ascontiguousarray(array, np.float32), device=self.device)

    def view(self, view: int, rows: Rows | slice) -> Tensor:
        """Return rows of one view, scaled."""
        if self.scaled is not None:
            return self.scaled[view][rows]
        return self._tensor(self.scalers[view].transform(self.views[view][rows]))

    def batch(self, rows: Rows, epoch: int) -> Batch:
        """Return the batch of these rows."""
        positions = self.torch.as_tensor(rows, device=self.device)
        views = [self.view(view, rows) for view in range(len(self.views))]
        labels = None if self.labels is None else self.labels[positions]
        return Batch(positions, views, labels, epoch)


class TorchMethod(Method):
    """A neural method: the bits of a row are the signs of the outputs of its view's network.

    A subclass writes ``networks``, ``loss`` and, unless Adam with a learning rate of 1e-3 suits
    it, ``configure_optimizers``. One that needs more writes ``setup``, ``training_step``,
    ``training_epoch``, ``finish`` or ``hash_values``. A file that ships with hashbench must not
    import PyTorch at the top.

    Attributes
    ----------
    networks_ : list of modules, one per view
    scalers_ : list of :class:`InputScaler`, one per view
    device_ : the device of the networks
    total_steps_ : number of batches in all ``epochs``
    epochs_ : number of epochs of the final training: ``epochs``, or fewer by early stopping
    """

    requires: ClassVar[tuple[str, ...]] = ("torch",)
    early_stopping: ClassVar[bool] = True  #: where ``patience`` is not zero
    drop_last: ClassVar[bool] = False  #: leave out a last batch that is not full
    min_batch_size: ClassVar[int] = 1  #: 2 with batch normalisation
    two_views: ClassVar[bool] = False  #: is the loss defined for two views only?
    scheduler_interval: ClassVar[Literal["epoch", "step"]] = "epoch"  #: when schedulers are stepped
    autocast: ClassVar[bool] = True  #: train in bfloat16 on CUDA devices that support it

    allowed: ClassVar[Allowed] = {
        "hidden": COUNT,
        "dropout": Bounds(ge=0, lt=1),
        "lr": POSITIVE,
        "epochs": COUNT,
        "batch_size": COUNT,
        "patience": COUNT_OR_ZERO,
        "scaling": Choice(*SCALINGS),
    }

    # Parameters with defaults, for methods that do not have them as their own.
    epochs: int = 50
    batch_size: int = 128
    patience: int = 0
    scaling: str = "rows"

    _stopping: EarlyStopping | None = None

    @abstractmethod
    def networks(self, widths: Sequence[int]) -> Sequence[Any]:
        """Return one network per view, from its number of columns to ``n_bits`` real values."""

    def loss(self, batch: Batch) -> Tensor:
        """Return the loss of a batch, a tensor of one number.

        A method that writes ``training_step`` or ``training_epoch`` may do without.
        """
        raise NotImplementedError(
            f"{type(self).__name__} has no loss, no training_step and no training_epoch"
        )

    def configure_optimizers(self) -> tuple[list[Any], list[Any]]:
        """Return the optimizers and the learning rate schedulers, two lists.

        Schedulers are stepped after every epoch, or after every batch if ``scheduler_interval`` is
        "step".
        """
        from torch.optim import Adam

        return [Adam(self.parameters(), lr=1e-3)], []

    def setup(self, data: TrainingRows) -> None:
        """Make what the loss needs besides the networks; the optimizers are made after this."""

    def training_step(self, batch: Batch) -> Tensor:
        """Train on one batch and return its loss without a gradient."""
        return self.minimize(self.loss(batch), *self.optimizers_)

    def training_epoch(
        self, data: TrainingRows, epoch: int, rng: np.random.Generator
    ) -> list[Tensor]:
        """Train on every batch once and return their losses."""
        losses = []
        for rows in self.row_batches(data.n, rng):
            losses.append(self.training_step(data.batch(rows, epoch)))
            if self.scheduler_interval == "step":
                self._step_schedulers()
        return losses

    def finish(self, data: TrainingRows) -> None:
        """Set ``codes_`` if the method learns codes, and delete what encoding does not need."""

    def forward(self, x: Tensor, view: int) -> Tensor:
        """Return the output of a view's network for scaled rows, in float32."""
        with self.mixed_precision():
            return self.networks_[view](x).float()

    def hash_values(self, x: Tensor, view: int) -> Tensor:
        """Return the (n, n_bits) values whose signs are the codes of scaled rows."""
        return self.forward(x, view)

    def parameters(self) -> list[Any]:
        """Return the parameters of all networks."""
        return [p for net in self.networks_ for p in net.parameters()]

    def mixed_precision(self) -> Any:
        """Return a context in which networks in training use bfloat16, see ``autocast``.

        Encoding always uses float32, and so do losses, which are computed outside of it.
        """
        torch = import_torch(self.name)
        enabled = self._bfloat16 and self.networks_[0].training
        return torch.autocast(self.device_.partition(":")[0], torch.bfloat16, enabled=enabled)

    def fit(
        self, views: Any, labels: Any = None, validation: npt.NDArray[np.intp] | None = None
    ) -> Self:
        """Train the networks, with ``patience`` for the number of epochs that validation finds."""
        given = self.begin_fit(views, labels)
        if self.two_views and len(given.views) != 2:
            raise DeclinedError(f"{self.name}: found {len(given.views)} views; allowed: 2")
        self.device_ = run_device(self.name)
        self._bfloat16 = self.autocast and has_bfloat16(self.device_)
        self.epochs_ = self._best_epoch(given, validation) if self.patience else self.epochs
        self.scalers_ = [InputScaler(X, self.scaling) for X in given.views]
        with seeded(int(given.rng.integers(2**63)), self.device_):
            data = TrainingRows(given.views, given.labels, self.scalers_, self.device_)
            self.total_steps_ = self.epochs * sum(1 for _ in self.row_batches(data.n, None))
            self.networks_ = [net.to(self.device_) for net in self.networks(self.n_features_in_)]
            self.setup(data)
            self.optimizers_, self.schedulers_ = self.configure_optimizers()
            for epoch in range(1, self.epochs_ + 1):
                self.set_training(True)
                losses = self.training_epoch(data, epoch, given.rng)
                if self.scheduler_interval == "epoch":
                    self._step_schedulers()
                # The one value per epoch that training waits for a GPU to compute.
                values = data.torch.stack(losses).tolist()
                loss = sum(values) / len(values)
                if not math.isfinite(loss):
                    raise HashbenchError(
                        f"{self.name}: found a loss of {loss} in epoch {epoch}; allowed: finite "
                        "numbers; a smaller learning rate may help"
                    )
                self.set_training(False)
                self.record_objective(loss)
                if self._stopping is not None and self._stopping.should_stop(self, epoch):
                    break
            self.finish(data)
        del self.optimizers_, self.schedulers_
        return self

    def _best_epoch(self, given: TrainingData, validation: npt.NDArray[np.intp] | None) -> int:
        """Return the best number of epochs, of a network trained without the validation rows."""
        if validation is None:
            raise HashbenchError(
                f"{self.name}: found patience={self.patience} and no validation rows; allowed: "
                "fit(..., validation=positions), as a study does"
            )
        stopping = EarlyStopping(given.views, given.labels, validation, self.patience)
        own = self.get_params() | {"random_state": np.random.default_rng(self.random_state)}
        trial = type(self)(**own)
        trial.patience = 0
        trial._stopping = stopping
        trial.fit(stopping.train_views, stopping.train_labels)
        return stopping.best_epoch

    def encode(self, X: Any, view: int | str) -> Bits:
        """Return the (n, n_bits) codes of rows of one view, given by its index or name."""
        torch = import_torch(self.name)
        X, view = self.check_encode(X, view)
        codes = np.empty((X.shape[0], self.n_bits), bool)
        with torch.inference_mode():
            for start in range(0, X.shape[0], BLOCK_ROWS):
                rows = self.scalers_[view].transform(X[start : start + BLOCK_ROWS])
                values = self.hash_values(torch.as_tensor(rows, device=self.device_), view)
                codes[start : start + BLOCK_ROWS] = (values >= 0).cpu().numpy()
        return codes

    def row_batches(self, n: int, rng: np.random.Generator | None) -> Iterator[Rows]:
        """Yield the rows of each batch of one epoch, in random order if there is a generator."""
        order = np.arange(n) if rng is None else rng.permutation(n)
        if n < self.min_batch_size:
            order = np.resize(order, self.min_batch_size)  # repeats the rows
        size = min(self.batch_size, len(order))
        for start in range(0, len(order), size):
            rows = order[start : start + size]
            if len(rows) == size or (not self.drop_last and len(rows) >= self.min_batch_size):
                yield rows

    def set_training(self, training: bool) -> None:
        """Put the networks into training or evaluation mode."""
        for network in self.networks_:
            network.train(training)

    def _step_schedulers(self) -> None:
        for scheduler in self.schedulers_:
            scheduler.step()

    @staticmethod
    def minimize(loss: Tensor, *optimizers: Any) -> Tensor:
        """Step optimizers along the gradient of a loss; return the loss without a gradient.

        The value stays on the device: reading it would make every step wait for a GPU.
        """
        for optimizer in optimizers:
            optimizer.zero_grad()
        loss.backward()
        for optimizer in optimizers:
            optimizer.step()
        return loss.detach()
