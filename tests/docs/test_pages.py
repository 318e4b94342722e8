"""The pages that are made: every method has all that a reader looks for."""

import doctest
import importlib
import re
import sys
from pathlib import Path

import pandas as pd
import pytest

import hashbench
from hashbench.plugins.registry import discover

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def pages():
    sys.path.insert(0, str(DOCS))
    try:
        yield importlib.import_module("pages")
    finally:
        sys.path.remove(str(DOCS))


@pytest.fixture(scope="module")
def figures(pages, tmp_path_factory):
    study = tmp_path_factory.mktemp("study")
    row = {"dataset": "emoji", "method": "edsh", "params": "", "bits": 16, "measure": "AP"}
    row |= {"database": "unseen", "codes": "encoded"}
    scores = [{**row, "task": task, "value": 0.5} for task in ("image->text", "text->image")]
    pd.DataFrame(scores).to_csv(study / "results.csv", index=False)
    runs = [{"dataset": "emoji", "method": "edsh", "fit_seconds": 1.234, "threads": 1}]
    pd.DataFrame(runs).to_csv(study / "runs.csv", index=False)
    return pages.Figures.read(study, DOCS)


@pytest.mark.parametrize("name", discover().methods)
def test_a_methods_page_says_what_it_is_and_costs(pages, figures, name):
    page = pages.method_page(discover().methods[name], figures)
    for heading in ("Idea, objective, cost", "On the embedded data", "Against other code"):
        assert f"## {heading}" in page
    assert re.search(r"\bcost\b", page.partition("cost, deviations")[2], re.IGNORECASE)
    assert ":mod:" not in page
    for linked in re.findall(r"\]\(([\w-]+)\.md\)", page):
        assert linked in discover().methods


def test_what_was_measured_stands_on_the_page(pages, figures):
    plugins = discover().methods
    edsh = pages.method_page(plugins["edsh"], figures)
    assert "| unseen | encoded | 0.5000 | 0.5000 |" in edsh
    assert "training took 1.23 s with 1 thread" in edsh
    assert "| `gamma` | `10` | Weight of predicting the labels from the codes.<br>*Allowed" in edsh
    assert "rank 1 of 1" in edsh
    assert "(https://arxiv.org/abs/1905.01304)" in edsh
    assert "@article{yao2019efficient," in edsh
    assert "```{math}\n\\begin{aligned}\n& \\sum_{m} [ \\lambda_{m} \\lVert X_{m}" in edsh
    assert "reproduce.md" in edsh
    dch = pages.method_page(plugins["dch"], figures)
    assert "It is not in the default study" in dch
    assert "AP there" in dch
    assert "AP there" in pages.method_page(plugins["dsph"], figures)


def test_the_list_leads_to_every_method(pages, figures):
    plugins = discover().methods
    page = pages.method_list(plugins, figures)
    for name in plugins:
        assert f"(methods/{name}.md)" in page
        assert f"\nmethods/{name}\n" in page
    assert re.search(r"\| \[EDSH\].* \| yes \| 0.500 \| 0.500 \|", page)
    assert re.search(r"\| \[CCA\].* \|  \|  \|  \|", page)  # not in this study
    assert ":class:" not in page


def test_a_gallery_shows_the_first_of_each_kind(pages, tmp_path):
    (tmp_path / "a.md").write_text("table one")
    (tmp_path / "b.md").write_text("table two")
    (tmp_path / "c.md").write_text("![figure](c.svg)")
    shown = list(sys.modules["gallery"]._exhibits("a, b, c", tmp_path))
    assert shown == ["![figure](gallery/c.svg)", "table one", "And 1 more of its kind."]
    assert list(sys.modules["gallery"]._exhibits("nothing to show: one seed", tmp_path)) == [
        "Nothing to show: one seed."
    ]


def test_every_public_name_stands_in_the_reference_once(pages):
    page = pages.api_reference.page()
    for name in set(hashbench.__all__) - {"__version__"}:
        assert len(re.findall(rf":: hashbench\.{name}\n", page)) == 1, name
    for name in ("linalg.Ridge", "measures.hamming_ranking", "neural.losses.cosines"):
        assert f":: hashbench.{name}\n" in page


@pytest.mark.parametrize("name", ["api_reference", "formulas", "method_pages"])
def test_docstrings_are_read_as_they_are_meant(pages, name):
    done = doctest.testmod(sys.modules[name])
    assert done.attempted > 0
    assert done.failed == 0
