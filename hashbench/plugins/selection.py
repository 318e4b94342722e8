"""Selections of plugins as typed: names, patterns, exclusions and parameters.

``edsh,cca*`` names and matches; ``all,!lssh`` excludes; ``all,reconstructions`` adds a group;
``edsh[gamma=1]`` sets a parameter; ``edsh[gamma=1|10,alpha=2]`` is a grid. Tables print a
selected plugin in a form that parses back.
"""

from __future__ import annotations

import fnmatch
import itertools
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from hashbench.core.errors import HashbenchError, unknown

#: Suffix of a method's name if its parameters were tuned.
TUNED = "(tuned)"


@dataclass(frozen=True)
class Selection:
    """One plugin with the parameters that were set, sorted by name."""

    name: str
    params: tuple[tuple[str, Any], ...] = ()

    @property
    def settings(self) -> dict[str, Any]:
        """The parameters as a dictionary."""
        return dict(self.params)

    def __str__(self) -> str:
        inner = ",".join(f"{key}={format_value(value)}" for key, value in self.params)
        return full_name(self.name, inner)


def bare_name(label: str) -> str:
    """Return the plugin's name in a label, without parameters and "(tuned)".

    Examples
    --------
    >>> bare_name("edsh[gamma=1]"), bare_name("edsh(tuned)")
    ('edsh', 'edsh')
    """
    return label.partition("[")[0].removesuffix(TUNED)


def full_name(name: str, params: str) -> str:
    """Return a plugin's name with its parameters, as tables print it.

    Examples
    --------
    >>> full_name("edsh", "gamma=1"), full_name("edsh", "")
    ('edsh[gamma=1]', 'edsh')
    """
    return f"{name}[{params}]" if params else name


def format_value(value: Any) -> str:
    """Write a parameter value so that :func:`parse_value` reads it back."""
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "none"}[value]
    return f"{value:g}" if isinstance(value, float) and float(f"{value:g}") == value else str(value)


def parse_value(text: str) -> Any:
    """Read a number, true, false, none, or else the text itself.

    Examples
    --------
    >>> [parse_value(t) for t in ("1", "0.5", "1e-3", "true", "none", "rbf")]
    [1, 0.5, 0.001, True, None, 'rbf']
    """
    text = text.strip()
    words = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


#: Text after a comma that continues the item: a role with its file, a view with its steps.
CONTINUATION = re.compile(r"\s*\w{2,}:[^=]")


def split_items(text: str) -> list[str]:
    """Split at commas that are not inside brackets and not between roles.

    Examples
    --------
    >>> split_items("edsh[a=1,b=2],cca"), split_items("ours=image:a.npy,text:b.csv,wiki")
    (['edsh[a=1,b=2]', 'cca'], ['ours=image:a.npy,text:b.csv', 'wiki'])
    """
    items, depth, current = [], 0, ""
    for character in text:
        depth += {"[": 1, "]": -1}.get(character, 0)
        if character == "," and depth == 0:
            items.append(current)
            current = ""
        else:
            current += character
    if depth != 0:
        raise HashbenchError(f"selection {text!r}: brackets do not match")
    return _join_continuations([item.strip() for item in (*items, current) if item.strip()])


def _join_continuations(items: list[str]) -> list[str]:
    """Append continuations to the items that they belong to."""
    joined: list[str] = []
    for item in items:
        if joined and CONTINUATION.match(item) and ":" in joined[-1]:
            joined[-1] += f",{item.strip()}"
        else:
            joined.append(item)
    return joined


def parse_item(item: str) -> tuple[str, list[dict[str, Any]]]:
    """Split ``name[a=1|2,b=3]`` into the name and every combination of its parameters."""
    match = re.fullmatch(r"([^\[\]]+)(?:\[([^\[\]]*)\])?", item)
    if match is None:
        raise HashbenchError(f"selection {item!r}: allowed: NAME or NAME[parameter=value,...]")
    name, inner = match[1].strip(), match[2]
    if not inner:
        return name, [{}]
    axes: dict[str, list[Any]] = {}
    for assignment in _join_continuations(inner.split(",")):
        key, _, values = assignment.partition("=")
        parameter, texts = key.strip(), values.split("|")
        if not parameter or not all(text.strip() for text in texts):
            raise HashbenchError(
                f"selection {item!r}: found {assignment!r}; allowed: name=value or name=value|value"
            )
        if parameter in axes:
            raise HashbenchError(f"selection {item!r}: found {parameter} twice; allowed: once")
        axes[parameter] = [parse_value(text) for text in texts]
    combinations = itertools.product(*axes.values())
    return name, [dict(zip(axes, combination, strict=True)) for combination in combinations]


def parse_params(params: str) -> dict[str, Any]:
    """Return the parameters that tables print for a method or dataset.

    Examples
    --------
    >>> parse_params("gamma=1,kernel=rbf"), parse_params("")
    ({'gamma': 1, 'kernel': 'rbf'}, {})
    """
    return parse_item(f"_[{params}]")[1][0]


def select(
    text: str | Iterable[str],
    known: Mapping[str, Iterable[str]],
    kind: str,
    unavailable: Mapping[str, str] = MappingProxyType({}),
    groups: Mapping[str, Collection[str]] = MappingProxyType({}),
) -> list[Selection]:
    """Resolve a selection against the plugins that exist.

    Parameters
    ----------
    text : a selection, or several
    known : name -> parameters that may be set
    kind : "method" or "dataset", for messages
    unavailable : name -> missing requirements; patterns skip these, and naming one is an error
    groups : word -> names that it selects and that ``all`` does not

    Returns
    -------
    list of Selection, in the order given, without repetitions
    """
    texts = [text] if isinstance(text, str) else list(text)
    chosen: dict[Selection, None] = {}
    for item in itertools.chain.from_iterable(split_items(t) for t in texts):
        excluded = item.startswith("!")
        name, combinations = parse_item(item.removeprefix("!"))
        names = _matching_names(name, known, kind, groups)
        if excluded:  # also of methods that cannot run here
            chosen = {c: None for c in chosen if not _is_excluded(c, names, combinations)}
            continue
        if name in unavailable:
            raise HashbenchError(f"{kind} {name} needs {unavailable[name]}")
        names = [each for each in names if each not in unavailable]
        for name, params in itertools.product(names, combinations):
            for key in params:
                if key not in set(known[name]):
                    raise unknown(f"parameter of {name}", key, known[name])
            chosen[Selection(name, tuple(sorted(params.items())))] = None
    if not chosen:
        raise HashbenchError(
            f"no {kind} is left of the selection {', '.join(texts)!r}; "
            "what is left out (!) comes after what is chosen, as in all,!NAME"
        )
    return list(chosen)


def _is_excluded(choice: Selection, names: list[str], combinations: list[dict[str, Any]]) -> bool:
    """Return whether an exclusion matches a choice by its name and parameters."""
    return choice.name in names and any(
        each.items() <= choice.settings.items() for each in combinations
    )


def _matching_names(
    name: str,
    known: Mapping[str, Iterable[str]],
    kind: str,
    groups: Mapping[str, Collection[str]],
) -> list[str]:
    if name == "all":
        apart = set(itertools.chain.from_iterable(groups.values()))
        return [each for each in known if each not in apart]
    if name in groups:
        return list(groups[name])
    if any(character in name for character in "*?"):
        found = [candidate for candidate in known if fnmatch.fnmatchcase(candidate, name)]
        if not found:
            raise HashbenchError(f"no {kind} matches {name!r}; `hashbench list {kind}s` names them")
        return found
    if name not in known:
        own = "" if kind == "report" else f" (a {kind} of your own needs --plugin FILE)"
        raise HashbenchError(f"{unknown(kind, name, known)}{own}")
    return [name]


def without(label: str, parameter: str) -> str:
    """Return a name in a table of results without one of its parameters.

    Examples
    --------
    >>> without("synthetic[rows=500,seed=1]", "rows"), without("edsh", "train_rows")
    ('synthetic[seed=1]', 'edsh')
    """
    if "[" not in label:
        return label
    name, (settings, *_) = parse_item(label)
    kept = sorted((key, value) for key, value in settings.items() if key != parameter)
    return str(Selection(name, tuple(kept)))
