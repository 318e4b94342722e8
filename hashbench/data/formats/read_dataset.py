"""Read a dataset: choose variables, turn items into rows, concatenate parts, make labels 0/1.

The chosen variables are listed in the notes of the data, so that a wrong guess is visible.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy
from sklearn.preprocessing import MultiLabelBinarizer

from hashbench.core.errors import HashbenchError
from hashbench.core.validation import check_labels, check_matrix, dense, numbered_classes
from hashbench.data.formats.file_groups import files_of
from hashbench.data.formats.file_variable import Variable
from hashbench.data.formats.known_layouts import NO_LABELS, Recognised, recognise
from hashbench.data.formats.variables import File, Variables
from hashbench.plugins.dataset import ContactSheet, Data
from hashbench.plugins.protocol import Rows


def load_file(path: str | Path, chosen: Mapping[str, str] | None = None) -> Data:
    """Read a dataset from a file, or from several that belong together.

    Parameters
    ----------
    path : a file, a folder with one file per matrix or part, or ``role:file,...``
    chosen : role ("image", "text", "labels", or "views") -> variable to use instead of the
        layout's
    """
    return load_files(files_of(path), chosen)


def load_files(files: Sequence[Path | File], chosen: Mapping[str, str] | None = None) -> Data:
    """Read a dataset from files that belong together; see :func:`load_file`."""
    variables = Variables(files)
    found = recognise(variables, chosen or {})
    pieces = {part: _read_part(names, variables, found) for part, names in found.parts.items()}
    file = variables.paths[0].name
    views = [
        _stack([values[k] for values in pieces.values()], role, file)
        for k, role in enumerate(found.views)
    ]
    labels, kind, names = _multi_hot([values[-1] for values in pieces.values()], file)
    return Data(
        views,
        check_labels(labels, views[0].shape[0]),
        view_names=found.views,
        label_names=_texts("label_names", variables, found, labels.shape[1]) or names,
        strings=_texts("strings", variables, found, len(labels)) or None,
        pictures=_thumbnails(variables, found, len(labels)),
        recipe="".join(_texts("recipe", variables, found, 1)),
        given=_given_rows(pieces, variables, found),
        notes=_layout_notes(variables, found, labels, kind),
    )


def _texts(name: str, variables: Variables, found: Recognised, count: int) -> tuple[str, ...]:
    """Return the texts that hashbench's own files may have; empty if missing or incomplete."""
    if found.name != "hashbench" or name not in variables or variables[name].kind != "char":
        return ()
    texts = tuple(map(str, np.ravel(variables[name].read())))
    return texts if len(texts) == count else ()


def _thumbnails(variables: Variables, found: Recognised, count: int) -> ContactSheet | None:
    """Return the small pictures that `hashbench data embed --thumbnails` stores."""
    if found.name != "hashbench" or "thumbnails" not in variables:
        return None
    columns = math.ceil(math.sqrt(count))
    png = np.asarray(variables["thumbnails"].read(), np.uint8).tobytes()
    return ContactSheet(png, int(np.ravel(variables["thumbnail_size"].read())[0]), columns)


def _read_part(names: Sequence[str], variables: Variables, found: Recognised) -> list[Any]:
    """Return the views and the labels of one part with one row per item."""
    file = variables.paths[0].name
    views = [_read_matrix(name, variables[name], file) for name in names[:-1]]
    axis = 1 if found.items_are_columns else 0
    # `hashbench data embed` writes no columns for items without labels
    columns = variables[names[-1]].shape[1:] if names[-1] in variables else (0,)
    if names[-1] == NO_LABELS or (found.name == "hashbench" and columns == (0,)):
        labels = np.zeros((views[0].shape[axis], 0), np.uint8)
    else:
        labels = _labels(names[-1], variables[names[-1]], file)
    if not labels.shape[1]:
        counts = [labels.shape[0]]
    elif 1 in labels.shape:
        counts = [labels.size, labels.shape[axis]]  # class numbers, or a single item's classes
    else:
        # A matrix with more columns than rows is transposed: items outnumber classes.
        counts = [labels.shape[axis]]
        if labels.shape[1 - axis] > labels.shape[axis]:
            counts.append(labels.shape[1 - axis])
    for n in counts:
        if n > 0 and all(n in X.shape for X in views):
            return [*(_rows_first(X, n, axis) for X in views), _rows_first(labels, n, axis)]
    shapes = ", ".join(f"{name} {variables.get(name, '')}" for name in names)
    number = "all three" if len(names) == 3 else f"all {len(names)}"
    raise HashbenchError(f"{file}: found {shapes}; {number} must have the same number of rows")


def _labels(name: str, variable: Variable, file: str) -> Any:
    if variable.kind == "char" and len(variable.shape) == 1 and variable.shape[0] > 0:
        return np.asarray(variable.read())[:, None]
    if variable.rows_are_lists:
        value = variable.read()
        if value.dtype.kind in "OU" or (value.dtype.kind in "iu" and (value > 1).any()):
            return _as_lists(value)
    return _read_matrix(name, variable, file)


def _as_lists(rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return one column of lists."""
    lists = np.empty((len(rows), 1), object)
    for k, row in enumerate(rows):
        lists[k, 0] = row if isinstance(row, list) else np.ravel(row).tolist()
    return lists


def _read_matrix(name: str, variable: Variable, file: str) -> Any:
    if not variable.is_numbers or len(variable.shape) not in (1, 2):
        raise HashbenchError(f"{file}: {name}: found {variable}; allowed: a matrix of numbers")
    value = variable.read()
    if len(variable.shape) == 1:
        value = value[:, None]
    if 0 in value.shape:
        raise HashbenchError(f"{file}: {name}: found {variable}; at least one row and one column")
    if value.dtype.kind not in "fiub":
        raise HashbenchError(f"{file}: {name}: found {value.dtype} entries; allowed: real numbers")
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
        sparse = scipy.sparse.vstack(parts, format="csr").astype(np.float32)
        check_matrix(sparse.data[:, None], f"{file}: {role}, entries that are not zero")
        return sparse
    checked = [check_matrix(X, f"{file}: {role}") for X in parts]
    # MATLAB stores columns together; methods and measures read rows.
    stacked = np.empty((sum(map(len, checked)), columns[0]), np.result_type(*checked))
    return np.concatenate(checked, out=stacked)


def _multi_hot(parts: Sequence[Any], file: str) -> tuple[npt.NDArray[Any], str, tuple[str, ...]]:
    """Return labels with one column per class, their form in the file, and names of classes."""
    arrays = [np.asarray(dense(labels)) for labels in parts]
    if any(labels.dtype.kind == "O" for labels in arrays):
        arrays = [labels if labels.dtype.kind == "O" else _as_lists(labels) for labels in arrays]
    if len({labels.shape[1] for labels in arrays}) > 1:
        widths = [labels.shape[1] for labels in arrays]
        raise HashbenchError(f"{file}: labels: found {widths} columns; must be equal in every part")
    labels = np.concatenate(arrays)
    if not labels.shape[1]:
        return labels, "no labels", ()
    if labels.dtype.kind == "O":
        encoder = MultiLabelBinarizer()
        columns = encoder.fit_transform(labels[:, 0]).astype(np.uint8)
        texts = tuple(name for name in encoder.classes_ if isinstance(name, str))
        return columns, "lists of classes", texts
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise HashbenchError(f"{file}: labels: found nan; allowed: 0 and 1, or whole class numbers")
    if labels.shape[1] > 1:
        odd = labels[(labels != 0) & (labels != 1)]
        if odd.size:
            raise HashbenchError(
                f"{file}: labels: found {odd[0]}; allowed: 0 and 1, or a column of class numbers"
            )
        if not labels.any():
            raise HashbenchError(f"{file}: labels: found 0 only; at least one row with a label")
        return labels, "one-hot" if (labels.sum(axis=1) == 1).all() else "multi-hot", ()
    if labels.dtype.kind == "f" and (labels % 1 != 0).any():
        raise HashbenchError(f"{file}: labels: found fractions; allowed: whole class numbers")
    try:
        columns, names = numbered_classes(labels)
    except HashbenchError as error:
        raise HashbenchError(f"{file}: {error}") from error
    if labels.dtype.kind in "fiub":
        return columns, "class numbers", ()
    return columns, "texts", names


def _given_rows(
    pieces: Mapping[str, list[Any]], variables: Variables, found: Recognised
) -> dict[str, Rows]:
    """Return the rows of each part of a split that the files give."""
    if "query" in pieces:
        ends = np.cumsum([0, *(values[-1].shape[0] for values in pieces.values())])
        return {
            part: np.arange(ends[k] + found.excluded.get(part, 0), ends[k + 1])
            for k, part in enumerate(pieces)
        }
    given = {}
    n, first = pieces["all"][-1].shape[0], found.first_row
    for part, name in found.indices.items():
        if not variables[name].is_numbers:
            raise HashbenchError(
                f"{variables.paths[0].name}: {name}: found {variables[name]}; allowed: row numbers"
            )
        given[part] = np.asarray(variables[name].read(), np.intp).ravel() - first
        if not ((given[part] >= 0) & (given[part] < n)).all():
            raise HashbenchError(
                f"{variables.paths[0].name}: {name}: allowed: rows from {first} to {n - 1 + first}"
            )
    return given


def _layout_notes(
    variables: Variables, found: Recognised, labels: npt.NDArray[Any], kind: str
) -> list[str]:
    names = zip(*found.parts.values(), strict=True)
    roles = (*found.views, "labels")
    used = [f"{role}={'+'.join(each)}" for role, each in zip(roles, names, strict=True)]
    files = ", ".join(dict.fromkeys(path.name for path in variables.paths))
    notes = [f"{files}: {found.name} layout, {', '.join(used)}; {labels.shape[1]} classes ({kind})"]
    if found.unused:
        others = ", ".join(f"{name} ({variables[name]})" for name in found.unused)
        notes.append(f"{files}: not used: {others}")
    return notes
