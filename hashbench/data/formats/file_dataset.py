"""A dataset that is nothing but a path: ``-d file.mat``, ``-d name=file.mat``.

The variables may be named where no layout fits or another view is wanted:
``-d "file.mat[image=V_tr+V_te]"``. Several files play a role each:
``-d "ours=image:feats.npy,text:tags.csv,labels:y.npy"``.
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from hashbench.core import isolation
from hashbench.core.errors import HashbenchError, unknown
from hashbench.core.validation import is_file_name
from hashbench.data.formats.assemble import load_file
from hashbench.data.formats.file_groups import files_of, roles_of
from hashbench.data.formats.known_layouts import ROLES, VIEWS, recognise
from hashbench.data.formats.variables import SUFFIXES, Variables
from hashbench.plugins.dataset import Data, Dataset, GivenSplit, LastQuery, RandomQuery
from hashbench.plugins.protocol import RESERVED_KEYS
from hashbench.plugins.selection import parse_item

#: Keys that name variables.
NAMES = (*ROLES, VIEWS)


class FileDataset(Dataset):
    """Data in a file of the user's own.

    Parameters
    ----------
    path : the file, a folder with a file a matrix, or ``role:file,role:file,...``
    name : what tables call it; the file's name without its suffix if None
    image, text, labels : variables, where the layout is not to decide; several joined by ``+``
        are the training rows, the queries and, if there is a third, the database
    views : the variables of all views, joined by ``+``, where there are others than two
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
        """Return the data, with what was recognised among the notes."""
        return load_file(self.path, self._chosen())

    def default_protocol(self) -> str:  # type: ignore[override]  # it depends on the file
        """Return "given" if the file says which rows ask, otherwise "random"."""

        def has_split() -> bool:
            return recognise(Variables(files_of(self.path)), self._chosen()).has_split

        return "given" if isolation.call(has_split, f"dataset {self.name}") else "random"

    def _chosen(self) -> dict[str, str]:
        chosen = {key: getattr(self, key) for key in NAMES if getattr(self, key) is not None}
        roles = [role for role in roles_of(self.path) if role != "labels"]
        return {VIEWS: "+".join(roles), "labels": "labels"} if roles else chosen


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
    name, equals, place = whole.partition("=")
    if not equals or Path(whole).exists():
        name, equals, place = "", "", whole
    roles = roles_of(place)
    path = Path(place).expanduser()
    looks_like_path = "/" in place or "\\" in place or path.suffix.lower() in SUFFIXES
    if not equals and not roles and not looks_like_path and not (path.suffix and path.is_file()):
        return None
    if not roles and not path.exists():
        raise HashbenchError(f"dataset {text!r}: no file or folder {place!r}")
    if name and not is_file_name(name):
        raise HashbenchError(f"dataset {text!r}: found name {name!r}; allowed: no / or \\ in it")
    if roles and not name.strip():
        raise HashbenchError(f'dataset {text!r}: found no name; allowed: -d "NAME={place}"')
    if len(combinations) > 1:
        raise HashbenchError(f"dataset {text!r}: a file takes one value a variable, no grid")
    chosen = combinations[0]
    for key in chosen:
        if key not in (*NAMES, *RESERVED_KEYS):
            raise unknown(f"parameter of {path.name}", key, (*NAMES, *RESERVED_KEYS))
    variables = {key: str(chosen[key]) for key in NAMES if key in chosen}
    if roles and variables:
        raise HashbenchError(
            f"dataset {text!r}: found {', '.join(variables)} in brackets; a file's variable stands "
            "behind it, as in image:FILE:NAME"
        )
    if roles:
        place = ",".join(
            f"{role}:{file.path}{file.variable and ':' + file.variable}"
            for role, file in roles.items()
        )
        return name.strip(), FileDataset(place, name.strip())
    dataset = FileDataset(str(path.resolve()), name.strip() or path.stem, **variables)
    return dataset.name, dataset
