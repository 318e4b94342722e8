"""A table of a report for notebooks: a styled data frame whose LaTeX compiles."""

from __future__ import annotations

from typing import Any

import pandas as pd
from pandas.io.formats.style import Styler

from hashbench.render.colours import SHADE
from hashbench.render.report import Table, TableCell
from hashbench.render.tables import to_latex


class StyledTable(Styler):
    """A styled data frame of a table."""

    table: Table

    @classmethod
    def make(cls, frame: pd.DataFrame, table: Table) -> StyledTable:
        """Return the data frame styled, with the table that it shows."""
        styled = cls(frame)
        styled.table = table
        return styled

    def to_latex(  # type: ignore[override]  # most options of pandas have no meaning here
        self, *_: Any, label: str = "", width: str = "column", **__: Any
    ) -> str:
        """Return the table as `hashbench report` writes it; it needs booktabs and graphicx.

        pandas would write CSS and Unicode, which do not compile.

        Parameters
        ----------
        label : for \\ref
        width : "column" or "page", of a paper with two columns
        """
        return to_latex(self.table, label or "tab:hashbench", width)


def to_styler(table: Table) -> StyledTable:
    """Return a table as a styled data frame."""
    rows = [(group.title, row) for group in table.groups for row in group.rows]
    header = [[name for name, count in spans for _ in range(count)] for spans in table.header]
    texts = [[cell.marked for cell in row] for _, row in rows]
    css = [[_css(cell, row[0].shaded) for cell in row] for _, row in rows]
    if any(title for title, _ in rows):
        header = [["", *names] for names in header]
        texts = [[title, *row] for (title, _), row in zip(rows, texts, strict=True)]
        css = [["", *row] for row in css]
    columns = pd.MultiIndex.from_arrays(header)
    frame = pd.DataFrame(texts, columns=columns if columns.is_unique else None)
    styler = StyledTable.make(frame, table)
    styler.hide(axis="index").set_caption(table.caption)
    if columns.is_unique:
        styles = pd.DataFrame(css, columns=frame.columns)
        styler.apply(lambda _: styles, axis=None)
    return styler


def _css(cell: TableCell, shaded: bool) -> str:
    bold = "font-weight: bold;" if cell.bold else ""
    ground = f"background-color: {SHADE};" if shaded else ""
    return ground + bold + ("text-decoration: underline;" if cell.underlined else "")
