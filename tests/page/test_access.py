"""The page without a mouse, and without eyes: everything is reached, and has a name."""

import os
from pathlib import Path

import pytest

from tests.support.browsing import NEEDS_BROWSER

pytestmark = NEEDS_BROWSER

#: axe-core is 650 kB of another licence, so that it is not kept here:
#: npm pack axe-core && tar xzf axe-core-*.tgz; HASHBENCH_AXE=package/axe.min.js pytest ...
AXE = os.environ.get("HASHBENCH_AXE", "")


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

    head = drawn.find_elements("css selector", "#overview-table th.heat button")[-1]
    head.send_keys(Keys.ENTER)
    assert "text→image, 16 bits" in drawn.find_element("id", "about").text
    focused = drawn.execute_script("return document.activeElement.id")
    assert focused == "ranking-title"  # reading goes on there


@pytest.mark.skipif(not AXE, reason="HASHBENCH_AXE names no axe.min.js (npm pack axe-core)")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(drawn, scheme):
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    drawn.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    drawn.execute_script("document.querySelectorAll('details').forEach(each => each.open = true)")
    drawn.execute_script(Path(AXE).read_text())
    drawn.set_script_timeout(120)
    found = drawn.execute_async_script(
        "const done = arguments[0]; axe.run().then(found => done(found.violations.map("
        "each => [each.impact, each.id, each.nodes.map(node => node.html)])))"
    )
    drawn.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert [each for each in found if each[0] in ("serious", "critical")] == []
