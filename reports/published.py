"""The tables and figures of papers as they number them, printed numbers beside reproduced ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hashbench.analysis.published import FOLDER, Published, published
from hashbench.analysis.rank_changes import tau
from hashbench.analysis.summary import grouped, over_seeds, records
from hashbench.plugins.protocol import ALL, EITHER, ENCODED
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
from hashbench.reports import convergence, pr_curve, topk_curve

if TYPE_CHECKING:
    import pandas as pd

    from hashbench.analysis.results import Results

#: Settings under which a method still is what the paper ran: it trains on part of the rows, too.
AS_PRINTED = {"train_rows"}

#: A difference from a printed score that the notes count as small.
NEAR = 0.05

#: The rows of a method in a table of scores.
PRINTED, HERE = "printed", "here"

SUBJECTS = {
    "pr-curve": "Precision against recall by rank",
    "topk-curve": "Precision among the first K items",
    "convergence": "Objective by iteration, one line per seed",
}


class PublishedNumbers(Report):
    """The tables and figures of a paper, by its numbers: printed beside reproduced."""

    name = "published"
    title = "Printed and reproduced"
    section = "Tables and figures of the paper"
    every_database = True

    def data(self, results: Results) -> pd.DataFrame:
        """Return what each table and figure of a paper shows; the column ``exhibit`` names it.

        Rows of tables have printed and reproduced values and reproduced minus printed; scores
        appear once for each kind of codes that the method has. Rows of figures are points of
        curves. All are of the protocol's whole database, as printed ones are.
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
        """Return the tables and figures of each paper, and the printed against the reproduced."""
        exhibits: list[Exhibit] = []
        for (paper, short), own in grouped(data, "paper", "short"):
            for name, group in grouped(own, "exhibit"):
                about = {
                    "name": f"{short} {name}".replace(".", ""),
                    "heading": f"{name} of {paper}",
                    "slices": slices(group),
                    "notes": style.marks(group["method"]),
                }
                kind = str(group["kind"].iloc[0])
                draw_one = _scores if kind == "measure" else _times if kind == "run" else _curves
                exhibits.append(draw_one(group, kind, about, style))
            for measure, group in grouped(own[own["kind"] == "measure"], "measure"):
                exhibits.append(_scatter(group, short, measure, style))
        return exhibits


def _of_paper(paper: Published, results: Results) -> Iterator[pd.DataFrame]:
    """Yield the rows of each table and figure, as far as the study has them."""
    numbers: dict[str, pd.DataFrame] = {}
    for quantity in paper.quantities:
        numbers[quantity] = _numbers(paper, quantity, results)
    methods = {name for table in numbers.values() for name in table["method"]}
    datasets = {name for table in numbers.values() for name in table["dataset"]}
    if not methods:
        return
    for exhibit in paper.exhibits:
        about = {"exhibit": exhibit["name"], "paper": paper.paper, "short": paper.short}
        if "quantity" in exhibit:
            table = numbers[exhibit["quantity"]]
        else:
            chosen = [name for name in methods if _is_in(exhibit, name)]
            bits = [exhibit["bits"]] if exhibit["bits"] in results.bits else []
            if not chosen or not bits:
                continue
            part = results.select(
                methods=chosen, datasets=sorted(datasets), bits=bits, codes=[EITHER]
            )
            table = _points(exhibit["report"], part).assign(kind=exhibit["report"])
        if not table.empty:
            yield table.assign(**about)


def _is_in(exhibit: Mapping[str, Any], method: str) -> bool:
    return "methods" not in exhibit or bare_name(method) in exhibit["methods"]


def _points(report: str, results: Results) -> pd.DataFrame:
    """Return the points of the curves of a figure."""
    if report == "convergence":
        return results.history()
    curves = results.curves("PR").rename(columns={"x": "K"} if report == "topk-curve" else {})
    return over_seeds(curves, ["precision", "recall"]).dropna(subset="precision")


def _numbers(paper: Published, quantity: str, results: Results) -> pd.DataFrame:
    """Return the printed and the reproduced numbers of a quantity."""
    import pandas as pd

    stands_for = paper.quantities[quantity]
    kind = "measure" if "measure" in stands_for else "run"
    found = _reproduced(stands_for, results)
    keys = ["name", "bits"] + (["task"] if kind == "measure" else [])
    printed = paper.numbers[paper.numbers["quantity"] == quantity].rename(
        columns={"dataset": "printed_as", "value": "printed", "method": "name"}
    )[[*keys, "printed_as", "quantity", "printed"]]
    tables = [pd.DataFrame(columns=[*printed.columns, *found.columns]).drop(columns="name")]
    for printed_as, about in paper.datasets.items():
        bare = found["dataset"].map(bare_name)
        joined = printed[printed["printed_as"] == printed_as].merge(
            found[bare.isin(about["names"])], on=keys
        )
        if not joined.empty:
            words = f"{about['printed']}; {paper.protocol}"
            alike = joined["dataset"].map(bare_name).isin(about.get("alike", about["names"]))
            joined = joined.assign(kind=kind, printed_protocol=words, alike=alike)
            tables.append(joined.drop(columns="name"))
    return pd.concat(tables[1:] or tables, ignore_index=True)


def _reproduced(stands_for: Mapping[str, str], results: Results) -> pd.DataFrame:
    if "measure" in stands_for:
        table = over_seeds(results.scores([stands_for["measure"]]))
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


def _scores(data: pd.DataFrame, _: str, about: dict[str, Any], style: Style) -> Table:
    """Return a table laid out as the paper's, each method with its printed and reproduced row."""
    shown = _preferred(data)
    found = {(row.task, row.method, row.dataset, row.bits): row for row in records(shown)}
    datasets = style.ordered_datasets(shown["dataset"])
    columns = [
        (dataset, bits)
        for dataset in datasets
        for bits in sorted(set(shown.loc[shown["dataset"] == dataset, "bits"]))
    ]
    keys = ["task", "dataset", "bits"]
    best = shown.groupby(keys)[["printed", "reproduced"]].max()
    groups = []
    for task in dict.fromkeys(shown["task"]):
        rows = []
        for method in style.ordered(shown["method"]):
            own = [(found.get((task, method, *column)), (task, *column)) for column in columns]
            name = method_cell(style, method)
            blank = TableCell("", shaded=name.shaded)
            for first, word, which in ((name, PRINTED, "printed"), (blank, HERE, "reproduced")):
                numbers = [_entry(row, key, which, best) for row, key in own]
                rows.append([first, TableCell(word), *numbers])
        groups.append(Group(arrow(task), rows))
    spans = [(style.datasets[d].title, [c[0] for c in columns].count(d)) for d in datasets]
    caption = style.summary(
        f"{about['heading']}: printed scores and those reproduced here; e: encoded codes, where a "
        "method has no learned ones",
        measure=str(shown["measure"].iloc[0]),
        database=str(shown["database"].iloc[0]),
        codes=EITHER,
        seeds=list(shown["seeds"]),
    )
    header = [[("", 2), *spans], [("", 1), ("bits", 1), *((str(bits), 1) for _, bits in columns)]]
    about["notes"] = ["bold: best of the printed and of the reproduced scores"]
    about["notes"] += [*agreement(shown, style), *style.marks(shown["method"])]
    return Table(
        caption=caption, header=header, groups=groups, columns="ll" + "r" * len(columns), **about
    )


def _entry(row: Any, key: tuple[Any, ...], which: str, best: pd.DataFrame) -> TableCell:
    if row is None:
        return TableCell("")
    value = getattr(row, which)
    mark = "e" if which == "reproduced" and row.codes == ENCODED else ""
    return TableCell(f"{value:.3f}", bold=value == best.loc[key, which], mark=mark)


def agreement(shown: pd.DataFrame, style: Style) -> Iterator[str]:
    """Yield for each dataset and task how far reproduced scores are from printed ones."""
    for (dataset, task), part in grouped(shown, "dataset", "task"):
        taus = [
            tau(list(group["printed"]), list(group["reproduced"]))
            for _, group in grouped(part, "bits")
        ]
        known = [each for each in taus if each is not None]
        words = f"{(part['difference'].abs() <= NEAR).sum()} of {len(part)} scores within {NEAR:g}"
        if known:
            words += f", Kendall's tau of the orders {sum(known) / len(known):.2f}"
        alike = "" if part["alike"].all() else " (features other than printed)"
        yield f"{style.datasets[dataset].title}{alike}, {arrow(task)}: {words}"


def _times(data: pd.DataFrame, _: str, about: dict[str, Any], style: Style) -> Table:
    datasets = style.ordered_datasets(data["dataset"])
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
        [("", 1), *((word, 1) for _ in datasets for word in (PRINTED, HERE))],
    ]
    bits = ", ".join(str(each) for each in sorted(set(data["bits"])))
    caption = style.summary(
        f"{about['heading']}: training time in seconds at {bits} bits, printed and measured here "
        "on another machine",
        seeds=list(data["seeds"]),
    )
    columns = "l" + "rr" * len(datasets)
    return Table(caption=caption, header=header, groups=[Group("", rows)], columns=columns, **about)


def _curves(data: pd.DataFrame, kind: str, about: dict[str, Any], style: Style) -> Picture:
    """Return a figure as the paper has it, with a panel per dataset."""
    bits = int(data["bits"].iloc[0])
    subject = f"{about['heading']}, reproduced: {SUBJECTS[kind]} at {bits} bits"
    if kind == "convergence":
        method = str(data["method"].iloc[0])
        heading = f"{style.methods[method].label}, {bits} bits"
        caption = style.summary(subject, seeds=[int(data["seed"].nunique())])
        drawing = figures.deferred(convergence.draw, data, "iteration", "dataset", heading, style)
    else:
        caption = style.summary(
            subject,
            measure="PR",
            database=str(data["database"].iloc[0]),
            codes=EITHER,
            seeds=[int(each) for each in data["seeds"]],
        )
        draw_curves = pr_curve.draw if kind == "pr-curve" else topk_curve.draw
        drawing = figures.deferred(draw_curves, data, style)
    return Picture(caption=caption, drawing=drawing, **about)


def _scatter(data: pd.DataFrame, short: str, measure: str, style: Style) -> Picture:
    shown = _preferred(data)
    caption = style.summary(
        f"Scores reproduced here against those printed by {data['paper'].iloc[0]}, one point per "
        "method and code length",
        measure=measure,
        database=str(shown["database"].iloc[0]),
        codes=EITHER,
        seeds=list(shown["seeds"]),
    )
    return figures.picture(f"{short} {measure}", caption, style, shown, _scatter_figure)


def _scatter_figure(shown: pd.DataFrame, style: Style) -> Any:
    panels, methods = figures.list_panels(shown, style), style.ordered(shown["method"])
    styles = style.figure_styles(methods)
    columns = 2 if len(panels) == 2 else None
    figure, axes = figures.make_figure(style, len(panels), style.inches / 3.1, columns=columns)
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
