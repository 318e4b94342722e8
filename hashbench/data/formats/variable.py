"""A variable of a file: what is known before its value is read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Variable:
    """One variable: its shape and kind are known before its value is read."""

    shape: tuple[int, ...]
    kind: str  # MATLAB's class or NumPy's dtype
    read: Callable[[], Any]

    @property
    def is_numbers(self) -> bool:
        """True unless it is text or a container."""
        return self.kind not in ("char", "cell", "struct", "object")

    @property
    def is_matrix(self) -> bool:
        """True for a table of numbers."""
        return len(self.shape) == 2 and self.is_numbers

    def __str__(self) -> str:
        return f"{' x '.join(map(str, self.shape)) or 'scalar'} {self.kind}"


def named_kind(dtype: np.dtype[Any]) -> str:
    """Return what messages call entries of a NumPy type."""
    return {"O": "object", "U": "char", "S": "char"}.get(dtype.kind, str(dtype))
