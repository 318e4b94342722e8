"""What a report is: tables and figures derived from the results of a study."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from hashbench.core.parameters import Parametrised

if TYPE_CHECKING:
    import pandas as pd


#: The parts of the page after the ranking, in their order; others follow.
SECTIONS = (
    "Tables of scores",
    "What is retrieved",
    "Time and memory",
    "Statistics",
    "Scores in detail",
    "Curves for print",
    "Codes and failures",
)


#: What a reader of the page chooses; columns of these names say what a table or figure is of.
SLICED = ("dataset", "task", "bits", "database", "measure")

Slices = Mapping[str, Sequence[Any]]


class NothingToShowError(Exception):
    """The study has nothing for this report; the text says in one line what is missing."""


@dataclass(frozen=True)
class TableCell:
    """A field of a table.

    Attributes
    ----------
    text : plain text; every format escapes it its own way
    bold, underlined : how it is set off
    mark : a sign behind it, set high
    """

    text: str
    bold: bool = False
    underlined: bool = False
    mark: str = ""


@dataclass(frozen=True)
class Group:
    """Rows of a table that belong together, below a line of their own if they have a title."""

    title: str
    rows: Sequence[Sequence[TableCell]]


@dataclass(frozen=True)
class Table:
    """A table for print.

    Attributes
    ----------
    name : what tells it apart from the other tables and figures of its report
    caption : what it shows, with measure, database codes and data
    header : lines of (text, number of columns)
    groups : the rows
    columns : a letter a column: l and r for left and right, w for text that is wrapped
    notes : lines below
    slices : what it is of, see `slices`; the page shows it where that is chosen
    """

    name: str
    caption: str
    header: Sequence[Sequence[tuple[str, int]]]
    groups: Sequence[Group]
    columns: str
    notes: Sequence[str] = ()
    slices: Slices = field(default_factory=dict)


@dataclass(frozen=True)
class Picture:
    """A figure for print.

    Attributes
    ----------
    name, caption, notes, slices : as those of a table
    drawing : a matplotlib figure or, because drawing takes most of the time that reports take, a
        function that makes one when it is needed
    """

    name: str
    caption: str
    drawing: Any
    notes: Sequence[str] = ()
    slices: Slices = field(default_factory=dict)

    @cached_property
    def figure(self) -> Any:
        """The matplotlib figure."""
        return self.drawing() if callable(self.drawing) else self.drawing


Exhibit = Table | Picture


def slices(data: pd.DataFrame) -> Slices:
    """Return what some rows of a report's data are of: the values of each of `SLICED` they have."""
    return {name: tuple(data[name].dropna().unique()) for name in SLICED if name in data.columns}


class Report(Parametrised, ABC):
    """A report plugin: ``data`` computes, ``draw`` shows.

    ``data`` returns a tidy table that can be tested and downloaded; drawing reads that table and
    nothing else. ``results`` is a `hashbench.analysis.results.Results`, ``style`` a
    `hashbench.render.style.Style`: rooms above this one, which a report may name. How methods
    and datasets are called and coloured comes from the style, which all reports of a study share.
    """

    plugin_kind: ClassVar[str] = "reports"

    name: ClassVar[str]  #: what the user types
    title: ClassVar[str] = ""  #: its heading; the name if empty
    section: ClassVar[str] = "More tables and figures"  #: the part of the page it stands in

    @abstractmethod
    def data(self, results: Any) -> pd.DataFrame:
        """Return the numbers, tidy: a row a value.

        Raises
        ------
        NothingToShowError
            If the study has nothing that this report shows.
        """

    @abstractmethod
    def draw(self, data: pd.DataFrame, style: Any) -> Sequence[Exhibit]:
        """Return tables and figures made of ``data``."""
