"""The codes of a cell, as methods write them and measures read them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from hashbench.core.io import save_arrays
from hashbench.core.npz import read_arrays
from hashbench.data.splits import Searched, StoredSplit
from hashbench.plugins.protocol import ENCODED

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class CellCodes:
    """Packed codes of queries and database, or vectors.

    Attributes
    ----------
    query, database : one array per view
    learned : of the training rows: no array, one for all views, or one per view
    n_bits : code length; None if these are vectors, which are compared by inner products
    """

    query: tuple[Array, ...]
    database: tuple[Array, ...]
    learned: tuple[Array, ...] = ()
    n_bits: int | None = None

    def searched(self, split: StoredSplit, searched: Searched, view: int) -> Array:
        """Return the codes of a part of the database in a view."""
        if searched.codes == ENCODED:
            positions = split.positions(searched.database)
            every = len(positions) == len(split.database)
            return self.database[view] if every else self.database[view][positions]
        return self.learned[view if len(self.learned) > 1 else 0][split.learned_rows]

    def save(self, path: Path) -> None:
        """Write an npz file: ``query_0``, ``database_1``, ``learned`` or ``learned_0``, and so on.

        ``n_bits`` is in it if these are codes.
        """
        arrays: dict[str, Array] = {}
        if self.n_bits is not None:
            arrays["n_bits"] = np.asarray(self.n_bits)
        for role in ("query", "database"):
            arrays |= {f"{role}_{view}": part for view, part in enumerate(getattr(self, role))}
        shared = len(self.learned) == 1
        arrays |= {
            "learned" if shared else f"learned_{view}": part
            for view, part in enumerate(self.learned)
        }
        save_arrays(path, arrays)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a file that `save` wrote; raise ValueError if it is another."""
        arrays = read_arrays(path)
        shared = arrays.get("learned")
        found = cls(
            query=_by_view(arrays, "query"),
            database=_by_view(arrays, "database"),
            learned=_by_view(arrays, "learned") if shared is None else (shared,),
            n_bits=int(arrays["n_bits"]) if "n_bits" in arrays else None,
        )
        if len(found.query) < 2 or len(found.query) != len(found.database):
            raise ValueError(f"{path} holds no codes of queries and database for each view")
        return found

    def equals(self, other: CellCodes) -> bool:
        """Return whether all codes are bitwise equal."""
        ours, theirs = (
            [each.query, each.database, each.learned, (np.asarray(each.n_bits),)]
            for each in (self, other)
        )
        return all(
            len(one) == len(two) and all(map(np.array_equal, one, two))
            for one, two in zip(ours, theirs, strict=True)
        )


def _by_view(arrays: dict[str, Array], role: str) -> tuple[Array, ...]:
    count = sum(name.startswith(f"{role}_") for name in arrays)
    return tuple(arrays[f"{role}_{view}"] for view in range(count) if f"{role}_{view}" in arrays)
