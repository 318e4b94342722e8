"""External methods: codes that were computed elsewhere on a split that hashbench exported.

``-m "mydeep=codes/{dataset}-{bits}-{seed}.npz"`` adds the codes of files to a study. A file must
show which rows its codes belong to: by the name of the split that ``hashbench data export`` wrote,
by row numbers, or by labels. Tables call such a method ``mydeep[external]``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from hashbench.core.codes import Bits
from hashbench.core.errors import HashbenchError
from hashbench.core.io import checksum
from hashbench.core.records import from_json
from hashbench.data.formats.split_codes import SplitCodes
from hashbench.data.prepare import Prepared
from hashbench.data.splits import StoredSplit
from hashbench.execution.cell import Cell
from hashbench.execution.cell_codes import CellCodes
from hashbench.execution.compute_cell import cell_record, check_codes, peak_memory
from hashbench.plugins.method import Method
from hashbench.plugins.registry import Plugin, Registry

ORIGIN = "external"

#: Printed in tables instead of parameters.
MARK = "external"

FIELDS = ("dataset", "bits", "seed")

_ITEM = re.compile(r"(?P<name>\w[\w.+-]*)\s*=\s*(?P<pattern>[^\[\]]+)")


def parse_external(item: str) -> tuple[str, str] | None:
    """Return the name and the pattern of paths if an item of a selection is an external method.

    Examples
    --------
    >>> parse_external("edsh[gamma=1]"), parse_external("all")
    (None, None)
    """
    match = _ITEM.fullmatch(item.strip())
    if match is None:
        return None
    pattern = str(Path(match["pattern"].strip()).expanduser().absolute())
    _format_path(pattern, {"dataset": "", "bits": 0, "seed": 0})  # an unknown field raises
    return match["name"], pattern


def register(name: str, pattern: str, registry: Registry) -> None:
    """Add an external method to a registry, so that it can be selected."""
    registry.put(Plugin("methods", name, _external_class(name, pattern), Path(pattern), ORIGIN))


@cache
def _external_class(name: str, pattern: str) -> type[Method]:
    """Return a class for an external method, which can neither fit nor encode."""

    class External(Method):
        """Codes computed elsewhere."""

        supervised = False

        def __init__(self, n_bits: int = 16, random_state: int | None = None) -> None:
            self.n_bits = n_bits
            self.random_state = random_state

        def fit(self, views: Any, labels: Any = None) -> Any:
            raise HashbenchError(f"{name}: its codes come from {pattern}; it cannot be trained")

        def encode(self, X: Any, view: int | str) -> Bits:
            raise HashbenchError(f"{name}: its codes come from {pattern}; it cannot encode")

    External.name, External.title = name, name
    return External


def codes_path(plugin: Plugin, dataset: str, bits: int, seed: int) -> str:
    """Return the file with the codes of one cell."""
    return _format_path(str(plugin.path), {"dataset": dataset, "bits": bits, "seed": seed})


def _format_path(pattern: str, values: Mapping[str, Any]) -> str:
    try:
        return pattern.format_map(values)
    except (KeyError, ValueError, IndexError, AttributeError) as error:
        allowed = ", ".join(f"{{{name}}}" for name in FIELDS)
        raise HashbenchError(f"codes {pattern!r}: found {error}; allowed: {allowed}") from error


def source(codes: str) -> str:
    """Return a hash of a file of codes, which identifies them wherever the file is."""
    path = Path(codes)
    return f"{ORIGIN}:{checksum(path)[:16] if path.is_file() else 'missing'}"


def is_external(cell: Cell) -> bool:
    """Return whether a cell's codes come from a file."""
    return cell.source.startswith(f"{ORIGIN}:")


def compute(
    registry: Registry, folder: Path, cache: Path, cell: Mapping[str, Any], data: str, codes: str
) -> dict[str, Any]:
    """Read the codes of one cell, check which rows they belong to, and write them."""
    what = from_json(Cell, cell)
    resident = peak_memory()
    path = Path(codes)
    if not path.is_file():
        raise HashbenchError(f"{what.method}: no file {path}")
    if source(codes) != what.source:
        raise HashbenchError(f"{what.method}: {path.name} has changed since the study was planned")
    prepared = Prepared.open(cache / data)
    split = StoredSplit.load(cache / data / "split.npz")
    found = SplitCodes.read(path, split.view_names)
    found.check_split(what.split, split)
    where = path.name
    query, database = (
        tuple(
            check_codes(codes, X.shape[0], what.bits, f"{where}: codes of {role}, view {view}")
            for view, (codes, X) in enumerate(
                zip(found.as_bits(role, what.bits), rows, strict=True)
            )
        )
        for role, rows in (("query", prepared.query), ("database", prepared.database))
    )
    checked = CellCodes(query, database, (), what.bits)
    checked.save(folder / "codes.npz")
    record = cell_record(what, checked, found.seconds, resident, what.bits / 8)
    return {**record, "training_unknown": not found.split}
