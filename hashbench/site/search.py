"""Items and codes for the page's search engine, as scripts that are loaded when they are needed.

There is one script with the items of each dataset, and one with the codes of each method at each
code length, packed and in base64. Of several seeds the first is shown. Distances are computed in
the browser; the score of a query is the evaluator's.
"""

from __future__ import annotations

import base64
import itertools
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hashbench.analysis.per_query import per_query
from hashbench.analysis.results import Results
from hashbench.core.codes import Words, unpack
from hashbench.data.splits import StoredSplit
from hashbench.execution.store import Stored
from hashbench.plugins.protocol import LEARNED
from hashbench.plugins.selection import bare_name
from hashbench.render.style import Style
from hashbench.render.text_layout import emoji_keywords, emoji_names
from hashbench.site.positions import Positions
from hashbench.site.templates import write_script

FOLDER = "search"

#: Methods that readers know, which the page searches with beside the best one.
KNOWN = ("edsh", "random")

#: Size of the largest database that a browser searches without a delay; larger ones are left out.
MOST_ITEMS = 50_000


def write_search(
    results: Results, style: Style, positions: Positions, folder: Path, order: Sequence[int]
) -> dict[str, Any]:
    """Write one script per dataset and one per cell; return what can be searched, and why not.

    ``order`` has the positions of methods, best first.
    """
    folder = folder / FOLDER
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    datasets: list[dict[str, Any] | None] = []
    for number, dataset in enumerate(positions.values["dataset"]):
        cells = _cells(results, dataset)
        about = _dataset(results, cells, positions, number)
        datasets.append(about)
        if about is None or "why" in about:
            continue
        split = results.split(cells[0].cell.split)
        _write_items(folder, number, split, style, dataset)
        for stored in cells:
            key = about["cells"].get(_key(stored, positions))
            if key:
                _write_codes(folder / f"{key}.js", key, results, stored, split)
        about["cells"] = sorted(about["cells"].values())
        about |= _first_search(results, cells, positions, order)
    return {"measure": next(iter(results.measures), ""), "datasets": datasets}


def _cells(results: Results, dataset: str) -> list[Stored]:
    """Return the done cells of a dataset's first seed that have the split of the first of them."""
    done = [stored for stored in results.done() if stored.cell.dataset == dataset]
    first = min((stored.cell.seed for stored in done), default=0)
    cells = [stored for stored in done if stored.cell.seed == first]
    if not cells:
        return []
    split = results.split(cells[0].cell.split)
    return [stored for stored in cells if _same_items(results.split(stored.cell.split), split)]


def _same_items(one: StoredSplit, other: StoredSplit) -> bool:
    return np.array_equal(one.query, other.query) and np.array_equal(one.database, other.database)


def _dataset(
    results: Results, cells: Sequence[Stored], positions: Positions, number: int
) -> dict[str, Any] | None:
    """Return the names of the scripts of a dataset's cells, or the reason why there are none."""
    if not cells:
        return None
    size = len(results.split(cells[0].cell.split).database)
    if size > MOST_ITEMS:
        return {"why": f"{size:,} items are too many to search in a browser."}
    named = {
        (method, bits): f"d{number}-m{method}-b{bits}"
        for method, bits in (_key(stored, positions) for stored in cells if stored.record.hamming)
    }
    return {"seed": cells[0].cell.seed, "cells": named} if named else {"why": "No codes."}


def _first_search(
    results: Results, cells: Sequence[Stored], positions: Positions, order: Sequence[int]
) -> dict[str, Any]:
    """Return what the page searches first: three methods, and one query of each task.

    The methods are the best with codes and those that readers know; where the study lacks these,
    the middle one and the last. The query is the one at which the best method's score is the
    median.
    """
    codes = {positions.methods.index(s.cell.label): s for s in cells if s.record.hamming}
    best, *others = [method for method in order if method in codes] or list(codes)
    known = [method for method in others if bare_name(positions.methods[method]) in KNOWN]
    if len(known) < len(KNOWN):
        known = list(dict.fromkeys([*others[len(others) // 2 :][:1], *others[-1:]]))
    queries = {}
    stored = codes[best]
    for task in results.tasks if results.measures else ():
        searched = results.evaluated(stored).rankings[0].searched
        values = per_query(results, stored, task, searched, results.main_measure)
        if values is not None and np.isfinite(values).any():
            ascending = np.argsort(values, kind="stable")  # nan come last
            middle = ascending[(np.isfinite(values).sum() - 1) // 2]
            queries[task] = int(results.split(stored.cell.split).query[middle])
    return {"methods": [best, *known], "queries": queries}


def _key(stored: Stored, positions: Positions) -> tuple[int, int]:
    return positions.methods.index(stored.cell.label), positions.values["bits"].index(
        stored.cell.bits
    )


def _write_items(folder: Path, number: int, split: StoredSplit, style: Style, dataset: str) -> None:
    pictures = style.datasets[dataset].pictures
    about = None
    if pictures is not None:
        name = f"d{number}.png"
        (folder / name).write_bytes(pictures.png)
        about = {"file": f"{FOLDER}/{name}", "size": pictures.size, "columns": pictures.columns}
    strings = (*(split.query_strings or ()), *(split.database_strings or ()))
    value = {
        "rows": [*split.query.tolist(), *split.database.tolist()],
        "queries": len(split.query),
        "seen": split.is_seen.astype(int).tolist(),
        "strings": strings,
        "words": [emoji_names(text) for text in strings],
        "keywords": [emoji_keywords(text) for text in strings],
        "labels": _labels(split),
        "labelNames": list(split.label_names),
        "pictures": about,
    }
    write_script(folder / f"d{number}.js", f'hashbenchParts["d{number}"]', value)


def _labels(split: StoredSplit) -> list[list[int]]:
    """Return the labels of queries and database, by their numbers."""
    words = np.concatenate([split.query_labels, split.database_labels])
    has = unpack(words, split.n_labels)
    rows, columns = np.nonzero(has)
    ends = np.searchsorted(rows, np.arange(len(has) + 1))
    return [columns[a:b].tolist() for a, b in itertools.pairwise(ends)]


def _write_codes(
    path: Path, key: str, results: Results, stored: Stored, split: StoredSplit
) -> None:
    codes = stored.codes()
    assert codes.n_bits is not None  # methods without codes have no script
    found = results.evaluated(stored).rankings
    scores = {}
    for each in found if results.measures else ():
        values = per_query(results, stored, each.task, each.searched, results.main_measure)
        scores[f"{each.task} {each.searched}"] = (
            None if values is None else _base64(values.astype("<f4"))
        )
    has_learned = any(each.searched.codes == LEARNED for each in found)
    learned = [words[split.learned_rows] for words in codes.learned if has_learned]
    value = {
        "bits": codes.n_bits,
        "views": list(split.view_names),
        "query": [_bytes(words, codes.n_bits) for words in codes.query],
        "encoded": [_bytes(words, codes.n_bits) for words in codes.database],
        "learned": [_bytes(words, codes.n_bits) for words in learned],
        "scores": scores,
    }
    write_script(path, f'hashbenchParts["{key}"]', value)


def _bytes(words: Words, n_bits: int) -> str:
    """Return packed codes in base64, with as many bytes per item as its bits need."""
    width = -(-n_bits // 8)
    octets = np.ascontiguousarray(words.astype("<u8")).view(np.uint8).reshape(len(words), -1)
    return _base64(octets[:, :width])


def _base64(array: Any) -> str:
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode("ascii")
