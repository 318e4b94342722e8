"""Write the tables and figures of reports in the requested formats."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from hashbench.analysis.results import Results
from hashbench.core.errors import HashbenchError, unknown
from hashbench.core.io import atomic_write
from hashbench.render import figures
from hashbench.render.report import Exhibit, NothingToShowError, Picture, Report, Table
from hashbench.render.style import Style
from hashbench.render.tables import latex_prose, markdown_prose, to_csv, to_latex, to_markdown

if TYPE_CHECKING:
    import pandas as pd

FIGURE_FORMATS = ("pdf", "svg", "png")
TABLE_FORMATS = ("csv", "md", "tex")
FORMATS = (*FIGURE_FORMATS, *TABLE_FORMATS)

FOLDER = "report"


@dataclass(frozen=True)
class RenderedExhibit:
    """A table or figure with its files.

    Attributes
    ----------
    name : of its files, without suffixes
    exhibit : the table or figure
    files : format -> path
    size : width and height of a drawn figure, in inches
    """

    name: str
    exhibit: Exhibit
    files: dict[str, Path] = field(default_factory=dict)
    size: tuple[float, float] | None = None


@dataclass(frozen=True)
class Rendered:
    """A report with its exhibits and the file of its data, or why there is nothing to show."""

    report: Report
    exhibits: list[RenderedExhibit] = field(default_factory=list)
    data: Path | None = None
    nothing: str = ""


def render_tables(
    report: Report, results: Results, style: Style, folder: Path, formats: Collection[str]
) -> Rendered:
    """Write the data and the tables of a report; `write_figure` writes its figures later."""
    check_formats(formats)
    try:
        data = report.shown_data(results)
        with figures.plot_context():
            exhibits = report.draw(data, style)
    except NothingToShowError as nothing:
        return Rendered(report, nothing=str(nothing))
    folder.mkdir(parents=True, exist_ok=True)
    names = _file_names(report.name, exhibits)
    shown = [
        RenderedExhibit(name, each, _write_table(each, name, folder, style, formats))
        if isinstance(each, Table)
        else RenderedExhibit(name, each)
        for name, each in zip(names, exhibits, strict=True)
    ]
    return Rendered(report, shown, write_data(report.name, data, folder, formats))


def write_figure(
    shown: RenderedExhibit, folder: Path, style: Style, formats: Collection[str]
) -> RenderedExhibit:
    """Write the files of a figure, its caption to Markdown and LaTeX; a table has them already."""
    if isinstance(shown.exhibit, Table):
        return shown
    picture = replace(shown.exhibit)  # a copy, so that its figure is freed
    if not {*FIGURE_FORMATS, "md", "tex"} & {*formats}:
        return shown
    folder.mkdir(parents=True, exist_ok=True)
    with figures.plot_context():
        files = _save_figure(picture, shown.name, folder, formats)
        texts = {
            "md": lambda: _picture_markdown(picture, shown.name, files),
            "tex": lambda: _picture_latex(picture, shown.name, style),
        }
        files |= _write_texts(texts, shown.name, folder, formats)
        width, height = picture.figure.get_size_inches()
    return replace(shown, files=files, size=(float(width), float(height)))


def write_data(
    title: str, data: pd.DataFrame, folder: Path, formats: Collection[str]
) -> Path | None:
    """Write the data of a report, if CSV is among the formats."""
    if "csv" not in formats:
        return None
    path = folder / f"{slug(title)}.csv"
    _write_text(path, to_csv(data))
    return path


def write_notes(style: Style, folder: Path, formats: Collection[str]) -> dict[str, Path]:
    """Write the notes of all tables and figures: data, protocols, and what daggers mean."""
    lines = [*style.facts(style.datasets), *(f"{note}." for note in style.notes(style.methods))]
    if not lines:
        return {}
    items = "\n".join(rf"\item {latex_prose(line)}" for line in lines)
    texts = {
        "md": lambda: "\n".join(f"- {markdown_prose(line)}" for line in lines) + "\n",
        "tex": lambda: f"\\begin{{itemize}}\n{items}\n\\end{{itemize}}\n",
    }
    return _write_texts(texts, "notes", folder, formats)


def check_formats(formats: Collection[str]) -> None:
    """Raise an error for an unknown format."""
    for each in formats:
        if each not in FORMATS:
            raise unknown("format", each, FORMATS)


def slug(text: str) -> str:
    """Return a text as a file name of letters, digits, full stops and hyphens.

    Examples
    --------
    >>> slug("AP(norm=all)@100 image->text")
    'AP-norm-all-100-image-text'
    """
    return re.sub(r"[^A-Za-z0-9.]+", "-", text).strip("-.")[:100] or "unnamed"


def _file_names(title: str, exhibits: Sequence[Exhibit]) -> list[str]:
    names: list[str] = []
    for exhibit in exhibits:
        name = slug(f"{title} {exhibit.name}")
        twins = sum(other == name or other.startswith(f"{name}--") for other in names)
        names.append(f"{name}--{twins + 1}" if twins else name)
    return names


def _write_table(
    table: Table, name: str, folder: Path, style: Style, formats: Collection[str]
) -> dict[str, Path]:
    texts = {
        "md": lambda: to_markdown(table),
        "tex": lambda: to_latex(table, f"tab:{name}", style.width),
    }
    return _write_texts(texts, name, folder, formats)


def _write_texts(
    texts: Mapping[str, Callable[[], str]], name: str, folder: Path, formats: Collection[str]
) -> dict[str, Path]:
    files = {ending: folder / f"{name}.{ending}" for ending in texts if ending in formats}
    for ending, path in files.items():
        _write_text(path, texts[ending]())
    return files


def _save_figure(
    picture: Picture, name: str, folder: Path, formats: Collection[str]
) -> dict[str, Path]:
    files = {}
    # one layout for all formats; with a layout engine, saving would draw twice
    figures.run_layout(picture.figure)
    for ending in FIGURE_FORMATS:
        if ending in formats:
            files[ending] = folder / f"{name}.{ending}"
            dated = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {}}
            picture.figure.savefig(files[ending], format=ending, metadata=dated[ending])
    return files


def _picture_markdown(picture: Picture, name: str, files: dict[str, Path]) -> str:
    drawn = next((files[each].name for each in ("svg", "png", "pdf") if each in files), "")
    paragraphs = [f"![{name}]({drawn})"] if drawn else []
    paragraphs += [markdown_prose(text) for text in (picture.caption, *picture.notes)]
    return "\n\n".join(paragraphs) + "\n"


def _picture_latex(picture: Picture, name: str, style: Style) -> str:
    environment = "figure*" if style.width == "page" else "figure"
    share = picture.figure.get_size_inches()[0] / style.inches
    width = r"\linewidth" if share > 0.99 else rf"{share:.2f}\linewidth"
    caption = " ".join([picture.caption, *(f"{note}." for note in picture.notes)])
    return "\n".join(
        [
            r"% needs \usepackage{graphicx}",
            rf"\begin{{{environment}}}[t]",
            r"\centering",
            rf"\includegraphics[width={width}]{{{name}.pdf}}",
            rf"\caption{{{latex_prose(caption)}}}",
            rf"\label{{fig:{name}}}",
            rf"\end{{{environment}}}",
            "",
        ]
    )


def _write_text(path: Path, text: str) -> None:
    try:
        with atomic_write(path) as stream:
            stream.write(text)
    except OSError as error:
        raise HashbenchError(f"{path} cannot be written: {error.strerror}") from error
