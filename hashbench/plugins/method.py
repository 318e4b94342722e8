"""What a method is: the base classes every hashing method derives from.

A method learns one hash function a view. It follows scikit-learn's rules (see
:mod:`hashbench.base.parameters`); the harness reads the class attributes, calls ``fit`` on training
rows and ``encode`` on everything else. Most methods end in linear hash functions, possibly
behind a feature map: :class:`LinearMethod` holds those, so that such a method is ``__init__``
and ``fit`` alone.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol, Self

import numpy as np

from hashbench.base.codes import Bits
from hashbench.base.errors import HashbenchError
from hashbench.base.parameters import Parametrised
from hashbench.base.validation import (
    BLOCK_ROWS,
    Matrix,
    check_bits,
    check_labels,
    check_matrix,
    check_views,
)
from hashbench.plugins.space import Space

#: How near a method comes to its original, in words for people.
FIDELITIES = {
    "verified": "agrees with the authors' code on the data both ran on",
    "third-party": "agrees with a third party's code on the data both ran on",
    "paper": "written from the paper",
    "reconstruction": "a reconstruction from partial knowledge of the method",
    "own": "by the author of the plugin",
}


#: Behind those words, for methods that go other ways with bits that the data cannot determine.
UP_TO_RANK = "up to the rank of the data"


@dataclass(frozen=True)
class Citation:
    """The paper a plugin comes from."""

    authors: str
    title: str
    venue: str
    year: int

    def __str__(self) -> str:
        return f"{self.authors}. {self.title}. {self.venue}, {self.year}."


class Method(Parametrised, ABC):
    """A cross-modal hashing method.

    A subclass gives the class attributes below, an ``__init__`` that only stores keyword
    parameters (``n_bits`` and ``random_state`` among them), ``fit`` and ``encode``.

    Attributes
    ----------
    codes_ : (n, n_bits) bool array, or a list of one such array a view, or absent
        Codes learned for the training rows, where the method has them.
    objective_ : list of float
        The objective after each iteration, where the method has one; see :meth:`record`.
    objective_seconds_ : list of float
        Training time spent when each of those values was reached.
    """

    name: ClassVar[str]  #: what the user types
    title: ClassVar[str] = ""  #: what a table prints; the name if empty
    supervised: ClassVar[bool]  #: does ``fit`` read the labels?
    paper: ClassVar[Citation | None] = None

    discrete: ClassVar[bool] = False  #: codes are optimised as binary variables, not relaxed
    kernel: ClassVar[bool] = False  #: hash functions see features through a kernel map
    scalable: ClassVar[bool] = True  #: time and memory grow at most linearly with the rows
    fidelity: ClassVar[str] = "own"  #: one of FIDELITIES
    fidelity_note: ClassVar[str] = ""  #: what was inferred and how sure that is
    up_to_rank: ClassVar[bool] = False  #: agrees with other code up to the rank of the data only
    requires: ClassVar[tuple[str, ...]] = ()  #: modules beyond the core that ``fit`` imports
    compiled: ClassVar[bool] = False  #: ``fit`` calls compiled loops on data of any size
    objective_note: ClassVar[str] = ""  #: what a reader of its objective has to know
    hamming: ClassVar[bool] = True  #: False: compares real vectors, see :class:`VectorMethod`
    space: ClassVar[Space] = {}  #: what may be tuned, see hashbench.plugins.space; nothing if empty
    early_stopping: ClassVar[bool] = False  #: ``fit`` takes validation rows, see there
    own_scale: ClassVar[bool] = False  #: a search leaves the preprocessing as the dataset has it

    #: told of every recorded value: how many there are, the value, seconds of training
    on_record: Callable[[int, float, float], None] | None = None

    n_bits: int
    random_state: int | np.random.Generator | None

    codes_: Bits | list[Bits]
    objective_: list[float]
    objective_seconds_: list[float]

    @abstractmethod
    def fit(self, views: Sequence[Any], labels: Any = None) -> Self:
        """Learn the hash functions.

        A method that declares ``early_stopping`` has a third parameter, ``validation=None``:
        positions among these rows, sorted, by which it may choose when to stop and by no others.

        Parameters
        ----------
        views : list of (n, d_m) arrays
            Training rows, one matrix a view; row i of every view is the same item.
        labels : (n, c) array of 0 and 1, optional
            Required by supervised methods, ignored by the others.
        """

    @abstractmethod
    def encode(self, X: Any, view: int) -> Bits:
        """Return the (n, n_bits) codes of rows seen through one view."""

    def begin_fit(
        self, views: Sequence[Any], labels: Any = None
    ) -> tuple[list[Matrix], Matrix, np.random.Generator]:
        """Check the input of ``fit``, start its clock and return what it works on.

        Returns
        -------
        views : list of (n, d_m) float32 or float64 arrays
        labels : (n, c) array of 0.0 and 1.0 in the views' precision; (n, 0) if unsupervised
        rng : numpy.random.Generator seeded by ``random_state``
        """
        views = check_views(views)
        self.n_bits = check_bits(self.n_bits)
        n = views[0].shape[0]
        if self.supervised:
            if labels is None:
                raise HashbenchError(f"{self.name}: labels are missing; the method is supervised")
            Y = check_labels(labels, n)
        else:
            Y = np.zeros((n, 0), np.uint8)
        for attribute in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, attribute)  # nothing of an earlier fit may survive
        self.n_features_ = [X.shape[1] for X in views]
        self._recording = 0.0
        self._begun = time.perf_counter()
        return views, Y.astype(np.result_type(*views)), np.random.default_rng(self.random_state)

    def record(self, objective: Callable[..., float], *arguments: Any) -> float:
        """Evaluate ``objective(*arguments)`` with the training clock stopped, and keep it.

        Returns the value, for methods that stop by it. A value that is at hand anyway is recorded
        by ``record(float, value)``.
        """
        start = time.perf_counter()
        value = float(objective(*arguments))
        if "objective_" not in self.__dict__:
            self.objective_, self.objective_seconds_ = [], []
        self.objective_.append(value)
        self.objective_seconds_.append(start - self._begun - self._recording)
        if self.on_record is not None:
            self.on_record(len(self.objective_), value, self.objective_seconds_[-1])
        self._recording += time.perf_counter() - start
        return value

    @property
    def recording_seconds_(self) -> float:
        """Seconds of ``fit`` spent on the objective: not training time."""
        return getattr(self, "_recording", 0.0)

    def check_encode(self, X: Any, view: int) -> Matrix:
        """Check the input of ``encode`` against what ``fit`` saw."""
        if not hasattr(self, "n_features_"):
            raise HashbenchError(f"{self.name}: encode needs fit first")
        if not 0 <= view < len(self.n_features_):
            raise HashbenchError(
                f"{self.name}: found view {view}; allowed: 0 to {len(self.n_features_) - 1}"
            )
        checked = check_matrix(X, f"view {view}")
        if checked.shape[1] != self.n_features_[view]:
            raise HashbenchError(
                f"view {view}: found {checked.shape[1]} columns; fit saw {self.n_features_[view]}"
            )
        return checked


class FeatureMap(Protocol):
    """What a linear hash function may see its rows through."""

    def transform(self, X: Matrix) -> Matrix:
        """Map (n, d) rows to (n, p) features."""
        ...


class LinearMethod(Method):
    """A method whose hash functions are linear: x -> [(map(x) - mean) W + offset >= 0].

    ``fit`` sets ``projections_`` and whichever of the others it needs.

    Attributes
    ----------
    projections_ : list of (p_m, n_bits) arrays
        W, one a view.
    means_ : list of (p_m,) arrays, or None for zero
    offsets_ : list of (n_bits,) arrays, or None for zero
    maps_ : list of feature maps with a ``transform``, or None for the features themselves
    """

    projections_: list[Matrix]
    means_: list[Matrix] | None = None
    offsets_: list[Matrix] | None = None
    maps_: Sequence[FeatureMap] | None = None

    def project(self, X: Any, view: int) -> Matrix:
        """Return the (n, n_bits) real values whose signs are the codes."""
        X = self.check_encode(X, view)
        W = self.projections_[view]
        # The mean is folded into the offset: encoding then never copies the features.
        offset = np.zeros(W.shape[1], W.dtype)
        if self.means_ is not None:
            offset = offset - self.means_[view] @ W
        if self.offsets_ is not None:
            offset = offset + self.offsets_[view]
        W, offset = W.astype(X.dtype, copy=False), offset.astype(X.dtype, copy=False)
        values = np.empty((X.shape[0], W.shape[1]), X.dtype)
        for start in range(0, X.shape[0], BLOCK_ROWS):
            rows = slice(start, start + BLOCK_ROWS)
            block = X[rows] if self.maps_ is None else self.maps_[view].transform(X[rows])
            np.matmul(block.astype(X.dtype, copy=False), W, out=values[rows])
            values[rows] += offset
        return values

    def encode(self, X: Any, view: int) -> Bits:
        """Return the (n, n_bits) codes of rows seen through one view."""
        return np.asarray(self.project(X, view) >= 0)


class VectorMethod(Method):
    """A method that compares real vectors: score = query . database, higher is nearer.

    ``vectors`` takes the place of codes; any additive term of a score (as in a squared distance)
    is a further coordinate. Tables mark such methods as not Hamming and give ``item_bytes``.

    Attributes
    ----------
    vectors_ : (n, p) array, or a list of one such array a view, or absent
        Database vectors learned for the training rows, where the method has them.
    """

    vectors_: Matrix | list[Matrix]

    hamming: ClassVar[bool] = False

    @abstractmethod
    def vectors(self, X: Any, view: int, role: Literal["query", "database"]) -> Matrix:
        """Return the (n, p) float32 vectors of rows seen through one view, in one role."""

    @property
    @abstractmethod
    def item_bytes(self) -> float:
        """Bytes that one database item takes in an index."""

    def encode(self, X: Any, view: int) -> Bits:
        """Refuse: there are no codes."""
        raise HashbenchError(f"{self.name}: has no binary codes; it compares vectors")
