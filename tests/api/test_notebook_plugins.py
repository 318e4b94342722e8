"""Classes of a notebook are written to a file, or refused with a reason."""

import linecache
import runpy
import sys
from types import ModuleType

import pytest

from hashbench.api.notebook_plugins import plugin_file
from hashbench.core.errors import HashbenchError

IMPORTS = "import math\nfrom fractions import Fraction\ntable = [1, 2]"

CELL = """
SCALE = 3

def root(value):
    return math.sqrt(value)

class Mine:
    def value(self) -> Fraction:
        return Fraction(int(root(16)) * SCALE)

result = Mine().value()
"""

UNSENDABLE = """
class Unsendable:
    def value(self):
        return table
"""


@pytest.fixture
def notebook(monkeypatch):
    """A module like that of a notebook with three cells."""
    module = ModuleType("__main__")
    monkeypatch.setitem(sys.modules, "__main__", module)
    for name, text in (("<1>", IMPORTS), ("<2>", CELL), ("<3>", UNSENDABLE)):
        monkeypatch.setitem(linecache.cache, name, (len(text), None, text.splitlines(True), name))
        exec(compile(text, name, "exec"), vars(module))
    return module


def test_a_class_is_written_with_its_cell_and_imports(notebook, tmp_path):
    path = plugin_file(notebook.Mine, tmp_path / "plugins")
    written = runpy.run_path(str(path))
    assert written["Mine"]().value() == 12
    assert not {"table", "result"} & written.keys()


def test_a_class_that_has_a_file_is_left_there(tmp_path):
    assert plugin_file(HashbenchError, tmp_path).name == "errors.py"
    assert not any(tmp_path.iterdir())


def test_a_value_of_another_cell_is_named(notebook, tmp_path):
    with pytest.raises(HashbenchError, match=r"Unsendable.*table"):
        plugin_file(notebook.Unsendable, tmp_path)


def test_a_class_without_source_is_refused(notebook, tmp_path):
    exec("class Typed:\n    def value(self):\n        pass\n", vars(notebook))
    with pytest.raises(HashbenchError, match=r"Typed.*source"):
        plugin_file(notebook.Typed, tmp_path)
