"""Checks of results that somebody submits to the archive: splits, leaks and duplicates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hashbench.analysis.results import Results
from hashbench.core.codes import Words
from hashbench.core.io import arrays_checksum
from hashbench.data.splits import StoredSplit
from hashbench.execution.cell_codes import Array, CellCodes
from hashbench.execution.external import ORIGIN as EXTERNAL
from hashbench.plugins.protocol import UNSEEN

if TYPE_CHECKING:
    import pandas as pd

#: What is known of a row of the archive: only its codes, or that it was trained here.
CODES_ONLY, RETRAINED = "codes only", "retrained here"


def badge(source: str) -> str:
    """Return what is known of a cell, by the source that its record has.

    Examples
    --------
    >>> badge("external:0f3a"), badge("9c1b")
    ('codes only', 'retrained here')
    """
    return CODES_ONLY if source.startswith(f"{EXTERNAL}:") else RETRAINED


@dataclass(frozen=True)
class SubmissionFinding:
    """Something that is wrong with a cell.

    Attributes
    ----------
    kind : "split", "leak", "duplicate" or "failed"
    cell : its name
    reason : what was found
    """

    kind: str
    cell: str
    reason: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.cell}: {self.reason}"


def review(
    results: Results, table: pd.DataFrame, others: Iterable[Results]
) -> list[SubmissionFinding]:
    """Return what is wrong with results that are to be added to the archive.

    Parameters
    ----------
    results : what is submitted
    table : the archive, whose splits they must have
    others : codes that must not be the same
    """
    pairs = zip(table["dataset"], table["seed"], table["split"], strict=True)
    splits = {(dataset, int(seed)): split for dataset, seed, split in pairs}
    known = {
        digest: f"{stored.cell} in {each.path}"
        for each in others
        for stored in each.done()
        for digest in [code_digest(stored.codes(), stored.cell.split)]
    }
    found = []
    done = {stored.cell.id for stored in results.done()}
    for cell in results.cells:
        if cell.id not in done:
            found.append(SubmissionFinding("failed", str(cell), "it has no codes"))
    for stored in results.done():
        cell, codes = stored.cell, stored.codes()
        split = splits.get((cell.dataset, cell.seed))
        if split != cell.split:
            reason = f"found split {cell.split}; the archive has {split or 'none of this seed'}"
            found.append(SubmissionFinding("split", str(cell), reason))
        for reason in leaks(codes, results.split(cell.split)):
            found.append(SubmissionFinding("leak", str(cell), reason))
        digest = code_digest(codes, cell.split)
        if digest in known:
            found.append(
                SubmissionFinding("duplicate", str(cell), f"the codes are those of {known[digest]}")
            )
        known.setdefault(digest, str(cell))
    return found


def leaks(codes: CellCodes, split: StoredSplit) -> Iterator[str]:
    """Yield a line for each view whose codes of rows outside of training repeat the labels.

    No hash function gives all rows of one label the same code and others another: codes that do
    were made from the labels.
    """
    if not split.n_labels:
        return
    unseen = split.positions(UNSEEN)
    for view, name in enumerate(split.view_names):
        if _repeats_labels(codes.query[view], split.query_labels):
            yield f"the codes of queries, {name}, are a function of their labels"
        if len(unseen) and _repeats_labels(
            codes.database[view][unseen], split.database_labels[unseen]
        ):
            yield f"the codes of unseen rows, {name}, are a function of their labels"


def _repeats_labels(codes: Array, labels: Words) -> bool:
    """Return whether codes and sets of labels determine each other, of more than a few rows."""
    by_row = [_numbered(codes), _numbered(labels)]
    pairs = len(np.unique(np.stack(by_row, axis=1), axis=0))
    distinct = [int(each.max()) + 1 for each in by_row]
    most = max(Counter(by_row[1].tolist()).values())
    return distinct[0] == distinct[1] == pairs and pairs > 1 and most > 2


def _numbered(rows: Array) -> Array:
    """Return a number for each row, the same for equal rows."""
    return np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1)


def code_digest(codes: CellCodes, split: str) -> str:
    """Return the split with a hash of the codes of its queries and database."""
    parts = {"query": codes.query, "database": codes.database}
    arrays = {f"{name} {view}": X for name, own in parts.items() for view, X in enumerate(own)}
    return f"{split} {arrays_checksum(arrays)}"
