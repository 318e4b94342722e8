"""Numbers printed in papers: one CSV file per paper, and a TOML file that describes it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hashbench.core.errors import HashbenchError
from hashbench.measures import parse

if TYPE_CHECKING:
    import pandas as pd


#: Where a folder of results keeps the printed numbers that the study was given.
FOLDER = "published"

COLUMNS = ("method", "dataset", "bits", "task", "quantity", "value")
RUN_COLUMNS = ("fit_seconds", "encode_seconds")


@dataclass(frozen=True)
class Published:
    """The printed numbers of one paper.

    Attributes
    ----------
    paper : its citation
    short : a short name, for files
    protocol : how they were obtained, as the paper describes it
    quantities : quantity -> {"measure": name} or {"run": column of the table of runs}
    datasets : printed name -> {"names": datasets here, "printed": the paper's description,
        "alike": those of the names that have the printed features; all if not given}
    exhibits : the paper's tables and figures, in its order: {"name": "Table 1", "quantity": ...}
        or {"name": "Fig. 2", "report": ..., "bits": ...}, with "methods" if these are not all
    numbers : columns method, dataset, bits, task, quantity, value
    """

    paper: str
    short: str
    protocol: str
    quantities: Mapping[str, Mapping[str, str]]
    datasets: Mapping[str, Mapping[str, Any]]
    exhibits: Sequence[Mapping[str, Any]]
    numbers: pd.DataFrame


def published(folder: Path | None = None) -> Iterator[Published]:
    """Yield the numbers of every paper that the package has, and of those in a folder."""
    shipped = Path(str(resources.files("hashbench.resources"))) / "published"
    folders = [shipped] if folder is None else [shipped, folder]
    for path in (each for parent in folders for each in sorted(parent.glob("*.csv"))):
        yield read_published(path)


def read_published(path: Path) -> Published:
    """Read printed numbers; a TOML file of the same name describes them.

    What it leaves out: a quantity is the name of a measure or of a column of the table of runs, a
    dataset is the one of that name, and every quantity is a table.
    """
    import pandas as pd

    try:
        numbers = pd.read_csv(path, keep_default_na=False)
    except (OSError, ValueError) as error:
        raise HashbenchError(f"published {str(path)!r}: {' '.join(str(error).split())}") from error
    lacking = [name for name in COLUMNS if name not in numbers]
    if lacking:
        found = ", ".join(map(str, numbers.columns))
        raise HashbenchError(f"{path.name}: found no {', '.join(lacking)}; found {found}")
    for name in ("bits", "value"):
        if numbers[name].dtype.kind not in "fi":
            raise HashbenchError(f"{path.name}: {name}: found texts; allowed: numbers")
    notes_path = path.with_suffix(".toml")
    given: dict[str, Any] = {}
    if notes_path.is_file():
        given = tomllib.loads(notes_path.read_text(encoding="utf-8"))
    if "quantities" not in given:
        given["quantities"] = {
            name: {"run": name} if name in RUN_COLUMNS else {"measure": str(parse(name))}
            for name in map(str, numbers["quantity"].unique())
        }
    names = numbers["dataset"].unique()
    about = {
        "paper": path.stem,
        "short": path.stem,
        "protocol": "not described",
        "datasets": {name: {"names": [name], "printed": "not described"} for name in names},
        "exhibits": [{"name": name, "quantity": name} for name in given["quantities"]],
    }
    return Published(**{**about, **given}, numbers=numbers)
