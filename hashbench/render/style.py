"""How a study styles on paper: names, colours, markers, footnotes and captions.

One `Style` serves all reports of a study, so that a method has the same name, colour and marker
in every figure, and so that no caption leaves out which measure, which database codes and which
data it speaks of.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Self

from hashbench.core.errors import unknown
from hashbench.execution.cell_codes import EITHER
from hashbench.measures import parse
from hashbench.plugins.dataset import ContactSheet
from hashbench.plugins.selection import bare_name

if TYPE_CHECKING:
    from hashbench.analysis.results import Results

#: Widths of a two-column IEEE paper, in inches.
WIDTHS = {"column": 3.48, "page": 7.14}

#: Okabe and Ito's colours without their yellow, which is too light for lines, a dark red, and seven
#: that stand as far from these and from each other as can be: told apart under the common forms of
#: colour blindness.
COLOURS = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#882255",
    "#8866FF", "#22CC55", "#775500", "#CC1188", "#0000AA", "#004400", "#6622CC",
)  # fmt: skip

#: Of methods beyond those that a figure shows in colour.
GREY = "#a8a8a8"

#: Methods that a figure shows in colour at the most: more cannot be told apart at a glance.
FEATURED = 8

#: Eleven markers and fifteen colours have no common factor: 165 pairs before one comes again.
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "*")

DASHES: tuple[Any, ...] = ("-", (0, (4, 1.5)), (0, (1, 1.2)), (0, (4, 1.2, 1, 1.2)))

RECONSTRUCTION = "†"
NOT_HAMMING = "‡"

#: What daggers stand for; a line below says what holds for each method.
DAGGERS = {RECONSTRUCTION: "reconstruction", NOT_HAMMING: "not Hamming codes"}

TIES = {
    "expected": "mean over all orders of tied items",
    "index": "ties in database order",
    "optimistic": "ties in the best order",
    "pessimistic": "ties in the worst order",
}


@dataclass(frozen=True)
class MethodStyle:
    """A method as reports show it.

    Attributes
    ----------
    title : its name in print
    colour, marker, dash : as matplotlib takes them
    mark : daggers behind the title
    notes : what the daggers mean, by dagger
    objective : what a reader of its objective has to know
    """

    title: str
    colour: str
    marker: str
    dash: Any
    mark: str = ""
    notes: dict[str, str] = field(default_factory=dict)
    objective: str = ""

    @property
    def label(self) -> str:
        """The title with its daggers."""
        return self.title + self.mark


@dataclass(frozen=True)
class DatasetStyle:
    """A dataset as reports show it.

    Attributes
    ----------
    title : its name in print
    synthetic : made up
    facts : what was done to it
    pictures : what its items look like, or None
    """

    title: str
    synthetic: bool
    facts: str
    pictures: ContactSheet | None = None


@dataclass(frozen=True)
class Style:
    """How the reports of one study look.

    Attributes
    ----------
    methods, datasets : by the names that tables of results use, in the order they are shown
    width : "column" or "page"
    heading : a title of the user's own, or nothing
    preferred : methods by the claim they have to a colour: named ones, the user's own, the best
    unlearned : methods without learned database codes
    """

    methods: dict[str, MethodStyle]
    datasets: dict[str, DatasetStyle]
    width: str = "page"
    heading: str = ""
    preferred: tuple[str, ...] = ()
    unlearned: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        results: Results,
        width: str = "page",
        heading: str = "",
        highlight: Sequence[str] = (),
    ) -> Self:
        """Return the style of a study; a part of its results is shown like the whole.

        ``highlight`` names methods that have a colour in every figure.
        """
        runs = results.runs()
        plan = results.plan.cells
        names = _as_asked(runs["method"], (cell.label for cell in plan))
        item_bytes = runs.dropna(subset="item_bytes").groupby("method")["item_bytes"]
        sizes = {str(method): sorted(set(values)) for method, values in item_bytes}
        titles = _titles(names, results.registry.methods)
        styles = study_styles(names)
        methods = {}
        for name in names:
            plugin = results.registry.methods.get(bare_name(name))
            notes = {}
            if plugin is not None and plugin.cls.paper.fidelity == "reconstruction":
                notes[RECONSTRUCTION] = plugin.cls.paper.fidelity_note or "from partial knowledge"
            if name in sizes:
                notes[NOT_HAMMING] = f"{_range(sizes[name])} bytes an item"
            objective = "" if plugin is None else plugin.cls.objective_note
            shown = MethodStyle(titles[name], *styles[name], "".join(notes), notes, objective)
            methods[name] = shown
        datasets = _as_asked(runs["dataset"], (cell.dataset for cell in plan))
        return cls(
            methods,
            dict(_datasets(results, datasets)),
            width,
            heading,
            tuple(_preferred(results, names, highlight)),
            tuple(_unlearned(results, names)),
        )

    def part(self, results: Results, highlight: Sequence[str] = ()) -> Self:
        """Return the same style for a part of the results, with its best methods in colour."""
        chosen = {cell.label for cell in results.cells}
        return replace(
            self,
            preferred=tuple(_preferred(results, list(self.methods), highlight)),
            unlearned=tuple(name for name in self.unlearned if name in chosen),
        )

    def featured(self, methods: Iterable[str]) -> list[str]:
        """Return the methods that a figure of these shows in colour, in the order of the study."""
        shown = self.ordered(methods)
        order = [name for name in (self.preferred or self.methods) if name in shown]
        chosen = {*order[:FEATURED]} if len(shown) > FEATURED else {*shown}
        return [name for name in shown if name in chosen]

    def drawn(self, method: str, featured: Collection[str]) -> MethodStyle:
        """Return how a figure draws a method: in its own colour, or in grey."""
        shown = self.methods[method]
        return shown if method in featured else replace(shown, colour=GREY, dash="-")

    @property
    def inches(self) -> float:
        """The width of figures."""
        return WIDTHS[self.width]

    def ordered(self, methods: Iterable[str]) -> list[str]:
        """Return methods in the order of the study."""
        found = distinct(methods)
        return [name for name in self.methods if name in found]

    def summary(
        self,
        subject: str,
        *,
        measure: str | None = None,
        database: str | None = None,
        seeds: Sequence[int] | None = None,
    ) -> str:
        """Return a sentence that says what the numbers are.

        Parameters
        ----------
        subject : what is shown, without a full stop
        measure, database : the measure's name and the kind of database codes, where there is one
        seeds : how many seeds the means are taken over, for the datasets together
        """
        about = [subject]
        if measure is not None:
            about.append(measure_words(measure))
        if database is not None:
            about.append(self._database_words(database))
        if seeds:
            least, most = min(seeds), max(seeds)
            number = str(least) if least == most else f"{least} to {most}"
            about.append(f"{number} seed{'s' if most > 1 else ''}")
        heading = [f"{self.heading}."] if self.heading else []
        return " ".join([*heading, "; ".join(about) + "."])

    def _database_words(self, database: str) -> str:
        """Return the kind of database codes, and which methods lack it."""
        titles = ", ".join(self.methods[name].title for name in self.unlearned)
        if database == EITHER:
            return "learned database codes" + (f" (encoded: {titles})" if titles else "")
        lacking = (
            f" (without {titles}, which have none)" if titles and database == "learned" else ""
        )
        return f"{database} database codes{lacking}"

    def facts(self, datasets: Iterable[str]) -> list[str]:
        """Return what holds of datasets: protocol, preprocessing, and whether they are synthetic.

        A sentence for all those of which the same holds.
        """
        asked = distinct(datasets)
        titles: dict[str, list[str]] = {}
        for name, shown in self.datasets.items():
            if name in asked:
                titles.setdefault(shown.facts, []).append(shown.title)
        return [f"{', '.join(found)}: {facts}." for facts, found in titles.items()]

    def caption(self, subject: str, datasets: Iterable[str], **about: Any) -> str:
        """Return `summary` and `facts` together, for a figure; a table has facts in its notes."""
        return " ".join([self.summary(subject, **about), *self.facts(datasets)])

    def notes(self, methods: Iterable[str]) -> list[str]:
        """Return what the daggers of some methods mean, a line a dagger."""
        lines = []
        styles = [self.methods[name] for name in self.ordered(methods)]
        for dagger, what in DAGGERS.items():
            titles: dict[str, list[str]] = {}
            for shown in styles:
                if dagger in shown.notes:
                    titles.setdefault(shown.notes[dagger].rstrip("."), []).append(shown.title)
            each = [f"{', '.join(found)}: {note}" for note, found in titles.items()]
            if each:
                lines.append(f"{dagger} {what} ({'; '.join(each)})")
        return lines


@cache
def _order() -> dict[str, int]:
    """Return the place of every method that has a fixed one."""
    text = (resources.files("hashbench.resources") / "method_order.txt").read_text(encoding="utf-8")
    names = [line for line in text.split("\n") if line and not line.startswith("#")]
    return {name: place for place, name in enumerate(names)}


def fixed_style(method: str) -> tuple[str, str, Any]:
    """Return a method's colour, marker and dash: by its place or its name, never by the study.

    Examples
    --------
    >>> fixed_style("edsh")[:2], fixed_style("nobody's") == fixed_style("nobody's")
    (('#0072B2', 'o'), True)
    """
    place = _place(method)
    dash = DASHES[place // len(COLOURS) % len(DASHES)]
    return COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)], dash


def _place(method: str) -> int:
    """Return a method's place in the list, or one made of its name if it is somebody's own."""
    own = int.from_bytes(hashlib.sha256(method.encode()).digest()[:4])
    return _order().get(method, own)


def study_styles(names: Sequence[str]) -> dict[str, tuple[str, str, Any]]:
    """Return the colours, markers and dashes of a study's methods.

    Those that are listed look as always. Methods and settings of somebody's own take the nearest
    colour that nobody has, as long as there is one: `edsh[gamma=1]` is compared with its like.

    Examples
    --------
    >>> styles = study_styles(["edsh", *(f"edsh[gamma={value}]" for value in range(14))])
    >>> styles["edsh"] == fixed_style("edsh"), len({colour for colour, _, _ in styles.values()})
    (True, 15)
    """
    styles = {name: fixed_style(name) for name in names}
    taken = {styles[name][0] for name in names if name in _order()}
    for name in names:
        if name in _order():
            continue
        first = COLOURS.index(styles[name][0])
        around = [*COLOURS[first:], *COLOURS[:first]]
        colour = next((each for each in around if each not in taken), styles[name][0])
        styles[name] = (colour, *styles[name][1:])
        taken.add(colour)
    return styles


def _preferred(results: Results, names: Sequence[str], highlight: Sequence[str]) -> list[str]:
    """Return methods, those first that deserve a colour.

    Named ones, plugins that did not come with the package, then the others by their mean score.
    """
    for name in highlight:
        if not any(name in (each, bare_name(each)) for each in names):
            raise unknown("method", name, names)
    named = [each for name in highlight for each in names if name in (each, bare_name(each))]
    plugins = results.registry.methods
    own = [
        each
        for each in names
        if bare_name(each) in plugins and plugins[bare_name(each)].origin != "built in"
    ]
    best: list[str] = []
    if results.measures and len(names) > FEATURED:
        scores = results.scores([results.main_measure])
        encoded = scores[scores["database"] == "encoded"]
        encoded = scores if encoded.empty else encoded  # the others only where they are asked for
        keys = ["dataset", "task", "bits", "measure"]
        ranks = encoded.groupby(keys)["value"].rank(ascending=False)
        means = encoded.assign(rank=ranks).groupby("method")["rank"].mean()
        best = [str(name) for name in means.sort_values(kind="stable").index]
    return list(dict.fromkeys((*named, *own, *best, *names)))


def _unlearned(results: Results, names: Sequence[str]) -> list[str]:
    """Return the methods that are done and have no learned database codes."""
    learned: dict[str, bool] = {}
    for stored in results.done():
        has = bool(stored.record.learned)
        learned[stored.cell.label] = learned.get(stored.cell.label, False) or has
    return [name for name in names if not learned.get(name, True)]


def distinct(names: Iterable[str]) -> set[str]:
    """Return different names; of a column of a table, which may have many rows, in C."""
    return set(names.unique() if hasattr(names, "unique") else names)


def check_width(width: str) -> None:
    """Refuse a width that no paper has."""
    if width not in WIDTHS:
        raise unknown("width", width, WIDTHS)


def measure_words(measure: str) -> str:
    """Return a measure's name with what it does about ties."""
    parsed = parse(measure)
    if parsed.has_ties:
        return f"{parsed} ({TIES[str(parsed['ties'])]})"
    return f"{parsed} (whole Hamming balls, no order of ties)"


def arrow(task: str) -> str:
    """Return a task with the arrow of print."""
    return task.replace("->", "→")


def _titles(names: Iterable[str], plugins: dict[str, Any]) -> dict[str, str]:
    """Return the titles of methods or datasets; where two would be equal, their names."""
    titles = {}
    for name in names:
        bare = bare_name(name)
        title = plugins[bare].title if bare in plugins else bare
        titles[name] = f"{title} {name.removeprefix(bare)}".rstrip()
    twins = [title for title in titles.values() if list(titles.values()).count(title) > 1]
    return {name: name if title in twins else title for name, title in titles.items()}


def _as_asked(names: Iterable[str], asked: Iterable[str]) -> list[str]:
    """Return names once each, in the order in which the study asks for them."""
    found = dict.fromkeys(names)
    return list(dict.fromkeys((*(name for name in asked if name in found), *found)))


def _datasets(results: Results, names: Sequence[str]) -> Iterable[tuple[str, DatasetStyle]]:
    plugins = results.registry.datasets
    cells = {cell.dataset: cell for cell in results.cells}
    titles = _titles(names, plugins)
    for name, title in titles.items():
        plugin = plugins.get(bare_name(name))
        synthetic = plugin is not None and plugin.cls.synthetic
        facts = ["synthetic data"] if synthetic else []
        if name in cells:
            cell = cells[name]
            protocol = cell.protocol
            described = plugin.cls.protocols.get(protocol.name) if plugin is not None else None
            words = f" ({described.description})" if described is not None else ""
            facts.append(f"protocol {protocol.base}{words}")
            facts += [protocol.describe_options()] if protocol.options else []
            facts.append(f"preprocessing {' / '.join(cell.preprocessing)}")
        if synthetic and "synthetic" not in title.lower():
            title += " (synthetic)"
        pictures = results.pictures(cells[name]) if name in cells else None
        yield name, DatasetStyle(title, synthetic, ", ".join(facts) or "not loaded", pictures)


def _range(values: Sequence[float]) -> str:
    ends = dict.fromkeys((values[0], values[-1]))
    return " to ".join(f"{value:g}" for value in ends)
