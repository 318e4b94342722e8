"""One variable of a data file, whose value is read on demand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

#: A cell array longer than this is a list of items, not of views.
MOST_CELLS = 16


@dataclass(frozen=True)
class Variable:
    """A variable of a file.

    Attributes
    ----------
    shape : lengths as the author of the file saw them
    kind : MATLAB's class, NumPy's dtype, or "lists of 1 to 3 entries"
    read : function that returns the value
    rows_are_lists : True for a column of lists, which may be class numbers
    """

    shape: tuple[int, ...]
    kind: str
    read: Callable[[], Any]
    rows_are_lists: bool = False

    @classmethod
    def of(cls, array: npt.NDArray[Any], kind: str = "", rows_are_lists: bool = False) -> Variable:
        """Return a variable whose value is in memory."""
        return cls(array.shape, kind or kind_of(array.dtype), lambda: array, rows_are_lists)

    @property
    def is_numbers(self) -> bool:
        """True unless it is text or a container."""
        return not self.kind.startswith(("char", "cell", "struct", "object", "lists"))

    @property
    def is_matrix(self) -> bool:
        """True for a table of numbers."""
        return len(self.shape) == 2 and self.is_numbers

    def __str__(self) -> str:
        return f"{' x '.join(map(str, self.shape)) or 'scalar'} {self.kind}"


def kind_of(dtype: np.dtype[Any]) -> str:
    """Return the name of a NumPy type in messages."""
    return {"O": "object", "U": "char", "S": "char"}.get(dtype.kind, str(dtype))
