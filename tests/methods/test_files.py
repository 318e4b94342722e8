"""A method is found by its name: in the file of that name, written from the shared mathematics."""

import ast
import inspect
import re
import sys
from pathlib import Path

import pytest

import hashbench.methods
from hashbench.plugins.registry import discover
from hashbench.plugins.source_hash import source_hash

FOLDER = Path(hashbench.methods.__path__[0]).resolve()
METHODS = {
    name: plugin for name, plugin in discover().methods.items() if plugin.origin == "built in"
}
FILES = sorted(file for file in FOLDER.glob("*.py") if file.name != "__init__.py")


def test_every_method_has_a_file_of_its_name_and_every_file_one_method():
    named = {name: plugin.path.name for name, plugin in METHODS.items()}
    assert named == {name: f"{name.replace('-', '_')}.py" for name in METHODS}
    assert sorted(named.values()) == [file.name for file in FILES]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_files_import_shared_mathematics_from_one_place_and_suppress_nothing(file):
    text = file.read_text()
    modules = [
        node.module for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)
    ]
    assert not [name for name in modules if name.startswith("hashbench.linalg.")]
    assert "noqa: B023" not in text


def documented(cls):
    """Return the names in the Parameters section of a class's docstring."""
    section = r"^    Parameters\n    -+\n(.*?)(?=^    \S+\n    -+$|\Z)"
    found = re.search(section, cls.__doc__, re.MULTILINE | re.DOTALL)
    lines = re.findall(r"^    (\S.*)", found[1] if found else "", re.MULTILINE)
    return [name.strip() for line in lines for name in line.split(" : ")[0].split(",")]


@pytest.mark.parametrize("name", METHODS)
def test_the_docstring_names_exactly_the_parameters_of_the_constructor(name):
    parameters = [*inspect.signature(METHODS[name].cls.__init__).parameters][1:]
    assert sorted(documented(METHODS[name].cls)) == sorted(parameters)


@pytest.mark.parametrize(("name", "beside"), [("kdlfh", "dlfh"), ("scm-s", "scm_o")])
def test_a_change_beside_a_method_that_it_builds_on_changes_its_hash(name, beside, monkeypatch):
    before = source_hash.__wrapped__(METHODS[name])
    file = (FOLDER / f"{beside}.py").resolve()
    read = Path.read_bytes
    monkeypatch.setattr(
        Path, "read_bytes", lambda p: read(p) + (b"\nx = 1\n" if p == file else b"")
    )
    assert f"hashbench.methods.{beside}" in sys.modules
    assert source_hash.__wrapped__(METHODS[name]) != before
    assert source_hash.__wrapped__(METHODS["edsh"]) == source_hash(METHODS["edsh"])
