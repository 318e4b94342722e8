"""A small study with two datasets, a failure and hostile names, run once for all page tests."""

import pytest
from click.testing import CliRunner

from hashbench.analysis.results import Results
from hashbench.plugins.registry import discover
from hashbench.render.style import Style
from hashbench.site.build import write_index, write_scripts
from tests.helpers.browsing import draw_everything, open_page, start_browser, wait_for

HOSTILE = """
from hashbench.methods.random import Random


class Hostile(Random):
    name = "hostile"
    title = "<script>window.injected=1</script><b>x</b> 100% $x_1$ & \\\\alpha 🙂" + "long" * 30


class Failing(Hostile):
    name = "failing"
    title = "Failing"

    def fit(self, views, labels=None):
        raise RuntimeError("</script><script>window.injected=2</script> & <i>no</i>")
"""


def run(hashbench, folder, name, *flags):
    """Run a study with the plugin above; return the folder of its results."""
    plugin = folder / "hostile.py"
    plugin.write_text(HOSTILE)
    out = folder / name
    found = hashbench("run", "--plugin", plugin, "-o", out, "--report", *flags)
    assert found.returncode == 1, found.stderr  # some cells fail on purpose
    assert str(out / "report" / "index.html") in found.stdout
    return out


@pytest.fixture(scope="session")
def page_study(hashbench, tmp_path_factory):
    return run(
        hashbench, tmp_path_factory.mktemp("page"), "out",
        "-m", "hostile,failing,random,edsh,scm-s,ridge-labels",
        "-d", "synthetic[rows=150],synthetic[rows=150,classes=3]", "-b", "8,16", "-s", "3",
    )  # fmt: skip


@pytest.fixture(scope="session")
def failed_study(hashbench, tmp_path_factory):
    """A study of which nothing came."""
    flags = ["-m", "failing", "-d", "synthetic[rows=150]", "-b", "8", "-s", "1"]
    return run(hashbench, tmp_path_factory.mktemp("failed"), "out", *flags)


@pytest.fixture(scope="session")
def results(page_study):
    return Results(page_study, discover([page_study.parent / "hostile.py"]))


@pytest.fixture(scope="session")
def page(page_study):
    """The page as the run left it."""
    return page_study / "report" / "index.html"


@pytest.fixture(scope="session")
def browser():
    driver = start_browser()
    yield driver
    driver.quit()


@pytest.fixture
def opened(browser, page):
    """The page with its curves drawn."""
    open_page(browser, page)
    browser.execute_script("document.getElementById('curve-chart').scrollIntoView()")
    wait_for(
        browser, "return document.querySelectorAll('#curve-chart .scatterlayer .trace').length"
    )
    return browser


@pytest.fixture
def drawn(browser, page):
    """The page with its charts drawn, its search and its comparison shown."""
    open_page(browser, page)
    draw_everything(browser)
    return browser


@pytest.fixture(scope="session")
def mixed_results(tmp_path_factory):
    """Three splits of one dataset and one of another, and a method that lacks a seed."""
    import hashbench
    from hashbench.cli.merge import merge_command

    folder = tmp_path_factory.mktemp("mixed")
    parts = {
        "many": ("edsh,scm-s", "synthetic[rows=150]", 3),
        "one": ("edsh,scm-s,random", "synthetic[rows=150,classes=3]", 1),
        "lacking": ("random", "synthetic[rows=150]", 2),
    }
    for name, (methods, datasets, seeds) in parts.items():
        hashbench.run(
            methods=methods, datasets=datasets, bits=[8, 16], seeds=seeds, out=folder / name
        )
    sources = [str(folder / name) for name in parts]
    found = CliRunner().invoke(merge_command, [*sources, "-o", str(folder / "out")])
    assert found.exit_code == 0, found.output
    results = Results(folder / "out", discover([]))
    style = Style.of(results)
    write_index(results, style, [], write_scripts(results, style))
    return results


@pytest.fixture(scope="session")
def emoji_results(tmp_path_factory):
    """A study whose items have signs, words and pictures, and a method without codes."""
    import hashbench

    out = tmp_path_factory.mktemp("emoji") / "out"
    hashbench.run(
        methods="edsh,scm-s,real-valued", datasets="emoji", bits=[16, 32], seeds=1, out=out
    )
    results = Results(out, discover([]))
    style = Style.of(results)
    write_index(results, style, [], write_scripts(results, style))
    return results
