"""What the page is made of: its scripts, and what it shows without them."""

from importlib import resources

from hashbench.site.build import SCRIPTS
from tests.helpers.browsing import needs_browser, open_page, wait_for

FOLDED = "return document.querySelectorAll('details > noscript').length"


def test_every_script_is_part_of_one_of_the_pages(page):
    assets = resources.files("hashbench.site") / "assets"
    names = sorted(each.name for each in assets.iterdir() if each.name.endswith(".js"))
    assert sorted(name for parts in SCRIPTS.values() for name in parts) == names
    for script, parts in SCRIPTS.items():
        text = (page.parent / script).read_text(encoding="utf-8")
        for name in parts:
            assert (assets / name).read_text(encoding="utf-8") in text


@needs_browser
def test_what_is_folded_is_there_without_javascript_and_with_it(browser, page):
    tables = "details.report:not([open]) figure table tbody th"
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    browser.get("about:blank")
    browser.get(page.as_uri())
    bare = len(browser.find_elements("css selector", tables))
    papers = len(browser.find_elements("css selector", ".bibtex"))
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
    assert bare > 10
    assert papers >= 3
    open_page(browser, page)
    assert browser.execute_script(FOLDED) == 0
    assert len(browser.find_elements("css selector", tables)) == bare
    assert len(browser.find_elements("css selector", ".bibtex")) == papers


FOLD_AGAIN = """
const details = document.querySelector("details.report:not([open])");
const waiting = document.createElement("noscript");
waiting.textContent = [...details.children].slice(1).map(each => each.outerHTML).join("");
details.replaceChildren(details.firstElementChild, waiting);
"""


@needs_browser
def test_what_is_asked_for_before_the_page_rests_is_read_at_once(browser, page):
    open_page(browser, page)
    figures = "details.querySelectorAll('figure').length"
    before = browser.execute_script(
        f"const details = document.querySelector('details.report:not([open])'); return {figures}"
    )
    browser.execute_script(FOLD_AGAIN)
    assert browser.execute_script(FOLDED) == 1
    browser.execute_script("window.dispatchEvent(new Event('beforeprint'))")
    assert browser.execute_script(FOLDED) == 0
    browser.execute_script("window.dispatchEvent(new Event('afterprint'))")
    browser.execute_script(f"{FOLD_AGAIN} window.details = details; details.open = true")
    wait_for(browser, f"return {figures} === {before}")
