"""Which variable is which: the names that code bases of this field gave to the same things.

A layout is a row of a table. A file is read by the first layout whose names it has, unless the
user names the variables.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hashbench.base.errors import HashbenchError
from hashbench.data.layouts.variables import SUFFIXES, Variables

ROLES = ("image", "text", "labels")

#: part of the split, or "all" -> the variables for image, text and labels; ``|`` is "or"
Parts = Mapping[str, tuple[str, str, str]]


@dataclass(frozen=True)
class Layout:
    """The names that one family of files uses.

    Attributes
    ----------
    name : the method whose code made it known
    parts : "all", or "train", "query" and perhaps "database" -> names by role
    indices : part -> variable with the rows of a split, counted from 1
    items_are_columns : True if matrices are stored with a column an item
    """

    name: str
    parts: Parts
    indices: Mapping[str, str] = field(default_factory=dict)
    items_are_columns: bool = False


LAYOUTS = (
    Layout(
        "SePH",
        {
            "train": ("I_tr|V_tr", "T_tr", "L_tr|L_train"),
            "query": ("I_te|V_te", "T_te", "L_te|L_test"),
            "database": ("I_db|V_db", "T_db", "L_db"),
        },
    ),
    Layout(
        "DLFH",
        {
            "train": ("XDatabase|VDatabase", "YDatabase", "databaseL"),
            "query": ("XTest|VTest", "YTest", "testL"),
        },
    ),
    Layout(
        "ALECH",
        {"train": ("XTrain", "YTrain", "LTrain"), "query": ("XTest", "YTest", "LTest")},
    ),
    Layout(
        "SEHA",
        {
            "train": ("img_train", "text_train", "label_train"),
            "query": ("img_test", "text_test", "label_test"),
        },
    ),
    Layout("UCCH", {"all": ("XAll", "YAll", "LAll")}),  # before DCMH, whose images may be pixels
    Layout("DCMH", {"all": ("images|IAll", "YAll", "LAll")}),
    Layout("CLIP", {"all": ("index|imgs|FAll", "caption|tags|YAll", "category|LAll|labels")}),
    Layout(
        "RoPH",
        {"all": ("data.X1", "data.X2", "data.Y")},
        {"train": "data.split.ind_train", "query": "data.split.ind_test"},
        items_are_columns=True,
    ),
    Layout("multi-view cells", {"all": ("X{1}", "X{2}", "y|Y")}),
    Layout(
        "multi-view cells",
        {"all": ("data{1}", "data{2}", "truelabel|truelabel{1}|truth")},
        items_are_columns=True,
    ),
)

#: Files of one matrix each: what comes before is the dataset's name, what follows a variant.
SINGLE_MATRIX = re.compile(r"(?P<prefix>.*?)-?(?:iall|xall|yall|lall)(?:-(?P<variant>.*))?", re.I)
CLIP_FILES = ("index", "caption", "label")


@dataclass(frozen=True)
class Recognised:
    """The variables of a file that will be read, and under which layout's names."""

    layout: str
    parts: Mapping[str, tuple[str, str, str]]
    indices: Mapping[str, str]
    items_are_columns: bool
    unused: tuple[str, ...]

    @property
    def has_split(self) -> bool:
        """True if the file says which rows ask."""
        return "query" in self.parts or "query" in self.indices


def recognise(variables: Variables, chosen: Mapping[str, str]) -> Recognised:
    """Find the layout of a file.

    Parameters
    ----------
    variables : what the file has
    chosen : role -> variable named by the user; variables joined by ``+`` are the training
        rows, the queries and, if there is a third, the database
    """
    for layout in LAYOUTS:
        parts = _named_parts(layout, variables)
        if parts:
            columns, name = layout.items_are_columns, layout.name
            indices = {p: v for p, v in layout.indices.items() if v in variables}
            if len(variables.paths) > 1 and name == "DCMH":
                name = "UCCH"  # the same names, a file a matrix
            break
    else:
        parts, columns, name, indices = {}, False, "named variables", {}
    if chosen:
        parts = _choose(parts, chosen, variables)
    if not parts:
        raise _unknown_layout(variables)
    used = {variable for names in parts.values() for variable in names} | set(indices.values())
    unused = tuple(v for v in variables if v not in used)
    return Recognised(name, parts, indices, columns, unused)


def _named_parts(layout: Layout, variables: Variables) -> dict[str, tuple[str, str, str]]:
    """Return the layout's variables by part, or nothing if a part that it needs is missing."""
    found: dict[str, tuple[str, str, str]] = {}
    for part, names in layout.parts.items():
        image, text, labels = (_first(alternatives.split("|"), variables) for alternatives in names)
        if image and text and labels:
            found[part] = (image, text, labels)
        elif part != "database":
            return {}
    return found


def _first(names: Sequence[str], variables: Variables) -> str | None:
    """Return the first of the names that is a table of numbers, or else the first there is."""
    there = [name for name in names if name in variables]
    tables = [name for name in there if variables[name].is_matrix]
    return next(iter(tables or there), None)


def _choose(
    parts: dict[str, tuple[str, str, str]], chosen: Mapping[str, str], variables: Variables
) -> dict[str, tuple[str, str, str]]:
    by_role = {
        role: [names[k] for names in parts.values()] for k, role in enumerate(ROLES) if parts
    }
    for role, names in chosen.items():
        by_role[role] = names.split("+")
        for name in by_role[role]:
            if name not in variables:
                raise HashbenchError(f"{role}={names}: found no {name!r}; allowed: {variables}")
    missing = [role for role in ROLES if role not in by_role]
    if missing:
        raise HashbenchError(
            f"{variables.paths[0].name}: name {', '.join(missing)} too; found {variables}"
        )
    counts = {role: len(names) for role, names in by_role.items()}
    if len(set(counts.values())) > 1 or counts["image"] > 3:
        said = ", ".join(f"{role}={'+'.join(names)}" for role, names in by_role.items())
        raise HashbenchError(
            f"{said}: allowed: one variable for each, or for each train+query or "
            "train+query+database"
        )
    order = ("train", "query", "database") if counts["image"] > 1 else ("all",)
    rows = zip(*(by_role[role] for role in ROLES), strict=True)
    return dict(zip(order, rows, strict=False))


def _unknown_layout(variables: Variables) -> HashbenchError:
    file = variables.paths[0].name
    return HashbenchError(
        f"{file}: layout unknown; found {variables}{_nearest(variables)}; say which is which: "
        f'-d "{file}[image=NAME,text=NAME,labels=NAME]"'
    )


def _nearest(variables: Variables) -> str:
    """Say what a file lacks of the layout that it has most of, if that is half of it."""

    def lacking(layout: Layout) -> list[str]:
        needed = [n for part, names in layout.parts.items() if part != "database" for n in names]
        lacks = [names for names in needed if not any(n in variables for n in names.split("|"))]
        return lacks if 2 * len(lacks) <= len(needed) else []

    near = [(layout.name, lacks) for layout in LAYOUTS if (lacks := lacking(layout))]
    if not near:
        return ""
    name, lacks = min(near, key=lambda each: len(each[1]))
    return f"; the {name} layout lacks {', '.join(lacks).replace('|', ' or ')}"


def files_of(path: Path) -> list[Path]:
    """Return the files that belong together: one, or one a matrix in the same folder."""
    if path.is_dir():
        groups: dict[str, list[Path]] = {}
        for file in sorted(path.iterdir()):
            group = _group(file)
            if group is not None:
                groups.setdefault(group, []).append(file)
        if len(groups) != 1:
            found = ", ".join(g or "index/caption/label" for g in groups) or "none"
            raise HashbenchError(
                f"folder {str(path)!r}: found {found} of the datasets with a file a matrix; "
                "allowed: one, or name one of its files"
            )
        return _features_first(groups.popitem()[1])
    group = _group(path)
    if group is None or not path.is_file():
        return [path]
    return _features_first(file for file in path.parent.iterdir() if _group(file) == group)


def _group(file: Path) -> str | None:
    """Return the name that files of one dataset share, if this may be one of several."""
    if file.suffix.lower() not in SUFFIXES:
        return None
    if file.stem in CLIP_FILES:
        return ""
    match = SINGLE_MATRIX.fullmatch(file.stem)
    return match["prefix"] if match else None


def _features_first(files: Iterable[Path]) -> list[Path]:
    """Put variants (``-vgg``: features of a network) before what may be pixels."""
    return sorted(files, key=lambda file: ("-vgg" not in file.stem.lower(), file.name))
