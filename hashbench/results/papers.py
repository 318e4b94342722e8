"""Numbers that papers print, shipped as data: one CSV file a paper, and what its columns mean."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Published:
    """The printed numbers of one paper.

    Attributes
    ----------
    paper : who printed them, where
    protocol : how they were obtained, as far as the paper says
    quantities : quantity -> {"measure": name} or {"run": column of the table of runs}
    datasets : printed name -> {"names": datasets here, "printed": the paper's description,
        "alike": those of the names that have the printed features; all if not given}
    numbers : columns method, dataset, bits, task, quantity, value
    """

    paper: str
    protocol: str
    quantities: Mapping[str, Mapping[str, str]]
    datasets: Mapping[str, Mapping[str, Any]]
    numbers: pd.DataFrame


def published() -> Iterator[Published]:
    """Yield the numbers of every paper that the package has."""
    import pandas as pd

    folder = resources.files("hashbench.shipped") / "published"
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.name.endswith(".toml"):
            about = tomllib.loads(entry.read_text(encoding="utf-8"))
            with (folder / entry.name.replace(".toml", ".csv")).open(encoding="utf-8") as stream:
                numbers = pd.read_csv(stream, keep_default_na=False)
            yield Published(**about, numbers=numbers)
