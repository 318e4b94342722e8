"""Text in tables means nothing to the format it is written in."""

import csv
import io
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hashbench
from hashbench.plugins.registry import discover
from hashbench.render.report import Group, Table, TableCell
from hashbench.render.tables import (
    PAGE_ROWS,
    latex_text,
    markdown_text,
    number_text,
    shorten,
    to_csv,
    to_latex,
    to_markdown,
    to_text,
)
from tests.helpers.latex import compile_paper, needs_latex

NASTY = (
    r"\input{secret} $x_1^2$ & 50% #1 ~{}",
    "<script>alert('x')</script> <b>bold</b> &amp;",
    "a|b|c `code` **stars** [link](http://x) ![p](y)",
    "emoji 🙂👩‍🚀 ☺️ and 图像",
    "é ñ ø ł ß ğ ą ð — – … “quoted” ‘x’",
    "line\nbreak\ttab\x07bell",
    "word" * 100,
    "=HYPERLINK(1)",
    '-- "dashes" ?` !`',
)


def a_table(*texts, rows=1, columns="lrw"):
    row = [
        TableCell(texts[0], mark="*"),
        TableCell("0.1", bold=True, underlined=True),
        TableCell(texts[-1]),
    ]
    header = [[(texts[0], 3)], [("", 1), (texts[-1], 1), ("reason", 1)]]
    groups = [Group(texts[0], [row] * rows)]
    return Table("name", f"Caption {texts[0]}", header, groups, columns, [f"note {texts[-1]}"])


def balanced(tex):
    """Say whether braces and environments match, escaped braces aside."""
    depth = 0
    for character in re.sub(r"\\[{}\\]", "", re.sub(r"(?<!\\)%.*", "", tex)):
        depth += {"{": 1, "}": -1}.get(character, 0)
        if depth < 0:
            return False
    begun = re.findall(r"\\begin\{(.+?)\}", tex)
    return depth == 0 and sorted(begun) == sorted(re.findall(r"\\end\{(.+?)\}", tex))


def test_latex_has_every_sign_that_reports_use():
    package = Path(hashbench.__file__).parent
    sources = [*discover().reports["map-table"].path.parent.glob("*.py")]
    sources += [*(package / "analysis").glob("*.py"), package / "render" / "style.py"]
    signs = {sign for each in sources for sign in each.read_text() if not sign.isascii()}
    assert {"°", "→"} <= signs
    assert {sign: latex_text(sign) for sign in signs if "U+" in latex_text(sign)} == {}


@given(st.text(max_size=300))
def test_any_text_keeps_latex_whole(text):
    tex = to_latex(a_table(text), "tab:x", "page")
    assert balanced(tex)
    assert tex.count(r"\begin{table*}") == 1
    bare = re.sub(r"\\[&%#_$]", "", latex_text(text))
    assert not set(bare.replace(r"$\rightarrow$", "").replace(r"$\pm$", "")) & set("&%#~")


def test_latex_prints_what_it_can_and_names_what_it_cannot():
    assert latex_text("Müller → 50 % of a_b & c") == (r"Müller $\rightarrow$ 50 \% of a\_b \& c")
    assert latex_text("🙂") == "U+1F642"
    assert latex_text("a--b") == "a-{}-b"
    assert latex_text(r"\input{x}") == r"\textbackslash{}input\{x\}"


@given(st.text(max_size=300))
def test_any_text_keeps_markdown_rows_whole(text):
    table = to_markdown(a_table(f"x{text}"))
    lines = [line for line in table.splitlines() if line.startswith("| ")]
    assert len(lines) == 4
    assert len({len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) for line in lines}) == 1
    assert "<script" not in table.lower().replace("<sup>", "").replace("<u>", "")


def test_markdown_shows_html_and_marks_as_they_stand():
    assert markdown_text("<i>*x*</i>|&") == r"&lt;i&gt;\*x\*&lt;/i&gt;\|&amp;"
    table = to_markdown(a_table("x"))
    assert "**<u>0.1</u>**" in table
    assert "x<sup>\\*</sup>" in table


@given(st.lists(st.text(max_size=50), min_size=1, max_size=5))
def test_csv_gives_texts_back_and_no_formula(texts):
    text = to_csv(pd.DataFrame({"name": texts, "value": range(len(texts))}))
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert rows[0] == ["name", "value"]
    for row, expected in zip(rows[1:], texts, strict=True):
        lines = expected.replace("\r\n", "\n").replace("\r", "\n")
        assert row[0] in (lines, f"'{lines}")
        assert not row[0].startswith(("=", "+", "-", "@", "\t", "\r"))


def test_csv_leaves_negative_numbers_alone():
    assert to_csv(pd.DataFrame({"x": [-0.5]})) == "x\n-0.5\n"


def test_csv_has_numbers_and_gaps_as_pandas_writes_them():
    table = pd.DataFrame(
        {
            "float": [1 / 3, np.nan, np.inf, -0.0, 1e-300, 12345678901.5],
            "small": np.array([0.1, 2, 3, 4, 5, np.nan], np.float32),
            "whole": [1, -2, 3, 4, 5, 2**60],
            "flag": [True, False] * 3,
            "mixed": [None, True, np.nan, "a,b", 1.5, 2],
            "text": ["x", None, 'say "y"', "", "two\nlines", "z"],
            "maybe": pd.array([1, None, 3, 4, 5, 6], "Int64"),
            "kind": pd.Categorical(["a", "b", None, "a", "b", "a"]),
        }
    )
    assert to_csv(table) == table.to_csv(index=False, lineterminator="\n", float_format="%.10g")


def test_long_tables_are_divided_and_groups_kept_together():
    rows = [[TableCell("m"), TableCell("1"), TableCell("r")]]
    groups = [Group("first", rows * (PAGE_ROWS - 10)), Group("second", rows * 20)]
    table = Table("n", "c", [[("", 3)]], groups, "lrl")
    tex = to_latex(table, "tab:x", "column")
    parts = tex.split(r"\end{table}")
    assert len(parts) == 3
    assert "second" not in parts[0]
    assert "(continued)" in parts[1]
    assert parts[0].count("m & 1 & r") == PAGE_ROWS - 10
    assert parts[1].count("m & 1 & r") == 20
    assert len(set(re.findall(r"\\label\{(.+?)\}", tex))) == 2


@pytest.mark.parametrize(("width", "parts"), [("column", 2), ("page", 1)])
def test_notes_take_their_space_on_a_page(width, parts):
    rows = [[TableCell("m"), TableCell("1"), TableCell("r")]]
    table = Table("n", "c", [[("", 3)]], [Group("", rows * (PAGE_ROWS - 10))], "lrl", ["x" * 1000])
    assert to_latex(table, "tab:x", width).count(r"\toprule") == parts


def test_numbers_have_no_exponent():
    assert [number_text(x) for x in (19836, 0.0948, 1.2e-5)] == ["19,836", "0.0948", "0.000012"]
    assert shorten("a  b\nc", 4) == "a …c"


@needs_latex
@pytest.mark.parametrize("width", ["column", "page"])
def test_latex_compiles_in_a_two_column_paper(tmp_path, width):
    tables = [
        to_latex(a_table(text, text[::-1]), f"tab:{i}", width) for i, text in enumerate(NASTY)
    ]
    tables.append(to_latex(a_table("long", rows=150), "tab:long", width))
    compile_paper(tmp_path, "\n".join(tables))


def test_a_highlighted_row_is_shaded():
    rows = [[TableCell("mine", shaded=True), TableCell("1")], [TableCell("b"), TableCell("2")]]
    table = Table("n", "c", [[("", 1), ("x", 1)]], [Group("", rows)], "lr")
    tex = to_latex(table, "tab:x", "page").split("\n")
    assert [line for line in tex if "rowcolor" in line] == [r"\rowcolor[gray]{0.9} mine & 1 \\"]
    assert "colortbl" in tex[0]
    shaded = [line for line in to_text(table, 80).split("\n") if "\x1b[7m" in line]
    assert len(shaded) == 1
    assert "mine" in shaded[0]
    plain = replace(table, groups=[Group("", rows[1:])])
    assert "colortbl" not in to_latex(plain, "tab:x", "page")
