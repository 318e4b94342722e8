"""What can be seen in codes themselves: balance, copies, bits that never change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hashbench.analysis.summary import grouped, over_seeds, records
from hashbench.render.report import (
    Exhibit,
    Group,
    NothingToShowError,
    Report,
    Table,
    TableCell,
    method_cell,
    slices,
)
from hashbench.render.style import Style

if TYPE_CHECKING:
    import pandas as pd

    from hashbench.analysis.results import Results

VALUES = ["items", "ones", "imbalance", "constant", "distinct", "correlation", "confused"]

#: What the table prints: column, its heading, its format.
SHOWN = (
    ("ones", "ones", "{:.2f}"),
    ("imbalance", "imbalance", "{:.2f}"),
    ("correlation", "correlation", "{:.2f}"),
    ("constant", "constant bits", "{:.3g}"),
    ("distinct", "distinct codes", "{:.0f}"),
    ("confused", "confused pairs", "{:.2f}"),
)


class Codes(Report):
    """Balance and correlation of bits, constant bits, distinct codes, pairs they confuse."""

    name = "codes"
    title = "Codes"
    section = "Codes and failures"

    def data(self, results: Results) -> pd.DataFrame:
        """Return statistics of the codes of databases, means over seeds."""
        codes = results.code_statistics()
        if codes.empty:
            raise NothingToShowError("no cell with codes is done")
        confused = codes["collisions_apart"] / codes["collisions"]  # nan where all codes differ
        codes = codes.assign(confused=confused)
        return over_seeds(codes[codes["bits"].isin(results.figure_bits)], VALUES)

    def draw(self, data: pd.DataFrame, style: Style) -> Sequence[Exhibit]:
        """Return a table for each dataset, code length, database and kind of codes."""
        tables = []
        keys = ("dataset", "bits", "database", "codes")
        for (dataset, bits, database, codes), part in grouped(data, *keys):
            groups = []
            for view, group in grouped(part, "view"):
                found = {row.method: row for row in records(group)}
                rows = [
                    [
                        method_cell(style, method, codes),
                        *_entries(found[method]),
                    ]
                    for method in style.ordered(found)
                ]
                groups.append(Group(view, rows))
            caption = style.summary(
                f"Codes of {bits} bits ({part['items'].max():.0f} items): share of ones; "
                "mean distance of a bit's share of ones from one half; mean absolute correlation "
                "of two bits; bits that never change; distinct codes; share of the pairs of items "
                "with equal codes that have no label in common",
                database=database,
                codes=codes,
                seeds=list(part["seeds"]),
            )
            header = [("view, method", 1), *((heading, 1) for _, heading, _ in SHOWN)]
            columns = "l" + "r" * len(SHOWN)
            notes = [*style.marks(part["method"])]
            tables.append(
                Table(
                    f"{dataset} {bits} bits {database} {codes}",
                    caption,
                    [header],
                    groups,
                    columns,
                    notes,
                    slices(part),
                )
            )
        return tables


def _entries(row: Any) -> list[TableCell]:
    values = [(getattr(row, name), shape) for name, _, shape in SHOWN]
    return [TableCell(shape.format(value) if value == value else "–") for value, shape in values]
