"""Files: every format, nothing that breaks, the same bytes again."""

import csv
import json
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import numpy as np
import pytest

from hashbench.core.errors import HashbenchError
from hashbench.render.style import Style
from hashbench.render.writer import FORMATS, render_tables, slug, write_figure, write_notes
from hashbench.reports.failures import Failures
from hashbench.reports.map_table import MapTable
from hashbench.reports.topk_curve import TopKCurve
from tests.helpers.latex import compile_paper, needs_latex

NASTY_METHOD = r"</script><b>x</b> \input{s} 50% $a_1$ & #~^ 🙂" + "long" * 40
NASTY_DATASET = "data|`*_<i>é</i>"


def render(report, results, style, folder, formats):
    """Write a report with its figures."""
    rendered = render_tables(report, results, style, folder, formats)
    exhibits = [write_figure(shown, folder, style, formats) for shown in rendered.exhibits]
    return replace(rendered, exhibits=exhibits)


@pytest.fixture
def nasty(hand_made):
    hand_made.split(
        query_strings=np.array(["<script>", "$x$"]),
        database_strings=np.array(["&", r"\x", "🙂", "long" * 50]),
    )
    for seed in (0, 1):
        hand_made.add(
            method=NASTY_METHOD,
            dataset=NASTY_DATASET,
            seed=seed,
            learned=("00", "00", "11", "11"),
            history={"objective": [2.0, 1.0], "objective_seconds": [0.1, 0.2]},
        )
        hand_made.add(method="other", dataset=NASTY_DATASET, seed=seed)
        hand_made.add(method="third", dataset=NASTY_DATASET, seed=seed)
    hand_made.add(
        method="other",
        dataset=NASTY_DATASET,
        seed=2,
        bits=2,
        status="failed",
        reason="=cmd|' /C calc'!A0 <img src=x> \\end{table} $%&",
    )
    return hand_made.results()


@pytest.mark.parametrize(
    ("width", "formats"),
    [
        ("column", ("csv", "md", "svg", "tex")),  # PNG and PDF draw the same figure once more
        pytest.param("page", FORMATS, marks=pytest.mark.slow),
    ],
)
@pytest.mark.filterwarnings("error::UserWarning")
def test_every_report_bears_any_name(nasty, registry, tmp_path, width, formats):
    tmp_path = tmp_path / "report"
    style = Style.of(nasty, width, heading="A <b>study</b> of 50 % & $x$")
    written = 0
    for plugin in registry.reports.values():
        try:
            rendered = render(plugin.cls(), nasty, style, tmp_path, formats)
        except UserWarning as warning:
            pytest.fail(f"{plugin.name}: {warning}")
        written += len(rendered.exhibits)
        assert rendered.exhibits or rendered.nothing
        assert "\n" not in rendered.nothing
    assert written > 15
    for path in tmp_path.iterdir():
        assert re.fullmatch(r"[A-Za-z0-9.-]+", path.name)
        assert path.stat().st_size > 0
        if path.suffix == ".svg":
            root = ElementTree.parse(path).getroot()
            assert not [e for e in root.iter() if e.tag.endswith("}script")]
        if path.suffix == ".md":
            assert not re.search(r"<(?!/?(u|sup)>)", path.read_text())


@needs_latex
@pytest.mark.parametrize("width", ["column", pytest.param("page", marks=pytest.mark.slow)])
def test_tables_and_figures_with_any_name_compile(nasty, registry, tmp_path, width):
    style = Style.of(nasty, width, heading="A <b>study</b> of 50 % & $x$")
    for plugin in registry.reports.values():
        render(plugin.cls(), nasty, style, tmp_path, ["tex", "pdf"])
    names = [path.name for path in sorted(tmp_path.glob("*.tex"))]
    assert names
    compile_paper(tmp_path, "\n".join(rf"\input{{{name}}}\clearpage" for name in names))


def test_only_the_formats_asked_for_are_written(nasty, tmp_path):
    tmp_path = tmp_path / "report"
    rendered = render(TopKCurve(), nasty, Style.of(nasty), tmp_path, ["svg", "csv"])
    assert {path.suffix for path in tmp_path.iterdir()} == {".svg", ".csv"}
    assert rendered.data == tmp_path / "topk-curve.csv"
    assert set(rendered.exhibits[0].files) == {"svg"}
    with pytest.raises(HashbenchError, match=r"'gif'.*csv, md"):
        render(TopKCurve(), nasty, Style.of(nasty), tmp_path, ["gif"])


def test_the_same_results_give_the_same_bytes(nasty, tmp_path):
    for folder in ("a", "b"):
        render(TopKCurve(), nasty, Style.of(nasty), tmp_path / folder, FORMATS)
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes(), path.name


def test_a_failure_is_no_formula(nasty, tmp_path):
    render(Failures(), nasty, Style.of(nasty), tmp_path, ["csv"])
    with (tmp_path / "failures.csv").open(newline="") as stream:
        (row,) = csv.DictReader(stream)
    assert row["reason"].startswith("'=cmd|")


def test_names_of_files_differ(hand_made, tmp_path):
    hand_made.add(dataset="a|b")
    hand_made.add(dataset="a/b")
    results = hand_made.results()
    style = Style.of(results, "column")
    rendered = render(MapTable(), results, style, tmp_path, ["md"])
    names = [shown.name for shown in rendered.exhibits]
    assert len(set(names)) == len(names)
    assert slug("../../etc/passwd") == "etc-passwd"


def test_the_report_command(hand_made, hashbench, tmp_path):
    hand_made.add(method="edsh")
    hand_made.add(method="cca")
    hand_made.results()
    out = hand_made.path
    found = hashbench("report", out, "map-table[spread=false],scaling", "--format", "md,csv")
    assert found.returncode == 0, found.stderr
    assert "map-table-AP-seen-encoded-toy" in found.stdout
    assert "scaling: " in found.stdout
    assert not list((out / "report").glob("scaling*"))
    assert (out / "report" / "map-table-AP-seen-encoded-toy.md").exists()
    some = hashbench(
        "report", out, "map-table", "--measure", "P@1,AP(norm=all,ties=index)@2",
        "--task", "image->text",
        "-m", "ed*", "-o", tmp_path / "some", "--format", "csv", "--title", "Mine",
    )  # fmt: skip
    assert some.returncode == 0, some.stderr
    text = (tmp_path / "some" / "map-table.csv").read_text()
    assert "P@1" in text
    assert "AP(norm=all,ties=index)@2" in text
    assert "text->image" not in text
    assert "cca" not in text


@pytest.mark.parametrize(
    ("arguments", "facts"),
    [
        (["nothing"], ["report", "'nothing'"]),
        (["map-table", "--format", "gif"], ["format", "'gif'", "csv, md"]),
        (["map-table", "--width", "wide"], ["width", "'wide'", "column, page"]),
        (["map-table", "--bits", "x"], ["bits", "'x'"]),
        (["map-table", "--measure", "XP"], ["measure", "'XP'", "'P'"]),
    ],
)
def test_mistakes_are_reported_in_one_line(hand_made, hashbench, arguments, facts):
    hand_made.add()
    hand_made.results()
    found = hashbench("report", hand_made.path, *arguments)
    assert found.returncode == 2
    assert all(fact in found.stderr for fact in facts), found.stderr
    assert found.stderr.count("\n") == 1


def test_a_folder_without_results_is_refused(hashbench, tmp_path):
    found = hashbench("report", tmp_path)
    assert found.returncode == 2
    assert f"{tmp_path}: " in found.stderr
    assert "hashbench run" in found.stderr


def test_the_compare_command(hand_made, hashbench):
    hand_made.add(method="edsh", database=("00", "00", "11", "11"))
    hand_made.add(method="cca", database=("11", "11", "00", "00"))
    hand_made.results()
    found = hashbench("compare", "edsh", "cca", "--on", hand_made.path)
    assert found.returncode == 0, found.stderr
    for fact in ("image->text", "1.000", "0.417", "+0.583"):
        assert fact in found.stdout
    report = hand_made.path / "report"
    assert (report / "compare-edsh-cca.pdf").exists()
    assert (report / "compare-edsh-cca.csv").exists()
    rows = json.loads(hashbench("compare", "edsh", "cca", "--on", hand_made.path, "--json").stdout)
    assert rows[0]["difference"] == pytest.approx(1 - (1 / 3 + 2 / 4) / 2)
    wrong = hashbench("compare", "edsh", "cc", "--on", hand_made.path)
    assert wrong.returncode == 2
    assert "'cca'" in wrong.stderr


def test_notes_are_written_once(tmp_path, make_look):
    files = write_notes(make_look(["a"], ["one", "two"]), tmp_path, ["md", "svg"])
    assert files == {"md": tmp_path / "notes.md"}
    assert files["md"].read_text() == "- one, two: protocol random.\n"
