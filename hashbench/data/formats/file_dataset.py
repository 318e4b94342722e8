"""A dataset given by a path: ``-d file.mat``, ``-d name=file.mat``.

Variables can be named where no layout fits or another view is wanted:
``-d "file.mat[image=V_tr+V_te]"``. One file for each role:
``-d "ours=image:feats.npy,text:tags.csv,labels:y.npy"``.
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from hashbench.core import isolation
from hashbench.core.errors import HashbenchError, unknown
from hashbench.core.validation import is_file_name
from hashbench.data.formats.file_groups import files_of, roles_of
from hashbench.data.formats.known_layouts import ROLES, VIEWS, recognise
from hashbench.data.formats.read_dataset import load_file
from hashbench.data.formats.variables import SUFFIXES, Variables
from hashbench.plugins.dataset import Data, Dataset, GivenSplit, LastQuery, RandomQuery
from hashbench.plugins.protocol import DEFAULT, RESERVED_KEYS
from hashbench.plugins.selection import parse_item

#: Keys that name variables.
NAMES = (*ROLES, VIEWS)


class FileDataset(Dataset):
    """Data in a file of the user.

    Parameters
    ----------
    path : a file, a folder with one file per matrix, or ``role:file,role:file,...``
    name : name in tables; that of the file without its suffix if None
    image, text, labels : variables to use instead of those of the layout; several joined by ``+``
        are the training rows, the queries and, if there is a third, the database
    views : the variables of all views, joined by ``+``, for more than two views
    """

    protocols: ClassVar = {
        "given": GivenSplit(),
        "random": RandomQuery(0.25),
        "last-2000": LastQuery(2000),
        "last-2100": LastQuery(2100),
    }
    preprocessing: ClassVar = "l2"  # of all views; docs/guide/your-data.md compares the choices

    def __init__(
        self,
        path: str,
        name: str | None = None,
        image: str | None = None,
        text: str | None = None,
        labels: str | None = None,
        views: str | None = None,
    ) -> None:
        self.path = path
        self.name = Path(path).stem if name is None else name
        self.image = image
        self.text = text
        self.labels = labels
        self.views = views

    def load(self) -> Data:
        """Return the data; a note says which variables were used."""
        return load_file(self.path, self._chosen())

    def default_protocol(self) -> str:  # type: ignore[override]  # it depends on the file
        """Return "given" if the file has a split, otherwise "default"."""

        def has_split() -> bool:
            return recognise(Variables(files_of(self.path)), self._chosen()).has_split

        return (
            "given" if isolation.run_in_subprocess(has_split, f"dataset {self.name}") else DEFAULT
        )

    def _chosen(self) -> dict[str, str]:
        chosen = {key: getattr(self, key) for key in NAMES if getattr(self, key) is not None}
        roles = [role for role in roles_of(self.path) if role != "labels"]
        return {VIEWS: "+".join(roles), "labels": "labels"} if roles else chosen


def parse_file_selection(text: str) -> tuple[str, FileDataset] | None:
    """Return the name and the dataset of a selection that names a file, otherwise None.

    Parameters
    ----------
    text : ``path``, ``name=path``, either with variables in brackets; the keys ``protocol`` and
        ``preprocess`` are allowed there too and left to the caller
    """
    selection, combinations = parse_item(text)
    name, equals, location = selection.partition("=")
    if not equals or Path(selection).exists():
        name, equals, location = "", "", selection
    roles = roles_of(location)
    path = Path(location).expanduser()
    looks_like_path = "/" in location or "\\" in location or path.suffix.lower() in SUFFIXES
    if not equals and not roles and not looks_like_path and not (path.suffix and path.is_file()):
        return None
    if not roles and not path.exists():
        raise HashbenchError(f"dataset {text!r}: no file or folder {location!r}")
    if name and not is_file_name(name):
        raise HashbenchError(f"dataset {text!r}: found name {name!r}; allowed: no / or \\ in it")
    if roles and not name.strip():
        raise HashbenchError(f'dataset {text!r}: found no name; allowed: -d "NAME={location}"')
    if len(combinations) > 1:
        raise HashbenchError(f"dataset {text!r}: allowed: one value for each variable, no grid")
    chosen = combinations[0]
    for key in chosen:
        if key not in (*NAMES, *RESERVED_KEYS):
            raise unknown(f"parameter of {path.name}", key, (*NAMES, *RESERVED_KEYS))
    variables = {key: str(chosen[key]) for key in NAMES if key in chosen}
    if roles and variables:
        raise HashbenchError(
            f"dataset {text!r}: found {', '.join(variables)} in brackets; allowed: variables "
            "after their files, as in image:FILE:NAME"
        )
    if roles:
        location = ",".join(
            f"{role}:{file.path}{file.variable and ':' + file.variable}"
            for role, file in roles.items()
        )
        return name.strip(), FileDataset(location, name.strip())
    dataset = FileDataset(str(path.resolve()), name.strip() or path.stem, **variables)
    return dataset.name, dataset
