"""Files of a release agree on version and contents."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

import hashbench

ROOT = Path(__file__).parents[1]

pytestmark = pytest.mark.skipif(
    not (ROOT / "CITATION.cff").exists(), reason="not run from a source tree"
)


def test_one_version():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert "version" in project["dynamic"]
    cited = re.search(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert cited[1] == hashbench.__version__
    assert f"\n## {hashbench.__version__}" in (ROOT / "CHANGELOG.md").read_text()


def test_the_documentation_names_every_package():
    text = (ROOT / "docs" / "inside.md").read_text()
    packages = re.search(
        r"PACKAGES = \((.*?)\)", (ROOT / "tests/test_architecture.py").read_text(), re.S
    )
    for package in re.findall(r'"(\w+)"', packages[1]):
        assert f"`{package}`" in text, package


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a clone")
def test_the_source_archive_has_every_folder():
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    folders = {line.partition("/")[0] for line in listed.splitlines() if "/" in line}
    grafted = set(re.findall(r"^graft (\S+)$", (ROOT / "MANIFEST.in").read_text(), re.MULTILINE))
    packages = {"hashbench", "methods", "datasets", "reports"}
    assert folders == grafted | packages
