"""The base class of reports, and the tables and figures that they return."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from hashbench.core.parameters import Parametrised
from hashbench.plugins.protocol import EITHER

if TYPE_CHECKING:
    import pandas as pd

    from hashbench.analysis.results import Results
    from hashbench.render.style import Style

#: The sections of the page after the ranking, in their order; others follow.
SECTIONS = (
    "Tables and figures of the paper",
    "Tables of scores",
    "What is retrieved",
    "Time and memory",
    "Statistics",
    "Scores in detail",
    "Curves for print",
    "Codes and failures",
)


#: What a reader of the page selects: columns of data by which tables and figures are filtered.
SLICED = ("dataset", "task", "bits", "database", "codes", "measure")

Slices = Mapping[str, Sequence[Any]]


class NothingToShowError(Exception):
    """The study has no data for this report; the text is one line with what is missing."""


@dataclass(frozen=True)
class TableCell:
    """A cell of a table.

    Attributes
    ----------
    text : plain text, which every format escapes
    bold, underlined : how it is emphasised
    mark : superscript after the text
    shaded : whether its row has another ground; only in the first cell of a row
    """

    text: str
    bold: bool = False
    underlined: bool = False
    mark: str = ""
    shaded: bool = False

    @property
    def marked(self) -> str:
        """The text with its mark behind it."""
        return self.text + self.mark


@dataclass(frozen=True)
class Group:
    """Rows of a table, below a line with their title if they have one."""

    title: str
    rows: Sequence[Sequence[TableCell]]


@dataclass(frozen=True)
class Table:
    """A table.

    Attributes
    ----------
    name : unique among the tables and figures of its report
    caption : what it shows, with measure, database, codes and data
    header : lines of (text, number of columns)
    groups : the rows
    columns : one letter per column: l for left, r for right, w for wrapped text
    notes : lines below
    slices : values by which the page filters it, see `slices`
    heading : a line above it on the page
    """

    name: str
    caption: str
    header: Sequence[Sequence[tuple[str, int]]]
    groups: Sequence[Group]
    columns: str
    notes: Sequence[str] = ()
    slices: Slices = field(default_factory=dict)
    heading: str = ""


@dataclass(frozen=True)
class Picture:
    """A figure.

    Attributes
    ----------
    name, caption, notes, slices, heading : as those of a table
    drawing : a matplotlib figure, or a function that draws one when it is needed, because drawing
        takes most of the time
    """

    name: str
    caption: str
    drawing: Any
    notes: Sequence[str] = ()
    slices: Slices = field(default_factory=dict)
    heading: str = ""

    @cached_property
    def figure(self) -> Any:
        """The matplotlib figure."""
        return self.drawing() if callable(self.drawing) else self.drawing


Exhibit = Table | Picture


def slices(data: pd.DataFrame) -> Slices:
    """Return the values of each of the columns `SLICED` that data have."""
    return {name: tuple(data[name].dropna().unique()) for name in SLICED if name in data.columns}


def method_cell(style: Style, method: str, codes: str = "") -> TableCell:
    """Return the first cell of a method's row: its title and marks, shaded if highlighted.

    Among learned codes, ``codes`` of the table, a method that has none is marked as encoded.
    """
    shown = style.methods[method]
    encoded = "e" if codes == EITHER and method in style.unlearned else ""
    return TableCell(shown.title, mark=shown.mark + encoded, shaded=shown.highlighted)


class Report(Parametrised, ABC):
    """Base class of report plugins.

    ``data`` returns a tidy data frame that can be tested and downloaded, ``draw`` makes tables and
    figures of it alone. Names and colours of methods and datasets come from the style, which all
    reports of a study share.
    """

    plugin_kind: ClassVar[str] = "reports"

    name: ClassVar[str]  #: on the command line
    title: ClassVar[str] = ""  #: its heading; the name if empty
    section: ClassVar[str] = "More tables and figures"  #: its section of the page
    every_database: ClassVar[bool] = False  #: whether it reads more than `Results.shown`

    @abstractmethod
    def data(self, results: Results) -> pd.DataFrame:
        """Return the numbers as a tidy data frame.

        Raises
        ------
        NothingToShowError
            If the study has no data for this report.
        """

    def shown_data(self, results: Results) -> pd.DataFrame:
        """Return `data`, unless the report says otherwise of what tables show by default."""
        data = self.data(results if self.every_database else results.shown())
        if not len(data):
            raise NothingToShowError("nothing in these results")
        return data

    @abstractmethod
    def draw(self, data: pd.DataFrame, style: Style) -> Sequence[Exhibit]:
        """Return tables and figures made of ``data``."""
