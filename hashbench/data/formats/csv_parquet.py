"""Tables of rows and columns: CSV and parquet.

Columns of numbers are one matrix, called as the file is; a column of texts is a variable of its
own. Where columns hold a vector a row, as embeddings are stored in parquet, every column is one.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hashbench.core.errors import HashbenchError
from hashbench.data.formats.variable import Variable, named_kind

if TYPE_CHECKING:
    import pandas as pd


#: What a first column is called that names rows and says nothing of them; pandas writes nothing.
ROW_NAMES = ("", "index", "id", "unnamed: 0")


def open_csv(path: Path) -> dict[str, Variable]:
    """List a text file of comma, semicolon, tab or blank separated columns, header or not."""
    import pandas as pd

    with path.open(encoding="utf-8", newline="") as stream:
        first = stream.readline()
    separator = next((sign for sign in ",;\t" if sign in first), " ")
    fields = next(csv.reader([first.strip()], delimiter=separator, skipinitialspace=True), [])
    headed = _is_header(fields)
    frame = pd.read_csv(
        path, sep=separator, header=0 if headed else None, skipinitialspace=True, comment="#"
    )
    told = fields and fields[0].lower() in ("label", "labels", "class", "y")
    if headed and len(fields) == 1 and not told and not _is_numeric(frame.iloc[:, 0]):
        frame = pd.read_csv(path, header=None, sep=separator)  # one column of texts, no header
    if headed and len(fields) > 1 and fields[0].lower() in ROW_NAMES:
        frame = frame.drop(columns=frame.columns[0])
    return _columns(frame, path.stem)


def open_parquet(path: Path) -> dict[str, Variable]:
    """List the columns of a parquet file."""
    import pandas as pd

    try:
        frame = pd.read_parquet(path)
    except ImportError as error:
        raise HashbenchError(
            f"{path.name}: parquet is read by pyarrow, which is not installed; pip install pyarrow"
        ) from error
    return _columns(frame, path.stem)


def _columns(frame: pd.DataFrame, stem: str) -> dict[str, Variable]:
    vectors = [name for name in frame if _holds_vectors(frame[name])]
    numbers = [name for name in frame if _is_numeric(frame[name])]
    found: dict[str, Any] = {}
    for name in frame:
        if name in vectors:
            found[str(name)] = np.stack([np.asarray(each) for each in frame[name]])
        elif name not in numbers:
            found[str(name)] = frame[name].fillna("").astype(str).to_numpy(np.str_)
        elif vectors:
            found[str(name)] = frame[name].to_numpy()
    if numbers and not vectors:
        found = {stem: frame[numbers].to_numpy(), **found}
    elif len(found) == 1 and not vectors:
        found = {stem: found.popitem()[1]}
    return {
        name: Variable(array.shape, named_kind(array.dtype), lambda array=array: array)  # type: ignore[misc]
        for name, array in found.items()
    }


def _is_numeric(column: pd.Series[Any]) -> bool:
    return column.dtype.kind in "fiub"


def _holds_vectors(column: pd.Series[Any]) -> bool:
    return len(column) > 0 and isinstance(column.iloc[0], np.ndarray | list | tuple)


def _is_header(fields: list[str]) -> bool:
    """Say whether a first line names columns: by words, or by 0, 1, 2, ... as pandas does.

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
