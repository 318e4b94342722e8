"""``hashbench report`` and ``hashbench compare`` as a person types them."""

import json

import pytest
from click.testing import CliRunner

from hashbench.cli import cli
from hashbench.core.errors import HashbenchError

PERFECT = ("00", "00", "11", "11")
REVERSED = ("11", "11", "00", "00")


@pytest.fixture
def out(hand_made):
    for seed in (0, 1):
        hand_made.add(method="good", seed=seed, database=PERFECT, learned=PERFECT)
        hand_made.add(method="bad", seed=seed, database=REVERSED)
    hand_made.results()
    return hand_made.path


def typed(*arguments):
    return CliRunner().invoke(cli, [*map(str, arguments)], catch_exceptions=False)


def test_everything_is_written_with_the_page(out):
    found = typed("report", out)
    assert found.exit_code == 0
    assert str(out / "report" / "index.html") in found.output
    for ending in ("pdf", "svg", "png", "md", "tex"):
        assert list((out / "report").glob(f"topk-curve*.{ending}")), ending
    assert "failures: " in found.output
    assert not list((out / "report").glob("failures*"))


def test_a_part_of_the_study_leaves_the_page_alone(out, tmp_path):
    folder = tmp_path / "elsewhere"
    flags = ("--measure", "P@1", "--task", "text->image", "--format", "md", "--title", "Mine")
    found = typed("report", out, "map-table[spread=false]", "-o", folder, *flags)
    assert found.exit_code == 0
    assert not (out / "report").exists()
    (table, *_) = sorted(folder.iterdir())
    text = table.read_text(encoding="utf-8")
    assert text.startswith("Mine. ")
    assert "text→image" in text
    assert "image→text" not in text
    assert "1.000" in text


def test_two_methods_are_compared_in_words_in_json_and_as_a_figure(out):
    found = typed("compare", "good", "bad", "--on", out)
    assert "beats" not in found.output  # one seed: nothing is tested
    assert (out / "report" / "compare-good-bad.pdf").exists()
    rows = json.loads(typed("compare", "good", "bad", "--on", out, "--json").output)
    assert [row["task"] for row in rows] == ["image->text", "text->image"]
    assert rows[0]["difference"] == pytest.approx(1 - (1 / 3 + 2 / 4) / 2)
    assert (rows[0]["over"], rows[0]["p_value"], rows[0]["low"]) == ("", None, None)
    lines = [line for line in found.output.splitlines() if not line.startswith("figure: ")]
    assert max(map(len, lines)) <= 80
    with pytest.raises(HashbenchError, match=r"'worse'.*bad, good"):
        typed("compare", "good", "worse", "--on", out)
