"""Printed numbers beside reproduced ones, with the protocol of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from hashbench.analysis.published import FOLDER, Published, published
from hashbench.analysis.summary import grouped, over_seeds, records
from hashbench.execution.cell_codes import EITHER, ENCODED
from hashbench.plugins.protocol import ALL
from hashbench.plugins.selection import bare_name, parse_item
from hashbench.render import figures
from hashbench.render.colours import SOFT
from hashbench.render.report import (
    Exhibit,
    Group,
    NothingToShowError,
    Picture,
    Report,
    Table,
    TableCell,
    method_cell,
    slices,
)
from hashbench.render.style import Style, arrow
from hashbench.render.tables import number_text

if TYPE_CHECKING:
    import pandas as pd

    from hashbench.analysis.results import Results

SECONDS = "train_seconds"

#: Settings under which a method still is what the paper ran: it trains on part of the rows, too.
AS_PRINTED = {"train_rows"}


class PublishedNumbers(Report):
    """What papers print against what the same method gives here, with the difference."""

    name = "published"
    title = "Printed and reproduced"
    section = "Tables of scores"
    every_database = True

    def data(self, results: Results) -> pd.DataFrame:
        """Return printed and reproduced values and reproduced minus printed.

        Scores appear once for each kind of codes that the method has; they are of the protocol's
        whole database, as printed ones are.
        """
        import pandas as pd

        tables = [
            table
            for paper in published(results.path / FOLDER)
            for table in _of_paper(paper, results.select(databases=[ALL]))
        ]
        if not tables:
            raise NothingToShowError("no cell of the study is in a table of a paper")
        table = pd.concat(tables, ignore_index=True)
        table["difference"] = table["reproduced"] - table["printed"]
        return table

    def draw(self, data: pd.DataFrame, style: Style) -> Sequence[Exhibit]:
        """Return a table of scores and a figure for each dataset, and a table of times."""
        exhibits: list[Exhibit] = []
        scores = data[data["quantity"] != SECONDS]
        for (paper, dataset, measure), group in grouped(scores, "paper", "dataset", "measure"):
            exhibits.append(_scores(group, paper, dataset, measure, style))
        for (paper, measure), group in grouped(scores, "paper", "measure"):
            exhibits.append(_picture(group, paper, measure, style))
        for paper, group in grouped(data[data["quantity"] == SECONDS], "paper"):
            exhibits.append(_times(group, paper, style))
        return exhibits


def _of_paper(paper: Published, results: Results) -> Iterator[pd.DataFrame]:
    printed = paper.numbers.rename(columns={"dataset": "printed_as", "value": "printed"})
    for printed_as, about in paper.datasets.items():
        for quantity, stands_for in paper.quantities.items():
            found = _reproduced(stands_for, results)
            bare = found["dataset"].map(bare_name)
            found = found[bare.isin(about["names"])]
            chosen = printed[
                (printed["printed_as"] == printed_as) & (printed["quantity"] == quantity)
            ]
            keys = ["name", "bits"] + (["task"] if "measure" in stands_for else [])
            chosen = chosen.rename(columns={"method": "name"})
            joined = chosen[[*keys, "printed_as", "quantity", "printed"]].merge(found, on=keys)
            if not joined.empty:
                words = f"{about['printed']}; {paper.protocol}"
                alike = joined["dataset"].map(bare_name).isin(about.get("alike", about["names"]))
                yield joined.drop(columns="name").assign(
                    paper=paper.paper, printed_protocol=words, alike=alike
                )


def _reproduced(stands_for: Any, results: Results) -> pd.DataFrame:
    if "measure" in stands_for:
        scores = results.select(databases=[ALL]).scores([stands_for["measure"]])
        table = over_seeds(scores)
    else:
        runs = results.runs()
        runs = runs[runs["status"] == "done"].rename(columns={stands_for["run"]: "value"})
        table = over_seeds(runs[["dataset", "method", "bits", "seed", "value"]])
        table = table.assign(task="", database="", codes="", measure="")
    table = table.rename(columns={"mean": "reproduced"})
    table["name"] = [_as_printed(label) for label in table["method"]]
    cells = {cell.dataset: cell for cell in results.cells}
    table["protocol"] = [str(cells[name].protocol) for name in table["dataset"]]
    table["preprocessing"] = [" / ".join(cells[name].preprocessing) for name in table["dataset"]]
    return table[table["name"] != ""]


def _as_printed(label: str) -> str:
    """Return the method's name, or nothing if its parameters are not the printed ones."""
    name, (settings, *_) = parse_item(label)
    return name if set(settings) <= AS_PRINTED else ""


def _preferred(data: pd.DataFrame) -> pd.DataFrame:
    """Return learned codes where a method has them, else encoded."""
    order = data.sort_values("codes", ascending=False, kind="stable")
    return order.drop_duplicates(["paper", "dataset", "method", "bits", "task"])


def _scores(data: pd.DataFrame, paper: str, dataset: str, measure: str, style: Style) -> Table:
    shown = _preferred(data)
    found = {(row.task, row.method, row.bits): row for row in records(shown)}
    columns = sorted(set(shown["bits"]))
    methods = style.ordered(shown["method"])
    groups = []
    for task in dict.fromkeys(data["task"]):
        rows = []
        for method in methods:
            entries = [method_cell(style, method)]
            for bits in columns:
                entries += _entries(found.get((task, method, bits)))
            rows.append(entries)
        groups.append(Group(arrow(task), rows))
    header = [
        [("", 1), *((f"{bits} bits", 3) for bits in columns)],
        [("", 1), *((word, 1) for _ in columns for word in ("printed", "here", "diff."))],
    ]
    caption = style.summary(
        f"Printed in {paper}, reproduced here, and the difference",
        measure=measure,
        database=ALL,
        codes="learned (e: encoded, where a method has no learned ones)",
        seeds=list(data["seeds"]),
    )
    notes = [f"printed: {data['printed_protocol'].iloc[0]}"]
    return Table(
        f"{dataset} {measure}",
        caption,
        header,
        groups,
        "l" + "rrr" * len(columns),
        [*notes, *style.marks(methods)],
        slices(data),
    )


def _entries(row: Any) -> list[TableCell]:
    if row is None:
        return [TableCell("")] * 3
    mark = "e" if row.codes == ENCODED else ""
    difference = f"{row.difference:+.3f}".replace("-", "−")
    return [
        TableCell(f"{row.printed:.3f}"),
        TableCell(f"{row.reproduced:.3f}", mark=mark),
        TableCell(difference),
    ]


def _picture(data: pd.DataFrame, paper: str, measure: str, style: Style) -> Picture:
    shown = _preferred(data)
    unlike = [style.datasets[name].title for name in style.datasets
              if name in set(shown.loc[~shown["alike"], "dataset"])]  # fmt: skip
    words = f"Reproduced against printed in {paper}; a point a code length, dashed: equal"
    if unlike:
        words += (
            f"; hollow: {', '.join(unlike)}, whose features are not the printed ones, so that no "
            "agreement is to be expected"
        )
    caption = style.summary(
        words,
        measure=measure,
        database=ALL,
        codes=EITHER,
        seeds=list(shown["seeds"]),
    )
    return figures.picture(f"figure {measure}", caption, style, shown, _figure)


def _figure(shown: pd.DataFrame, style: Style) -> Any:
    panels, methods = figures.list_panels(shown, style), style.ordered(shown["method"])
    styles = style.figure_styles(methods)
    figure, axes = figures.make_figure(style, len(panels), 1.9)
    top = 1.05 * max(shown["printed"].max(), shown["reproduced"].max())
    for panel, (dataset, task) in zip(axes, panels, strict=True):
        part = shown[(shown["dataset"] == dataset) & (shown["task"] == task)]
        panel.plot([0, top], [0, top], color=SOFT, linewidth=0.7, linestyle="--")
        for method, group in grouped(part, "method"):
            mark = figures.mark_style(styles[method], filled=bool(group["alike"].all()))
            panel.plot(group["printed"], group["reproduced"], **mark)
        panel.set(xlim=(0, top), ylim=(0, top), box_aspect=1)
    figures.write_titles(style, axes, panels)
    figures.name_axes(axes, "printed", "reproduced")
    keys = {"equal": figures.key_style("", line="--")}
    if not shown["alike"].all():
        keys["features other than printed"] = figures.key_style(filled=False)
    order = figures.by_value(shown, "reproduced")
    figures.shared_legend(figure, style, order, figures.mark_style, keys)
    return figure


def _times(data: pd.DataFrame, paper: str, style: Style) -> Table:
    datasets = [name for name in style.datasets if name in set(data["dataset"])]
    found = {(row.method, row.dataset): row for row in records(data)}
    rows = []
    for method in style.ordered(data["method"]):
        entries = [method_cell(style, method)]
        for dataset in datasets:
            row = found.get((method, dataset))
            both = (row.printed, row.reproduced) if row is not None else ()
            entries += [TableCell(number_text(value)) for value in both] or [TableCell("")] * 2
        rows.append(entries)
    header = [
        [("", 1), *((style.datasets[name].title, 2) for name in datasets)],
        [("", 1), *((word, 1) for _ in datasets for word in ("printed", "here"))],
    ]
    bits = ", ".join(str(each) for each in sorted(set(data["bits"])))
    caption = style.summary(
        f"Training time in seconds at {bits} bits, printed in {paper} and measured here, on other "
        "machines",
        seeds=list(data["seeds"]),
    )
    notes = [*style.marks(data["method"])]
    return Table("seconds", caption, header, [Group("", rows)], "l" + "rr" * len(datasets), notes)
