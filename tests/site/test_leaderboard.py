"""The leaderboard of an archive: the scores that are in it, frozen."""

import json

import pytest
from click.testing import CliRunner

from hashbench.analysis.archive import read_archive
from hashbench.cli.archive import archive_command
from hashbench.core.errors import HashbenchError
from hashbench.plugins.registry import discover
from hashbench.site.leaderboard import write_leaderboard
from tests.helpers.browsing import column, needs_browser, open_page, ranking
from tests.site.test_access import serious


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    import hashbench

    folder = tmp_path_factory.mktemp("leaderboard")
    hashbench.run(
        methods="cca,edsh,random", datasets="synthetic[rows=150]", bits=[8, 16], seeds=3,
        out=folder / "out",
    )  # fmt: skip
    for edition in ("2026.1", "2026.2"):
        arguments = ["pack", str(folder / "out"), "-o", str(folder / edition), "--edition", edition]
        found = CliRunner().invoke(archive_command, arguments, catch_exceptions=False)
        assert found.exit_code == 0, found.output
    return folder


def data_of(page):
    text = (page.parent / "data.js").read_text(encoding="utf-8")
    return json.loads(json.loads(text[text.index("(") + 1 : text.rindex(")")]))


def test_the_page_has_the_scores_of_the_archive(packed, tmp_path):
    page = write_leaderboard(tmp_path, discover([]), packed / "2026.1")
    assert page == tmp_path / "2026.1" / "index.html"
    assert (page.parent / "hashbench-2026.1.csv").exists()
    data, table = data_of(page), read_archive(packed / "2026.1")
    assert data["edition"] == "2026.1"
    names = [each["name"] for each in data["methods"]]
    assert sorted(names) == ["cca", "edsh", "random"]
    means = table.groupby(["bits", "task", "database", "codes", "measure", "method"])[
        "value"
    ].mean()
    count = 0
    for block in data["scores"]:
        _, task, bits, database, measure = block["at"]
        searched = data["databases"][database]
        key = (data["bits"][bits], data["tasks"][task]["name"], searched["database"],
               searched["codes"], data["measures"][measure]["name"])  # fmt: skip
        for row in block["rows"]:
            assert row["mean"] == pytest.approx(means[(*key, names[row["method"]])], abs=1e-6)
            count += 1
    assert count == len(means)
    assert {block["test"] for block in data["scores"] if len(block["rows"]) > 1} == {"splits"}


def test_an_edition_is_frozen(packed, tmp_path):
    page = write_leaderboard(tmp_path, discover([]), packed / "2026.1")
    before = page.read_bytes()
    assert write_leaderboard(tmp_path, discover([]), packed / "2026.1").read_bytes() == before
    csv = page.parent / "hashbench-2026.1.csv"
    csv.write_text(csv.read_text().replace("0.", "0.9", 1))
    with pytest.raises(HashbenchError, match=r"2026\.1 with other scores"):
        write_leaderboard(tmp_path, discover([]), packed / "2026.1")
    assert write_leaderboard(tmp_path, discover([]), packed / "2026.2").exists()


@needs_browser
def test_the_page_ranks_links_and_is_accessible(browser, packed, tmp_path):
    page = write_leaderboard(tmp_path, discover([]), packed / "2026.1")
    open_page(browser, page)
    assert {name for name, _ in ranking(browser)} == {"EDSH", "CCA", "Random"}
    assert browser.find_element("id", "results-title").text.endswith(" leads")
    links = browser.find_elements("css selector", "#table tbody th a")
    assert {link.get_attribute("href").rpartition("/")[2] for link in links} == {
        "edsh.html", "cca.html", "random.html",
    }  # fmt: skip
    assert column(browser, "fidelity")
    assert set(column(browser, "bytes")) == {"2"}  # 16 bits
    assert serious(browser) == []
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []
