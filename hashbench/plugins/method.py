"""Base classes of methods.

A method is a scikit-learn estimator that learns one hash function per view. The harness reads the
class attributes, calls ``fit`` on training rows and ``encode`` on everything else. Most methods
end in linear hash functions, possibly behind a feature map: :class:`LinearMethod` holds those, so
that such a method is ``__init__`` and ``fit`` alone.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from hashbench.core.codes import Bits
from hashbench.core.errors import HashbenchError
from hashbench.core.parameters import Parametrised
from hashbench.core.validation import (
    BLOCK_ROWS,
    Matrix,
    check_bits,
    check_labels,
    check_matrix,
    check_views,
)
from hashbench.plugins.allowed import Allowed, check_parameters
from hashbench.plugins.space import Space

#: How closely the scores of a method, by default, follow those of other code: see
#: docs/research/fidelity.md for the rules. The record there decides the first four words.
RECONSTRUCTION = "reconstruction"
FIDELITIES = {
    "equivalent": "shown to score as other code within .01, on the data both ran on",
    "equivalent, biased": "scores as other code within .01, but nearly always to one side",
    "consistent": "no difference from other code is shown; too few runs to show equivalence",
    "differs": "scores differ from other code by more than .01 somewhere",
    "paper only": "written from the paper; compared with no other code",
    RECONSTRUCTION: "the sources leave half of the method open; not in 'all'",
    "own": "by the author of the plugin",
}

#: Added if other code differs only in bits that rank-deficient data do not determine.
UP_TO_RANK = "compared up to the rank of the data"


@dataclass(frozen=True)
class Citation:
    """The paper of a plugin."""

    authors: str
    title: str
    venue: str
    year: int

    def __str__(self) -> str:
        return f"{self.authors.removesuffix('.')}. {self.title}. {self.venue}, {self.year}."


@dataclass(frozen=True)
class Paper(Citation):
    """The paper of a method, and how closely the implementation follows it.

    Attributes
    ----------
    fidelity : one of :data:`FIDELITIES`
    fidelity_note : what was inferred, or what differs
    up_to_rank : the agreement with other code holds up to the rank of the data only
    """

    authors: str = ""
    title: str = ""  #: empty where there is no paper
    venue: str = ""
    year: int = 0
    fidelity: str = "own"
    fidelity_note: str = ""
    up_to_rank: bool = False

    __str__ = Citation.__str__


@dataclass(frozen=True)
class TrainingData:
    """The checked input of ``fit``.

    Attributes
    ----------
    views : list of (n, d_m) float32 or float64 arrays
    labels : (n, c) array of 0.0 and 1.0 in the views' precision; None if unsupervised
    rng : generator seeded by ``random_state``
    """

    views: list[Matrix]
    labels: Any  # an array in supervised methods, which are the only ones that read it
    rng: np.random.Generator

    @property
    def n(self) -> int:
        """The number of training rows."""
        return len(self.views[0])

    @property
    def dtype(self) -> np.dtype[Any]:
        """The precision of the views: float64 if one of them has it."""
        return np.result_type(*self.views)


class Method(BaseEstimator, Parametrised, ABC):  # type: ignore[misc]
    """A cross-modal hashing method.

    A subclass gives the class attributes below, an ``__init__`` that only stores keyword
    parameters (``n_bits`` and ``random_state`` among them), ``fit`` and ``encode``.

    Attributes
    ----------
    n_features_in_ : list of int
        Columns of each view seen by ``fit``. scikit-learn's estimators have one matrix and hence
        one number here.
    view_names_ : list of str, or absent
        Names of the views, where ``fit`` was given a dictionary.
    codes_ : (n, n_bits) bool array, or a list of one such array per view, or absent
        Codes learned for the training rows, where the method has them.
    objective_ : list of float, or absent
        The objective after each iteration, see :meth:`record_objective`.
    objective_seconds_ : list of float, or absent
        Training time spent when each of those values was reached.
    """

    plugin_kind: ClassVar[str] = "methods"

    name: ClassVar[str]  #: what the user types
    title: ClassVar[str] = ""  #: what a table prints; the name if empty
    supervised: ClassVar[bool]  #: does ``fit`` read the labels?
    paper: ClassVar[Paper] = Paper()

    discrete: ClassVar[bool] = False  #: codes are optimised as binary variables, not relaxed
    linear: ClassVar[bool] = False  #: hash functions are linear, see :class:`LinearMethod`
    kernel: ClassVar[bool] = False  #: hash functions see features through a kernel map
    scalable: ClassVar[bool] = True  #: time and memory grow at most linearly with the rows
    requires: ClassVar[tuple[str, ...]] = ()  #: modules beyond the core that ``fit`` imports
    compiled: ClassVar[bool] = False  #: ``fit`` calls compiled loops on data of any size
    objective_note: ClassVar[str] = ""  #: a remark on its objective, for captions
    hamming: ClassVar[bool] = True  #: False: compares real vectors, see :class:`VectorMethod`
    space: ClassVar[Space] = {}  #: parameters to tune, see hashbench.plugins.space
    allowed: ClassVar[Allowed] = {}  #: values of parameters, see hashbench.plugins.allowed
    early_stopping: ClassVar[bool] = False  #: ``fit`` takes validation rows, see there
    tune_preprocessing: ClassVar[bool] = True  #: tuning also tries several preprocessings

    #: called after every recorded value with their number, the value and seconds of training
    on_record: Callable[[int, float, float], None] | None = None

    n_bits: int
    random_state: int | np.random.Generator | None

    n_features_in_: list[int]
    view_names_: list[str]
    codes_: Bits | list[Bits]
    objective_: list[float]
    objective_seconds_: list[float]

    @abstractmethod
    def fit(self, views: Any, labels: Any = None) -> Self:
        """Learn the hash functions.

        A method that declares ``early_stopping`` has a third parameter, ``validation=None``:
        sorted positions of the rows by which, and by no others, it may choose when to stop.

        Parameters
        ----------
        views : list of (n, d_m) arrays, or dictionary from names to such arrays
            Training rows, one matrix per view; row i of every view is the same item.
        labels : (n, c) array of 0 and 1, optional
            Required by supervised methods, ignored by the others.
        """

    @abstractmethod
    def encode(self, X: Any, view: int | str) -> Bits:
        """Return the (n, n_bits) codes of rows of one view, given by its index or name."""

    @property
    def item_bytes(self) -> float:
        """Bytes that one database item takes in an index."""
        return self.n_bits / 8

    def begin_fit(self, views: Any, labels: Any = None) -> TrainingData:
        """Check the input of ``fit``, delete attributes of an earlier fit and start the timer."""
        names = list(views) if isinstance(views, Mapping) else None
        checked = check_views(list(views.values()) if isinstance(views, Mapping) else views)
        check_bits(self.n_bits)
        check_parameters(type(self), vars(self))
        if self.supervised and labels is None:
            raise HashbenchError(f"{self.name}: labels are missing; the method is supervised")
        Y = check_labels(labels, checked[0].shape[0]) if self.supervised else None
        for attribute in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, attribute)
        self.n_features_in_ = [X.shape[1] for X in checked]
        if names is not None:
            self.view_names_ = names
        self._recording = 0.0
        self._begun = time.perf_counter()
        dtype = np.result_type(*checked)
        rng = np.random.default_rng(self.random_state)
        return TrainingData(checked, None if Y is None else Y.astype(dtype), rng)

    def record_objective(self, value: float | Callable[[], float]) -> float:
        """Append a value of the objective to ``objective_`` and return it.

        A function is called with the training clock stopped: an objective that only serves the
        convergence plot then costs no training time.
        """
        start = time.perf_counter()
        value = float(value() if callable(value) else value)
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

    def check_encode(self, X: Any, view: int | str) -> tuple[Matrix, int]:
        """Check the input of ``encode`` against what ``fit`` saw.

        Returns
        -------
        X : (n, d_m) float32 or float64 array
        view : int, the index of the view
        """
        check_is_fitted(self, "n_features_in_")
        names, count = getattr(self, "view_names_", []), len(self.n_features_in_)
        index = names.index(view) if view in names else view
        if not isinstance(index, int | np.integer) or not 0 <= index < count:
            named = f", or {', '.join(names)}" if names else ""
            hint = "; fit({name: X, ...}) gives views names" if isinstance(view, str) else ""
            raise HashbenchError(
                f"{self.name}: found view {view!r}; allowed: 0 to {count - 1}{named}"
                f"{hint if not names else ''}"
            )
        checked = check_matrix(X, f"view {view}")
        if checked.shape[1] != self.n_features_in_[int(index)]:
            raise HashbenchError(
                f"view {view}: found {checked.shape[1]} columns; "
                f"fit saw {self.n_features_in_[int(index)]}"
            )
        return checked, int(index)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.supervised
        tags.input_tags.sparse = True
        return tags


class FeatureMap(Protocol):
    """A feature map of linear hash functions."""

    def transform(self, X: Matrix) -> Matrix:
        """Map (n, d) rows to (n, p) features."""
        ...


class LinearMethod(Method):
    """A method whose hash functions are linear: x -> [(map(x) - mean) W + offset >= 0].

    ``fit`` sets ``projections_`` and whichever of the others it needs.

    Attributes
    ----------
    projections_ : list of (p_m, n_bits) arrays
        W, one per view.
    means_ : list of (p_m,) arrays, or None for zero
    offsets_ : list of (n_bits,) arrays, or None for zero
    maps_ : list of feature maps with a ``transform``, or None for the features themselves
    """

    linear: ClassVar[bool] = True

    projections_: list[Matrix]
    means_: list[Matrix] | None = None
    offsets_: list[Matrix] | None = None
    maps_: Sequence[FeatureMap] | None = None

    def project(self, X: Any, view: int | str) -> Matrix:
        """Return the (n, n_bits) real values whose signs are the codes.

        With ``distance=asymmetric`` they are the queries, see
        :mod:`hashbench.execution.compute_cell`.
        """
        X, view = self.check_encode(X, view)
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

    def encode(self, X: Any, view: int | str) -> Bits:
        """Return the (n, n_bits) codes of rows of one view, given by its index or name."""
        return np.asarray(self.project(X, view) >= 0)


class VectorMethod(Method):
    """A method that compares real vectors: score = query . database, higher is nearer.

    ``vectors`` replaces codes; any additive term of a score (as in a squared distance)
    is a further coordinate. Tables mark such methods as not Hamming codes and give their
    ``item_bytes``, which the method states.

    Attributes
    ----------
    vectors_ : (n, p) array, or a list of one such array per view, or absent
        Database vectors learned for the training rows, where the method has them.
    """

    vectors_: Matrix | list[Matrix]

    hamming: ClassVar[bool] = False

    @abstractmethod
    def vectors(self, X: Any, view: int | str, role: Literal["query", "database"]) -> Matrix:
        """Return the (n, p) float32 vectors of rows of one view, in one role."""

    @property
    @abstractmethod
    def item_bytes(self) -> float:
        """Bytes that one database item takes in an index."""

    def encode(self, X: Any, view: int | str) -> Bits:
        """Raise an error: there are no codes."""
        raise HashbenchError(f"{self.name}: has no binary codes; it compares vectors")
