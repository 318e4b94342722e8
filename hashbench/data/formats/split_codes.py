"""Codes of a whole split in one file: queries and database, one code per view.

One form for ``hashbench evaluate`` and for external methods: hashbench's own ``codes.npz``, the
names of :mod:`code_files`, and the result files of papers on CLIP features.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hashbench.core.codes import as_codes
from hashbench.core.errors import HashbenchError
from hashbench.core.validation import class_columns
from hashbench.data.formats.code_variables import codes_by_view, find_labels
from hashbench.data.formats.variables import Variables
from hashbench.data.splits import StoredSplit
from hashbench.measures.labels import label_words

Array = npt.NDArray[Any]

PARTS = ("query", "database")

#: Times that a file may tell, by the phase that records call them.
SECONDS = {"fit_seconds": "fit", "encode_seconds": "encode"}


@dataclass(frozen=True)
class SplitCodes:
    """The codes of a split, with what else their file contains.

    Attributes
    ----------
    path : the file
    codes : part -> codes of each view, as the file has them
    bits : what the file says of their length, if it does
    split : the name of the split, or nothing
    rows, labels : by part, where the file has them
    seconds : by phase
    """

    path: Path
    codes: Mapping[str, Sequence[Array]]
    bits: int | None
    split: str
    rows: Mapping[str, Array]
    labels: Mapping[str, Array]
    seconds: Mapping[str, float]

    @classmethod
    def read(cls, path: Path, views: Sequence[str]) -> SplitCodes:
        """Read a file of codes for these views."""
        variables = Variables([path])
        codes = {}
        for part in PARTS:
            names = codes_by_view(variables, part, views)
            codes[part] = [np.asarray(variables[name].read()) for name in names]
        first = int(_read_number(variables, "first_row") or 0)
        rows = {
            part: np.ravel(variables[name].read()).astype(np.intp) - first
            for part in PARTS
            for name in (part, f"{part}_rows")
            if name in variables and variables[name].is_numbers
        }
        seconds = {
            phase: value
            for name, phase in SECONDS.items()
            if (value := _read_number(variables, name)) is not None
        }
        bits = _read_number(variables, "n_bits")
        split = str(np.ravel(variables["split"].read())[0]) if "split" in variables else ""
        labels = {part: _flat_labels(array) for part, array in find_labels(variables).items()}
        return cls(path, codes, None if bits is None else int(bits), split, rows, labels, seconds)

    def as_bits(self, part: str, bits: int) -> list[npt.NDArray[np.bool_]]:
        """Return the codes of "query" or "database", one array per view."""
        if self.bits is not None and self.bits != bits:
            raise HashbenchError(f"{self.path.name}: found {self.bits} bits; allowed: {bits}")
        what = f"{self.path.name}: {part} codes"
        return [as_codes(array, bits, what=what) for array in self.codes[part]]

    def check_split(self, name: str, split: StoredSplit) -> None:
        """Refuse codes of other rows than those of the split."""
        if self.split:
            if self.split != name:
                raise HashbenchError(
                    f"{self.path.name}: found codes of the split {self.split}; allowed: {name}"
                )
            return
        if len(self.rows) == len(PARTS):
            for part in PARTS:
                if not np.array_equal(self.rows[part], getattr(split, part)):
                    raise HashbenchError(
                        f"{self.path.name}: found other {part} rows than those of the split {name}"
                    )
            return
        if len(self.labels) != len(PARTS):
            raise HashbenchError(
                f"{self.path.name}: found nothing that says whose codes these are; allowed: split "
                "(as `hashbench data export` writes it), row numbers (query and database), or "
                "labels (q_l and r_l)"
            )
        query, database = label_words(self.labels["query"], self.labels["database"])
        right = np.array_equal(query, split.query_labels) and np.array_equal(
            database, split.database_labels
        )
        if not right:
            raise HashbenchError(
                f"{self.path.name}: found other labels, row by row, than those of the split {name}"
            )


def _read_number(variables: Variables, name: str) -> float | None:
    if name not in variables or not variables[name].is_numbers:
        return None
    return float(np.ravel(variables[name].read())[0])


def _flat_labels(labels: Any) -> Array:
    array = np.asarray(labels)
    if array.ndim == 2 and 1 in array.shape:
        array = array.ravel()
    return class_columns(array)[0] if array.dtype.kind not in "biuf" else array
