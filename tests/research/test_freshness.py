"""A page is stale when the code of its methods is no longer what computed its numbers."""

import shutil
import subprocess
import sys

import pytest

from hashbench.plugins.registry import discover
from research import freshness

ONE_OF_FOUR = {"a": "1", "b": "1", "c": "1", "d": "1"}, {"a": "2", "b": "1", "c": "1", "d": "1"}
ALL = {"a": "1"}, {"a": "2"}


def page(tmp_path, sources, text="# Title\n\nText.\n", **about):
    """Write a page and its record; return the record."""
    folder = tmp_path / "docs" / "research"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "page.md").write_text(text)
    freshness.record(folder / "page.md", sources, commit="abc1234", root=tmp_path, **about)
    return freshness.read(folder / "sources.json")


def test_every_page_has_an_entry_and_none_is_too_old():
    assert freshness.problems(freshness.read(), freshness.present()) == []


def test_the_record_names_methods_that_exist_or_existed():
    for entry in freshness.read().values():
        assert entry["sources"]
        assert set(entry) <= {"commit", "old", "sources"}


@pytest.mark.parametrize(("sources", "now"), [ONE_OF_FOUR, ALL])
def test_what_has_changed(sources, now):
    assert freshness.changed(sources, now) == ["a"]
    assert freshness.changed(sources, sources) == []
    assert freshness.changed(sources, {}) == list(sources)


def test_a_page_fails_when_more_than_the_allowed_share_has_changed(tmp_path):
    few, many = (page(tmp_path, sources) for sources, _ in (ONE_OF_FOUR, ALL))
    assert freshness.problems(few, ONE_OF_FOUR[1], tmp_path) == []
    (said,) = freshness.problems(many, ALL[1], tmp_path)
    assert "1 of 1" in said
    assert freshness.problems(page(tmp_path, ALL[0], old=True), ALL[1], tmp_path) == []


def test_a_page_says_its_commit_once(tmp_path):
    page(tmp_path, ALL[0])
    path = tmp_path / "docs" / "research" / "page.md"
    assert path.read_text().count("abc1234") == 1
    freshness.record(path, ALL[0], commit="def5678", root=tmp_path, old=True)
    text = path.read_text()
    assert text.startswith("# Title\n\n> **Old numbers**")
    assert "abc1234" not in text
    assert text.endswith("\n\nText.\n")
    path.write_text("# Title\n\nText.\n")
    pages = freshness.read(path.with_name("sources.json"))
    assert len(freshness.problems(pages, ALL[0], tmp_path)) == 1


def test_a_page_without_an_entry_fails(tmp_path):
    pages = page(tmp_path, ALL[0])
    (tmp_path / "docs" / "research" / "other.md").write_text("# Other\n")
    (said,) = freshness.problems(pages, ALL[0], tmp_path)
    assert "other.md" in said


def test_a_changed_method_names_the_pages_with_its_numbers(tmp_path):
    """The tool itself, in a copy of the tree in which the code of one method was changed."""
    for name in ("hashbench", "methods", "datasets", "reports", "research", "docs"):
        ignored = shutil.ignore_patterns("__pycache__", "made", "images")
        shutil.copytree(freshness.ROOT / name, tmp_path / name, ignore=ignored)
    before = run(tmp_path)
    pages, now = freshness.read(), freshness.present()
    fresh = {
        name: [page for page, entry in pages.items() if entry["sources"].get(name) == now[name]]
        for name in now
    }
    name, newly = max(fresh.items(), key=lambda item: len(item[1]))
    assert newly  # pages have numbers of the present code
    path = tmp_path / "methods" / discover().methods[name].path.name
    text = path.read_text()
    path.write_text(text.replace('"""', '"""Changed. ', 1))  # a docstring computes nothing
    assert run(tmp_path) == before
    path.write_text(f"{text}\nCHANGED = 1\n")
    after = run(tmp_path)
    for page in newly:
        (said,) = [line for line in after.splitlines() if line.startswith(f"{page} (")]
        assert name in said.replace(",", "").split()


#: Runs a module with the packages of another tree in place of the installed ones.
ELSEWHERE = """
import importlib.util, runpy, sys
from pathlib import Path

root = Path(sys.argv.pop(1))

class Finder:
    def find_spec(self, name, path=None, target=None):
        places = {"hashbench": root / "hashbench"}
        places |= {f"hashbench.{each}": root / each for each in ("methods", "datasets", "reports")}
        if name in places:
            init = places[name] / "__init__.py"
            return importlib.util.spec_from_file_location(
                name, init, submodule_search_locations=[str(places[name])]
            )

sys.meta_path.insert(0, Finder())
sys.path.insert(0, str(root))
runpy.run_module("research.freshness", run_name="__main__")
"""


def run(tree):
    """Return what the tool prints in a copy of the tree."""
    command = [sys.executable, "-c", ELSEWHERE, str(tree)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tree)
    assert done.stderr == ""
    return done.stdout
