"""The codes of one cell as plain arrays, with all that is needed to use them elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hashbench.analysis.results import Results
from hashbench.core.codes import unpack
from hashbench.core.errors import HashbenchError
from hashbench.execution.store import Stored


def only_cell(results: Results) -> Stored:
    """Return the one done cell of results, or raise an error that says what there is."""
    done = results.done()
    if len(done) == 1:
        return done[0]
    if not done:
        raise HashbenchError(f"{results.path}: found no codes of this selection; allowed: one cell")
    varied: dict[str, set[Any]] = {
        "dataset": {each.cell.dataset for each in done},
        "method": {each.cell.label for each in done},
        "bits": {each.cell.bits for each in done},
        "seed": {each.cell.seed for each in done},
    }
    choices = (
        f"{name} {' or '.join(map(str, sorted(values)))}"
        for name, values in varied.items()
        if len(values) > 1
    )
    raise HashbenchError(
        f"{results.path}: found codes of {len(done)} cells; choose {', '.join(choices)}"
    )


def arrays_of(results: Results, stored: Stored) -> dict[str, npt.NDArray[Any]]:
    """Return the codes of a cell, with its labels and rows.

    Returns
    -------
    dict
        query_VIEW and database_VIEW: (rows, bits) bool; learned, or learned_VIEW: the same for the
        training rows, where a method has such codes. query_labels and database_labels: 0 and 1 per
        class. query, database and train: row numbers in the dataset. seen: whether each row of the
        database is a training row. split: the name of the split.
    """
    codes, split = stored.codes(), results.split(stored.cell.split)
    if codes.n_bits is None:
        raise HashbenchError(f"{stored.cell.label}: found vectors; allowed: methods with codes")
    views = split.view_names
    learned = ["learned"] if len(codes.learned) == 1 else [f"learned_{view}" for view in views]
    packed = {
        **{f"query_{view}": words for view, words in zip(views, codes.query, strict=True)},
        **{f"database_{view}": words for view, words in zip(views, codes.database, strict=True)},
        **(dict(zip(learned, codes.learned, strict=True)) if codes.learned else {}),
    }
    return {
        **{name: unpack(words, codes.n_bits) for name, words in packed.items()},
        "query_labels": unpack(split.query_labels, split.n_labels).astype(np.uint8),
        "database_labels": unpack(split.database_labels, split.n_labels).astype(np.uint8),
        "query": np.asarray(split.query),
        "database": np.asarray(split.database),
        "train": np.asarray(split.train),
        "seen": np.asarray(split.is_seen),
        "split": np.asarray(stored.cell.split),
    }
