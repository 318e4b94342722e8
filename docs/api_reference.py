"""The Python reference: every public name by what it is for, under the name that people type.

Docstrings here say what a parameter is in words, not types, often over two lines; `plain` and
`whole` keep Sphinx from reading such words as a type and its description, `bars` from reading
mathematics as markup.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Sequence
from typing import Any

#: Public names by what they are for, each with a sentence about them.
SECTIONS = {
    "Studies and results": (
        "What `hashbench run` and its kin do, from Python: [guide](../guide/python.md).",
        ("run", "open", "StudyResults", "score", "evaluate", "discover"),
    ),
    "The archive": (
        "Stored results of all methods, and yours among them: [guide](../guide/archive.md).",
        ("archive", "rank", "explain"),
    ),
    "Methods": (
        "Base classes of methods and what they declare: [guide](../guide/your-method.md).",
        (
            "Method",
            "LinearMethod",
            "VectorMethod",
            "TorchMethod",
            "TrainingData",
            "Paper",
            "Citation",
            "DeclinedError",
        ),
    ),
    "Ranges for tuning": (
        "A method's `space`: [how a search uses it](../guide/fair-comparison.md#tuning).",
        ("Log", "Linear", "Integer", "Choice"),
    ),
    "Allowed values": (
        "A method's `allowed`: which values of its parameters make sense.",
        ("Bounds", "COUNT", "COUNT_OR_ZERO", "FRACTION", "NON_NEGATIVE", "POSITIVE"),
    ),
    "Datasets": (
        "What a dataset derives from and returns: [guide](../guide/your-data.md).",
        (
            "Dataset",
            "Data",
            "Split",
            "HalfTrained",
            "RandomQuery",
            "LastQuery",
            "GivenSplit",
            "ContactSheet",
        ),
    ),
    "Reports and errors": (
        "Base class of reports ([guide](../guide/reports.md#writing-a-report)), and errors.",
        ("Report", "HashbenchError"),
    ),
}

#: Modules that plugins import from, each with a sentence about it; no names are all it offers.
MODULES = {
    "hashbench.linalg": ("Mathematics that methods share; rows are items.", ()),
    "hashbench.measures": ("The evaluator: [names and definitions](../guide/measures.md).", ()),
    "hashbench.neural.losses": ("Tensor functions for losses of networks.", ()),
    "hashbench.neural.networks": ("Networks that several methods share.", ()),
    "hashbench.render.report": (
        "What a report returns.",
        ("Table", "Group", "TableCell", "Picture", "slices", "NothingToShowError"),
    ),
}


def page() -> str:
    """Return the reference as Markdown."""
    parts = ["# Python reference"]
    for heading, (sentence, names) in SECTIONS.items():
        parts += [f"## {heading}", sentence, *(_entry("hashbench", name) for name in names)]
    for module, (sentence, names) in MODULES.items():
        listed = names or public(module)
        parts += [f"## {module}", sentence, *(_entry(module, name) for name in listed)]
    return "\n\n".join(parts) + "\n"


def public(module: str) -> Sequence[str]:
    """Return the functions and classes that a module offers."""
    offered = importlib.import_module(module)
    names = getattr(offered, "__all__", None) or [
        name for name, value in vars(offered).items() if inspect.isfunction(value)
    ]
    return sorted((n for n in names if callable(getattr(offered, n))), key=str.lower)


def _entry(module: str, name: str) -> str:
    """Return a heading and the directive that reads the docstring."""
    entry = getattr(importlib.import_module(module), name)
    if not callable(entry):
        return f"### {name}\n\n```{{eval-rst}}\n.. autodata:: {module}.{name}\n```"
    if not inspect.isclass(entry):
        return f"### {name}\n\n```{{eval-rst}}\n.. autofunction:: {module}.{name}\n```"
    options = "" if issubclass(entry, tuple) else "   :members:\n"  # a tuple's are attributes
    if (module, name) == ("hashbench", "StudyResults"):
        options += "   :inherited-members:\n"
    return f"### {name}\n\n```{{eval-rst}}\n.. autoclass:: {module}.{name}\n{options}```"


_FIELDS = ("Parameters", "Attributes", "Raises")
_FIELD = re.compile(r"^(?P<names>\*{0,2}\w+(?:, \w+)*) : (?P<words>.+)$")
_TYPE = re.compile(r"\(|(list|tuple|array|int|float|str|bool)\b")


def plain(lines: list[str]) -> None:
    """Make of `name : words` a name and its description, unless the words are a type.

    What follows describes if it begins with a capital letter; else it goes on with the words.

    Examples
    --------
    >>> lines = ["Parameters", "----------", "bits : one or", "    several", "x : int", "    It."]
    >>> plain(lines)
    >>> lines
    ['Parameters', '----------', 'bits', '    one or several', 'x : int', '    It.']
    """
    made: list[str] = []
    inside = False
    for line in lines:
        field = _FIELD.match(line)
        if not line.strip():
            inside = False
        elif line in _FIELDS:
            inside = True
        elif inside and field and not _TYPE.match(field["words"]):
            line = f"{field['names']}\n{field['words']}"
        elif inside and line.startswith(" ") and "\n" in made[-1]:
            names, words = made.pop().split("\n")
            if line.strip()[0].isupper() and line.strip() != "None":
                made.append(f"{names} : {words}")
            else:
                line = f"{names}\n{words} {line.strip()}"
        made.append(line)
    lines[:] = [part for line in made for part in line.replace("\n", "\n    ").split("\n")]


def bars(lines: list[str]) -> None:
    """Escape text between bars: a length or an absolute value, not a substitution.

    Examples
    --------
    >>> lines = ["sum |x_i|", ">>> f(a | b)", "`a|b`"]
    >>> bars(lines)
    >>> print(*lines, sep=", ")
    sum \\|x_i\\|, >>> f(a | b), `a|b`
    """
    lines[:] = [
        line if "`" in line or ">>>" in line else re.sub(r"(?<!\|)\|(?!\|)", r"\\|", line)
        for line in lines
    ]


def whole(lines: list[str]) -> None:
    """Put a remark on an attribute together again that was taken for a type and a description.

    Examples
    --------
    >>> lines = ["compares vectors", "", ":type: False"]
    >>> whole(lines)
    >>> lines
    ['False: compares vectors']
    """
    types = [line for line in lines if line.startswith(":type: ")]
    if types:
        words = " ".join(line.strip() for line in lines if line and line not in types)
        lines[:] = [f"{types[0].removeprefix(':type: ')}: {words}"]


def connect(app: Any) -> None:
    """Read docstrings so: one step before Napoleon (priority 500), one after it."""

    def before(_app: Any, what: str, _n: str, _o: Any, _s: Any, lines: list[str]) -> None:
        plain(lines)
        bars(lines)

    def after(_app: Any, what: str, _n: str, _o: Any, _s: Any, lines: list[str]) -> None:
        if what in ("attribute", "property"):
            whole(lines)

    def skip(_app: Any, _what: str, name: str, _o: Any, _s: bool, _options: Any) -> bool | None:
        return True if re.fullmatch(r"set_\w+_request", name) else None  # of scikit-learn

    app.connect("autodoc-skip-member", skip)
    app.connect("autodoc-process-docstring", before, priority=400)
    app.connect("autodoc-process-docstring", after, priority=600)
