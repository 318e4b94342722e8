"""From recognised variables to a dataset: rows turned the right way, parts joined, labels 0/1.

What was recognised goes into the notes of the data, because a guess must be seen to be trusted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from hashbench.base.errors import HashbenchError
from hashbench.base.validation import check_labels, check_matrix, dense
from hashbench.data.layouts.table import ROLES, Recognised, files_of, recognise
from hashbench.data.layouts.variables import Variable, Variables
from hashbench.plugins.dataset import Data, Rows


def load_file(path: Path, chosen: Mapping[str, str] | None = None) -> Data:
    """Read a dataset from a file, or from the files of one matrix each around it.

    Parameters
    ----------
    path : a file, or a folder with one file a matrix
    chosen : role ("image", "text", "labels") -> variable, where the layout is not to decide
    """
    return load_files(files_of(path), chosen)


def load_files(paths: Sequence[Path], chosen: Mapping[str, str] | None = None) -> Data:
    """Read a dataset from files that belong together; see :func:`load_file`."""
    variables = Variables(paths)
    found = recognise(variables, chosen or {})
    pieces = {part: _read_part(names, variables, found) for part, names in found.parts.items()}
    file = paths[0].name
    image, text = (
        _stack([views[k] for *views, _ in pieces.values()], role, file)
        for k, role in enumerate(ROLES[:2])
    )
    labels, kind = _multi_hot([labels for *_, labels in pieces.values()], file)
    return Data(
        [image, text],
        check_labels(labels, image.shape[0]),
        given=_given(pieces, variables, found),
        notes=_notes(paths, variables, found, labels, kind),
    )


def _read_part(names: Sequence[str], variables: Variables, found: Recognised) -> list[Any]:
    """Return image, text and labels of one part with a row an item."""
    values = [_numbers(name, variables[name], variables.paths[0].name) for name in names]
    image, text, labels = values
    axis = 1 if found.items_are_columns else 0
    if 1 in labels.shape:
        counts = [labels.size, labels.shape[axis]]  # class numbers, or a single item's classes
    else:
        # There are more items than classes: what else would tell a transposed matrix?
        counts = [labels.shape[axis]]
        if labels.shape[1 - axis] > labels.shape[axis]:
            counts.append(labels.shape[1 - axis])
    for n in counts:
        if n > 0 and n in image.shape and n in text.shape:
            return [_rows_first(X, n, axis) for X in values]
    shapes = ", ".join(f"{name} {variables[name]}" for name in names)
    raise HashbenchError(
        f"{variables.paths[0].name}: found {shapes}; all three must have the same number of rows"
    )


def _numbers(name: str, variable: Variable, file: str) -> Any:
    if not variable.is_numbers or len(variable.shape) not in (1, 2):
        raise HashbenchError(f"{file}: {name}: found {variable}; allowed: a matrix of numbers")
    value = variable.read()
    if len(variable.shape) == 1:
        value = value[:, None]
    if 0 in value.shape:
        raise HashbenchError(f"{file}: {name}: found {variable}; at least one row and one column")
    return value


def _rows_first(X: Any, n: int, axis: int) -> Any:
    rows_at = axis if X.shape[axis] == n else 1 - axis
    return X if rows_at == 0 else X.T


def _stack(parts: Sequence[Any], role: str, file: str) -> Any:
    columns = [X.shape[1] for X in parts]
    if len(set(columns)) > 1:
        raise HashbenchError(
            f"{file}: {role}: found {columns} columns; must be equal in every part"
        )
    if all(scipy.sparse.issparse(X) for X in parts):
        whole = scipy.sparse.vstack(parts, format="csr").astype(np.float32)
        check_matrix(whole.data[:, None], f"{file}: {role}, entries that are not zero")
        return whole
    checked = [check_matrix(X, f"{file}: {role}") for X in parts]
    # MATLAB stores columns together; every pass of ours is over rows.
    whole = np.empty((sum(map(len, checked)), columns[0]), np.result_type(*checked))
    return np.concatenate(checked, out=whole)


def _multi_hot(parts: Sequence[Any], file: str) -> tuple[npt.NDArray[Any], str]:
    """Return labels with a column a class, and how the file wrote them."""
    arrays = [np.asarray(dense(labels)) for labels in parts]
    if len({labels.shape[1] for labels in arrays}) > 1:
        widths = [labels.shape[1] for labels in arrays]
        raise HashbenchError(f"{file}: labels: found {widths} columns; must be equal in every part")
    labels = np.concatenate(arrays)
    if not np.isfinite(labels).all():
        raise HashbenchError(f"{file}: labels: found nan; allowed: 0 and 1, or whole class numbers")
    if labels.shape[1] > 1:
        odd = labels[(labels != 0) & (labels != 1)]
        if odd.size:
            raise HashbenchError(
                f"{file}: labels: found {odd[0]}; allowed: 0 and 1, or a column of class numbers"
            )
        if not labels.any():
            raise HashbenchError(f"{file}: labels: found 0 only; at least one row with a label")
        return labels, "one-hot" if (labels.sum(axis=1) == 1).all() else "multi-hot"
    if (labels % 1 != 0).any():
        raise HashbenchError(f"{file}: labels: found fractions; allowed: whole class numbers")
    classes, index = np.unique(labels.ravel(), return_inverse=True)
    return np.eye(len(classes), dtype=np.uint8)[index], "class numbers"


def _given(
    pieces: Mapping[str, list[Any]], variables: Variables, found: Recognised
) -> dict[str, Rows]:
    if "query" in pieces:
        ends = np.cumsum([0, *(labels.shape[0] for *_, labels in pieces.values())])
        return {part: np.arange(ends[k], ends[k + 1]) for k, part in enumerate(pieces)}
    given = {}
    n = pieces["all"][2].shape[0]
    for part, name in found.indices.items():
        given[part] = np.asarray(variables[name].read(), np.intp).ravel() - 1
        if not ((given[part] >= 0) & (given[part] < n)).all():
            raise HashbenchError(f"{variables.paths[0].name}: {name}: allowed: rows from 1 to {n}")
    return given


def _notes(
    paths: Sequence[Path],
    variables: Variables,
    found: Recognised,
    labels: npt.NDArray[Any],
    kind: str,
) -> list[str]:
    names = zip(*found.parts.values(), strict=True)
    said = [f"{role}={'+'.join(used)}" for role, used in zip(ROLES, names, strict=True)]
    where = ", ".join(path.name for path in paths)
    notes = [
        f"{where}: {found.layout} layout, {', '.join(said)}; {labels.shape[1]} classes ({kind})"
    ]
    if found.unused:
        others = ", ".join(f"{name} ({variables[name]})" for name in found.unused)
        notes.append(f"{where}: not used: {others}")
    return notes
