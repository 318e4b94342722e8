"""Classes that live in a notebook or a script, as files that other processes can import.

Cells run in processes of their own, and a method that exists only in memory cannot be sent there
without pickle. Its source can: the class, what it uses of the functions and constants around it,
and the imports of the rest.
"""

from __future__ import annotations

import ast
import linecache
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from hashbench.core.errors import HashbenchError

#: Values that can be written down as they are.
PLAIN = (int, float, str, bool, bytes, tuple, type(None))


def plugin_file(cls: type[Any], folder: Path) -> Path:
    """Return a file that defines a class: its own, or one written into a folder."""
    module = sys.modules.get(cls.__module__)
    own = getattr(module, "__file__", None)
    if own is not None and cls.__module__ != "__main__":
        return Path(own).resolve()
    text = _source(cls)
    path = folder / f"{cls.__name__.lower()}.py"
    folder.mkdir(parents=True, exist_ok=True)
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
    return path


def _source(cls: type[Any]) -> str:
    """Return a module with a class and everything of its surroundings that it uses."""
    imports: dict[str, None] = {}
    definitions: dict[str, str] = {}
    _collect(cls, imports, definitions)
    head = '"""Written by hashbench from a class that was defined in memory."""'
    return "\n\n".join([head, "\n".join(imports), *definitions.values()]) + "\n"


def _collect(thing: Any, imports: dict[str, None], definitions: dict[str, str]) -> None:
    node, text = _found(thing)
    around = vars(sys.modules[thing.__module__])
    for name in dict.fromkeys(_names(node)):
        if name in definitions or name == thing.__name__ or name not in around:
            continue  # defined already, itself, or a builtin or local name
        value = around[name]
        home = getattr(value, "__module__", None)
        if isinstance(value, ModuleType):
            imports[f"import {value.__name__} as {name}"] = None
        elif isinstance(value, type | FunctionType) and home not in ("__main__", None):
            imports[f"from {home} import {value.__name__} as {name}"] = None
        elif isinstance(value, type | FunctionType):
            _collect(value, imports, definitions)
        elif isinstance(value, PLAIN):
            definitions[name] = f"{name} = {value!r}"
        else:
            raise HashbenchError(
                f"{thing.__name__} uses {name}, {type(value).__name__}, which cannot be sent to "
                "other processes; allowed: modules, functions, classes, numbers and texts"
            )
    definitions[thing.__name__] = text


def _found(thing: Any) -> tuple[ast.AST, str]:
    """Return the definition of a class or function, parsed and as text."""
    code = next(_codes(thing), None)
    lines = linecache.getlines(code.co_filename) if code is not None else []
    whole = "".join(lines)
    try:
        tree = ast.parse(whole)
    except SyntaxError:  # a cell with magic commands
        tree = ast.parse("".join("\n" if line.lstrip()[:1] in "%!" else line for line in lines))
    for node in ast.walk(tree):
        named = isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == thing.__name__
        if named and code is not None and node.lineno <= code.co_firstlineno <= node.end_lineno:  # type: ignore[attr-defined]
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])  # type: ignore[attr-defined]
            return node, "".join(lines[first - 1 : node.end_lineno]).rstrip()  # type: ignore[attr-defined]
    raise HashbenchError(
        f"{thing.__name__}: its source is not to be found; write it to a file and give plugins=FILE"
    )


def _codes(thing: Any) -> Iterator[CodeType]:
    if isinstance(thing, FunctionType):
        yield thing.__code__
    for value in vars(thing).values() if isinstance(thing, type) else ():
        function = getattr(value, "__func__", getattr(value, "fget", value))
        if isinstance(function, FunctionType):
            yield function.__code__


def _names(node: ast.AST) -> Iterator[str]:
    """Yield every name that a definition reads, annotations included."""
    for each in ast.walk(node):
        if isinstance(each, ast.Name):
            yield each.id
