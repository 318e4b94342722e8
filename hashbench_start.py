"""Where the command starts: outside the package, to say what is wrong if the package is not whole.

A folder `hashbench` without `__init__.py` in site-packages (what an uninstall of an early version
left of it) hides an editable install: Python takes the folder for a namespace package. Nothing
inside the package can say so, because nothing inside it is found.
"""

from __future__ import annotations

import importlib.util
import sys


def problem() -> str | None:
    """Return one line on what hides the package, or None if it is whole."""
    found = importlib.util.find_spec("hashbench")
    if found is None or found.origin is not None:
        return None
    folders = " and ".join(map(str, found.submodule_search_locations or []))
    return (
        f"hashbench: {folders} is left of an earlier install and hides this one; "
        "delete that folder, then start again"
    )


def main() -> None:
    """Run the command line."""
    wrong = problem()
    if wrong is not None:
        print(wrong, file=sys.stderr)
        sys.exit(2)
    from hashbench.__main__ import main as command

    command()
