"""What a neural method is: networks, a loss, optimisers; everything else is here.

A method gives one network a view and a loss of a batch. :class:`TorchMethod` scales the input,
draws the batches, steps the optimisers, records the mean loss of every epoch and encodes. Same
seed and same number of threads on the CPU: same bytes.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from hashbench.base.codes import Bits
from hashbench.base.errors import DeclinedError, HashbenchError
from hashbench.base.validation import BLOCK_ROWS, Matrix
from hashbench.neural.functions import Tensor
from hashbench.neural.inputs import Inputs
from hashbench.neural.runtime import import_torch, run_device, seeded
from hashbench.neural.stopping import Watch
from hashbench.plugins.method import Method

#: Scaled training rows that fit in so many bytes are made once; larger ones batch by batch.
KEPT_BYTES = 1 << 29


@dataclass
class Batch:
    """Some training rows, as tensors.

    Attributes
    ----------
    rows : (n,) their numbers
    views : list of (n, d_m), scaled
    labels : (n, c) of 0.0 and 1.0; no columns if unsupervised
    epoch : counted from 1
    """

    rows: Tensor
    views: list[Tensor]
    labels: Tensor
    epoch: int


class TrainingRows:
    """The training rows, from which batches are taken; large ones stay where they are."""

    def __init__(
        self, views: Sequence[Matrix], inputs: Sequence[Inputs], labels: Matrix, device: str
    ) -> None:
        self.torch = import_torch("a neural method")
        self.views, self.inputs, self.device = views, inputs, device
        self.n = views[0].shape[0]
        self.labels = self._tensor(labels)
        kept = sum(X.size for X in views) * np.dtype(np.float32).itemsize <= KEPT_BYTES
        self.scaled = (
            [self._tensor(i.transform(X)) for i, X in zip(inputs, views, strict=True)]
            if kept
            else None
        )

    def _tensor(self, array: npt.NDArray[Any]) -> Tensor:
        return self.torch.as_tensor(np.ascontiguousarray(array, np.float32), device=self.device)

    def view(self, view: int, rows: npt.NDArray[np.intp] | slice) -> Tensor:
        """Return rows of one view as a network sees them."""
        if self.scaled is not None:
            return self.scaled[view][rows]
        return self._tensor(self.inputs[view].transform(self.views[view][rows]))

    def batch(self, rows: npt.NDArray[np.intp], epoch: int) -> Batch:
        """Return a batch."""
        numbers = self.torch.as_tensor(rows, device=self.device)
        views = [self.view(view, rows) for view in range(len(self.views))]
        return Batch(numbers, views, self.labels[numbers], epoch)


class TorchMethod(Method):
    """A neural method: the bits of a row are the signs of what its view's network says.

    A subclass writes ``networks``, ``loss`` and, if Adam at 1e-3 does not suit it,
    ``optimisers``. What needs more writes ``begin``, ``step``, ``run_epoch`` or ``finish``.
    PyTorch must not be imported at the top of a file that ships with hashbench.

    Attributes
    ----------
    networks_ : list of modules, one a view
    inputs_ : list of :class:`Inputs`, one a view
    device_ : where the networks are
    steps_ : batches in all epochs
    epochs_ : after how many of them training stopped
    """

    requires: ClassVar[tuple[str, ...]] = ("torch",)
    early_stopping: ClassVar[bool] = True  #: where ``patience`` asks for it
    drop_last: ClassVar[bool] = False  #: leave out a last batch that is not whole
    least_batch: ClassVar[int] = 1  #: rows that a batch needs; 2 with batch normalisation
    two_views: ClassVar[bool] = False  #: is the loss written for two views and no more?

    # Parameters with defaults, for methods that do not make them their own.
    epochs: int = 50
    batch: int = 128
    patience: int = 0
    scaling: str = "rows"

    _watch: Watch | None = None

    @abstractmethod
    def networks(self, widths: Sequence[int]) -> Sequence[Any]:
        """Return one network a view, from so many columns to ``n_bits`` real values."""

    def loss(self, batch: Batch) -> Tensor:
        """Return what is to be minimised, as a tensor of one number.

        Only a method that writes ``step`` or ``run_epoch`` has none.
        """
        raise NotImplementedError(f"{type(self).__name__} has no loss, no step and no run_epoch")

    def optimisers(self) -> Sequence[Any]:
        """Return what steps the parameters: objects with ``zero_grad`` and ``step``."""
        from torch import optim

        return [optim.Adam([p for net in self.networks_ for p in net.parameters()], lr=1e-3)]

    def begin(self, data: TrainingRows) -> None:
        """Make what the loss needs besides the networks: before the optimisers, after those."""

    def step(self, batch: Batch) -> float:
        """Learn from one batch and return its loss."""
        return self.descend(self.loss(batch), *self.optimisers_)

    def run_epoch(self, data: TrainingRows, epoch: int, rng: np.random.Generator) -> float:
        """Learn from every batch once and return the mean loss."""
        losses = [self.step(batch) for batch in self.batches(data, epoch, rng)]
        return sum(losses) / len(losses)

    def finish(self, data: TrainingRows) -> None:
        """Keep what is of use after training: ``codes_``, if there are any."""

    def values(self, x: Tensor, view: int) -> Tensor:
        """Return the (n, n_bits) values whose signs are the codes, of scaled rows."""
        return self.networks_[view](x)

    def fit(
        self,
        views: Sequence[Any],
        labels: Any = None,
        validation: npt.NDArray[np.intp] | None = None,
    ) -> Self:
        """Train the networks; with ``patience`` for as many epochs as validation rows say."""
        views, Y, rng = self.begin_fit(views, labels)
        if self.two_views and len(views) != 2:
            raise DeclinedError(f"{self.name}: found {len(views)} views; allowed: 2")
        self.device_ = run_device(self.name)
        self.epochs_ = self._best_epoch(views, Y, validation) if self.patience else self.epochs
        self.inputs_ = [Inputs(X, self.scaling) for X in views]
        with seeded(int(rng.integers(2**63)), self.device_):
            data = TrainingRows(views, self.inputs_, Y, self.device_)
            self.steps_ = self.epochs * sum(1 for _ in self._row_numbers(data.n, None))
            self.networks_ = [net.to(self.device_) for net in self.networks(self.n_features_)]
            self.begin(data)
            self.optimisers_ = list(self.optimisers())
            for epoch in range(1, self.epochs_ + 1):
                self._train(True)
                value = self.run_epoch(data, epoch, rng)
                if not math.isfinite(value):
                    raise HashbenchError(
                        f"{self.name}: found a loss of {value} in epoch {epoch}; allowed: finite "
                        "numbers; a smaller rate may help"
                    )
                self.record(float, value)
                self._train(False)
                if self._watch is not None and self._watch.is_over(self, epoch):
                    break
            self.finish(data)
        del self.optimisers_
        return self

    def _best_epoch(
        self, views: Sequence[Matrix], Y: Matrix, validation: npt.NDArray[np.intp] | None
    ) -> int:
        """Return after how many epochs a network without the validation rows does best on them."""
        if validation is None:
            raise HashbenchError(
                f"{self.name}: found patience={self.patience} and no validation rows; allowed: "
                "fit(..., validation=positions), which a study gives"
            )
        own = self.get_params() | {"random_state": np.random.default_rng(self.random_state)}
        trial = type(self)(**own)
        trial.patience = 0
        trial._watch = watch = Watch(views, Y, validation, self.patience)
        trial.fit(watch.train, watch.train_labels if self.supervised else None)
        return watch.epoch

    def encode(self, X: Any, view: int) -> Bits:
        """Return the (n, n_bits) codes of rows seen through one view."""
        torch = import_torch(self.name)
        X = self.check_encode(X, view)
        codes = np.empty((X.shape[0], self.n_bits), bool)
        with torch.inference_mode():
            for start in range(0, X.shape[0], BLOCK_ROWS):
                rows = self.inputs_[view].transform(X[start : start + BLOCK_ROWS])
                values = self.values(torch.as_tensor(rows, device=self.device_), view)
                codes[start : start + BLOCK_ROWS] = (values >= 0).cpu().numpy()
        return codes

    def batches(self, data: TrainingRows, epoch: int, rng: np.random.Generator) -> Iterator[Batch]:
        """Give every training row once, in a new order."""
        for rows in self._row_numbers(data.n, rng):
            yield data.batch(rows, epoch)

    def _row_numbers(
        self, n: int, rng: np.random.Generator | None
    ) -> Iterator[npt.NDArray[np.intp]]:
        order = np.arange(n) if rng is None else rng.permutation(n)
        if n < self.least_batch:
            order = np.resize(order, self.least_batch)  # the rows there are, over and over
        size = min(self.batch, len(order))
        for start in range(0, len(order), size):
            rows = order[start : start + size]
            if len(rows) == size or (not self.drop_last and len(rows) >= self.least_batch):
                yield rows

    def _train(self, training: bool) -> None:
        for network in self.networks_:
            network.train(training)

    @staticmethod
    def descend(loss: Tensor, *optimisers: Any) -> float:
        """Step optimisers along the gradient of a loss, and return its value."""
        for optimiser in optimisers:
            optimiser.zero_grad()
        loss.backward()
        for optimiser in optimisers:
            optimiser.step()
        return float(loss.detach())
