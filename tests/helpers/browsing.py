"""Using the page as a person would, in a real browser."""

import shutil
import time

import pytest

#: Marks of a module whose tests all drive the browser.
BROWSER = [
    pytest.mark.browser,
    pytest.mark.skipif(
        shutil.which("chromedriver") is None or shutil.which("chromium") is None,
        reason="chromium and chromedriver are not installed",
    ),
]


def needs_browser(test):
    """Mark one test that drives the browser."""
    for mark in BROWSER:
        test = mark(test)
    return test


FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip


def start_browser():
    """A Chromium without a window that keeps its log."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    for flag in FLAGS:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))


def open_page(browser, page, width=1200, height=900):
    """Open a page from the start, in a window of that size."""
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get_log("performance")  # requests of another page
    browser.get("about:blank")  # an address that differs in its # only loads nothing
    browser.get(page.as_uri())


def draw_everything(browser):
    """Scroll to what is drawn when it comes near the window: search, charts, comparison."""
    for section, shown in (
        ("search", ".returned li"),
        ("figures", "#curve-chart .scatterlayer .trace"),
        ("compare", "#compare-table tbody tr"),
        ("scatter-chart", "#scatter-chart .scatterlayer .trace"),
        ("pair-chart", "#pair-chart .scatterlayer .trace"),
    ):
        browser.execute_script(f"document.getElementById('{section}').scrollIntoView()")
        wait_for(browser, f"return document.querySelector('{shown}')")
    browser.execute_script("window.scrollTo(0, 0)")


def wait_for(browser, script, seconds=20):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = browser.execute_script(script)
        if value:
            return value
        time.sleep(0.05)
    raise AssertionError(f"nothing after {seconds} s: {script}")


def choose(browser, selector, text):
    from selenium.webdriver.support.ui import Select

    element = browser.find_element("id", selector)
    unfold = "arguments[0].closest('details')?.setAttribute('open', '')"
    browser.execute_script(unfold, element)
    Select(element).select_by_visible_text(text)


def column(browser, key):
    """The texts of a column of the table of all methods, from top to bottom."""
    return browser.execute_script(
        "const head = document.querySelector(`#table [data-key=${arguments[0]}]`).closest('th');"
        "const at = [...head.parentElement.children].indexOf(head);"
        "return [...document.querySelectorAll('#table tbody tr')]"
        ".map(tr => tr.children[at].textContent)",
        key,
    )


def sort_by(browser, key):
    browser.execute_script(f"document.querySelector('#table [data-key={key}]').click()")


def ranking(browser):
    """The ranking of the selected slice as the page's table has it: (method, value), best first."""
    rows = zip(column(browser, "title"), column(browser, "mean"), strict=True)
    return sorted(rows, key=lambda row: -1.0 if row[1] == "–" else float(row[1].strip("°")))[::-1]
