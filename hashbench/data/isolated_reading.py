"""Read files in a child process with limits, which returns their arrays as memory maps.

A run loads datasets in processes of their own anyway. Commands that read a file themselves use
this module, so that a bad file costs one line of error and not the process.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hashbench.core import isolation
from hashbench.core.errors import HashbenchError
from hashbench.core.io import writing
from hashbench.data.formats import load_file
from hashbench.data.formats.code_variables import find_roles, read_roles
from hashbench.data.formats.variables import Variables
from hashbench.data.memory_maps import open_data, save_data
from hashbench.data.splits import StoredSplit, load_pictures, save_pictures
from hashbench.plugins.dataset import Data, Dataset

Arrays = dict[str, npt.NDArray[Any]]


def load(dataset: Dataset) -> Data:
    """Return the data of a dataset, its views as read-only maps."""
    with tempfile.TemporaryDirectory(prefix="hashbench-read-") as place:
        folder = Path(place)

        def read() -> dict[str, Any]:
            data = dataset.load()
            with writing(folder):
                save_data(data, folder)
                if data.pictures is not None:
                    save_pictures(data.pictures, folder / "pictures.npz")
                if data.strings is not None:
                    strings = [str(each) for each in data.strings]
                    (folder / "strings.json").write_text(json.dumps(strings))
            return {"notes": list(data.notes)}

        facts = isolation.run_in_subprocess(read, f"dataset {dataset.name}")
        data = open_data(folder)  # maps outlive the names of their files
        data.notes = facts["notes"]
        if (folder / "strings.json").exists():
            data.strings = json.loads((folder / "strings.json").read_text())
        if (folder / "pictures.npz").exists():
            data.pictures = load_pictures(folder / "pictures.npz")
        return data


def load_codes(
    file: Path, named: Mapping[str, str | None], split: Path | None
) -> tuple[int | None, dict[str, tuple[dict[str, str], Arrays]]]:
    """Return what a file of codes says of its bits, and by task the variables and their arrays.

    Parameters
    ----------
    file : codes, and their labels unless these are kept elsewhere
    named : role -> the variable that plays it, or None to look for it
    split : a file of ``hashbench data export`` whose labels count
    """
    with tempfile.TemporaryDirectory(prefix="hashbench-read-") as place:
        folder = Path(place)

        def read() -> dict[str, Any]:
            variables = Variables([file])
            bits = int(variables["n_bits"].read()) if "n_bits" in variables else None
            variables.add(_labels_of(file, split))
            tasks = find_roles(variables, named)
            for number, roles in enumerate(tasks.values()):
                with writing(folder):
                    np.savez(folder / f"{number}.npz", **read_roles(variables, roles))
            return {"bits": bits, "tasks": tasks}

        facts = isolation.run_in_subprocess(read, file.name)
        arrays = [dict(np.load(folder / f"{number}.npz")) for number in range(len(facts["tasks"]))]
        pairs = zip(facts["tasks"].items(), arrays, strict=True)
        return facts["bits"], {task: (roles, found) for (task, roles), found in pairs}


def _labels_of(file: Path, split: Path | None) -> Arrays:
    """Return the labels of an exported split, or those that a folder of results keeps."""
    from hashbench.core.codes import unpack

    if split is not None:
        data = load_file(split)
        if not {"train", "query"} <= set(data.given):
            raise HashbenchError(f"--split {str(split)!r}: found no rows of a split in it")
        rows = {"query": data.given["query"], "database": data.given.get("database")}
        rows["database"] = data.given["train"] if rows["database"] is None else rows["database"]
        return {f"{part}_labels": data.labels[chosen] for part, chosen in rows.items()}
    about = file.parent / "cell.json"
    if file.name != "codes.npz" or not about.is_file():
        return {}
    name = json.loads(about.read_text(encoding="utf-8"))["cell"]["split"]
    kept = file.parent.parent.parent / "splits" / f"{name}.npz"
    if not kept.is_file():
        raise HashbenchError(f"{file}: found no {kept}; it has the labels of these codes")
    stored = StoredSplit.load(kept)
    labels = {"query": stored.query_labels, "database": stored.database_labels}
    return {f"{part}_labels": unpack(words, stored.n_labels) for part, words in labels.items()}
