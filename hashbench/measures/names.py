"""Names of measures: one text is the column header, the argument and the value in a study.

The papers of this field print "mAP" for quantities that differ by a factor of ten. Here a name
fixes every choice, ``AP(norm=all,ties=index)@100``: choices left out have the family's default,
the canonical form leaves defaults out and sorts the rest, and it parses back to the same measure.
This module knows names only; nothing here computes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from hashbench.base.errors import HashbenchError, unknown
from hashbench.measures.presets import PRESETS

Value = str | int
V = TypeVar("V")

#: No database has as many items; what is larger does not fit the kernels' integers.
LARGEST = 10**9


@dataclass(frozen=True)
class Choice:
    """What one choice may be: some words, whole numbers from `least` to `LARGEST`, or both.

    A default of None means that the choice has to be made.
    """

    summary: str
    default: Value | None
    words: tuple[str, ...] = ()
    least: int | None = None

    def read(self, text: str) -> Value | None:
        """Return the value that `text` names, or None if it names none."""
        if text in self.words:
            return text
        return None if self.least is None else _whole_number(text, self.least)

    @property
    def allowed(self) -> str:
        """The values allowed, for a message."""
        number = [] if self.least is None else [_whole_numbers(self.least)]
        return ", ".join([*self.words, *number])


def _whole_number(text: str, least: int) -> int | None:
    return int(text) if text.isdecimal() and least <= int(text) <= LARGEST else None


def _whole_numbers(least: int) -> str:
    return f"a whole number from {least} to {LARGEST}"


@dataclass(frozen=True)
class Family:
    """Measures that share a name and differ in their choices."""

    summary: str
    choices: Mapping[str, Choice]
    cutoff: str = "none"  # "none", "optional" or "required"
    is_curve: bool = False


NORM = Choice(
    "what AP@K is divided by: hits in the first K ranks, all relevant items, or min(these, K)",
    "retrieved",
    ("retrieved", "all", "min"),
)
CUT = Choice("whether @K counts ranks or relevant items", "ranks", ("ranks", "hits"))
MISSED = Choice(
    "a query without a hit in the first K ranks counts 0 or is left out", "zero", ("zero", "skip")
)
EMPTY = Choice(
    "a query without a relevant item is left out, counts 0 or is an error",
    "skip",
    ("skip", "zero", "error"),
)
TIES = Choice(
    "order of tied items: mean over all orders, as in the database, the best, the worst",
    "expected",
    ("expected", "index", "optimistic", "pessimistic"),
)
REL = Choice("how many labels a relevant item shares at least", 1, least=1)
GAIN = Choice(
    "gain of an item: the labels it shares, or 1 if it shares N at least",
    "graded",
    ("graded",),
    least=1,
)
RADIUS = Choice("Hamming distance up to which an item is in the ball", None, least=0)
OF = Choice(
    "which number of the ball; success is 1 if it holds a relevant item",
    "precision",
    ("precision", "recall", "F1", "success"),
)
BY = Choice("what the points of a curve are", "rank", ("rank", "radius"))
MEAN = Choice("mean over queries, or over all pairs pooled", "macro", ("macro", "micro"))

FAMILIES = {
    "AP": Family(
        "average precision; with @K over the first K ranks",
        {"norm": NORM, "cut": CUT, "missed": MISSED, "empty": EMPTY, "ties": TIES, "rel": REL},
        cutoff="optional",
    ),
    "P": Family(
        "precision: the share of the first K ranks that is relevant",
        {"empty": EMPTY, "ties": TIES, "rel": REL},
        cutoff="required",
    ),
    "R": Family(
        "recall: the share of the relevant items that stands in the first K ranks",
        {"empty": EMPTY, "ties": TIES, "rel": REL},
        cutoff="required",
    ),
    "nDCG": Family(
        "discounted gain over that of the best order",
        {"empty": EMPTY, "ties": TIES, "rel": GAIN},
        cutoff="optional",
    ),
    "lookup": Family(
        "precision, recall, F1 or success within a Hamming radius",
        {"radius": RADIUS, "of": OF, "empty": EMPTY, "rel": REL},
    ),
    "PRarea": Family(
        "area under the precision-recall curve by Hamming radius",
        {"mean": MEAN, "empty": EMPTY, "rel": REL},
    ),
    "PR": Family(
        "curve of precision and recall, by rank (top-K curves too) or by Hamming radius",
        {"by": BY, "mean": MEAN, "empty": EMPTY, "ties": TIES, "rel": REL},
        is_curve=True,
    ),
}

#: What a study gets that names no measures.
DEFAULT_MEASURES = (
    "AP",
    "AP(ties=index)@100",
    "P@100",
    "PR",
    "PR(by=radius)",
    "PR(by=radius,mean=micro)",
)


@dataclass(frozen=True)
class Measure:
    """A measure with every choice made.

    Attributes
    ----------
    family : str
        A key of `FAMILIES`.
    given : tuple of (str, str or int)
        The choices that differ from the default, sorted by name.
    cutoff : int or None
    """

    family: str
    given: tuple[tuple[str, Value], ...] = ()
    cutoff: int | None = None

    @cached_property
    def choices(self) -> dict[str, Value | None]:
        """All choices of the family, defaults included."""
        defaults = {name: choice.default for name, choice in FAMILIES[self.family].choices.items()}
        return {**defaults, **dict(self.given)}

    def __getitem__(self, choice: str) -> Value | None:
        return self.choices.get(choice)

    @property
    def is_curve(self) -> bool:
        """True if the measure is a curve, not a number."""
        return FAMILIES[self.family].is_curve

    @property
    def has_ties(self) -> bool:
        """True if the measure depends on the order of tied items."""
        by_radius = self["by"] == "radius"
        return "ties" in FAMILIES[self.family].choices and not by_radius

    def with_(self, **changes: Value) -> Measure:
        """Return the measure with some choices made differently."""
        return _measure(self.family, {**dict(self.given), **changes}, self.cutoff, str(self))

    def __str__(self) -> str:
        choices = ",".join(f"{name}={value}" for name, value in self.given)
        cutoff = "" if self.cutoff is None else f"@{self.cutoff}"
        return self.family + (f"({choices})" if choices else "") + cutoff


class ByName(dict[str, V]):
    """Values by canonical name; any name that parses to the same measure finds its value."""

    def __missing__(self, name: str) -> V:
        key = str(parse(name))
        if key not in self:
            raise KeyError(name)
        return self[key]


_NAME = re.compile(r"(?P<family>\w+)(?:\((?P<inside>[^()]*)\))?(?:@(?P<cutoff>\w*))?")
_OUTER_COMMA = re.compile(r",(?![^(]*\))")


def parse(text: str) -> Measure:
    """Return the measure that a name or a preset stands for.

    Examples
    --------
    >>> str(parse("AP(ties=index, norm=retrieved)@100"))
    'AP(ties=index)@100'
    >>> str(parse("hashnet(1000)"))
    'AP(missed=skip,ties=index)@1000'
    """
    match = _NAME.fullmatch(text.strip()) if isinstance(text, str) else None
    if match is None:
        raise HashbenchError(
            f"measure {text!r} is not a name; allowed: FAMILY(choice=value,...)@cutoff"
        )
    family, inside, cutoff = match["family"], match["inside"], match["cutoff"]
    if family in PRESETS:
        return parse(_expand(family, inside, cutoff, text))
    if family not in FAMILIES:
        known = [*FAMILIES, *PRESETS]
        twins = [name for name in known if name.lower() == family.lower()]
        if twins:
            raise HashbenchError(f"unknown measure {family!r}; did you mean {twins[0]!r}?")
        raise unknown("measure", family, known)
    if cutoff is not None and _whole_number(cutoff, 1) is None:
        raise HashbenchError(
            f"measure {text!r}: found cutoff {cutoff!r}; allowed: {_whole_numbers(1)}"
        )
    given: dict[str, Value] = {}
    for part in inside.split(",") if inside and inside.strip() else []:
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or name in given:
            raise HashbenchError(
                f"measure {text!r}: found {part.strip()!r}; allowed: choice=value, each choice once"
            )
        given[name] = value
    return _measure(family, given, None if cutoff is None else int(cutoff), text)


def parse_many(names: str | Measure | Iterable[str | Measure]) -> list[Measure]:
    """Return the measures of a list, or of a text with commas between names, each once."""
    if isinstance(names, str):
        names = [part for part in _OUTER_COMMA.split(names) if part.strip()]
    elif isinstance(names, Measure):
        names = [names]
    return list(dict.fromkeys(part if isinstance(part, Measure) else parse(part) for part in names))


def _expand(preset: str, argument: str | None, cutoff: str | None, text: str) -> str:
    """Return the name in the grammar that a preset stands for."""
    takes = PRESETS[preset].takes_cutoff
    argument = argument.strip() if argument else None
    good = argument is not None and _whole_number(argument, 1) is not None
    if cutoff is not None or takes != bool(argument) or (takes and not good):
        raise HashbenchError(
            f"measure {text!r}; allowed: {f'{preset}(K), as {preset}(50)' if takes else preset}"
        )
    return PRESETS[preset].stands_for.format(K=argument)


def _measure(family: str, given: Mapping[str, Value], cutoff: int | None, text: str) -> Measure:
    """Check the choices and make the measure, in canonical form."""
    spec = FAMILIES[family]
    choices: dict[str, Value] = {}
    for name, found in given.items():
        if name not in spec.choices:
            raise unknown(f"choice of {family}", name, spec.choices)
        value = spec.choices[name].read(str(found))
        if value is None:
            raise HashbenchError(
                f"measure {text!r}: found {name}={found}; allowed: {spec.choices[name].allowed}"
            )
        choices[name] = value
    if cutoff is not None and spec.cutoff == "none":
        raise HashbenchError(f"measure {text!r}: found a cutoff; {family} takes none")
    if cutoff is None and spec.cutoff == "required":
        raise HashbenchError(f"measure {text!r}: found no cutoff; write {family}@100")
    for name, choice in spec.choices.items():
        if choice.default is None and name not in choices:
            raise HashbenchError(f"measure {text!r}: {name} is missing; allowed: {choice.allowed}")
    choices = {name: v for name, v in choices.items() if v != spec.choices[name].default}
    _settle(family, choices, cutoff, text)
    return Measure(family, tuple(sorted(choices.items())), cutoff)


def _settle(family: str, choices: dict[str, Value], cutoff: int | None, text: str) -> None:
    """Drop choices without effect and refuse those that contradict each other."""
    if family == "AP" and cutoff is None:
        # over the full ranking the norms and cuts agree, and no query is missed
        for name in ("norm", "cut", "missed"):
            choices.pop(name, None)
    if "cut" in choices and "norm" in choices:
        raise HashbenchError(
            f"measure {text!r}: cut=hits divides by the hits it counts; norm has no say there"
        )
    if "cut" in choices:
        choices.pop("missed", None)
    if "missed" in choices and choices.get("ties") != "index":
        raise HashbenchError(
            f"measure {text!r}: missed=skip needs ties=index, for which queries are missed "
            "depends on the order of tied items"
        )
    if family == "PR":
        stray = "ties" if choices.get("by") == "radius" else "mean"
        if stray in choices:
            raise HashbenchError(
                f"measure {text!r}: {stray} has no say in a curve by {choices.get('by', 'rank')}"
            )


@dataclass(frozen=True)
class Entry:
    """A line of the list of measures."""

    name: str
    summary: str
    reproduces: str = ""


def catalogue() -> Iterator[Entry]:
    """Yield every family, every choice and every preset with one line that explains it."""
    cut = {"none": "", "optional": "[@K]", "required": "@K"}
    for name, family in FAMILIES.items():
        yield Entry(name + cut[family.cutoff], family.summary)
    choices = {
        (name, choice): [n for n, f in FAMILIES.items() if f.choices.get(name) == choice]
        for family in FAMILIES.values()
        for name, choice in family.choices.items()
    }
    for (name, choice), users in choices.items():
        values = "|".join([*choice.words, *([] if choice.least is None else ["N"])])
        yield Entry(f"{name}=", f"{values}: {choice.summary} ({', '.join(users)})")
    for name, preset in PRESETS.items():
        shown = name + ("(K)" if preset.takes_cutoff else "")
        yield Entry(shown, f"is {preset.stands_for.format(K='K')}", preset.reproduces)
