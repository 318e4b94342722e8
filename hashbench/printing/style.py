"""How a study looks on paper: names, colours, markers, footnotes and captions.

One `Look` serves all reports of a study, so that a method has the same name, colour and marker
in every figure, and so that no caption leaves out which measure, which database codes and which
data it speaks of.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from hashbench.base.errors import unknown
from hashbench.measures import parse
from hashbench.plugins.dataset import ContactSheet
from hashbench.plugins.hardship import divide
from hashbench.plugins.selection import bare_name
from hashbench.studies.plan import Plan

if TYPE_CHECKING:
    from hashbench.results.results import Results

#: Widths of a two-column IEEE paper, in inches.
WIDTHS = {"column": 3.48, "page": 7.14}

#: Okabe and Ito's colours without their yellow, which is too light for lines, and a dark red:
#: told apart under the common forms of colour blindness.
COLOURS = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#882255",
)  # fmt: skip

#: Eleven markers and eight colours have no common factor: 88 pairs before one comes again.
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "*")

DASHES: tuple[Any, ...] = ("-", (0, (4, 1.5)), (0, (1, 1.2)), (0, (4, 1.2, 1, 1.2)))

RECONSTRUCTION = "†"
NOT_HAMMING = "‡"

TIES = {
    "expected": "mean over all orders of tied items",
    "index": "ties in database order",
    "optimistic": "ties in the best order",
    "pessimistic": "ties in the worst order",
}


@dataclass(frozen=True)
class MethodLook:
    """A method as reports show it.

    Attributes
    ----------
    title : its name in print
    colour, marker, dash : as matplotlib takes them
    mark : daggers behind the title
    notes : what the daggers mean, by dagger
    """

    title: str
    colour: str
    marker: str
    dash: Any
    mark: str = ""
    notes: dict[str, str] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """The title with its daggers."""
        return self.title + self.mark


@dataclass(frozen=True)
class DatasetLook:
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
class Look:
    """How the reports of one study look.

    Attributes
    ----------
    methods, datasets : by the names that tables of results use, in the order they are shown
    width : "column" or "page"
    heading : a title of the user's own, or nothing
    """

    methods: dict[str, MethodLook]
    datasets: dict[str, DatasetLook]
    width: str = "page"
    heading: str = ""

    @classmethod
    def of(cls, results: Results, width: str = "page", heading: str = "") -> Self:
        """Return the look of a study; a part of its results is shown like the whole."""
        runs = results.runs()
        plan = Plan.read(results.path).cells
        names = _as_asked(runs["method"], (cell.label for cell in plan))
        item_bytes = runs.dropna(subset="item_bytes").groupby("method")["item_bytes"]
        sizes = {str(method): sorted(set(values)) for method, values in item_bytes}
        titles = _titles(names, results.registry.methods)
        methods = {}
        for index, name in enumerate(names):
            plugin = results.registry.methods.get(bare_name(name))
            notes = {}
            if plugin is not None and plugin.cls.fidelity == "reconstruction":
                notes[RECONSTRUCTION] = plugin.cls.fidelity_note or "from partial knowledge"
            if name in sizes:
                notes[NOT_HAMMING] = f"{_range(sizes[name])} bytes an item"
            methods[name] = MethodLook(
                titles[name],
                COLOURS[index % len(COLOURS)],
                MARKERS[index % len(MARKERS)],
                DASHES[index // len(COLOURS) % len(DASHES)],
                "".join(notes),
                notes,
            )
        datasets = _as_asked(runs["dataset"], (cell.dataset for cell in plan))
        return cls(methods, dict(_datasets(results, datasets)), width, heading)

    @property
    def inches(self) -> float:
        """The width of figures."""
        return WIDTHS[self.width]

    def ordered(self, methods: Iterable[str]) -> list[str]:
        """Return methods in the order of the study."""
        found = set(methods)
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
            about.append(f"{database} database codes")
        if seeds:
            least, most = min(seeds), max(seeds)
            number = str(least) if least == most else f"{least} to {most}"
            about.append(f"{number} seed{'s' if most > 1 else ''}")
        heading = [f"{self.heading}."] if self.heading else []
        return " ".join([*heading, "; ".join(about) + "."])

    def facts(self, datasets: Iterable[str]) -> list[str]:
        """Return a sentence a dataset: protocol, preprocessing, and whether it is synthetic."""
        shown = [self.datasets[name] for name in dict.fromkeys(datasets) if name in self.datasets]
        return [f"{each.title}: {each.facts}." for each in shown]

    def caption(self, subject: str, datasets: Iterable[str], **about: Any) -> str:
        """Return `summary` and `facts` together, for a figure; a table has facts in its notes."""
        return " ".join([self.summary(subject, **about), *self.facts(datasets)])

    def notes(self, methods: Iterable[str]) -> list[str]:
        """Return what the daggers of some methods mean, a line a dagger."""
        lines = []
        words = {RECONSTRUCTION: "reconstruction", NOT_HAMMING: "not Hamming codes"}
        for dagger, what in words.items():
            titles: dict[str, list[str]] = {}
            for shown in (self.methods[name] for name in self.ordered(methods)):
                if dagger in shown.notes:
                    titles.setdefault(shown.notes[dagger].rstrip("."), []).append(shown.title)
            each = [f"{', '.join(found)}: {note}" for note, found in titles.items()]
            if each:
                lines.append(f"{dagger} {what} ({'; '.join(each)})")
        return lines


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


def _datasets(results: Results, names: Sequence[str]) -> Iterable[tuple[str, DatasetLook]]:
    plugins = results.registry.datasets
    cells = {cell.dataset: cell for cell in results.cells}
    titles = _titles(names, plugins)
    for name, title in titles.items():
        plugin = plugins.get(bare_name(name))
        synthetic = plugin is not None and plugin.cls.synthetic
        facts = ["synthetic data"] if synthetic else []
        if name in cells:
            cell = cells[name]
            protocol, harder = divide(cell.protocol)
            described = plugin.cls.protocols.get(protocol) if plugin is not None else None
            words = f" ({described.description})" if described is not None else ""
            facts.append(f"protocol {protocol}{words}")
            facts += [harder.words] if harder.changed else []
            facts.append(f"preprocessing {' / '.join(cell.preprocessing)}")
        if synthetic and "synthetic" not in title.lower():
            title += " (synthetic)"
        pictures = results.pictures(cells[name]) if name in cells else None
        yield name, DatasetLook(title, synthetic, ", ".join(facts) or "not loaded", pictures)


def _range(values: Sequence[float]) -> str:
    ends = dict.fromkeys((values[0], values[-1]))
    return " to ".join(f"{value:g}" for value in ends)
