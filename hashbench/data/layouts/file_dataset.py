"""A dataset that is nothing but a path: ``-d file.mat``, ``-d name=file.mat``.

The variables may be named where no layout fits or another view is wanted:
``-d "file.mat[image=V_tr+V_te]"``.
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from hashbench.base.errors import HashbenchError, unknown
from hashbench.data.layouts.assemble import load_file
from hashbench.data.layouts.table import ROLES, files_of, recognise
from hashbench.data.layouts.variables import SUFFIXES, Variables
from hashbench.plugins.dataset import Data, Dataset, GivenSplit, LastQuery, RandomQuery
from hashbench.plugins.selection import parse_item

#: Keys of a selection that choose the split and the preprocessing, whatever the dataset.
RESERVED = ("protocol", "preprocess")


class FileDataset(Dataset):
    """Data in a file of the user's own.

    Parameters
    ----------
    path : the file, or a folder with a file a matrix
    name : what tables call it; the file's name without its suffix if None
    image, text, labels : variables, where the layout is not to decide; several joined by ``+``
        are the training rows, the queries and, if there is a third, the database
    """

    protocols: ClassVar = {
        "given": GivenSplit(),
        "random": RandomQuery(0.25),
        "last-2000": LastQuery(2000),
        "last-2100": LastQuery(2100),
    }

    def __init__(
        self,
        path: str,
        name: str | None = None,
        image: str | None = None,
        text: str | None = None,
        labels: str | None = None,
    ) -> None:
        self.path = path
        self.name = Path(path).stem if name is None else name
        self.image = image
        self.text = text
        self.labels = labels

    def load(self) -> Data:
        """Return the data, with what was recognised among the notes."""
        return load_file(Path(self.path), self._chosen())

    def default_protocol(self) -> str:  # type: ignore[override]  # it depends on the file
        """Return "given" if the file says which rows ask, otherwise "random"."""
        found = recognise(Variables(files_of(Path(self.path))), self._chosen())
        return "given" if found.has_split else "random"

    def _chosen(self) -> dict[str, str]:
        return {role: getattr(self, role) for role in ROLES if getattr(self, role) is not None}


def parse_file_selection(text: str) -> tuple[str, FileDataset] | None:
    """Read an item of a dataset selection as a file, if it is one.

    Parameters
    ----------
    text : ``path``, ``name=path``, either with variables in brackets; the keys ``protocol`` and
        ``preprocess`` may stand there too and are left to the caller

    Returns
    -------
    The name for tables and the dataset, or None if the text does not name a file.
    """
    whole, combinations = parse_item(text)
    name, equals, path_text = whole.partition("=")
    if not equals or Path(whole).exists():
        name, equals, path_text = "", "", whole
    path = Path(path_text).expanduser()
    looks_like_path = "/" in path_text or "\\" in path_text or path.suffix.lower() in SUFFIXES
    if not equals and not looks_like_path and not (path.suffix and path.is_file()):
        return None
    if not path.exists():
        raise HashbenchError(f"dataset {text!r}: no file or folder {path_text!r}")
    if len(combinations) > 1:
        raise HashbenchError(f"dataset {text!r}: a file takes one value a variable, no grid")
    chosen = combinations[0]
    for key in chosen:
        if key not in (*ROLES, *RESERVED):
            raise unknown(f"parameter of {path.name}", key, (*ROLES, *RESERVED))
    variables = {role: str(chosen[role]) for role in ROLES if role in chosen}
    dataset = FileDataset(str(path.resolve()), name.strip() or path.stem, **variables)
    return dataset.name, dataset
