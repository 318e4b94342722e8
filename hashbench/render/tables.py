"""Tables in every format: LaTeX with booktabs, Markdown, text for a terminal, HTML, and CSV.

Texts of tables (names of plugins, labels, messages of errors) are escaped here and only here.
"""

from __future__ import annotations

import io
import re
import textwrap
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hashbench.core.text import spreadsheet_text
from hashbench.render.report import Group, Table, TableCell

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table as RichTable

#: Longest text in a field; the CSV beside the table has it whole.
LONGEST = 160

#: Rows that fit on one page of a paper, what a line of notes takes of one, and its letters.
PAGE_ROWS = 64
NOTE_ROW = 0.8
NOTE_LETTERS = {"column": 75, "page": 160}

LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    "`": r"\`{}",
    "→": r"$\rightarrow$",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "°": r"$\circ$",
    "−": "$-$",
    "±": r"$\pm$",
    "×": r"$\times$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "–": "--",
    "—": "---",
    "…": r"\ldots{}",
    "†": r"\dag{}",
    "‡": r"\ddag{}",
    "·": r"$\cdot$",
}


def shorten(text: str, longest: int = LONGEST) -> str:
    """Return a text on one line; if it is longer than allowed, its middle is left out.

    The end of a name often tells it from others.

    Examples
    --------
    >>> shorten("edsh[alpha=2, gamma=10]", 15)
    'edsh[al…mma=10]'
    """
    line = " ".join(text.split())
    if len(line) <= longest:
        return line
    end = (longest - 1) // 2
    return line[: longest - 1 - end] + "…" + line[len(line) - end :]


def number_text(value: float) -> str:
    """Return a quantity with three digits that count, never with an exponent.

    Examples
    --------
    >>> [number_text(value) for value in (0.09481, 2.0, 19836, 1e-7)]
    ['0.0948', '2', '19,836', '0.0000001']
    """
    if abs(value) >= 100:
        return f"{value:,.0f}"
    text = f"{value:.3g}"
    return text if "e" not in text else f"{value:.{2 - int(text.split('e')[1])}f}".rstrip("0")


# --- LaTeX --------------------------------------------------------------------------------------


def latex_text(text: str) -> str:
    """Return a text that LaTeX prints as it stands.

    Letters of European languages stay; what a LaTeX font may lack, such as an emoji, is printed
    as its code point.

    Examples
    --------
    >>> print(latex_text("50 % of a_b"), latex_text("image→text 🙂"))
    50 \\% of a\\_b image$\\rightarrow$text U+1F642
    """
    escaped = "".join(LATEX.get(character) or _letter(character) for character in text)
    return re.sub("-(?=-)", "-{}", escaped) if "--" in text else escaped


#: Accents that every LaTeX font can set: grave to tilde, macron, breve, dots, ring, caron, cedilla.
ACCENTS = "\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c\u0327"


def _letter(character: str) -> str:
    if character.isascii():
        return character if character.isprintable() else " "
    parts = unicodedata.normalize("NFD", character)
    accented = len(parts) == 2 and parts[0].isascii() and parts[1] in ACCENTS
    if accented or character in "ßæøåÆØÅœŒłŁ":
        return character
    if unicodedata.category(character) in ("Cc", "Cf", "Mn"):  # joiners and other invisible things
        return ""
    return f"U+{ord(character):04X}"


def latex_prose(text: str, longest: int = 24) -> str:
    """Return a text for running lines, in which long words, such as paths, may be broken."""
    words = text.split()
    pieces = [[word[i : i + longest] for i in range(0, len(word), longest)] for word in words]
    return " ".join(r"\allowbreak{}".join(map(latex_text, each)) for each in pieces)


def to_latex(table: Table, label: str, width: str) -> str:
    """Return a table as a float that compiles as it is, given booktabs and graphicx.

    Parameters
    ----------
    label : for \\ref
    width : "column" or "page"
    """
    shaded = any(row[0].shaded for group in table.groups for row in group.rows)
    packages = "booktabs,graphicx" + (",colortbl" if shaded else "")
    lines = [rf"% needs \usepackage{{{packages}}}"]
    for number, part in enumerate(_pages(table, width)):
        lines += _latex_float(part, label if number == 0 else f"{label}-{number + 1}", width)
    return "\n".join(lines) + "\n"


def _latex_float(table: Table, label: str, width: str) -> list[str]:
    environment = "table*" if width == "page" else "table"
    count = len(table.columns)
    # a table that is too wide is shrunk, one that is not stays as it is
    fit = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"
    wrapped = max(1, table.columns.count("w"))
    columns = table.columns.replace("w", rf"p{{{0.5 / wrapped:.2f}\linewidth}}")
    lines = [
        rf"\begin{{{environment}}}[t]",
        r"\centering\footnotesize",
        # some classes set captions of tables in capitals, which measures do not bear
        rf"\caption{{\textnormal{{{latex_prose(table.caption)}}}}}",
        rf"\label{{{label}}}",
        r"\setlength{\tabcolsep}{4pt}",
        fit,
        rf"\begin{{tabular}}{{@{{}}{columns}@{{}}}}",
        r"\toprule",
    ]
    for number, spans in enumerate(table.header):
        aligned = zip(spans, "c" * len(spans), strict=True)
        if all(columns == 1 for _, columns in spans):
            aligned = zip(spans, table.columns.replace("r", "c").replace("w", "l"), strict=True)
        lines.append(" & ".join(_latex_span(*span, to) for span, to in aligned) + r" \\")
        if number < len(table.header) - 1:
            lines += list(_latex_rules(spans))
    for group in table.groups:
        lines.append(r"\midrule")
        if group.title:
            lines.append(
                rf"\multicolumn{{{count}}}{{@{{}}l}}{{\emph{{{latex_text(group.title)}}}}} \\"
            )
        for row in group.rows:
            entries = zip(row, table.columns, strict=True)
            ground = r"\rowcolor[gray]{0.9} " if row[0].shaded else ""
            lines.append(ground + " & ".join(_latex_entry(*each) for each in entries) + r" \\")
    lines += [r"\bottomrule", r"\end{tabular}}"]
    if table.notes:
        notes = r" \\ ".join(latex_prose(note) for note in table.notes)
        lines.append(rf"\par\smallskip\parbox{{\linewidth}}{{\raggedright\scriptsize {notes}}}")
    return [*lines, rf"\end{{{environment}}}"]


def _latex_span(text: str, columns: int, to: str) -> str:
    shown = latex_text(shorten(text))
    plain = not text or (columns == 1 and to == "l")
    return shown if plain else rf"\multicolumn{{{columns}}}{{{to}}}{{{shown}}}"


def _latex_rules(spans: Sequence[tuple[str, int]]) -> Iterator[str]:
    start = 1
    for text, columns in spans:
        if columns > 1 and text:
            yield rf"\cmidrule(lr){{{start}-{start + columns - 1}}}"
        start += columns


def _latex_entry(entry: TableCell, column: str) -> str:
    text = latex_prose(shorten(entry.text))
    text = rf"\underline{{{text}}}" if entry.underlined else text
    text = rf"\textbf{{{text}}}" if entry.bold else text
    mark = rf"\textsuperscript{{{latex_text(entry.mark)}}}" if entry.mark else ""
    # a mark must not push a number out of its column
    return text + (rf"\rlap{{{mark}}}" if mark and column == "r" else mark)


def _pages(table: Table, width: str) -> Iterator[Table]:
    """Yield a table in parts that fit on a page each, with its notes."""
    pages: list[list[Group]] = [[]]
    notes = sum(-(-len(note) // NOTE_LETTERS[width]) for note in table.notes)
    page_rows = max(PAGE_ROWS // 2, PAGE_ROWS - round(NOTE_ROW * notes))
    space = page_rows
    for group in table.groups:
        rows, title = list(group.rows), int(bool(group.title))  # a title takes a row
        while rows:
            begun, all_rows = bool(pages[-1]), len(rows) + title
            if begun and (space < 8 or space < all_rows <= page_rows):  # keep a group together
                pages.append([])
                space = page_rows
            taken = rows[: space - title]
            pages[-1].append(Group(group.title, taken))
            rows, space = rows[len(taken) :], space - len(taken) - title
    for number, groups in enumerate(pages):
        caption = table.caption if number == 0 else f"{table.caption} (continued)"
        yield replace(table, caption=caption, groups=groups)


# --- Markdown -----------------------------------------------------------------------------------


def markdown_text(text: str) -> str:
    """Return a text that Markdown, and the HTML made of it, shows as it stands.

    Examples
    --------
    >>> print(markdown_text("a|b <i>*x*</i>"))
    a\\|b &lt;i&gt;\\*x\\*&lt;/i&gt;
    """
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_{}\[\]|#~$!])", r"\\\1", text)


def markdown_prose(text: str) -> str:
    """Return a text as one paragraph."""
    return markdown_text(" ".join(text.split()))


def to_markdown(table: Table) -> str:
    """Return a table in the dialect that GitHub and most others read."""
    names = _flat_header(table)
    lines = [
        _markdown_row([markdown_text(name) for name in names]),
        _markdown_row(["--:" if letter == "r" else ":--" for letter in table.columns]),
    ]
    for group in table.groups:
        if group.title:
            heading = TableCell(group.title, bold=True)
            lines.append(_markdown_row([_markdown_entry(heading), *[""] * (len(names) - 1)]))
        lines += [_markdown_row([_markdown_entry(entry) for entry in row]) for row in group.rows]
    paragraphs = [markdown_prose(table.caption), "\n".join(lines)]
    paragraphs += [markdown_prose(note) for note in table.notes]
    return "\n\n".join(paragraphs) + "\n"


def _flat_header(table: Table) -> list[str]:
    """Return one name a column: what stands above it, line by line."""
    columns: list[list[str]] = [[] for _ in table.columns]
    for spans in table.header:
        above = [text for text, count in spans for _ in range(count)]
        for column, text in zip(columns, above, strict=True):
            column += [shorten(text)] if text else []
    return [" ".join(column) for column in columns]


def _markdown_row(fields: Sequence[str]) -> str:
    return "| " + " | ".join(fields) + " |"


def _markdown_entry(entry: TableCell) -> str:
    text = markdown_text(shorten(entry.text))
    text = f"<u>{text}</u>" if entry.underlined else text
    text = f"**{text}**" if entry.bold else text
    return text + (f"<sup>{markdown_text(entry.mark)}</sup>" if entry.mark else "")


# --- terminal ----------------------------------------------------------------------------------

NUMBER = 9  # columns of a terminal that a number takes
NAME = 30  # columns that the first column may take at least


def to_text(table: Table, width: int) -> str:
    """Return a table for a terminal of a width in columns.

    With two lines of headers, columns that do not fit go below the others.
    """
    rows = [row for group in table.groups for row in group.rows]
    lines = textwrap.wrap(table.caption, width, break_on_hyphens=False)
    if len(table.header) < 2:
        names = [name for name, _ in table.header[0]] if table.header else None
        lines.append(_rich_text(_rich_table(names, table.columns, rows), width))
    else:
        lines += (_side_by_side(table, rows, block, width) for block in _blocks(table, rows, width))
    for note in table.notes:
        lines += textwrap.wrap(note, width, break_on_hyphens=False)
    return "\n".join(lines)


def _blocks(
    table: Table, rows: Sequence[Sequence[TableCell]], width: int
) -> Iterator[list[tuple[str, list[int]]]]:
    """Yield headings with the columns below them, as many as fit side by side."""
    headings: list[tuple[str, list[int]]] = []
    start = 1
    for name, count in table.header[0][1:]:
        headings.append((name, list(range(start, start + count))))
        start += count
    span = max(max(NUMBER * len(columns), len(name) + 2) for name, columns in headings)
    first = max(len(text) for text in (table.header[1][0][0], *(row[0].marked for row in rows)))
    free = width - min(first, max(NAME, width - span * len(headings)))
    across, each = max(1, free // span), max(1, free // NUMBER)
    for low in range(0, len(headings), across):
        for begin in range(0, len(headings[0][1]), each):
            group = headings[low : low + across]
            yield [(name, columns[begin : begin + each]) for name, columns in group]


def _side_by_side(
    table: Table,
    rows: Sequence[Sequence[TableCell]],
    block: Sequence[tuple[str, list[int]]],
    width: int,
) -> str:
    """Return the first column and, right of it, one table per heading."""
    from rich.table import Table as RichTable

    names = [name for name, _ in table.header[1]]
    # a title wider than its table would be folded
    wide = [max(NUMBER, -(-(len(name) + 2) // len(columns))) for name, columns in block]
    free = width - sum(each * len(columns) for each, (_, columns) in zip(wide, block, strict=True))
    grid = RichTable.grid()
    first = _rich_table(None, "", [], title=" ", show_header=True, padding=0)
    first.add_column(names[0], no_wrap=True, overflow="ellipsis", max_width=free)
    for row in rows:
        first.add_row(row[0].marked, style=_row_style(row))
    parts = [first]
    for each, (name, columns) in zip(wide, block, strict=True):
        shown = [[replace(row[column], shaded=row[0].shaded) for column in columns] for row in rows]
        options: dict[str, Any] = {"title": name, "title_justify": "right", "padding": 0}
        headers = [f"{names[column]:>{each}}" for column in columns]
        parts.append(_rich_table(headers, "r" * len(columns), shown, **options))
    grid.add_row(*parts)
    return _rich_text(grid, width)


def _rich_table(
    header: Sequence[str] | None,
    columns: str,
    rows: Sequence[Sequence[TableCell]],
    **options: Any,
) -> RichTable:
    """Return a table of rich without lines; columns "w" are wrapped."""
    from rich.table import Table as RichTable
    from rich.text import Text

    plain = {"box": None, "pad_edge": False, "show_edge": False, "padding": (0, 2, 0, 0)}
    styles = {"title_style": "", "header_style": "", "show_header": header is not None}
    table = RichTable(**{**plain, **styles, **options})
    for name, letter in zip(header or [""] * len(columns), columns, strict=True):
        if letter == "w":
            table.add_column(name, overflow="fold", min_width=12 if header else None)
        else:
            table.add_column(name, no_wrap=True, justify="right" if letter == "r" else "left")
    for row in rows:
        cells = [Text(cell.marked, "bold" if cell.bold else "") for cell in row]
        table.add_row(*cells, style=_row_style(row))
    return table


def _row_style(row: Sequence[TableCell]) -> str:
    """Return the style of rich for a row: shaded as the terminal can."""
    return "reverse" if row[0].shaded else ""


def _rich_text(table: RichTable, width: int) -> str:
    """Return a table of rich as text, without blanks at the ends of its lines."""
    from rich.console import Console

    console = Console(
        file=io.StringIO(), width=width, force_terminal=True, color_system="standard",
        legacy_windows=False, markup=False, emoji=False, highlight=False,
    )  # fmt: skip
    with console.capture() as captured:
        console.print(table)
    return "\n".join(line.rstrip() for line in captured.get().splitlines())


# --- CSV ----------------------------------------------------------------------------------------


def to_csv(data: pd.DataFrame) -> str:
    """Return a data frame as CSV without texts that a spreadsheet would take for formulas."""
    safe = data.apply(
        lambda column: (
            column.map(lambda v: spreadsheet_text(v) if isinstance(v, str) else v)
            if column.dtype.kind not in "bifu"
            else column
        )
    )
    return str(safe.to_csv(index=False, lineterminator="\n", float_format="%.10g"))
