"""The shape of the house: imports point one way, and starting is cheap."""

import ast
import subprocess
import sys
import tomllib
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


def test_public_names_exist():
    for name in hashbench.__all__:
        assert getattr(hashbench, name) is not None
    with pytest.raises(AttributeError, match="nothing"):
        _ = hashbench.nothing


#: What takes long to import, or has no business in a command that computes nothing.
HEAVY = (
    "distributed", "h5py", "jinja2", "matplotlib", "numba", "pandas", "plotly", "psutil",
    "scipy.io", "scipy.linalg", "scipy.optimize", "scipy.sparse", "scipy.spatial", "scipy.stats",
    "seaborn", "sklearn",
)  # fmt: skip


@pytest.mark.parametrize(
    "command",
    ["--help", "list methods", "list datasets", "list reports", "list measures", "show edsh",
     "run --help", "status --help", "new --help", "evaluate --help"],
)  # fmt: skip
def test_what_computes_nothing_imports_nothing_heavy(command):
    code = (
        "import sys; from hashbench.commands import cli;"
        f"cli.main({command.split()}, standalone_mode=False);"
        f"print([name for name in {HEAVY} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


def test_every_folder_is_installed():
    pyproject = HARNESS.parent / "pyproject.toml"
    if not pyproject.exists():
        pytest.skip("not run from a source tree")
    listed = tomllib.loads(pyproject.read_text())["tool"]["setuptools"]["packages"]
    found = {
        ".".join(file.parent.relative_to(HARNESS.parent).parts)
        for file in HARNESS.rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    assert found | {f"hashbench.{folder}" for folder in PLUGIN_FOLDERS} == set(listed)
