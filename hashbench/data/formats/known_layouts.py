"""The names that code bases of this field give to views, labels and splits.

A layout is one row of a table. A file is read by the first layout whose names it has, unless the
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

#: Key that names all views at once.
VIEWS = "views"

#: What `labels=` is for data without any.
NO_LABELS = "unlabelled"

#: Usual names of labels, where the user names the views only.
USUAL_LABELS = ("labels", "label", "y", "Y", "L", "LAll", "truth", "truelabel", "gnd", "gt")

#: Names of the parts of a split in front of variables, from files of one part each.
PREFIXES = (("train",), ("query", "test"), ("database", "retrieval"))

#: part of the split, or "all" -> the variables for each view and for the labels; ``|`` is "or",
#: ``*`` any letters
Parts = Mapping[str, tuple[str, ...]]

SPLIT = {"train": "train", "query": "query", "database": "database"}


@dataclass(frozen=True)
class Layout:
    """The names that one family of files uses.

    Attributes
    ----------
    name : the method whose code uses it
    parts : "all", or "train", "query" and perhaps "database" -> names by role
    indices : part -> variable with the rows of a split
    first_row : number of the first row in these
    items_are_columns : True if the columns of the matrices are the items
    excluded : part -> number of its first rows that are in no part of the split
    more_views : True if further matrices with one row per item may be views
    """

    name: str
    parts: Parts
    indices: Mapping[str, str] = field(default_factory=dict)
    first_row: int = 1
    items_are_columns: bool = False
    excluded: Mapping[str, int] = field(default_factory=dict)
    more_views: bool = False


def _own_layout(part: str) -> tuple[str, ...]:
    """Return hashbench's own names for a part, with the part before or after the role."""
    files = {"query": ("query", "test"), "database": ("database", "retrieval")}
    names = files.get(part, (part,))
    return tuple(
        "|".join(f"{n}.{each}|{n}_{each}|{each}_{n}" for n in names for each in role.split("|"))
        for role in ("image", "text", "labels|label")
    )


LAYOUTS = (
    Layout(
        "hashbench", {"all": ("image", "text", "labels|label")}, SPLIT, first_row=0, more_views=True
    ),
    Layout("hashbench", {part: _own_layout(part) for part in SPLIT}, more_views=True),
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
        more_views=True,
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
        excluded={"query": 231},  # the authors' validation rows
    ),
    Layout("multi-view cells", {"all": ("X{1}", "X{2}", "y|Y")}, more_views=True),
    Layout(
        "multi-view cells",
        {"all": ("data{1}", "data{2}", "truelabel|truelabel{1}|truth")},
        items_are_columns=True,
        more_views=True,
    ),
)


@dataclass(frozen=True)
class Recognised(Layout):
    """The layout of one file, with the names of its variables; `unused` are not read."""

    views: tuple[str, ...] = ROLES[:2]
    unused: tuple[str, ...] = ()

    @property
    def has_split(self) -> bool:
        """True if the file says which rows are queries."""
        return "query" in self.parts or "query" in self.indices


def recognise(variables: Variables, chosen: Mapping[str, str]) -> Recognised:
    """Return which variables are views, labels and splits.

    Parameters
    ----------
    variables : those of the file
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
        name = "UCCH"  # the same names, one file per matrix
    views: tuple[str, ...] = ROLES[:2]
    if name == "hashbench" and "all" in parts and "view_names" in variables:
        texts = np.ravel(variables["view_names"].read())
        views = tuple(str(text).strip() for text in texts)  # MATLAB pads them
        parts = {"all": (*views, parts["all"][-1])}
        for view in views:
            if view not in variables:
                raise HashbenchError(f"view_names: found no {view!r}; allowed: {variables}")
    if chosen:
        views, parts = _choose(views, parts, chosen, variables)
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
    if layout.more_views and not chosen and views == ROLES[:2]:
        _check_no_more_views(parts, unused, variables)
    form = layout.items_are_columns, layout.excluded
    return Recognised(name, parts, indices, first, *form, views=views, unused=unused)


def _check_no_more_views(parts: Parts, unused: Sequence[str], variables: Variables) -> None:
    """Raise an error if an unused matrix has as many rows as the views: it may be one of them."""
    names, *_ = parts.values()
    # Names of parts hold for all of them where each part has its file: `train.image`.
    prefix = "" if "all" in parts else f"{PREFIXES[0][0]}."
    if not names[0].startswith(prefix):
        return
    items = set.intersection(*(set(variables[name].shape) for name in names))
    more = [
        name
        for name in unused
        if name.startswith(prefix)
        and variables[name].is_matrix
        and items & set(variables[name].shape)
        and 1 not in variables[name].shape
    ]
    if not more:
        return
    two, others = (
        "+".join(name.removeprefix(prefix) for name in each) for each in (names[:2], more)
    )
    found = ", ".join(f"{name} ({variables[name]})" for name in more)
    raise HashbenchError(
        f"{variables.paths[0].name}: found {found} besides {' and '.join(names[:2])}; name the "
        f"views: [views={two}+{others}] uses it, [views={two}] leaves it out"
    )


def _named_parts(layout: Layout, variables: Variables) -> dict[str, tuple[str, ...]]:
    """Return the layout's variables by part; empty if a required part is missing."""
    found: dict[str, tuple[str, ...]] = {}
    for part, names in layout.parts.items():
        present = [_first(alternatives.split("|"), variables) for alternatives in names]
        if None not in present:
            found[part] = tuple(name for name in present if name is not None)
        elif part != "database":
            return {}
    return found


def _first(names: Sequence[str], variables: Variables) -> str | None:
    """Return the first of the names that is a matrix of numbers, otherwise the first present."""
    present = [
        name for pattern in names for name in variables if fnmatch.fnmatchcase(name, pattern)
    ]
    matrices = [name for name in present if variables[name].is_matrix]
    return next(iter(matrices or present), None)


def _choose(
    views: tuple[str, ...], parts: Parts, chosen: Mapping[str, str], variables: Variables
) -> tuple[tuple[str, ...], Parts]:
    """Return views and variables by part, those of the user before those of the layout."""
    file = variables.paths[0].name
    roles = (*views, "labels")
    by_role = {role: [names[k] for names in parts.values()] for k, role in enumerate(roles)}
    if VIEWS in chosen:
        views = tuple(chosen[VIEWS].split("+"))
        if len(set(views)) != len(views) or len(views) < 2:
            raise HashbenchError(f"{VIEWS}={chosen[VIEWS]}: allowed: two or more, each once")
        by_role |= {view: _by_part(VIEWS, view, variables) for view in views}
        if not by_role["labels"]:
            by_role["labels"] = [name for name in [_first(USUAL_LABELS, variables)] if name]
    for role, text in chosen.items():
        if role != VIEWS and (role, text) != ("labels", NO_LABELS):
            by_role[role] = _by_part(role, text, variables)
    roles = (*views, "labels")
    if chosen.get("labels") == NO_LABELS:
        by_role["labels"] = [NO_LABELS] * max(len(by_role.get(view, "")) for view in views)
    missing = [role for role in roles if not by_role.get(role)]
    if missing:
        raise HashbenchError(f"{file}: name {', '.join(missing)} too; found {variables}")
    counts = {len(by_role[role]) for role in roles}
    if len(counts) > 1 or max(counts) > len(SPLIT):
        found = ", ".join(f"{role}={'+'.join(by_role[role])}" for role in roles)
        raise HashbenchError(
            f"{found}: allowed: one variable for each, or for each train+query or "
            "train+query+database"
        )
    order = tuple(SPLIT) if max(counts) > 1 else ("all",)
    rows = zip(*(by_role[role] for role in roles), strict=True)
    return views, dict(zip(order, rows, strict=False))


def _by_part(role: str, text: str, variables: Variables) -> list[str]:
    """Return the variables that a user names: one, one for each part, or one name in all parts."""
    if text not in variables:
        prefixed = [_first([f"{name}.{text}" for name in names], variables) for names in PREFIXES]
        if prefixed[0]:
            return [name for name in prefixed if name]
    for name in text.split("+"):
        if name not in variables:
            raise HashbenchError(f"{role}={text}: found no {name!r}; allowed: {variables}")
    return text.split("+")


def _unknown_layout(variables: Variables) -> HashbenchError:
    file = variables.paths[0].name
    if len(variables) == 1 and variables[next(iter(variables))].is_matrix:
        return HashbenchError(
            f"{file}: found one matrix, {variables}; a dataset is two views and labels: a folder "
            f'with image, text and labels, or -d "NAME=image:{file},text:FILE,labels:FILE"'
        )
    return HashbenchError(
        f"{file}: layout unknown; found {variables}{_nearest(variables)}; name the variables: "
        f'-d "{file}[image=NAME,text=NAME,labels=NAME]", or for more views '
        "[views=NAME+NAME+NAME,labels=NAME]"
    )


def _nearest(variables: Variables) -> str:
    """Return what the file lacks of the most similar layout, if it has half of that."""

    def lacking(layout: Layout) -> list[str]:
        needed = [n for part, names in layout.parts.items() if part != "database" for n in names]
        lacks = [names for names in needed if _first(names.split("|"), variables) is None]
        return lacks if 2 * len(lacks) <= len(needed) else []

    candidates = [layout for layout in LAYOUTS if "train.image" not in str(layout.parts)]
    near = [(layout.name, lacks) for layout in candidates if (lacks := lacking(layout))]
    if not near:
        return ""
    name, lacks = min(near, key=lambda each: len(each[1]))
    return f"; the {name} layout lacks {', '.join(lacks).replace('|', ' or ')}"
