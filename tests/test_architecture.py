"""Imports go down only, and starting is cheap."""

import ast
import graphlib
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import hashbench

HARNESS = Path(hashbench.__file__).parent
PLUGIN_FOLDERS = ("methods", "datasets", "reports")


def _imported(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_the_harness_imports_no_plugin_by_name():
    files = [
        path
        for path in HARNESS.rglob("*.py")
        if path.relative_to(HARNESS).parts[0] not in PLUGIN_FOLDERS
    ]
    assert len(files) > 10
    for path in files:
        for name in _imported(path):
            for folder in PLUGIN_FOLDERS:
                assert not f"{name}.".startswith(f"hashbench.{folder}."), f"{path}: {name}"


#: The packages, lowest first: a module imports from its own package and from those before it.
PACKAGES = (
    "resources", "core", "plugins", "linalg", "measures", "data", "neural", "checks", "execution",
    "analysis", "render", "site", "api", "cli",
)  # fmt: skip


def _upward(path, packages=PACKAGES):
    """Yield what a module imports from packages above its own, for types included."""
    own = packages.index(path.relative_to(HARNESS).parts[0])
    for name in _imported(path):
        parts = name.split(".")
        if parts[0] == "hashbench" and len(parts) > 1 and parts[1] in packages[own + 1 :]:
            yield name


def test_every_module_is_in_a_package():
    assert {path.name for path in HARNESS.glob("*.py")} == {"__init__.py", "__main__.py"}
    folders = {path.parent.name for path in HARNESS.glob("*/__init__.py")}
    assert folders - set(PLUGIN_FOLDERS) == set(PACKAGES)
    for package in PACKAGES:
        assert ast.get_docstring(ast.parse((HARNESS / package / "__init__.py").read_text())), (
            package
        )


def test_no_two_classes_of_the_harness_have_one_name():
    found = Counter(
        node.name
        for package in PACKAGES
        for path in (HARNESS / package).rglob("*.py")
        if "templates" not in path.parts
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.ClassDef)
    )
    assert len(found) > 100
    assert [name for name, times in found.items() if times > 1] == []


def test_imports_go_down_only():
    for package in PACKAGES:
        for path in (HARNESS / package).rglob("*.py"):
            assert not list(_upward(path)), path


def test_modules_of_a_package_form_no_cycle():
    graph = {}
    for package in PACKAGES:
        for path in (HARNESS / package).rglob("*.py"):
            parts = path.relative_to(HARNESS.parent).with_suffix("").parts
            graph[".".join(parts).removesuffix(".__init__")] = path
    edges = {
        name: {
            found
            for imported in _imported(path)
            for found in (imported, imported.rpartition(".")[0])
            if found in graph and found != name and not name.startswith(found + ".")
        }
        for name, path in graph.items()
    }
    graphlib.TopologicalSorter(edges).prepare()  # raises CycleError


def test_an_upward_import_is_found(tmp_path, monkeypatch):
    monkeypatch.setitem(globals(), "HARNESS", tmp_path)
    (tmp_path / "core").mkdir()
    module = tmp_path / "core" / "wrong.py"
    module.write_text("if TYPE_CHECKING:\n    from hashbench.analysis.results import Results\n")
    assert list(_upward(module)) == ["hashbench.analysis.results.Results"]


def test_public_names_exist():
    for name in hashbench.__all__:
        assert getattr(hashbench, name) is not None
    with pytest.raises(AttributeError, match="nothing"):
        _ = hashbench.nothing


#: What has no business in a command that computes nothing.
HEAVY = ("distributed", "h5py", "jinja2", "matplotlib", "numba", "plotly", "seaborn", "torch")

#: What methods need, as estimators of scikit-learn: most of a second.
SCIKIT_LEARN = ("pandas", "scipy.linalg", "scipy.optimize", "scipy.stats", "sklearn")


@pytest.mark.parametrize(
    ("command", "heavy"),
    [
        *((command, (*HEAVY, *SCIKIT_LEARN)) for command in ("--help", "run --help")),
        *((command, HEAVY) for command in (
            "list methods", "list datasets", "list reports", "list measures", "show edsh",
            "show dsph", "status --help", "new --help", "evaluate --help",
        )),
    ],
)  # fmt: skip
def test_what_computes_nothing_imports_nothing_heavy(command, heavy):
    code = (
        "import sys; from hashbench.cli import cli;"
        f"cli.main({command.split()}, standalone_mode=False);"
        f"print([name for name in {heavy} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"
