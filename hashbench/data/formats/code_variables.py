"""Codes in files that people exchange: which variable holds whose codes and whose labels.

A file of this field may hold one set of codes for queries and one for the database, or one for
each view: then there are two tasks in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hashbench.core.errors import HashbenchError, unknown
from hashbench.data.formats.variables import Variables

#: What variables of queries and of the database are called; X stands for what they hold.
PATTERNS = {
    "query": "query_X queryX X_query qX q_X qu_X X_te X_test testX",
    "database": "database_X databaseX X_database dX d_X X_db retrieval_X retrievalX X_retrieval "
    "rX r_X re_X X_tr X_train trainX",
}
HELD = {"codes": ("codes", "B"), "labels": ("labels", "L")}
VIEWS = {"image": ("I", "X", "img", "image"), "text": ("T", "Y", "txt", "text")}

ROLES = tuple(f"{part}_{kind}" for kind in HELD for part in PATTERNS)


def find_roles(variables: Variables, named: Mapping[str, str | None]) -> dict[str, dict[str, str]]:
    """Return which variable plays which role, for each task that the file is good for.

    Parameters
    ----------
    variables : what the file has
    named : role ("query_codes", ...) -> the variable that plays it, or None to look for it

    Returns
    -------
    Task -> role -> variable. The task has no name, "", unless the queries have codes of two views.
    """
    found = {role: name for role, name in named.items() if name is not None}
    for name in found.values():
        if name not in variables:
            raise unknown(f"variable in {variables.paths[0].name}", name, variables)
    candidates = {role: _called(variables, role, HELD[role.split("_")[1]]) for role in ROLES}
    for role, names in candidates.items():
        if role not in found and len(names) == 1:
            found[role] = names[0]
    tasks = {"": found}
    if "query_codes" not in found:
        query = _by_view(variables, "query_codes")
        database = (
            dict.fromkeys(VIEWS, found["database_codes"])
            if "database_codes" in found
            else _by_view(variables, "database_codes")
        )
        if query and database:
            tasks = {
                f"{query_view}->{database_view}": found
                | {"query_codes": query[query_view], "database_codes": database[database_view]}
                for query_view, database_view in (("image", "text"), ("text", "image"))
            }
    for role in ROLES:
        if any(role not in roles for roles in tasks.values()):
            raise _ambiguous_error(variables, role, candidates[role])
    return tasks


def codes_by_view(variables: Variables, part: str, views: Sequence[str]) -> list[str]:
    """Return the variables with the codes of each view of a split, for queries or database."""
    found = []
    for number, view in enumerate(views):
        own = [f"{part}_{number}", f"{part}_{view}"]
        names = [name for name in own if name in variables]
        names = names[:1] or _view_codes(variables, f"{part}_codes", VIEWS.get(view, (view,)))
        if len(names) != 1:
            raise HashbenchError(
                f"{variables.paths[0].name}: found {' and '.join(names) or 'no variable'} for the "
                f"codes of {part}, view {view}; allowed: {part}_{view}, one of: {variables}"
            )
        found += names
    return found


def find_labels(variables: Variables) -> dict[str, Any]:
    """Return the labels of queries and database, of those that the file has."""
    found = {part: _called(variables, f"{part}_labels", HELD["labels"]) for part in PATTERNS}
    return {part: variables[names[0]].read() for part, names in found.items() if len(names) == 1}


def read_roles(variables: Variables, roles: Mapping[str, str]) -> dict[str, Any]:
    """Return the arrays of one task by role; MATLAB's rows of class numbers become columns."""
    for name in roles.values():
        if not variables[name].is_numbers:
            raise HashbenchError(
                f"{variables.paths[0].name}: {name}: found {variables[name]}; allowed: numbers"
            )
    arrays = {role: variables[name].read() for role, name in roles.items()}
    for role, array in arrays.items():
        if array.dtype.kind not in "fiub":
            raise HashbenchError(
                f"{variables.paths[0].name}: {roles[role]}: found {array.dtype} entries; "
                "allowed: real numbers"
            )
    for part in PATTERNS:
        codes, labels = arrays[f"{part}_codes"], arrays[f"{part}_labels"]
        if labels.ndim == 2 and labels.shape[0] == 1 != codes.shape[0]:
            arrays[f"{part}_labels"] = labels.T
    return arrays


def _called(variables: Variables, role: str, held: Iterable[str]) -> list[str]:
    """Return the variables with a usual name, in either case of letters."""
    patterns = PATTERNS[role.split("_")[0]].split()
    usual = {pattern.replace("X", thing).lower() for pattern in patterns for thing in held}
    return [name for name in variables if name.lower() in usual]


def _by_view(variables: Variables, role: str) -> dict[str, str]:
    """Return view -> variable with its codes, or nothing unless there is one for each."""
    found: dict[str, str] = {}
    for number, (view, names) in enumerate(VIEWS.items()):
        own = f"{role.split('_')[0]}_{number}"  # as hashbench stores them itself
        called = [own] if own in variables else _view_codes(variables, role, names)
        if len(called) != 1:
            return {}
        found[view] = called[0]
    return found


def _view_codes(variables: Variables, role: str, names: Sequence[str]) -> list[str]:
    # a single letter alone, as I_te, is what files call the features
    held = [f"B{name}" for name in names] + [f"B_{name}" for name in names]
    return _called(variables, role, held + [name for name in names if len(name) > 1])


def _ambiguous_error(variables: Variables, role: str, names: list[str]) -> HashbenchError:
    words = role.replace("_", " ")
    exported = ", or give --split FILE of `hashbench data export`" if "labels" in role else ""
    return HashbenchError(
        f"{variables.paths[0].name}: found {' and '.join(names) or 'no variable'} for the {words}; "
        f"say which with --{role.replace('_', '-')} NAME, one of: {variables}{exported}"
    )
