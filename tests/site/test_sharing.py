"""Citations, and a site of several studies."""

import json
import re
import shutil

import pytest
from click.testing import CliRunner

from hashbench.cli.report import report_command
from hashbench.core.errors import HashbenchError
from hashbench.execution.study import read_study
from hashbench.plugins.registry import discover
from hashbench.site.bibtex import bibtex
from tests.helpers.browsing import choose, needs_browser, wait_for

ABOUT = """
[about]
title = "Cats & <b>camels</b>"
authors = ["A. One", "B. Two"]
abstract = "What is found."
url = "https://example.org/cats"
links = { Paper = "https://example.org/paper" }
"""


def copied(browser, button):
    """What a button puts on the clipboard."""
    browser.execute_script(
        "window.copied = null;"
        "navigator.clipboard.writeText = async (text) => { window.copied = text };"
        "arguments[0].click()",
        button,
    )
    return wait_for(browser, "return window.copied")


@needs_browser
def test_citations_are_of_the_methods_shown(opened):
    button = opened.find_element("id", "copy-bibtex")
    everything = copied(opened, button)
    assert everything.count("@") >= 3
    assert "@software{hashbench," in everything
    choose(opened, "labels", "unsupervised")
    assert copied(opened, button).count("@") < everything.count("@")


def test_every_method_has_an_entry_of_its_own():
    keys = {}
    for name, plugin in discover([]).methods.items():
        if plugin.cls.paper.title:
            text = bibtex(plugin.cls.paper)
            key = re.match(r"@\w+\{(\w+),\n", text).group(1)
            assert text.count("{") - text.count(r"\{") == text.count("}") - text.count(r"\}"), name
            assert keys.setdefault(key, text) == text, name
    assert len(keys) > 20


def test_a_site_has_an_index_of_its_studies(emoji_results, tmp_path):
    site = tmp_path / "site"
    for name, about in (("first", ABOUT), ("second", "")):
        out = tmp_path / name
        shutil.copytree(emoji_results.path, out)
        with (out / "study.toml").open("a") as stream:
            stream.write(about)
        arguments = [str(out), "--format", "csv", "--site", str(site)]
        found = CliRunner().invoke(report_command, arguments, catch_exceptions=False)
        assert found.exit_code == 0, found.output
        assert str(site / "index.html") in found.output
    index = (site / "index.html").read_text()
    assert "Cats &amp; &lt;b&gt;camels&lt;/b&gt;" in index
    for address in re.findall(r'(?:href|src)="([^"#]+)"', index):
        if not address.startswith("data:"):
            assert (site / address).exists(), address
    page = (site / "first" / "report" / "index.html").read_text()
    assert "A. One, B. Two" in page
    assert 'href="https://example.org/paper"' in page
    assert '<meta property="og:image" content="https://example.org/cats/card.png">' in page
    assert (site / "first" / "report" / "card.png").read_bytes()[:4] == b"\x89PNG"
    assert json.loads((site / "second" / "study.json").read_text())["cells"] == 6
    assert (site / "second" / "results.csv").exists()


def test_a_site_of_a_part_of_a_study_is_refused(emoji_results, tmp_path):
    arguments = [str(emoji_results.path), "map-table", "--site", str(tmp_path)]
    found = CliRunner().invoke(report_command, arguments)
    assert isinstance(found.exception, HashbenchError)
    assert "--site" in str(found.exception)


@pytest.mark.parametrize(
    ("about", "facts"),
    [
        ({"titel": "x"}, "'titel'.*'title'"),
        ({"links": {"Paper": "javascript:alert(1)"}}, r"https://.*'javascript:alert\(1\)'"),
        ({"url": "ftp://x"}, "https://.*'ftp://x'"),
        ("x", "about.*'x'.*title, authors"),
    ],
)
def test_the_description_of_a_study_is_checked(about, facts):
    with pytest.raises(HashbenchError, match=facts):
        read_study({"about": about}, "study 'x'")
