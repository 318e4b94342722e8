"""The page on paper: charts that were never scrolled to, a short version and a long one."""

import base64

import pytest

from tests.helpers.browsing import BROWSER, open_page, wait_for

pytestmark = BROWSER

CHARTS = "return document.querySelectorAll('.chart .scatterlayer .trace').length"
CLOSED = "return document.querySelectorAll('details:not([open])').length"


@pytest.fixture
def at_top(browser, page):
    open_page(browser, page, 800, 300)
    # what a browser asks and shows is not for a test to answer
    browser.execute_script("window.printed = 0; window.print = () => { window.printed += 1 }")
    assert browser.execute_script(CHARTS) == 0
    return browser


def paginate(browser):
    """How many sheets of paper the page is now."""
    pdf = base64.b64decode(browser.execute_cdp_cmd("Page.printToPDF", {})["data"])
    return pdf.count(b"/Type /Page\n") + pdf.count(b"/Type /Page ")


def test_printing_from_the_top_has_all_charts(at_top):
    at_top.execute_script("document.getElementById('print-short').click()")
    wait_for(at_top, "return window.printed")
    assert at_top.execute_script(CHARTS) >= 4  # curves of three methods, and times


def test_the_key_prints_with_charts_too(at_top):
    at_top.execute_script(
        "window.dispatchEvent(new KeyboardEvent('keydown', { key: 'p', ctrlKey: true }))"
    )
    wait_for(at_top, "return window.printed")
    assert at_top.execute_script(CHARTS) >= 4


def test_a_page_at_rest_draws_its_charts_for_the_browsers_own_menu(at_top):
    wait_for(at_top, f"{CHARTS} >= 4")


def test_the_short_version_leaves_folded_what_is_folded(at_top):
    folded = at_top.execute_script(CLOSED)
    assert folded > 0
    for whole, left in (("false", folded), ("true", 0)):
        at_top.execute_script(f"printing.whole = {whole}")
        at_top.execute_script("window.dispatchEvent(new Event('beforeprint'))")
        assert at_top.execute_script(CLOSED) == left
        at_top.execute_script("window.dispatchEvent(new Event('afterprint'))")
        assert at_top.execute_script(CLOSED) == folded


def test_the_long_version_takes_more_paper(at_top):
    short = paginate(at_top)
    at_top.execute_script("printing.whole = true; window.dispatchEvent(new Event('beforeprint'))")
    assert 0 < short < paginate(at_top)
