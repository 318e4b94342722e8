"""Tables: CSV and parquet.

The columns of numbers are one matrix with the name of the file; a column of texts is a variable.
If some columns hold lists, as parquet stores embeddings and labels, every column is a variable.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hashbench.core.errors import HashbenchError
from hashbench.data.formats.file_variable import Variable

if TYPE_CHECKING:
    import pandas as pd


#: Names of a first column that numbers the rows and is no feature; pandas writes an empty one.
ROW_NAMES = ("", "index", "id", "unnamed: 0")


def open_csv(path: Path) -> dict[str, Variable]:
    """Return the columns of a text file separated by comma, semicolon, tab or blank."""
    import pandas as pd

    with path.open(encoding="utf-8", newline="") as stream:
        first = stream.readline()
    separator = next((sign for sign in ",;\t" if sign in first), " ")
    fields = next(csv.reader([first.strip()], delimiter=separator, skipinitialspace=True), [])
    headed = _is_header(fields)
    frame = pd.read_csv(
        path, sep=separator, header=0 if headed else None, skipinitialspace=True, comment="#"
    )
    names_labels = fields and fields[0].lower() in ("label", "labels", "class", "y")
    if headed and len(fields) == 1 and not names_labels and not _is_numeric(frame.iloc[:, 0]):
        frame = pd.read_csv(path, header=None, sep=separator)  # one column of texts, no header
    if headed and len(fields) > 1 and fields[0].lower() in ROW_NAMES:
        frame = frame.drop(columns=frame.columns[0])
    return _columns(frame, path.stem)


def open_parquet(paths: Sequence[Path]) -> dict[str, Variable]:
    """Return the columns of a table in one or several files; pictures in it are not read."""
    try:
        import pyarrow  # type: ignore[import-untyped]
        import pyarrow.dataset  # type: ignore[import-untyped]
    except ImportError as error:
        raise HashbenchError(
            f"{paths[0].name}: parquet is read by pyarrow, which is not installed; "
            "pip install pyarrow"
        ) from error
    table = pyarrow.dataset.dataset([str(path) for path in paths], format="parquet")
    unread = (pyarrow.types.is_struct, pyarrow.types.is_binary, pyarrow.types.is_large_binary)
    skipped = [field.name for field in table.schema if any(test(field.type) for test in unread)]
    read = [name for name in table.schema.names if name not in skipped]
    found = _columns(table.to_table(read).to_pandas(), paths[0].stem)
    shape = (table.count_rows(),)
    return found | {name: Variable(shape, "struct", lambda: None) for name in skipped}


def _columns(frame: pd.DataFrame, stem: str) -> dict[str, Variable]:
    lists = [name for name in frame if _holds_lists(frame[name])]
    numbers = [name for name in frame if _is_numeric(frame[name])]
    found: dict[str, Variable] = {}
    if numbers and not lists:
        found[stem] = Variable.of(frame[numbers].to_numpy())
    for name in frame:
        if name in lists:
            found[str(name)] = _list_column(frame[name])
        elif name not in numbers:
            found[str(name)] = Variable.of(frame[name].fillna("").astype(str).to_numpy(np.str_))
        elif lists:
            found[str(name)] = Variable.of(frame[name].to_numpy())
    return {stem: found.popitem()[1]} if len(found) == 1 and not lists else found


def _list_column(column: pd.Series[Any]) -> Variable:
    """Return a matrix if the lists have one length, otherwise an array of lists."""
    rows = [np.asarray([] if row is None else row) for row in column]
    lengths = [row.size for row in rows]
    if len({row.shape for row in rows}) == 1:
        return Variable.of(np.stack(rows), rows_are_lists=True)
    array = np.empty(len(rows), object)
    array[:] = rows
    return Variable.of(array, f"lists of {min(lengths)} to {max(lengths)} entries", True)


def _is_numeric(column: pd.Series[Any]) -> bool:
    return column.dtype.kind in "fiub"


def _holds_lists(column: pd.Series[Any]) -> bool:
    first = next((row for row in column if row is not None), None)
    return isinstance(first, np.ndarray | list | tuple)


def _is_header(fields: list[str]) -> bool:
    """Return whether a first line names columns: by words, or by 0, 1, 2, ... as pandas does.

    Examples
    --------
    >>> [_is_header(each.split(",")) for each in ("a,b", ",0,1", "0,1,2", "0,1", "0.5,1")]
    [True, True, True, False, False]
    """
    named = len(fields) > 1 and fields[0].lower() in ROW_NAMES
    columns = fields[1:] if named else fields
    counted = columns == [str(number) for number in range(len(columns))]
    if counted and (named or len(columns) > 2):  # 0,1 is a row of labels
        return True
    return len(fields) > 0 and not any(_is_number(field) for field in fields if field)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
