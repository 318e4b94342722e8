"""How long the page of a study takes: to write, and to open in a browser.

    python benchmarks/page.py [OUT] [--times 5]
    python benchmarks/page.py --open-only OUT [OTHER ...] [--times 7]
    python benchmarks/page.py --first-table

The second command opens pages that are there already, of several versions say, in turn and in turn
the other way round, so that what else the machine does falls on all of them; their figures stand
side by side. The third runs the default study twice and tells when its table was there: with an
empty cache, as after an installation, where kernels are compiled besides, and with what that has
left.

Without OUT a study of 1,026 cells is run first: every method but the networks on three small
synthetic datasets.
Chromium, without a window, opens the page from a ``file://`` address as often as asked for; times
count from the start of the navigation. "All charts drawn" is measured after scrolling to them,
three seconds later. Beside them stands what the page's process took of the processor, which other
programs disturb less than the clock.
"""

from __future__ import annotations

import argparse
import itertools
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

DATASETS = "synthetic[rows=300],synthetic[rows=300,classes=4],synthetic[rows=300,snr=0.1]"
NETWORKS = ("cirh", "dadh", "dchmt", "dcmh", "dgcpn", "djsrh", "dsph", "jdsh", "ucch")
METHODS = ",".join(["all", *(f"!{name}" for name in NETWORKS)])
STUDY = ["-m", METHODS, "-d", DATASETS, "-b", "8,16,32", "-s", "3"]

#: Notes the moments that the page itself does not tell.
WATCH = """
window.seen = { shift: 0, blocked: 0 };
new PerformanceObserver((list) => {
  for (const each of list.getEntries()) window.seen.shift += each.value;
}).observe({ type: "layout-shift", buffered: true });
new PerformanceObserver((list) => {
  for (const each of list.getEntries()) {
    window.seen.blocked += each.duration;
    window.seen.idle = each.startTime + each.duration;
  }
}).observe({ type: "longtask", buffered: true });
const note = (name) => { window.seen[name] ??= performance.now(); };
const look = () => {
  if (document.querySelector("#ranking-table tbody tr")) note("ranking");
  if (document.querySelectorAll("#curve-chart .trace, #time-chart .trace").length > 1
      && document.querySelector("#time-chart .trace")) note("charts");
  else requestAnimationFrame(look);
};
requestAnimationFrame(look);
"""


def browser() -> Any:
    """Return a Chromium without a window."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1200,900"):
        options.add_argument(flag)
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": WATCH})
    return driver


def used(driver: Any) -> float:
    """Return the processor's milliseconds that the page's process has taken since it began."""
    metrics = driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
    return 1000 * next(each["value"] for each in metrics if each["name"] == "ProcessTime")


def opened(driver: Any, page: Path) -> dict[str, float]:
    """Open the page once; return the moments in milliseconds."""
    driver.get("about:blank")
    driver.execute_cdp_cmd("Performance.enable", {})
    begun = used(driver)
    driver.get(page.as_uri())
    time.sleep(3)
    seen = driver.execute_script(
        "const paint = performance.getEntriesByName('first-contentful-paint')[0];"
        "const load = performance.getEntriesByType('navigation')[0];"
        "return { ...window.seen, paint: paint.startTime, load: load.loadEventEnd }"
    )
    rested = used(driver)
    driver.execute_script("document.getElementById('time-chart').scrollIntoView()")
    start = time.monotonic()
    while not driver.execute_script("return window.seen.charts"):
        if time.monotonic() - start > 20:
            raise SystemExit(f"{page}: its charts are not drawn after 20 s")
        time.sleep(0.02)
    drawn = 1000 * (time.monotonic() - start)
    return {
        **seen,
        "idle": max(seen.get("idle", 0), seen["load"]),
        "charts": drawn,
        "opening": rested - begun,
        "drawing": used(driver) - rested,
        "shift": driver.execute_script("return window.seen.shift"),
    }


WORDS = {
    "paint": "first text seen",
    "ranking": "ranking there",
    "load": "loaded",
    "idle": "end of the last long task before scrolling",
    "blocked": "long tasks in all, before scrolling",
    "charts": "all charts drawn, after scrolling to them",
    "opening": "of the processor, before scrolling",
    "drawing": "of the processor, after scrolling",
}


def write(out: Path) -> None:
    """Write the page of a study twice, the second time with every number remembered."""
    page = out / "report" / "index.html"
    for words in ("first", "again"):
        page.unlink(missing_ok=True)
        start, before = time.perf_counter(), processor_seconds()
        command = [sys.executable, "-m", "hashbench", "report", str(out)]
        process = subprocess.Popen(
            [*command, "--format", "svg,csv,md,tex"], stdout=subprocess.DEVNULL
        )
        while not page.exists() and process.poll() is None:
            time.sleep(0.01)
        there = time.perf_counter() - start
        if process.wait() != 0:
            raise SystemExit("hashbench report has failed")
        seconds, busy = time.perf_counter() - start, processor_seconds() - before
        print(f"page, {words}: there after {there:.1f} s")
        print(f"reports and page, {words}: {seconds:.1f} s, {busy:.1f} s of the processor")


def processor_seconds() -> float:
    """Return the processor's seconds of all processes that have ended below this one."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def first_table() -> None:
    """Run the default study with an empty cache and with a full one, up to its table."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "HASHBENCH_CACHE": str(Path(folder) / "cache")}
        for words in ("empty cache", "full cache"):
            out = Path(folder) / words
            command = [sys.executable, "-m", "hashbench", "run", "-j", "2", "-o", str(out)]
            start, before = time.perf_counter(), processor_seconds()
            # without a page the table is the last thing that a run does
            subprocess.run(
                [*command, "--quiet", "--no-report"],
                check=True,
                stdout=subprocess.DEVNULL,
                env=environment,
            )
            seconds, busy = time.perf_counter() - start, processor_seconds() - before
            print(f"first table, {words}: {seconds:.1f} s, {busy:.1f} s of the processor")


def sizes(out: Path) -> None:
    """Print how large the files of a page are."""
    folder = out / "report"
    for path in (*sorted(folder.glob("*.js")), folder / "index.html", folder / "page.css"):
        print(f"{path.name}: {path.stat().st_size / 1e6:.3f} MB")
    parts = list((folder / "search").glob("*"))  # read when asked for
    print(f"search: {len(parts)} files, {sum(p.stat().st_size for p in parts) / 1e6:.3f} MB")


def measure(outs: list[Path], times: int) -> None:
    """Print sizes and times, of several pages side by side."""
    for out in outs:
        if len(outs) > 1:
            print(f"{out}:")
        sizes(out)
    found: dict[Path, list[dict[str, float]]] = {out: [] for out in outs}
    driver = browser()
    try:
        # to and fro: who comes first finds the machine as the other has left it
        for turn in itertools.islice(itertools.cycle((outs, outs[::-1])), times):
            for out in turn:
                found[out].append(opened(driver, out / "report" / "index.html"))
    finally:
        driver.quit()
    for name, words in WORDS.items():
        columns = [[each[name] for each in openings] for openings in found.values()]
        texts = (
            f"median {statistics.median(each):.0f} ms, {min(each):.0f} to {max(each):.0f} ms"
            for each in columns
        )
        print(f"{words}: {' | '.join(texts)}")
    shifts = (f"{max(each['shift'] for each in openings):.4f}" for openings in found.values())
    print(f"layout shift: {' | '.join(shifts)}")


def main() -> None:
    """Run the study if there is none, write its page, and open it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", nargs="*", type=Path)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--open-only", action="store_true", help="the pages are there already")
    parser.add_argument("--first-table", action="store_true", help="time the default study's")
    arguments = parser.parse_args()
    if arguments.first_table:
        first_table()
        return
    with tempfile.TemporaryDirectory() as folder:
        outs = arguments.out
        if not outs:
            outs = [Path(folder) / "out"]
            command = [sys.executable, "-m", "hashbench", "run", *STUDY, "-o", str(outs[0])]
            subprocess.run([*command, "--quiet", "--no-report"], check=True)
        if not arguments.open_only:
            for out in outs:
                write(out)
        measure(outs, arguments.times)


if __name__ == "__main__":
    main()
