"""Write classes that were defined in a notebook or a script to a file that workers can import."""

from __future__ import annotations

import ast
import linecache
import sys
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from hashbench.core.errors import HashbenchError

DEFINITIONS = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)


def plugin_file(cls: type[Any], folder: Path) -> Path:
    """Return a file that defines a class: its own, or one written into a folder."""
    own = getattr(sys.modules.get(cls.__module__), "__file__", None)
    if own is not None and cls.__module__ != "__main__":
        return Path(own).resolve()
    text = _source(cls)
    path = folder / f"{cls.__name__.lower()}.py"
    folder.mkdir(parents=True, exist_ok=True)
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
    return path


def _source(cls: type[Any]) -> str:
    """Return the definitions of the cell or script of a class, and imports of other cells."""
    codes = [each.__code__ for each in vars(cls).values() if isinstance(each, FunctionType)]
    cell = "".join(linecache.getlines(codes[0].co_filename)) if codes else ""
    kept = [node for node in ast.parse(cell).body if _is_definition(node)]
    text = "\n\n".join(map(ast.unparse, kept))
    if cls.__name__ not in [getattr(node, "name", None) for node in kept]:
        raise _definition_error(cls, "its source is not found")
    names = [node for each in kept for node in ast.walk(each) if isinstance(node, ast.Name)]
    missing = {node.id for node in names} - _defined(kept)
    around = vars(sys.modules["__main__"])
    imports = [_import(cls, name, around[name]) for name in sorted(missing & around.keys())]
    return "\n".join([*imports, text]) + "\n"


def _defined(nodes: list[ast.stmt]) -> set[str]:
    """Return the names that statements define, and those of local variables."""
    found: set[str] = set()
    for node in (each for outer in nodes for each in ast.walk(outer)):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.alias):
            found.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
    return found


def _import(cls: type[Any], name: str, value: Any) -> str:
    """Return the line that imports what another cell has imported."""
    module = getattr(value, "__module__", None)
    if isinstance(value, ModuleType):
        return f"import {value.__name__} as {name}"
    if isinstance(value, type | FunctionType) and module != "__main__":
        return f"from {module} import {value.__name__} as {name}"
    raise _definition_error(cls, f"it uses {name}, which is no import and not defined in its cell")


def _is_definition(node: ast.stmt) -> bool:
    """Return whether a statement defines something and computes nothing."""
    if not isinstance(node, ast.Assign):
        return isinstance(node, DEFINITIONS)
    try:
        ast.literal_eval(node.value)
    except ValueError:
        return False
    return True


def _definition_error(cls: type[Any], reason: str) -> HashbenchError:
    return HashbenchError(f"{cls.__name__}: {reason}; write it to a file and give plugins=FILE")
