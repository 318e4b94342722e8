"""What the harness relies on, as checks that any method can be put through.

``hashbench check`` runs them for a user's plugin and the test suite for every built-in one: the
rules are the same. Each check takes a :class:`Subject` and raises ``AssertionError`` with a
sentence, or an error of the method's own. Checks of ordinary data share one fit.
"""

from __future__ import annotations

import contextlib
import inspect
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import scipy

from hashbench.core.errors import DeclinedError, HashbenchError
from hashbench.neural.method import TorchMethod
from hashbench.plugins.allowed import Bounds, allowed_values
from hashbench.plugins.method import Method, VectorMethod
from hashbench.plugins.space import end_points

MethodClass = type[Any]


@dataclass
class Subject:
    """The method class that is checked, and one fit on ordinary data."""

    cls: MethodClass

    @cached_property
    def data(self) -> tuple[list[np.ndarray[Any, Any]], np.ndarray[Any, Any]]:
        """Views and labels, read-only as the memory maps of a run are."""
        views, labels = toy()
        for array in (*views, labels):
            array.flags.writeable = False
        return views, labels

    @cached_property
    def fitted(self) -> Method:
        """The method fitted on the data, from one seed."""
        return _fit(self.cls, *self.data)


Check = Callable[[Subject], None]

CHECKS: dict[str, Check] = {}

N_BITS = 8


@dataclass(frozen=True)
class CheckResult:
    """One check of one plugin: passed, failed, or declined by a method with a reason."""

    check: str
    status: str
    message: str = ""


def run_checks(cls: MethodClass) -> Iterator[CheckResult]:
    """Put a method through every check, one outcome after another."""
    subject = Subject(cls)
    for name, check in CHECKS.items():
        yield attempt(name, partial(check, subject))


def attempt(name: str, check: Callable[[], None]) -> CheckResult:
    """Call a check and say how it ended."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            check()
    except DeclinedError as error:
        return CheckResult(name, "declined", str(error))
    except (AssertionError, HashbenchError) as error:
        return CheckResult(name, "failed", str(error))
    except Exception as error:  # whatever the plugin raises is the finding
        hint = "; fit and encode must not change their input" if "read-only" in str(error) else ""
        return CheckResult(name, "failed", f"{type(error).__name__}: {error}{hint}")
    return CheckResult(name, "passed")


def _check(function: Check) -> Check:
    CHECKS[function.__name__.strip("_").replace("_", " ")] = function
    return function


def toy(
    n: int = 60,
    dims: tuple[int, ...] = (12, 8),
    classes: int = 4,
    multilabel: bool = False,
    dtype: Any = np.float64,
    seed: int = 0,
) -> tuple[list[np.ndarray[Any, Any]], np.ndarray[Any, Any]]:
    """Return small views that depend on their labels."""
    rng = np.random.default_rng(seed)
    labels = np.zeros((n, classes), np.uint8)
    labels[np.arange(n), rng.integers(classes, size=n)] = 1
    if multilabel:
        labels |= (rng.random((n, classes)) < 0.3).astype(np.uint8)
    views = [
        (labels @ rng.standard_normal((classes, d)) + 0.5 * rng.standard_normal((n, d))).astype(
            dtype
        )
        for d in dims
    ]
    return views, labels


def _outputs(method: Method, views: list[Any]) -> list[np.ndarray[Any, Any]]:
    """Everything that a fitted method says about the rows of the views."""
    if isinstance(method, VectorMethod):
        return [
            method.vectors(X, view, role)
            for view, X in enumerate(views)
            for role in ("query", "database")
        ]
    return [method.encode(X, view) for view, X in enumerate(views)]


def _assert_sound(method: Method, views: list[Any], n_bits: int) -> None:
    """Assert that codes or vectors have the right shape and values."""
    n = views[0].shape[0]
    for output in _outputs(method, views):
        if isinstance(method, VectorMethod):
            assert output.shape[0] == n, f"found {output.shape[0]} vectors for {n} rows"
            assert np.isfinite(output).all(), "vectors are not finite"
        else:
            _assert_codes(output, n, n_bits, "encode")
    learned = getattr(method, "codes_", None)
    if learned is not None and not isinstance(method, VectorMethod):
        for codes in learned if isinstance(learned, list) else [learned]:
            _assert_codes(codes, n, n_bits, "codes_")
    assert np.isfinite(getattr(method, "objective_", [])).all(), "objective_ is not finite"


def _assert_codes(codes: Any, n: int, n_bits: int, what: str) -> None:
    assert isinstance(codes, np.ndarray), f"{what}: found {type(codes).__name__}, not an array"
    assert codes.dtype == bool, f"{what}: found {codes.dtype}; allowed: bool"
    assert codes.shape == (n, n_bits), f"{what}: found {codes.shape}; allowed: {(n, n_bits)}"


def _cheap(cls: MethodClass) -> dict[str, Any]:
    """Return parameters for a short fit: the rules hold after two epochs of a network, too."""
    return {"epochs": 2} if issubclass(cls, TorchMethod) and "epochs" in cls.defaults() else {}


def _fit(
    cls: MethodClass, views: Any, labels: Any, n_bits: int = N_BITS, **parameters: Any
) -> Method:
    """Fit a method for a short time; assert that fit returns self."""
    settings = {**_cheap(cls), **parameters}
    method: Method = cls(n_bits=n_bits, random_state=0, **settings)
    assert method.fit(views, labels) is method, "fit must return self"
    return method


def _check_fit(cls: MethodClass, views: list[Any], labels: Any, n_bits: int = N_BITS) -> None:
    _assert_sound(_fit(cls, views, labels, n_bits), views, n_bits)


@_check
def _class_attributes(subject: Subject) -> None:
    cls = subject.cls
    assert isinstance(cls.name, str), "name must be a string"
    assert cls.name, "name is empty"
    assert isinstance(cls.supervised, bool), "supervised must be True or False"


@_check
def _parameters(subject: Subject) -> None:
    from sklearn.base import clone

    cls = subject.cls
    parameters = inspect.signature(cls.__init__).parameters
    for name in ("n_bits", "random_state"):
        assert name in parameters, f"__init__ has no parameter {name}"
    for name, parameter in parameters.items():
        if name != "self":
            assert parameter.default is not inspect.Parameter.empty, f"{name} has no default"
    method = cls(n_bits=5, random_state=3)
    assert set(vars(method)) == set(method.get_params()), "__init__ must store its parameters alone"
    copied = clone(method)
    assert copied.get_params() == method.get_params(), "clone changes parameters"


@_check
def _scikit_learn_rules(subject: Subject) -> None:
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    views, labels = subject.data
    method = subject.cls(n_bits=N_BITS, random_state=0).set_params(**_cheap(subject.cls))
    with contextlib.suppress(NotFittedError):
        check_is_fitted(method)
        raise AssertionError(
            "a new object counts as fitted: __init__ sets an attribute ending in _"
        )
    before = method.get_params()
    method.fit(views, labels)
    check_is_fitted(method)
    for name, value in method.get_params().items():
        assert value is before[name], f"fit changed the parameter {name}"


@_check
def _ordinary_data(subject: Subject) -> None:
    _assert_sound(subject.fitted, subject.data[0], N_BITS)


@_check
def _multi_label_data(subject: Subject) -> None:
    _check_fit(subject.cls, *toy(multilabel=True))


@_check
def _float32_data(subject: Subject) -> None:
    _check_fit(subject.cls, *toy(dtype=np.float32))


@_check
def _three_views(subject: Subject) -> None:
    _check_fit(subject.cls, *toy(dims=(12, 8, 5)))


@_check
def _sparse_text(subject: Subject) -> None:
    views, labels = toy()
    dense = [views[0], np.where(views[1] > 0.5, 1.0, 0.0)]
    expected = _outputs(_fit(subject.cls, dense, labels), dense)
    mixed = [dense[0], scipy.sparse.csr_matrix(dense[1])]
    found = _outputs(_fit(subject.cls, mixed, labels), mixed)
    for ours, theirs in zip(found, expected, strict=True):
        assert np.array_equal(ours, theirs), "sparse and dense text give different codes"


@_check
def _repeatable_by_seed(subject: Subject) -> None:
    views, labels = subject.data
    first = _outputs(subject.fitted, views)
    method = _fit(subject.cls, views, labels)
    for one, other in zip(first, _outputs(method, views), strict=True):
        assert np.array_equal(one, other), "two fits with one random_state give different codes"
    method.fit(views, labels)
    for one, other in zip(first, _outputs(method, views), strict=True):
        assert np.array_equal(one, other), "fitting twice gives other codes than fitting once"


@_check
def _inputs_not_modified(subject: Subject) -> None:
    _outputs(subject.fitted, subject.data[0])  # raises where read-only arrays are written to
    views, labels = toy()
    for array, copy in zip((*subject.data[0], subject.data[1]), (*views, labels), strict=True):
        assert np.array_equal(array, copy), "fit or encode changed its input"


@_check
def _rows_encoded_alone(subject: Subject) -> None:
    views, method = subject.data[0], subject.fitted
    for whole, single in zip(
        _outputs(method, views), _outputs(method, [X[:1] for X in views]), strict=True
    ):
        same = (
            np.allclose(whole[:1], single, atol=1e-5)
            if whole.dtype != bool
            else (
                (whole[:1] == single).mean() >= 0.85  # rounding may turn a bit that is nearly zero
            )
        )
        assert same, "the code of a row depends on the rows encoded with it"


@_check
def _one_bit_and_33(subject: Subject) -> None:
    views, labels = subject.data
    for n_bits in (1, 33):
        try:
            _check_fit(subject.cls, views, labels, n_bits)
        except DeclinedError:
            continue
        except Exception as error:
            raise AssertionError(f"at {n_bits} bits: {type(error).__name__}: {error}") from error


@_check
def _one_row(subject: Subject) -> None:
    _check_fit(subject.cls, *toy(n=1))


@_check
def _fewer_rows_than_columns(subject: Subject) -> None:
    _check_fit(subject.cls, *toy(n=10, dims=(40, 30)))


@_check
def _fewer_rows_than_bits(subject: Subject) -> None:
    _check_fit(subject.cls, *toy(n=10), n_bits=16)


@_check
def _constant_and_duplicate_columns(subject: Subject) -> None:
    views, labels = toy()
    views = [np.hstack([X, X[:, :2], np.ones((len(X), 1)), np.zeros((len(X), 1))]) for X in views]
    _check_fit(subject.cls, views, labels)


@_check
def _constant_views(subject: Subject) -> None:
    views, labels = toy()
    _check_fit(subject.cls, [np.ones_like(X) for X in views], labels)


@_check
def _duplicate_rows(subject: Subject) -> None:
    views, labels = toy(n=20)
    _check_fit(subject.cls, [np.repeat(X, 3, axis=0) for X in views], np.repeat(labels, 3, axis=0))


@_check
def _empty_classes_and_unlabelled_rows(subject: Subject) -> None:
    views, labels = toy()
    labels[:5] = 0
    _check_fit(subject.cls, views, np.hstack([labels, np.zeros((len(labels), 1), np.uint8)]))


@_check
def _one_class(subject: Subject) -> None:
    views, labels = toy()
    _check_fit(subject.cls, views, np.ones((len(labels), 1), np.uint8))


@_check
def _scaled_features(subject: Subject) -> None:
    views, labels = toy()
    for scale in (1e-4, 1e4):
        _check_fit(subject.cls, [X * scale for X in views], labels)


@_check
def _ends_of_ranges(subject: Subject) -> None:
    views, labels = toy()
    ends = [
        {name: end}
        for name, values in allowed_values(subject.cls).items()
        for end in (values.ends if isinstance(values, Bounds) else values.values)
    ]
    for settings in (*end_points(subject.cls.space), *ends):
        ((name, value),) = settings.items()
        try:
            _assert_sound(_fit(subject.cls, views, labels, **settings), views, N_BITS)
        except DeclinedError:
            continue
        except Exception as error:
            raise AssertionError(f"at {name}={value}: {type(error).__name__}: {error}") from error


@_check
def _clear_errors(subject: Subject) -> None:
    views, labels = toy()
    broken = views[0].copy()
    broken[3, 2] = np.nan
    cases: dict[str, tuple[Any, Any, int]] = {
        "NaN in a view": ([broken, views[1]], labels, 8),
        "views of different length": ([views[0][:-1], views[1]], labels, 8),
        "one view": ([views[0]], labels, 8),
        "no rows": ([X[:0] for X in views], labels[:0], 8),
        "no bits": (views, labels, 0),
        "text instead of numbers": ([views[0], views[1].astype(str)], labels, 8),
    }
    if subject.cls.supervised:
        cases["labels of another length"] = (views, labels[:-1], 8)
        cases["labels other than 0 and 1"] = (views, 2 * labels, 8)
        cases["no labels"] = (views, None, 8)
    for what, (bad_views, bad_labels, n_bits) in cases.items():
        message = _error_message(lambda: _fit(subject.cls, bad_views, bad_labels, n_bits))  # noqa: B023
        assert message is not None, f"{what}: no error"
        assert "\n" not in message, f"{what}: the message has several lines"


def _error_message(attempt: Callable[[], object]) -> str | None:
    try:
        attempt()
    except HashbenchError as error:
        return str(error)
    return None
