"""How the methods and datasets of a study are named and coloured, and what captions state.

One `Style` serves all reports of a study: a method has the same name, colour and marker in every
figure, and every caption states the measure, the database, the kind of codes and the data.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from hashbench.analysis.summary import one_database
from hashbench.core.errors import unknown
from hashbench.data.splits import Searched
from hashbench.measures import parse
from hashbench.plugins.dataset import ContactSheet
from hashbench.plugins.protocol import EITHER, LEARNED
from hashbench.plugins.selection import bare_name
from hashbench.render.colours import GREY, distinct_styles, position, study_styles
from hashbench.render.daggers import (
    DAGGERS,
    NOT_HAMMING,
    RECONSTRUCTION,
    dagger_notes,
    vector_notes,
)

if TYPE_CHECKING:
    import pandas as pd

    from hashbench.analysis.results import Results
    from hashbench.plugins.registry import Registry

#: Widths of a two-column IEEE paper, in inches.
WIDTHS = {"column": 3.48, "page": 7.14}

#: Methods that a figure shows in colour at the most.
MOST_COLOURED = 10

TIES = {
    "expected": "mean over all orders of tied items",
    "index": "ties in database order",
    "optimistic": "ties in the best order",
    "pessimistic": "ties in the worst order",
}


@dataclass(frozen=True)
class MethodStyle:
    """How reports show a method.

    Attributes
    ----------
    title : its name in print
    colour, marker, dash : in matplotlib's notation
    mark : daggers after the title
    notes : dagger -> what it means for this method
    objective : remark on its objective
    highlighted : whether its line is thicker and its row in tables shaded
    """

    title: str
    colour: str
    marker: str
    dash: Any
    mark: str = ""
    notes: dict[str, str] = field(default_factory=dict)
    objective: str = ""
    highlighted: bool = False

    @property
    def label(self) -> str:
        """The title with its daggers."""
        return self.title + self.mark

    @property
    def look(self) -> tuple[str, str, Any]:
        """Colour, marker and dash."""
        return self.colour, self.marker, self.dash


@dataclass(frozen=True)
class DatasetStyle:
    """How reports show a dataset.

    Attributes
    ----------
    title : its name in print
    synthetic : whether it is synthetic
    facts : its protocol and preprocessing
    pictures : thumbnails of its items, or None
    """

    title: str
    synthetic: bool
    facts: str
    pictures: ContactSheet | None = None


@dataclass(frozen=True)
class Style:
    """How the methods and datasets of a study are named and coloured.

    Attributes
    ----------
    methods, datasets : by their names in the results, in the order of the study
    width : of figures, "column" or "page"
    heading : title of the user, or an empty text
    preferred : methods, those first that a figure shows in colour
    unlearned : methods without learned codes
    """

    methods: dict[str, MethodStyle]
    datasets: dict[str, DatasetStyle]
    width: str = "page"
    heading: str = ""
    preferred: tuple[str, ...] = ()
    unlearned: tuple[str, ...] = ()

    @classmethod
    def of(cls, results: Results, width: str = "page", heading: str = "") -> Self:
        """Return the style of a study.

        Parameters
        ----------
        results : of the whole study, so that parts of it are shown alike
        width, heading : attributes of the style
        """
        runs = results.runs()
        plan = results.plan.cells
        names = _in_plan_order(runs["method"], (cell.label for cell in plan))
        highlighted = highlighted_methods(results, names, ())
        datasets = _in_plan_order(runs["dataset"], (cell.dataset for cell in plan))
        return cls(
            method_styles(names, runs, results.registry, highlighted),
            dict(_datasets(results, datasets)),
            width,
            heading,
            tuple(_preferred(results, names, highlighted)),
            tuple(_unlearned(results, names)),
        )

    def part(self, results: Results, highlight: Sequence[str] = ()) -> Self:
        """Return the same style for a part of the results, with its best methods in colour."""
        selected = {cell.label for cell in results.cells}
        highlighted = highlighted_methods(results, list(self.methods), highlight)
        return replace(
            self,
            methods={
                name: replace(style, highlighted=name in highlighted)
                for name, style in self.methods.items()
            },
            preferred=tuple(_preferred(results, list(self.methods), highlighted)),
            unlearned=tuple(name for name in self.unlearned if name in selected),
        )

    def ordered(self, methods: Iterable[str]) -> list[str]:
        """Return distinct methods in the order of the study."""
        found = distinct(methods)
        return [name for name in self.methods if name in found]

    def ordered_datasets(self, datasets: Iterable[str]) -> list[str]:
        """Return distinct datasets in the order of the study."""
        found = distinct(datasets)
        return [name for name in self.datasets if name in found]

    def coloured(self, methods: Iterable[str]) -> list[str]:
        """Return the methods that a figure of these shows in colour, in the order of the study."""
        names = self.ordered(methods)
        if len(names) <= MOST_COLOURED:
            return names
        preferred = [name for name in (self.preferred or self.methods) if name in names]
        return [name for name in names if name in preferred[:MOST_COLOURED]]

    def figure_styles(self, methods: Iterable[str]) -> dict[str, MethodStyle]:
        """Return how a figure shows these methods, in the order of the study.

        Those in colour share neither a colour nor a marker; the others are grey.
        """
        names = self.ordered(methods)
        coloured = self.coloured(names)
        first = sorted(coloured, key=lambda name: position(bare_name(name)))
        looks = distinct_styles({name: self.methods[name].look for name in first})
        found = {}
        for name in names:
            own = self.methods[name]
            colour, marker, dash = looks.get(name, (GREY, own.marker, "-"))
            found[name] = replace(own, colour=colour, marker=marker, dash=dash)
        return found

    @property
    def inches(self) -> float:
        """The width of figures in inches."""
        return WIDTHS[self.width]

    def summary(
        self,
        subject: str,
        *,
        measure: str | None = None,
        database: str | None = None,
        codes: str | None = None,
        seeds: Sequence[int] | None = None,
    ) -> str:
        """Return a caption: what is shown, then how it was measured.

        Parameters
        ----------
        subject : what is shown, without a full stop
        measure : its name
        database, codes : the part of the database that is searched, and the kind of codes
        seeds : number of seeds of each mean
        """
        parts = []
        if measure is not None:
            parts.append(measure_words(measure))
        if database is not None and codes is not None:
            parts.append(self._searched_words(database, codes))
        if seeds:
            least, most = int(min(seeds)), int(max(seeds))
            number = str(least) if least == most else f"{least} to {most}"
            parts.append(f"{number} seed{'s' if most > 1 else ''}")
        about = "; ".join(parts)
        sentences = [self.heading, subject, about[:1].upper() + about[1:]]
        return " ".join(f"{sentence}." for sentence in sentences if sentence)

    def _searched_words(self, database: str, codes: str) -> str:
        """Return what is searched, and the methods without such codes."""
        titles = ", ".join(self.methods[name].title for name in self.unlearned)
        words = str(Searched(database, LEARNED if codes == EITHER else codes))
        if codes == EITHER:
            return words + (f" (e, encoded: {titles})" if titles else "")
        lacking = titles and codes == LEARNED
        return words + (f" (without {titles}, which have none)" if lacking else "")

    def facts(self, datasets: Iterable[str]) -> list[str]:
        """Return the protocol and preprocessing of datasets, one sentence for those that agree."""
        titles: dict[str, list[str]] = {}
        for name in self.ordered_datasets(datasets):
            style = self.datasets[name]
            titles.setdefault(style.facts, []).append(style.title)
        return [f"{', '.join(found)}: {facts}." for facts, found in titles.items()]

    def marks(self, methods: Iterable[str]) -> list[str]:
        """Return a line with what the daggers of these methods mean, if they have any."""
        found = {dagger for name in methods for dagger in self.methods[name].notes}
        words = [f"{dagger} {meaning}" for dagger, meaning in DAGGERS.items() if dagger in found]
        return [f"{'; '.join(words)} (see notes)"] if words else []

    def notes(self, methods: Iterable[str]) -> list[str]:
        """Return what the daggers of these methods mean, one line per dagger with all details."""
        shown = (self.methods[name] for name in self.ordered(methods))
        return dagger_notes((style.title, style.notes) for style in shown)


def method_styles(
    names: Sequence[str], runs: pd.DataFrame, registry: Registry, highlighted: Sequence[str] = ()
) -> dict[str, MethodStyle]:
    """Return how reports show methods.

    Parameters
    ----------
    names : of the methods, in the order of the study
    runs : columns method, hamming and item_bytes of `Results.runs`
    registry : titles and other facts
    highlighted : methods that stand out
    """
    vectors = vector_notes(zip(runs["method"], runs["hamming"], runs["item_bytes"], strict=True))
    titles, styles = titles_of(names, registry.methods), study_styles(names)
    reconstructions = registry.reconstructions()
    methods = {}
    for name in names:
        bare, notes = bare_name(name), {}
        if bare in reconstructions:
            notes[RECONSTRUCTION] = reconstructions[bare]
        if name in vectors:
            notes[NOT_HAMMING] = vectors[name]
        objective = registry.methods[bare].cls.objective_note if bare in registry.methods else ""
        marks, stands_out = "".join(notes), name in highlighted
        methods[name] = MethodStyle(
            titles[name], *styles[name], marks, notes, objective, stands_out
        )
    return methods


def highlighted_methods(
    results: Results, names: Sequence[str], highlight: Sequence[str]
) -> list[str]:
    """Return the methods that stand out: those named, then plugins of the user among others."""
    for name in highlight:
        if not any(name in (each, bare_name(each)) for each in names):
            raise unknown("method", name, names)
    chosen = []
    for name in highlight:
        chosen += [name] if name in names else [each for each in names if name == bare_name(each)]
    plugins = results.registry.methods
    own = [
        each
        for each in names
        if bare_name(each) in plugins and plugins[bare_name(each)].origin != "built in"
    ]
    return list(dict.fromkeys((*chosen, *(own if len(own) < len(names) else ()))))


def _preferred(results: Results, names: Sequence[str], highlighted: Sequence[str]) -> list[str]:
    """Return highlighted methods, then the others by their mean rank."""
    best: list[str] = []
    if results.measures and len(names) > MOST_COLOURED:
        scores = one_database(results.shown().scores([results.main_measure]))
        keys = ["dataset", "task", "bits", "measure"]
        ranks = scores.groupby(keys)["value"].rank(ascending=False)
        means = scores.assign(rank=ranks).groupby("method")["rank"].mean()
        best = [str(name) for name in means.sort_values(kind="stable").index]
    return list(dict.fromkeys((*highlighted, *best, *names)))


def _unlearned(results: Results, names: Sequence[str]) -> list[str]:
    """Return the methods with results but without learned codes."""
    learned: dict[str, bool] = {}
    for stored in results.done():
        has = bool(stored.record.learned)
        learned[stored.cell.label] = learned.get(stored.cell.label, False) or has
    return [name for name in names if not learned.get(name, True)]


def distinct(names: Iterable[str]) -> set[str]:
    """Return distinct names; a long column of a data frame by pandas, which is faster."""
    return set(names.unique() if hasattr(names, "unique") else names)


def check_width(width: str) -> None:
    """Raise an error unless the width is "column" or "page"."""
    if width not in WIDTHS:
        raise unknown("width", width, WIDTHS)


def measure_words(measure: str) -> str:
    """Return a measure's name with its treatment of ties."""
    parsed = parse(measure)
    if parsed.has_ties:
        return f"{parsed} ({TIES[str(parsed['ties'])]})"
    return f"{parsed} (whole Hamming balls, no order of ties)"


def arrow(task: str) -> str:
    """Return a task with a typographic arrow."""
    return task.replace("->", "→")


def titles_of(names: Iterable[str], plugins: dict[str, Any]) -> dict[str, str]:
    """Return the titles of methods or datasets; where two would be equal, their names."""
    titles = {}
    for name in names:
        bare = bare_name(name)
        title = plugins[bare].title if bare in plugins else bare
        titles[name] = f"{title} {name.removeprefix(bare)}".rstrip()
    twins = [title for title in titles.values() if list(titles.values()).count(title) > 1]
    return {name: name if title in twins else title for name, title in titles.items()}


def _in_plan_order(names: Iterable[str], planned: Iterable[str]) -> list[str]:
    """Return distinct names: first those of the plan in its order, then the others."""
    found = dict.fromkeys(names)
    return list(dict.fromkeys((*(name for name in planned if name in found), *found)))


def _datasets(results: Results, names: Sequence[str]) -> Iterable[tuple[str, DatasetStyle]]:
    plugins = results.registry.datasets
    cells = {cell.dataset: cell for cell in results.cells}
    titles = titles_of(names, plugins)
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
            facts += _left_out(results, name)
            facts.append(f"preprocessing {' / '.join(cell.preprocessing)}")
        if synthetic and "synthetic" not in title.lower():
            title += " (synthetic)"
        pictures = results.pictures(cells[name]) if name in cells else None
        yield name, DatasetStyle(title, synthetic, ", ".join(facts) or "not loaded", pictures)


def _left_out(results: Results, dataset: str) -> Iterable[str]:
    """Yield how many queries do not count, which equal a row of the database."""
    names = {each.cell.split for each in results.done() if each.cell.dataset == dataset}
    splits = [results.split(name) for name in names]
    if not any(split.copies.any() for split in splits):
        return
    counts = np.mean([split.copies.sum(axis=1) for split in splits], axis=0)
    queries = np.mean([len(split.query) for split in splits])
    words = " and ".join(
        f"{count:.0f} {view}" for count, view in zip(counts, splits[0].view_names, strict=True)
    )
    mean = " on average" if len(splits) > 1 else ""
    yield f"copies of database rows left out: {words} queries of {queries:.0f}{mean}"
