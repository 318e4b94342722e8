"""Errors: one line with the thing, the value found and the values allowed.

The command line turns these into a message and exit code 2; only defects show a traceback.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class HashbenchError(ValueError):
    """Bad input: the text names the thing, the value found and the values allowed."""


class DeclinedError(HashbenchError):
    """A method declines a dataset for a reason of its own; the cell is skipped, not failed."""


class StorageError(OSError):
    """Results cannot be written; nothing is wrong with what was computed."""


class DamagedError(ValueError):
    """A file or folder of results that is not what was written, and what is wrong with it."""


def describe_os_error(error: OSError, where: object) -> str:
    """Say what the system refused, and where if it does not say so itself.

    Examples
    --------
    >>> describe_os_error(OSError(28, "No space left on device"), "results")
    'results: No space left on device'
    """
    if error.strerror is None:  # raised by ourselves, with a whole sentence
        return str(error)
    return f"{error.filename or where}: {error.strerror}"


def unknown(kind: str, name: str, allowed: Iterable[str]) -> HashbenchError:
    """Return the error for an unknown name, with the nearest names that exist.

    Examples
    --------
    >>> print(unknown("dataset", "wik", ["wiki", "emoji"]))
    unknown dataset 'wik'; did you mean 'wiki'?
    >>> print(unknown("method", "SePH", ["seph", "edsh"]))  # as papers write it
    unknown method 'SePH'; did you mean 'seph'?
    """
    allowed = sorted(allowed)
    names = {each.lower(): each for each in allowed}
    found = difflib.get_close_matches(name.lower(), names, n=3, cutoff=0.6)
    near = [names[each] for each in found if each == name.lower() or name.lower() not in names]
    if near:
        return HashbenchError(f"unknown {kind} {name!r}; did you mean {_joined_by_or(near)}?")
    return HashbenchError(f"unknown {kind} {name!r}; allowed: {', '.join(allowed) or 'none'}")


def _joined_by_or(names: list[str]) -> str:
    quoted = [repr(name) for name in names]
    return quoted[0] if len(quoted) == 1 else ", ".join(quoted[:-1]) + f" or {quoted[-1]}"
