"""Which variable is which: the names that code bases of this field gave to the same things.

A layout is a row of a table. A file is read by the first layout whose names it has, unless the
user names the variables.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from hashbench.core.errors import HashbenchError
from hashbench.data.formats.variables import Variables

ROLES = ("image", "text", "labels")

#: What a user may choose besides: all views at once, in their order.
VIEWS = "views"

#: part of the split, or "all" -> the variables for each view and for the labels; ``|`` is "or",
#: ``*`` any letters
Parts = Mapping[str, tuple[str, ...]]

SPLIT = {"train": "train", "query": "query", "database": "database"}


@dataclass(frozen=True)
class Layout:
    """The names that one family of files uses.

    Attributes
    ----------
    name : the method whose code made it known
    parts : "all", or "train", "query" and perhaps "database" -> names by role
    indices : part -> variable with the rows of a split
    first_row : what those count from
    items_are_columns : True if matrices are stored with a column an item
    left_out : part -> how many of its first rows are in no part of the split
    """

    name: str
    parts: Parts
    indices: Mapping[str, str] = field(default_factory=dict)
    first_row: int = 1
    items_are_columns: bool = False
    methods_left_out: Mapping[str, int] = field(default_factory=dict)


def _own(part: str) -> tuple[str, ...]:
    """Return the suite's own names for a part: in a file of its own, or behind or before it."""
    files = {"query": ("query", "test"), "database": ("database", "retrieval")}
    names = files.get(part, (part,))
    return tuple(
        "|".join(f"{n}.{each}|{n}_{each}|{each}_{n}" for n in names for each in role.split("|"))
        for role in ("image", "text", "labels|label")
    )


LAYOUTS = (
    Layout("hashbench", {"all": ("image", "text", "labels|label")}, SPLIT, first_row=0),
    Layout("hashbench", {part: _own(part) for part in SPLIT}),
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
    Layout(
        "XMedia",
        {
            "train": ("I_tr_CNN", "T_tr_BOW", "trImgCat"),
            "query": ("I_te_CNN", "T_te_BOW", "teImgCat"),
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
    Layout(
        "DGCPN",
        {"all": ("*_vgg19", "tags", "label")},
        {"train": "train_num", "query": "test_num", "database": "database_num"},
        first_row=0,
    ),
    Layout(
        "DGCPN",
        {
            "train": ("train_feature_vgg19", "train_txt", "train_label"),
            "query": ("test_feature_vgg19", "test_txt", "test_label"),
        },
        methods_left_out={"query": 231},  # the authors' validation rows
    ),
    Layout("multi-view cells", {"all": ("X{1}", "X{2}", "y|Y")}),
    Layout(
        "multi-view cells",
        {"all": ("data{1}", "data{2}", "truelabel|truelabel{1}|truth")},
        items_are_columns=True,
    ),
)


@dataclass(frozen=True)
class Recognised:
    """The variables of a file that will be read, and under which layout's names."""

    layout: str
    views: tuple[str, ...]
    parts: Parts
    indices: Mapping[str, str]
    first_row: int
    items_are_columns: bool
    methods_left_out: Mapping[str, int]
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
        rows, the queries and, if there is a third, the database. The role ``views`` names all
        views, joined by ``+``.
    """
    layout = Layout("named variables", {})
    parts: Parts = {}
    for each in LAYOUTS:
        found = _named_parts(each, variables)
        if found:
            layout, parts = each, found
            break
    name = layout.name
    if len(variables.paths) > 1 and name == "DCMH":
        name = "UCCH"  # the same names, a file a matrix
    views: tuple[str, ...] = ROLES[:2]
    if name == "hashbench" and "all" in parts and "view_names" in variables:
        texts = np.ravel(variables["view_names"].read())
        views = tuple(str(text).strip() for text in texts)  # MATLAB pads them
        parts = {"all": (*views, parts["all"][-1])}
        _check_there(parts["all"], "view_names", variables)
    if VIEWS in chosen:
        views, parts = _choose_views(parts, chosen, variables)
    elif chosen:
        parts = _choose(parts, chosen, variables)
    if not parts:
        raise _unknown_layout(variables)
    indices = {p: v for p, v in layout.indices.items() if v in variables}
    used = {variable for names in parts.values() for variable in names} | set(indices.values())
    first = layout.first_row
    if name == "hashbench":
        used |= {"view_names", "label_names", "strings", "first_row", "split"}
        used |= {"recipe", "thumbnails", "thumbnail_size"}
        if "first_row" in variables:
            first = int(np.ravel(variables["first_row"].read())[0])
    unused = tuple(v for v in variables if v not in used)
    return Recognised(
        name,
        views,
        parts,
        indices,
        first,
        layout.items_are_columns,
        layout.methods_left_out,
        unused,
    )


def _named_parts(layout: Layout, variables: Variables) -> dict[str, tuple[str, ...]]:
    """Return the layout's variables by part, or nothing if a part that it needs is missing."""
    found: dict[str, tuple[str, ...]] = {}
    for part, names in layout.parts.items():
        there = [_first(alternatives.split("|"), variables) for alternatives in names]
        if None not in there:
            found[part] = tuple(name for name in there if name is not None)
        elif part != "database":
            return {}
    return found


def _first(names: Sequence[str], variables: Variables) -> str | None:
    """Return the first of the names that is a table of numbers, or else the first there is."""
    there = [name for pattern in names for name in _called(pattern, variables)]
    tables = [name for name in there if variables[name].is_matrix]
    return next(iter(tables or there), None)


def _called(pattern: str, variables: Variables) -> list[str]:
    if "*" in pattern:
        return [name for name in variables if fnmatch.fnmatchcase(name, pattern)]
    return [pattern] if pattern in variables else []


def _choose_views(
    parts: Parts, chosen: Mapping[str, str], variables: Variables
) -> tuple[tuple[str, ...], Parts]:
    """Return the views that the user names, each by its variable, and the labels."""
    views = tuple(chosen[VIEWS].split("+"))
    labels = chosen.get("labels") or (parts["all"][-1] if "all" in parts else None)
    if labels is None:
        labels = _first(("labels", "label", "y", "Y", "L"), variables)
    if labels is None:
        raise HashbenchError(f"{variables.paths[0].name}: name labels too; found {variables}")
    for name in (*views, labels):
        if name not in variables:
            raise HashbenchError(
                f"{VIEWS}={chosen[VIEWS]}: found no {name!r}; allowed: {variables}"
            )
    if len(set(views)) != len(views) or len(views) < 2:
        raise HashbenchError(f"{VIEWS}={chosen[VIEWS]}: allowed: two or more, each once")
    return views, {"all": (*views, labels)}


def _check_there(names: Sequence[str], what: str, variables: Variables) -> None:
    for name in names:
        if name not in variables:
            raise HashbenchError(f"{what}: found no {name!r}; allowed: {variables}")


def _choose(parts: Parts, chosen: Mapping[str, str], variables: Variables) -> Parts:
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
    if len(variables) == 1 and variables[next(iter(variables))].is_matrix:
        return HashbenchError(
            f"{file}: found one matrix, {variables}; a dataset is two views and labels: a folder "
            f'with image, text and labels, or -d "NAME=image:{file},text:FILE,labels:FILE"'
        )
    return HashbenchError(
        f"{file}: layout unknown; found {variables}{_nearest(variables)}; say which is which: "
        f'-d "{file}[image=NAME,text=NAME,labels=NAME]"'
    )


def _nearest(variables: Variables) -> str:
    """Say what a file lacks of the layout that it has most of, if that is half of it."""

    def lacking(layout: Layout) -> list[str]:
        needed = [n for part, names in layout.parts.items() if part != "database" for n in names]
        lacks = [names for names in needed if _first(names.split("|"), variables) is None]
        return lacks if 2 * len(lacks) <= len(needed) else []

    whole = [layout for layout in LAYOUTS if "train.image" not in str(layout.parts)]
    near = [(layout.name, lacks) for layout in whole if (lacks := lacking(layout))]
    if not near:
        return ""
    name, lacks = min(near, key=lambda each: len(each[1]))
    return f"; the {name} layout lacks {', '.join(lacks).replace('|', ' or ')}"
