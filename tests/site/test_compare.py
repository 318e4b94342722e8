"""Comparing two methods on the page: the numbers of `hashbench compare`."""

import pytest

from hashbench.analysis.compare import compare
from hashbench.render.comparison import p_text
from tests.helpers.browsing import BROWSER, choose, wait_for

pytestmark = BROWSER


def go(browser, page, address):
    browser.get("about:blank")
    browser.get(page.as_uri() + address)
    browser.execute_script("document.getElementById('compare').scrollIntoView()")
    wait_for(browser, "return document.querySelectorAll('#compare-table tbody tr').length")


def number(text):
    return float(text.replace("−", "-"))


def lines_beside(browser, table):
    """Every line of the page with the command's of the same slice."""
    shown = browser.execute_script(
        "return [...document.querySelectorAll('#compare-table tbody tr')]"
        ".map(tr => [...tr.children].map(each => each.textContent))"
    )
    assert len(shown) == len(table)
    for line in shown:
        *_, task, bits, database, codes = line[0].split(", ")
        classes = table["dataset"].str.contains("classes") == ("classes" in line[0])
        row = table[classes & (table["bits"] == int(bits.split()[0]))]
        row = row[(row["task"] == task.replace("→", "->")) & (row["codes"] == codes.split()[0])]
        row = row[row["database"] == database.split()[0]].iloc[0]
        found = list(map(number, line[1:4]))
        assert found == pytest.approx([row["first"], row["second"], row["difference"]], abs=1.01e-3)
        assert line[6] == f"{row['blocks_won']} of {row['blocks']}"
        yield line, row


def assert_same_test(line, row):
    if not row["over"]:
        assert line[4:6] == ["–", "–"]
        return
    interval = list(map(number, line[4].split(" to ")))
    assert interval == pytest.approx([row["low"], row["high"]], abs=1.01e-3)
    assert line[5] == p_text(row["p_value"])


def test_its_lines_are_those_of_the_command(browser, page, results):
    go(browser, page, "#x=edsh&y=scm-s")
    table = compare(results, "edsh", "scm-s", results.main_measure)
    assert len(table) == 16  # datasets, tasks, lengths, parts; one has no learned codes
    assert set(table["over"]) == {"splits"}
    for line, row in lines_beside(browser, table):
        assert_same_test(line, row)


@pytest.mark.parametrize("names", [("edsh", "scm-s"), ("scm-s", "edsh"), ("edsh", "random")])
def test_it_says_what_tests_are_over(browser, mixed_results, names):
    page = mixed_results.path / "report" / "index.html"
    go(browser, page, "#x={}&y={}".format(*names))
    table = compare(mixed_results, *names, mixed_results.main_measure)
    for line, row in lines_beside(browser, table):
        assert_same_test(line, row)
    words = browser.find_element("id", "compare-words").text
    for over, said in (("splits", "over random splits"), ("initialisations", "initialisations")):
        assert (said in words) == (over in set(table["over"]))
    choose(browser, "measure", "P@100")
    command = "return document.getElementById('compare-command').textContent"
    wanted = "hashbench compare '{}' '{}' --on OUT --measure 'P@100'".format(*names)
    wait_for(browser, f'{command} === "{wanted}"')


def test_a_point_leads_to_its_query(browser, page, results):
    go(browser, page, "#x=scm-s&y=edsh")
    wait_for(browser, "return document.querySelectorAll('#scatter-chart .point').length > 10")
    row = browser.execute_script(
        "const chart = document.getElementById('scatter-chart');"
        "const point = chart.data[1].customdata[3];"
        "chart.emit('plotly_click', { points: [{ customdata: point }] }); return point"
    )
    wait_for(
        browser,
        "return document.getElementById('query').textContent"
        f".includes('item {row} ') && document.querySelectorAll('.returned').length === 2",
    )
    headings = browser.execute_script(
        "return [...document.querySelectorAll('.returned')].map(each => each.dataset.method)"
    )
    assert headings == ["scm-s", "edsh"]
    assert f"q={row}" in browser.current_url


def test_the_two_have_the_colours_of_their_heads(browser, page):
    go(browser, page, "#x=scm-s&y=random")
    wait_for(browser, "return document.querySelector('#pair-chart .scatterlayer .trace')")
    seen = browser.execute_script(
        "const heads = ['compare-first', 'compare-second'].map(id =>"
        "getComputedStyle(document.getElementById(id)).borderBottomColor);"
        "const lines = document.getElementById('pair-chart').data;"
        "return [heads, Object.fromEntries(lines.map(line => [line.name, line.line.color]))]"
    )
    assert seen == [
        ["rgb(0, 114, 178)", "rgb(198, 81, 2)"],
        {"SCM-Seq": "#0072b2", "Random": "#c65102"},
    ]


def test_it_follows_the_selectors_and_the_address(browser, page):
    go(browser, page, "#x=edsh&y=random&b=8")
    before = browser.find_element("id", "compare-words").text
    choose(browser, "measure", "P@100")
    wait_for(
        browser, "return document.getElementById('compare-words').textContent.includes('P@100')"
    )
    assert browser.find_element("id", "compare-words").text != before
    assert browser.find_element("id", "compare-first").text == "EDSH"
    browser.execute_script("document.getElementById('swap').click()")
    wait_for(browser, "return document.getElementById('compare-first').textContent === 'Random'")
    assert "x=random&y=edsh" in browser.current_url
