"""What the harness relies on in a dataset, as checks that any dataset can be put through.

The counterpart of :mod:`hashbench.checks.methods`. Each check is a function of a dataset and of the
data it has loaded that raises ``AssertionError`` with a sentence, or an error of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from hashbench.checks.methods import CheckResult, attempt
from hashbench.core.validation import BLOCK_ROWS
from hashbench.data import isolated_reading, preprocessing
from hashbench.data.prepare import check_data
from hashbench.plugins.dataset import Data, Dataset, array_parts

Check = Callable[[Dataset, Data], None]

CHECKS: dict[str, Check] = {}


def run_data_checks(cls: type[Dataset]) -> Iterator[CheckResult]:
    """Put a dataset, with its default parameters, through every check."""
    dataset = cls()
    loaded: list[Data] = []
    yield attempt("loads", lambda: loaded.append(isolated_reading.load(dataset)))
    if loaded:
        for name, check in CHECKS.items():
            yield attempt(name, partial(check, dataset, loaded[0]))


def _check(function: Check) -> Check:
    CHECKS[function.__name__.strip("_").replace("_", " ")] = function
    return function


@_check
def _views_and_labels_belong_together(dataset: Dataset, data: Data) -> None:
    check_data(data, dataset.name)


@_check
def _finite_numbers(dataset: Dataset, data: Data) -> None:
    for X, name in zip(data.views, data.view_names, strict=True):
        for part in array_parts(X):
            for start in range(0, len(part), BLOCK_ROWS):
                right = np.isfinite(part[start : start + BLOCK_ROWS]).all()
                assert right, f"view {name}: found NaN or infinite entries"


@_check
def _names_and_strings(dataset: Dataset, data: Data) -> None:
    classes, names = data.labels.shape[1], len(data.label_names)
    assert names in (0, classes), f"label_names: found {names}; allowed: {classes}, or none"
    for kind in (data.view_names, data.label_names):
        assert len(set(kind)) == len(kind), f"found a name twice in {', '.join(kind)}"
    if data.strings is not None:
        found = len(data.strings)
        assert found == data.n_rows, f"strings: found {found}; allowed: one a row ({data.n_rows})"


@_check
def _the_same_when_loaded_again(dataset: Dataset, data: Data) -> None:
    again = isolated_reading.load(type(dataset)()).fingerprint
    assert again == data.fingerprint, "another load gives other data; draw from a fixed seed"


@_check
def _every_protocol(dataset: Dataset, data: Data) -> None:
    for name in dataset.protocols:
        first, again = (dataset.split(data, name, 0) for _ in range(2))
        assert first.hash == again.hash, f"protocol {name}: one seed gives two splits"
        dataset.split(data, name, 1)
        rows = np.concatenate([first.train, first.query, first.database])
        inside = rows.min() >= 0 and rows.max() < data.n_rows
        assert inside, f"protocol {name}: found rows outside 0 to {data.n_rows - 1}"


@_check
def _preprocessing(dataset: Dataset, data: Data) -> None:
    steps = preprocessing.steps_by_view(dataset.preprocessing, data.view_names)
    train = dataset.split(data, dataset.default_protocol(), 0).train
    for step, X, name in zip(steps, data.views, data.view_names, strict=True):
        transform = preprocessing.fit(step, X, train)
        for block in preprocessing.blocks(transform, X, train):
            assert np.isfinite(block).all(), f"view {name}: {step} gives NaN or infinite entries"
