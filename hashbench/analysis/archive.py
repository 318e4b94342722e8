"""The archive: scores of the methods that ship with hashbench, one row per number.

It is two files of the package: a compressed CSV file, and a JSON record with its checksum. Codes
are not among them: `hashbench.analysis.archive_files` packs those of datasets that may be passed
on.
"""

from __future__ import annotations

import lzma
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from hashbench.core.errors import DamagedError, HashbenchError
from hashbench.core.io import checksum, read_record
from hashbench.core.records import from_json
from hashbench.execution.cell import PROTOCOL_VERSION
from hashbench.plugins.registry import Registry
from hashbench.plugins.selection import TUNED, full_name
from hashbench.plugins.source_hash import source_hash

if TYPE_CHECKING:
    import pandas as pd

TABLE, ABOUT = "scores.csv.xz", "about.json"

#: Columns of the table that are texts; the others are numbers.
TEXTS = (
    "dataset", "protocol", "method", "params", "settings", "task", "database", "codes", "measure",
    "preprocessing", "split", "source", "fingerprint", "hashbench", "numpy", "cpu", "cell",
)  # fmt: skip

COLUMNS = (
    "dataset", "protocol", "method", "params", "tuned", "settings", "bits", "seed", "task",
    "database", "codes", "measure", "value", "chance", "hamming", "item_bytes", "fit_seconds",
    "preprocessing", "split", "overlap", "source", "fingerprint", "hashbench", "numpy", "cpu",
    "cell",
)  # fmt: skip


@dataclass(frozen=True)
class CodesFile:
    """A file with the codes of all cells of a dataset."""

    file: str
    sha256: str
    size: int
    cells: int


@dataclass(frozen=True)
class Gap:
    """A cell of the archive that has no scores, and why."""

    dataset: str
    method: str
    params: str
    bits: int
    seed: int
    reason: str


@dataclass(frozen=True)
class ArchiveRecord:
    """What is known of the table as a whole.

    Attributes
    ----------
    edition : its name, ``2026.1``
    version : the protocol version of its cells
    rows : number of rows
    table : sha256 of the table's file
    codes : files with codes by dataset
    gaps : cells without scores
    """

    edition: str
    version: int
    rows: int
    table: str
    codes: Mapping[str, CodesFile] = field(default_factory=dict)
    gaps: Sequence[Gap] = ()


def shipped() -> Path:
    """Return the folder of the archive inside the package."""
    return Path(str(resources.files("hashbench.resources"))) / "archive"


def read_about(folder: Path | None = None) -> ArchiveRecord:
    """Return the record of an archive; its table must have the checksum that is written there."""
    place = shipped() if folder is None else folder
    if not (place / ABOUT).is_file():
        raise HashbenchError(
            f"{place}: found no archive; allowed: a folder that `hashbench archive pack` wrote"
        )
    try:
        about = from_json(ArchiveRecord, read_record(place / ABOUT))
        if checksum(place / TABLE) != about.table:
            raise DamagedError(f"{TABLE} has changed since it was written")
    except (DamagedError, OSError, ValueError, TypeError) as error:
        raise HashbenchError(f"archive {place}: {error}") from error
    return about


def read_archive(folder: Path | None = None) -> pd.DataFrame:
    """Return the scores of an archive: that of the package, or one in a folder.

    Returns
    -------
    DataFrame
        One row per number. edition and version (of the protocol) say what the row belongs to;
        dataset, protocol, method, params, tuned, settings (of tuned methods), bits, seed and
        preprocessing define the cell; task, database, codes and measure the number; value, chance
        (nan if not defined); hamming, item_bytes, fit_seconds; split and overlap (queries for each
        other row); source (of the method) and fingerprint (of the data) are hashes; hashbench,
        numpy and cpu say where it was computed; cell is the id of the cell.
    """
    import pandas as pd

    place = shipped() if folder is None else folder
    about = read_about(place)
    kinds = {**dict.fromkeys(TEXTS, "str"), "tuned": "bool", "hamming": "bool"}
    missing = {name: [""] for name in COLUMNS if name not in kinds}
    with lzma.open(place / TABLE, "rt", encoding="utf-8") as stream:
        table = pd.read_csv(stream, dtype=kinds, keep_default_na=False, na_values=missing)
    if tuple(table.columns) != COLUMNS or len(table) != about.rows:
        raise HashbenchError(f"archive {place}: its table has other columns or rows than it says")
    table.insert(0, "edition", about.edition)
    table.insert(1, "version", about.version)
    return table


def labels(table: pd.DataFrame) -> pd.Series[str]:
    """Return the method of each row as tables print it: ``edsh[gamma=1]``, ``edsh(tuned)``."""
    import pandas as pd

    rows = zip(table["method"], table["params"], table["tuned"], strict=True)
    names = [full_name(f"{name}{TUNED}" if tuned else name, params) for name, params, tuned in rows]
    return pd.Series(names, index=table.index, dtype=object)


def shown(table: pd.DataFrame) -> pd.DataFrame:
    """Return encoded codes of the part of the database that tables show: unseen rows if any."""
    encoded = table[table["codes"] == "encoded"]
    order = encoded["database"].map({"unseen": 0, "all": 1, "seen": 2})
    return encoded[order == order.groupby(encoded["dataset"]).transform("min")]


def check_version(table: pd.DataFrame) -> None:
    """Raise an error if the cells of an archive follow another version of the protocol."""
    found = sorted(set(table["version"]))
    if found != [PROTOCOL_VERSION]:
        raise HashbenchError(
            f"archive {table['edition'].iloc[0]}: found protocol version "
            f"{', '.join(map(str, found))}; allowed: {PROTOCOL_VERSION}, that of this hashbench; "
            "scores of different versions are not compared"
        )


def stale(table: pd.DataFrame, registry: Registry) -> pd.Series[bool]:
    """Return whether the method of each row, or mathematics that it uses, has changed since.

    Rows of methods that are not here, and of another protocol version, are stale, too.
    """
    pairs = list(zip(table["method"], table["source"], strict=True))
    current = {pair: is_current(*pair, registry) for pair in set(pairs)}
    changed = np.array([not current[pair] for pair in pairs], bool)
    return (table["version"] != PROTOCOL_VERSION) | changed


def is_current(method: str, source: str, registry: Registry) -> bool:
    """Return whether a method here has the source of a stored cell."""
    plugin = registry.methods.get(method)
    return plugin is not None and source_hash(plugin) == source


def coverage(table: pd.DataFrame) -> pd.DataFrame:
    """Return the number of splits of each method: one row per method, one column per dataset, bits.

    A gap is 0.
    """
    cells = table.assign(label=labels(table)).drop_duplicates("cell")
    counts = cells.groupby(["label", "dataset", "bits"], sort=True)["seed"].nunique()
    wide = counts.unstack(["dataset", "bits"], fill_value=0).sort_index(axis=1)
    return wide.rename_axis(index="method")
