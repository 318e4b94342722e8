"""Measure how far rounding moves a score: every method on features with changed last digits.

``python -m research.sensitivity`` fits each method on emoji at 16 bits, on the features as they are
and on features whose entries are changed by a part of themselves no larger than rounding: one in
10^12 of float64, and half a unit in the last place of float32. It writes the largest change of AP
over tasks and draws to ``hashbench/resources/sensitivity.csv``, which ``hashbench show`` and the
tables read.

``python -m research.sensitivity --kernels OUT OTHER...`` adds the effect of the order of
sums: the largest difference of a score between folders of the default study, each computed with
the kernels of another processor (``OPENBLAS_CORETYPE=Nehalem hashbench run -o OTHER``).
"""

from __future__ import annotations

import argparse
import tempfile
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from hashbench.core.records import to_json
from hashbench.data.prepare import DataSpec, Prepared, load_dataset, prepare_split
from hashbench.data.preprocessing import steps_by_view
from hashbench.data.splits import StoredSplit
from hashbench.execution.cell import random_state
from hashbench.execution.compute_cell import checked, encode
from hashbench.execution.scoring import encoded_scores
from hashbench.plugins.registry import discover

RECORD = Path(__file__).resolve().parent.parent / "hashbench" / "resources" / "sensitivity.csv"
BITS = 16
DRAWS = 2

#: Largest relative change of an entry: far below what any measurement means, far above rounding;
#: and half a unit in the last place.
CHANGES = {"float64": 1e-12, "float32": 2.0**-24}


def rows(folder: Path) -> tuple[Prepared, StoredSplit]:
    """Return the split of emoji that seed 0 gives, as methods see it."""
    registry = discover([])
    spec, request = DataSpec("emoji"), {"protocol": {"name": "random"}, "seed": 0}
    facts = load_dataset(registry, folder, folder, to_json(spec), [request])
    steps = steps_by_view(spec.make(registry).preprocessing, facts["views"])
    arguments = (to_json(spec), facts["fingerprint"], request, steps, "split")
    prepare_split(registry, folder, folder, *arguments)
    return Prepared.open(folder / "split"), StoredSplit.load(folder / "split" / "split.npz")


def changed(prepared: Prepared, dtype: str, seed: int | None) -> Prepared:
    """Return the rows in a precision, as they are or changed by rounding."""
    rng = np.random.default_rng(seed)
    done: dict[int, Any] = {}

    def change(X: Any) -> Any:
        if id(X) not in done:
            values = np.asarray(X, dtype)
            if seed is not None:
                noise = rng.uniform(-CHANGES[dtype], CHANGES[dtype], values.shape)
                values = (values.astype(np.float64) * (1 + noise)).astype(dtype)
            done[id(X)] = values
        return done[id(X)]

    parts = {part: [change(X) for X in getattr(prepared, part)] for part in PARTS}
    return replace(prepared, **parts)


PARTS = ("train", "query", "database")


def score(name: str, prepared: Prepared, split: StoredSplit) -> np.ndarray:
    """Return the AP of a method by task."""
    cls = discover([]).methods[name].cls
    method = cls(n_bits=BITS, random_state=random_state(0))
    labels = prepared.train_labels if method.supervised else None
    method.fit(list(prepared.train), labels)
    codes = checked(encode(method, prepared, BITS), prepared)
    return np.array(list(encoded_scores(codes, split, "AP").values()))


def spread(folders: Sequence[Path]) -> pd.Series[float]:
    """Return the largest difference of a score by method between folders of the same study."""
    keys = ["dataset", "method", "params", "bits", "seed", "task", "database", "measure"]
    scores = pd.DataFrame(
        {
            str(folder): pd.read_csv(folder / "results.csv", keep_default_na=False).set_index(keys)[
                "value"
            ]
            for folder in folders
        }
    )
    return (scores.max(axis=1) - scores.min(axis=1)).groupby("method").max()


def main() -> None:
    """Measure all methods that take no network, or those named, and write the record."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("methods", nargs="*")
    parser.add_argument("--kernels", nargs="+", type=Path, metavar="OUT")
    arguments = parser.parse_args()
    if arguments.kernels:
        known = pd.read_csv(RECORD, index_col="method")
        known["kernels"] = spread(arguments.kernels).round(5)
        known.to_csv(RECORD, float_format="%.5f")
        return
    methods = discover([]).methods
    names = arguments.methods or [n for n, p in methods.items() if not p.cls.requires]
    known = pd.read_csv(RECORD, index_col="method") if RECORD.exists() else pd.DataFrame()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        prepared, split = rows(Path(folder))
        for name in sorted(names):
            moved = {}
            for dtype in CHANGES:
                base = score(name, changed(prepared, dtype, None), split)
                draws = [score(name, changed(prepared, dtype, k), split) for k in range(DRAWS)]
                moved[dtype] = float(np.abs(np.array(draws) - base).max())
            print(name, {key: round(value, 5) for key, value in moved.items()}, flush=True)
            known.loc[name, list(moved)] = [round(value, 5) for value in moved.values()]
            known.sort_index().fillna(0).to_csv(RECORD, float_format="%.5f", index_label="method")


if __name__ == "__main__":
    main()
