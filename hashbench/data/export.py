"""Write datasets and splits to files that other programs can read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hashbench.core.errors import HashbenchError
from hashbench.core.io import save_arrays
from hashbench.core.validation import dense
from hashbench.data import isolated_reading, preprocessing
from hashbench.data.prepare import SplitRequest, check_data, make_split
from hashbench.data.splits import split_name
from hashbench.plugins.dataset import Data, Dataset, Split
from hashbench.plugins.protocol import Protocol


def write_data(data: Data, path: Path) -> None:
    """Write a dataset to an .npz or a .mat file that `run -d` reads."""
    views = {name: dense(X) for name, X in zip(data.view_names, data.views, strict=True)}
    _write(path, _arrays(data, views, dict(data.given)))


def export_split(
    dataset: Dataset, protocol: Protocol, preprocess: str | Sequence[str], seed: int, stem: Path
) -> tuple[list[Path], Split]:
    """Write a split to STEM.npz and STEM.mat; features are preprocessed as methods see them."""
    data = isolated_reading.load(dataset)
    check_data(data, dataset.name)
    split = make_split(dataset, data, SplitRequest(protocol, seed))
    everything = np.arange(data.n_rows)
    views = {}
    steps = preprocessing.steps_by_view(preprocess, data.view_names)
    for name, X, chosen in zip(data.view_names, data.views, steps, strict=True):
        transform = preprocessing.fit(chosen, X, split.train)
        views[name] = np.concatenate(list(preprocessing.blocks(transform, X, everything)))
    rows = {part: getattr(split, part) for part in ("train", "query", "database")}
    arrays = _arrays(data, views, rows)
    arrays["split"] = np.asarray(split_name(data.fingerprint, split))
    files = [stem.with_name(stem.name + ending) for ending in (".npz", ".mat")]
    for path in files:
        _write(path, arrays)
    return files, split


def _arrays(data: Data, views: dict[str, Any], rows: dict[str, Any]) -> dict[str, Any]:
    arrays = {**views, "labels": np.asarray(data.labels, np.uint8), **rows}
    arrays["view_names"] = np.asarray(data.view_names, np.str_)
    if data.label_names:
        arrays["label_names"] = np.asarray(data.label_names, np.str_)
    if data.strings is not None:
        arrays["strings"] = np.asarray([str(each) for each in data.strings], np.str_)
    return arrays


def _write(path: Path, arrays: dict[str, Any]) -> None:
    """Write arrays; a MATLAB file counts rows from 1, as its readers do, and says so."""
    if path.suffix == ".npz":
        save_arrays(path, {**arrays, "first_row": np.asarray(0)})
    elif path.suffix == ".mat":
        import scipy.io

        parts = ("train", "query", "database")
        counted: dict[str, Any] = {part: arrays[part] + 1 for part in parts if part in arrays}
        text = {k: v for k, v in arrays.items() if k not in ("label_names", "strings")}
        scipy.io.savemat(path, {**text, **counted, "first_row": 1}, oned_as="column")
    else:
        raise HashbenchError(f"{path}: found {path.suffix or 'no ending'}; allowed: .npz, .mat")
