"""The page without a mouse, and without eyes: everything is reached, and has a name."""

from importlib import resources

import pytest

from tests.helpers.browsing import BROWSER, draw_everything, open_page

pytestmark = BROWSER


def test_a_keyboard_alone_reaches_everything(drawn):
    from selenium.webdriver.common.keys import Keys

    wanted = drawn.execute_script(
        "window.stops = [...document.querySelectorAll("
        "'a[href], button, select, input, summary, [tabindex=\"0\"]')]"
        ".filter(each => each.checkVisibility() && !each.disabled && each.tabIndex >= 0"
        " && !each.closest('.js-plotly-plot .modebar'));"
        "window.reached = new Set(); document.addEventListener('focusin', (event) => "
        "window.reached.add(event.target)); return window.stops.length"
    )
    assert wanted > 40
    body = drawn.find_element("tag name", "body")
    for _ in range(wanted + 60):  # plotly has stops of its own
        body = drawn.switch_to.active_element
        body.send_keys(Keys.TAB)
    left = drawn.execute_script(
        "return window.stops.filter(each => !window.reached.has(each)).map(each => each.outerHTML)"
    )
    assert left == []


def test_a_key_opens_a_slice(drawn):
    from selenium.webdriver.common.keys import Keys

    head = drawn.find_elements("css selector", "#table th.heat button")[-1]
    label = head.get_attribute("aria-label")
    head.send_keys(Keys.ENTER)
    assert "text→image, 16 bits" in drawn.find_element("id", "about").text
    focused = drawn.execute_script("return document.activeElement.getAttribute('aria-label')")
    assert focused == label  # reading goes on there


def serious(browser):
    """Return what axe calls serious or critical on the page as it stands, all of it unfolded."""
    browser.execute_script("document.querySelectorAll('details').forEach(each => each.open = true)")
    script = resources.files("axe_core_python") / "axe.min.js"
    browser.execute_script(script.read_text(encoding="utf-8"))
    browser.set_script_timeout(120)
    found = browser.execute_async_script(
        "const done = arguments[0]; axe.run().then(found => done(found.violations.map("
        "each => [each.impact, each.id, each.nodes.map(node => node.html)])))"
    )
    return [each for each in found if each[0] in ("serious", "critical")]


@pytest.fixture(params=["light", "dark"])
def scheme(browser, request):
    features = [{"name": "prefers-color-scheme", "value": request.param}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    yield request.param
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_axe_finds_nothing_serious(scheme, drawn):
    assert serious(drawn) == []


def test_axe_finds_what_is_wrong(drawn):
    drawn.execute_script("document.getElementById('dataset').parentElement.outerHTML ="
                         " '<select id=dataset><option>x</option></select>'")  # fmt: skip
    assert [each[1] for each in serious(drawn)] == ["select-name"]


def test_axe_finds_nothing_serious_on_a_page_with_pictures(scheme, browser, emoji_results):
    open_page(browser, emoji_results.path / "report" / "index.html")
    draw_everything(browser)
    assert serious(browser) == []
