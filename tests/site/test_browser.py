"""The page in a real browser, from a file:// address, used as a person would."""

import time

import pytest

from hashbench.analysis.chance import MARK, at_chance
from hashbench.render.style import Style
from tests.helpers.browsing import BROWSER, choose, column, ranking, sort_by, wait_for

pytestmark = BROWSER


def expected(results, style, **choice):
    """The same ranking, from the results table."""
    table = results.scores()
    for name, value in choice.items():
        table = table[table[name] == value]
    means = table.groupby("method")["value"].mean().sort_values(ascending=False, kind="stable")
    marks = {
        name: MARK if at_chance(rows.to_dict("records")) else ""
        for name, rows in table.groupby("method")
    }
    shown = [
        (style.methods[name].label, f"{value:.3f}{marks[name]}") for name, value in means.items()
    ]
    return [*shown, ("Failing", "–")]  # every ranking has a line for it


def test_nothing_is_loaded_from_elsewhere_and_nothing_fails(opened, page):
    import json

    requests = [
        message["params"]["request"]["url"]
        for entry in opened.get_log("performance")
        if (message := json.loads(entry["message"])["message"])["method"]
        == "Network.requestWillBeSent"
    ]
    assert any(url.endswith("data.js") for url in requests)
    inside = page.parent.as_uri()
    assert [u for u in requests if not u.startswith((inside, "data:", "blob:"))] == []
    assert [entry for entry in opened.get_log("browser") if entry["level"] == "SEVERE"] == []


def test_every_selector_changes_the_ranking_to_the_right_numbers(opened, results):
    style = Style.of(results)
    choice = {
        "dataset": next(iter(style.datasets)),  # the study's first, not the alphabet's
        "task": "image->text",
        "bits": 8,
        "measure": "AP",
        "database": "unseen",
        "codes": "encoded",
    }
    choose(opened, "bits", "8")
    choose(opened, "task", "image→text")
    seen = [ranking(opened)]
    assert sorted(seen[0]) == sorted(expected(results, style, **choice))
    other = next(c.dataset for c in results.cells if c.dataset != choice["dataset"])
    for selector, shown, value in (
        ("dataset", style.datasets[other].title, other),
        ("task", "text→image", "text->image"),
        ("bits", "16", 16),
        ("measure", "P@100", "P@100"),
        ("database", "seen database, learned codes", "seen"),
    ):
        choose(opened, selector, shown)
        choice[selector] = value
        choice["codes"] = "learned" if "learned" in shown else choice["codes"]
        assert sorted(ranking(opened)) == sorted(expected(results, style, **choice)), selector
        assert ranking(opened) not in seen, selector
        seen.append(ranking(opened))


def test_the_ranking_waits_for_no_chart_and_nothing_jumps(browser, page):
    small = {"width": 800, "height": 300, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", small)
    watch = (
        "window.shifted = []; new PerformanceObserver((list) => {"
        "for (const each of list.getEntries()) window.shifted.push(each.value)"
        "}).observe({ type: 'layout-shift', buffered: true })"
    )
    added = browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": watch})
    browser.get(page.as_uri())
    assert len(ranking(browser)) > 3
    loaded = "return window.Plotly !== undefined || window.hashbenchCurves !== undefined"
    assert not browser.execute_script(loaded)  # the charts are far below
    for place in ("curve-chart", "how"):
        browser.execute_script(f"document.getElementById('{place}').scrollIntoView()")
        time.sleep(0.2)
    wait_for(browser, "return document.querySelector('#curve-chart .scatterlayer .trace')")
    assert sum(browser.execute_script("return window.shifted")) < 0.01
    browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", added)


def test_a_study_without_results_has_a_page(browser, failed_study):
    browser.get_log("browser")
    browser.get((failed_study / "report" / "index.html").as_uri())
    browser.execute_script("document.getElementById('curve-chart').scrollIntoView()")
    assert ranking(browser) == [("Failing", "–")]
    assert "Nothing" in browser.find_element("id", "about").text
    shown = "return document.querySelector('#curve-chart .annotation-text')?.textContent"
    assert "Nothing" in wait_for(browser, shown)
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []


def test_no_button_sends_the_data_away(opened):
    titles = opened.execute_script(
        "return [...document.querySelectorAll('#curve-chart .modebar-btn')]"
        ".map(button => button.dataset.title)"
    )
    assert titles == ["Download plot as a PNG", "Zoom", "Pan", "Reset axes"]


def test_equal_values_share_their_rank(opened):
    opened.execute_script(
        "const { rows } = rankingBlock();"
        "rows[1].mean = rows[0].mean = rows[2].mean + 1; showResults()"
    )
    assert sorted(column(opened, "rank"))[:3] == ["1", "1", "3"]
    opened.refresh()


def test_sorting(opened):
    choose(opened, "measure", "AP")
    ranks = [float(each) for each in column(opened, "meanRank") if each != "–"]
    assert ranks == sorted(ranks)
    sort_by(opened, "mean")
    values = [float(each.strip("°")) for each in column(opened, "mean") if each != "–"]
    assert values == sorted(values, reverse=True)
    sort_by(opened, "title")
    titles = column(opened, "title")
    assert titles == sorted(titles, key=str.lower)
    head = opened.find_element("css selector", "#table th:has([data-key=title])")
    assert head.get_attribute("aria-sort") == "ascending"
    sort_by(opened, "title")
    assert column(opened, "title") == titles[::-1]


def test_toggling_a_method_hides_its_curve(opened):
    count = "return document.querySelectorAll('#curve-chart .scatterlayer .trace').length"
    before = opened.execute_script(count)
    box = opened.find_element("css selector", "#chips input:checked")
    opened.execute_script("arguments[0].click()", box)
    wait_for(opened, f"{count} === {before - 1}")
    opened.execute_script("arguments[0].click()", box)
    wait_for(opened, f"{count} === {before}")


@pytest.mark.parametrize("curve", ["pr", "radius", "precision", "recall"])
def test_every_curve_is_drawn(opened, curve):
    from selenium.webdriver.support.ui import Select

    Select(opened.find_element("id", "curve")).select_by_value(curve)
    drawn = wait_for(
        opened,
        "return [...document.querySelectorAll('#curve-chart .scatterlayer path.js-line')]"
        ".filter(path => path.getAttribute('d').length > 10).length",
    )
    assert drawn >= 2


def test_a_phone_needs_no_sideways_scrolling(opened):
    size = {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True}
    opened.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    opened.refresh()
    assert opened.execute_script("return document.documentElement.scrollWidth") <= 390
    select = opened.find_element("id", "dataset")
    assert select.is_displayed()
    assert select.rect["x"] + select.rect["width"] <= 390


def test_dark_mode_changes_ground_and_text(opened):
    features = [{"name": "prefers-color-scheme", "value": "dark"}]
    colours = "const s = getComputedStyle(document.body); return [s.backgroundColor, s.color]"
    light = opened.execute_script(colours)
    opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    dark = opened.execute_script(colours)
    opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert light != dark
    assert sum(map(int, dark[0].strip("rgb()").split(","))) < 150


def test_hostile_names_stay_text(opened):
    assert any("<script>" in method for method, _ in ranking(opened))
    assert opened.execute_script("return window.injected === undefined")
    markup = "return [...document.querySelectorAll('main script, main b')].map(e => e.textContent)"
    assert opened.execute_script(markup) == []
