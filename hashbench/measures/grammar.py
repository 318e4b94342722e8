"""The grammar of names: one name is the column header, the argument and the value in a study.

The papers of this field print "mAP" for quantities that differ by a factor of ten. Here a name
fixes every choice, ``AP(norm=all,ties=index)@100``. Choices left out have the family's default.
The canonical form leaves defaults out, sorts the rest and parses back to the same measure.
This module only reads names and computes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from hashbench.core.errors import HashbenchError, unknown
from hashbench.measures.presets import PRESETS

Value = str | int
V = TypeVar("V")

#: No database has as many items; what is larger does not fit the kernels' integers.
LARGEST = 10**9


@dataclass(frozen=True)
class Option:
    """The values of one choice: some words, whole numbers from `least` to `LARGEST`, or both."""

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
    choices: Mapping[str, Option]
    cutoff: str = "none"  # "none", "optional", "required", or "radius": a cutoff or a radius
    is_curve: bool = False


NORM = Option(
    "AP@K is divided by the relevant items in the first K ranks, all relevant items, or "
    "min(these, K)",
    None,
    ("retrieved", "all", "min"),
)
CUT = Option("@K counts ranks or relevant items", "ranks", ("ranks", "hits"))
NO_HITS = Option(
    "a query without a relevant item in the first K ranks counts 0 or is left out",
    "zero",
    ("zero", "skip"),
)
EMPTY = Option(
    "a query without a relevant item in the database is left out, counts 0 or is an error",
    "skip",
    ("skip", "zero", "error"),
)
TIES = Option(
    "order of tied items: mean over all orders, as in the database, the best, the worst",
    "expected",
    ("expected", "index", "optimistic", "pessimistic"),
)
REL = Option("a relevant item shares at least so many labels", 1, least=1)
RELEVANT = Option(
    "relevant are items that share labels, or the query's own partner only",
    "labels",
    ("labels", "pair"),
)
GRADES = Option(
    "grade of an item: the number of shared labels, or 1 if it shares at least N",
    "graded",
    ("graded",),
    least=1,
)
GAIN = Option("gain of an item: its grade g, or 2^g - 1", "linear", ("linear", "exp"))
RADIUS = Option("instead of @K: all items up to this Hamming distance", None, least=0)
BY = Option("the points of a curve are ranks or Hamming radii", "rank", ("rank", "radius"))
MEAN = Option("mean over queries, or over all pairs pooled", "macro", ("macro", "micro"))
AVERAGE = Option(
    "mean over queries, mean over classes of the mean over the queries of each, or median over "
    "queries",
    "queries",
    ("queries", "classes", "median"),
)

_RANKED = {"empty": EMPTY, "ties": TIES, "mean": AVERAGE}
_BINARY = {**_RANKED, "rel": REL}
_RETRIEVED = {"radius": RADIUS, **_BINARY}

FAMILIES = {
    "AP": Family(
        "average precision; AP(norm=...)@K over the first K ranks",
        {"norm": NORM, "cut": CUT, "no_hits": NO_HITS, **_BINARY},
        cutoff="optional",
    ),
    "P": Family("precision: share of the retrieved items that is relevant", _RETRIEVED, "radius"),
    "R": Family(
        "recall: share of the relevant items that is retrieved",
        {**_RETRIEVED, "relevant": RELEVANT},
        "radius",
    ),
    "F1": Family("harmonic mean of precision and recall", _RETRIEVED, "radius"),
    "Success": Family(
        "1 if a relevant item is retrieved, else 0", {**_RETRIEVED, "relevant": RELEVANT}, "radius"
    ),
    "RR": Family("1 / rank of the first relevant item", {**_BINARY, "relevant": RELEVANT}),
    "Rprec": Family("precision at rank R, where R is the number of relevant items", _BINARY),
    "nDCG": Family(
        "discounted gain, divided by that of the best order",
        {"gain": GAIN, **_RANKED, "rel": GRADES},
        cutoff="optional",
    ),
    "ACG": Family("mean number of shared labels in the first K ranks", _RANKED, "required"),
    "WAP": Family("mean of ACG at the ranks of relevant items", _RANKED, "optional"),
    "PRarea": Family(
        "area under the precision-recall curve by Hamming radius",
        {"mean": MEAN, "empty": EMPTY, "rel": REL},
    ),
    "PR": Family(
        "curve of precision and recall, by rank (top-K curves too) or by Hamming radius",
        {**_BINARY, "by": BY, "mean": MEAN},
        is_curve=True,
    ),
}

#: Other names of families.
ALIASES = {"mAP": "AP"}

#: More labels per row than this make relevance by one shared label common.
MANY_LABELS = 1.5

#: What a study that names no measures gets besides for data with more labels per row.
MULTILABEL_MEASURES = ("AP(rel=2)", "nDCG@100")

#: What a study that names no measures gets for data without labels. The last one is the inverse
#: of the median rank.
PAIR_MEASURES = (
    "R(relevant=pair)@1",
    "R(relevant=pair)@5",
    "R(relevant=pair)@10",
    "RR(mean=median,relevant=pair)",
)

#: What a study gets that names no measures.
DEFAULT_MEASURES = (
    "AP",
    "AP(norm=retrieved,ties=index)@100",
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
        """True if the measure depends on the order of tied items; others have a Hamming radius."""
        by_radius = self["by"] == "radius" or self["radius"] is not None
        return "ties" in FAMILIES[self.family].choices and not by_radius

    @property
    def needs_pairs(self) -> bool:
        """True if only the query's own partner is relevant."""
        return self["relevant"] == "pair"

    @property
    def relevance(self) -> Value:
        """What grades an item: "pair", "graded" (shared labels), or shared labels required."""
        if self.needs_pairs:
            return "pair"
        return self["rel"] or "graded"

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
    >>> str(parse("mAP(ties=index, norm=all, rel=1)@100"))
    'AP(norm=all,ties=index)@100'
    >>> str(parse("hashnet(1000)"))
    'AP(no_hits=skip,norm=retrieved,ties=index)@1000'
    """
    match = _NAME.fullmatch(text.strip()) if isinstance(text, str) else None
    if match is None:
        raise HashbenchError(
            f"measure {text!r} is not a name; allowed: FAMILY(choice=value,...)@cutoff"
        )
    family, inside, cutoff = match["family"], match["inside"], match["cutoff"]
    family = ALIASES.get(family, family)
    if family in PRESETS:
        return parse(_expand(family, inside, cutoff, text))
    if family not in FAMILIES:
        raise unknown("measure", family, [*FAMILIES, *ALIASES, *PRESETS])
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
    choices = {name: v for name, v in choices.items() if v != spec.choices[name].default}
    _drop_without_effect(family, choices, cutoff)
    _check_together(family, choices, cutoff, text)
    return Measure(family, tuple(sorted(choices.items())), cutoff)


def _drop_without_effect(family: str, choices: dict[str, Value], cutoff: int | None) -> None:
    """Remove choices that cannot change the number."""
    if family == "AP" and cutoff is None:
        # over the full ranking the norms and cuts agree, and every relevant item is retrieved
        for name in ("norm", "cut", "no_hits"):
            choices.pop(name, None)
    if "cut" in choices:
        choices.pop("no_hits", None)
    if "rel" in choices:
        choices.pop("gain", None)  # 2^1 - 1 = 1


def _check_together(
    family: str, choices: Mapping[str, Value], cutoff: int | None, text: str
) -> None:
    """Refuse choices that contradict each other, and a missing cutoff, radius or norm."""
    problem = ""
    if FAMILIES[family].cutoff == "radius" and (cutoff is None) == ("radius" not in choices):
        problem = f"takes either a cutoff or a radius; write {family}@100 or {family}(radius=2)"
    elif "radius" in choices and {"ties", "mean"} & set(choices):
        problem = "ties and mean have no effect within a radius"
    elif family == "AP" and cutoff is not None and not {"norm", "cut"} & set(choices):
        problem = (
            f"say what it is divided by; AP(norm=retrieved)@{cutoff}: by the relevant items among "
            f"the first {cutoff}; AP(norm=all)@{cutoff}: by all relevant items"
        )
    elif {"norm", "cut"} <= set(choices):
        problem = "cut=hits is divided by the relevant items it counts; norm has no effect there"
    elif "no_hits" in choices and choices.get("ties") != "index":
        problem = (
            "no_hits=skip needs ties=index; without it, which queries are left out depends on the "
            "order of tied items"
        )
    elif "relevant" in choices and "rel" in choices:
        problem = "rel counts shared labels; it has no effect with relevant=pair"
    elif family == "PR":
        stray = "ties" if choices.get("by") == "radius" else "mean"
        if stray in choices:
            problem = f"{stray} has no effect on a curve by {choices.get('by', 'rank')}"
    if problem:
        raise HashbenchError(f"measure {text!r}: {problem}")


@dataclass(frozen=True)
class CatalogueEntry:
    """A line of the list of measures."""

    name: str
    summary: str
    reproduces: str = ""


def catalogue() -> Iterator[CatalogueEntry]:
    """Yield every family, every choice and every preset with one line that explains it."""
    cut = {"none": "", "optional": "[@K]", "required": "@K", "radius": "@K"}
    for name, family in FAMILIES.items():
        yield CatalogueEntry(name + cut[family.cutoff], family.summary)
    for name, family_name in ALIASES.items():
        yield CatalogueEntry(name, f"is {family_name}")
    choices = {
        (name, choice): [n for n, f in FAMILIES.items() if f.choices.get(name) == choice]
        for family in FAMILIES.values()
        for name, choice in family.choices.items()
    }
    for (name, choice), users in choices.items():
        values = "|".join([*choice.words, *([] if choice.least is None else ["N"])])
        yield CatalogueEntry(f"{name}=", f"{values}: {choice.summary} ({', '.join(users)})")
    for name, preset in PRESETS.items():
        shown = name + ("(K)" if preset.takes_cutoff else "")
        yield CatalogueEntry(shown, f"is {preset.stands_for.format(K='K')}", preset.reproduces)
