"""Results for programs and notebooks: data frames, tables and figures as the reports show them."""

from __future__ import annotations

import html
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hashbench.analysis.compare import compare, find_method
from hashbench.analysis.exported_codes import arrays_of, only_cell
from hashbench.analysis.results import Results
from hashbench.core.errors import HashbenchError
from hashbench.core.validation import listed
from hashbench.plugins.registry import discover
from hashbench.plugins.selection import parse_item
from hashbench.plugins.stored_facts import add_recorded
from hashbench.render import figures
from hashbench.render.report import Exhibit, NothingToShowError, Picture, Table
from hashbench.render.style import Style
from hashbench.render.styled_table import StyledTable, to_styler

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd
    from matplotlib.figure import Figure


class StudyResults(Results):
    """The results of a study: `scores`, `runs`, `curves` and `history` are data frames.

    ``table`` and ``figure`` give what the reports show; ``select`` gives a part of the results.
    """

    def exhibits(self, report: str, **part: Any) -> list[Exhibit]:
        """Return the tables and figures of a report, ``map-table`` or ``map-table[spread=false]``.

        Parameters
        ----------
        report : its name, with parameters in brackets
        part : what it is to show, as `select` takes it: measure, bits, task, database, codes,
            datasets, methods; one or several
        """
        name, settings = parse_item(report)
        made = self.registry.get("reports", name).cls(**settings[0])
        results = self.select(**_filter_arguments(part)) if part else self
        try:
            data = made.shown_data(results)
            with figures.plot_context():
                return list(made.draw(data, Style.of(self)))
        except NothingToShowError as nothing:
            raise HashbenchError(f"{report}: nothing to show: {nothing}") from nothing

    def table(self, report: str = "map-table", **part: Any) -> StyledTable:
        """Return the first table of a report, styled; see :meth:`exhibits` for what it shows.

        Its ``to_latex()`` needs booktabs and graphicx.
        """
        return to_styler(self._first_exhibit(report, Table, part))

    def figure(self, report: str, **part: Any) -> Figure:
        """Return the first figure of a report; see :meth:`exhibits` for what it shows."""
        figure: Figure = self._first_exhibit(report, Picture, part).figure
        return figure

    def _first_exhibit(self, report: str, kind: type[Any], part: dict[str, Any]) -> Any:
        shown = [each for each in self.exhibits(report, **part) if isinstance(each, kind)]
        if not shown:
            other = "figures" if kind is Table else "tables"
            raise HashbenchError(f"{report}: found {other} only; ask for one of these")
        return shown[0]

    def codes(
        self,
        method: str | None = None,
        bits: int | None = None,
        seed: int | None = None,
        dataset: str | None = None,
    ) -> dict[str, npt.NDArray[Any]]:
        """Return the codes of one cell, with its labels and rows, by name.

        ``codes("edsh", bits=16)["database_text"]`` is a (rows, bits) array of bool. What is None
        need not be given if there is only one. See `hashbench export codes` for all arrays.
        """
        part = {"methods": method, "bits": bits, "seeds": seed, "datasets": dataset}
        chosen = self.select(**{key: listed(value) for key, value in part.items()})
        return arrays_of(chosen, only_cell(chosen))

    def compare(self, first: str, second: str, measure: str | None = None) -> pd.DataFrame:
        """Compare two methods; one row per dataset, code length and task, with interval and p."""
        pair = find_method(self, first), find_method(self, second)
        return compare(self.shown(), *pair, measure or self.main_measure)

    def __repr__(self) -> str:
        done = len(self.done())
        return f"StudyResults({str(self.path)!r}: {done} of {len(self.cells)} cells done)"

    def _repr_html_(self) -> str:
        head = f"<p>{html.escape(repr(self), quote=False)}</p>"
        try:
            return head + str(self.table("map-table").to_html())
        except HashbenchError as error:
            return f"{head}<p>{html.escape(str(error), quote=False)}</p>"


def open_results(out: str | Path, plugins: str | Path | Sequence[str | Path] = ()) -> StudyResults:
    """Open the results of a study that has run.

    A folder of results is data: no plugin that it names is imported. Titles and other facts about
    plugins come from the folder.

    Parameters
    ----------
    out : the folder
    plugins : files and folders with plugins to import, such as reports of your own
    """
    place = Path(out)
    registry = discover(listed(plugins))
    add_recorded(registry, place)
    return StudyResults(place, registry)


def _filter_arguments(part: dict[str, Any]) -> dict[str, Sequence[Any]]:
    """Return the arguments of `select`, whose names are plural, each a list."""
    named = ("measure", "task", "database", "seed", "method", "dataset")
    return {f"{key}s" if key in named else key: listed(value) for key, value in part.items()}
