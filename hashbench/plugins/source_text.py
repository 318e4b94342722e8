"""The code of a Python file without what cannot change an outcome.

Results are computed again when the code of a method changes, not when its comments, docstrings,
layout or the citation of its paper do.
"""

from __future__ import annotations

import ast

#: Class attributes that are printed and not computed with.
PRINTED = ("title", "paper", "objective_note")


def code_of(text: bytes) -> bytes:
    """Return the syntax tree of a file as text, the same on every version of Python.

    A file that does not parse is returned as it is.
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return text
    words: list[str] = []
    _write(tree, words)
    return "\n".join(words).encode()


def _write(node: object, words: list[str]) -> None:
    """Append the words of a node; fields that are empty are left out: versions differ in them."""
    if not isinstance(node, ast.AST):
        words.append(repr(node))
        return
    words.append(type(node).__name__)
    for name in node._fields:
        value = getattr(node, name, None)
        if value is None or value == [] or name == "ctx":
            continue
        words.append(name)
        if not isinstance(value, list):
            _write(value, words)
            continue
        for each in _code(node, value) if name == "body" else value:
            _write(each, words)
    words.append("end")


def _code(node: ast.AST, body: list[ast.stmt]) -> list[ast.stmt]:
    """Return the statements of a body without its docstring and without printed attributes."""
    if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        first = body[0]
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            body = body[1:] if isinstance(first.value.value, str) else body
    if isinstance(node, ast.ClassDef):
        return [each for each in body if not _is_printed(each)]
    return body


def _is_printed(statement: ast.stmt) -> bool:
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    if isinstance(statement, ast.AnnAssign):
        targets = [statement.target]
    names = [each.id for each in targets if isinstance(each, ast.Name)]
    return bool(names) and all(name in PRINTED for name in names)
