import textwrap

import pytest

from hashbench.errors import HashbenchError
from hashbench.registry import discover

PLUGIN = """
from hashbench import LinearMethod

class Mine(LinearMethod):
    name = "{name}"
    supervised = False

    def __init__(self, n_bits=16, random_state=None):
        self.n_bits, self.random_state = n_bits, random_state

    def fit(self, views, labels=None):
        views, _, rng = self.begin_fit(views, labels)
        self.projections_ = [rng.standard_normal((X.shape[1], self.n_bits)) for X in views]
        return self
"""


def write(path, name="mine", text=PLUGIN):
    path.write_text(textwrap.dedent(text.format(name=name)))
    return path


def test_built_in_plugins_are_found():
    registry = discover()
    assert {"edsh", "edsh-dcc"} <= set(registry.methods)
    assert registry.methods["edsh"].origin == "built in"
    assert list(registry.methods) == sorted(registry.methods)
    assert not registry.broken


def test_a_file_a_folder_and_the_environment(tmp_path, monkeypatch):
    file = write(tmp_path / "one.py", "one")
    folder = tmp_path / "more"
    folder.mkdir()
    write(folder / "two.py", "two")
    assert discover([file]).methods["one"].origin == "local"
    monkeypatch.setenv("HASHBENCH_PLUGINS", str(folder))
    found = discover([file])
    assert {"one", "two"} <= set(found.methods)
    assert found.paths == (folder, file)


def test_a_broken_plugin_is_listed_and_stops_nothing(tmp_path):
    broken = tmp_path / "broken.py"
    broken.write_text("import nothing_of_that_name\n")
    found = discover([broken, write(tmp_path / "fine.py", "fine")])
    assert "fine" in found.methods
    (entry,) = found.broken
    assert entry.path == str(broken)
    assert "nothing_of_that_name" in entry.error


def test_two_of_one_name_are_an_error_that_names_both(tmp_path):
    first, second = write(tmp_path / "a.py"), write(tmp_path / "b.py")
    with pytest.raises(HashbenchError) as caught:
        discover([first, second])
    assert str(first) in str(caught.value)
    assert str(second) in str(caught.value)
    with pytest.raises(HashbenchError, match="edsh"):
        discover([write(tmp_path / "c.py", "edsh")])


def test_the_same_path_twice_is_one_plugin(tmp_path):
    file = write(tmp_path / "a.py")
    assert "mine" in discover([file, str(file)]).methods


def test_an_unknown_name_suggests_the_nearest():
    with pytest.raises(HashbenchError, match="did you mean 'edsh'"):
        discover().get("methods", "edhs")


def test_a_missing_path_is_an_error(tmp_path):
    with pytest.raises(HashbenchError, match="does not exist"):
        discover([tmp_path / "nowhere.py"])


def test_a_changed_file_is_another_plugin(tmp_path):
    file = write(tmp_path / "a.py")
    before = discover([file]).methods["mine"].source_hash
    file.write_text(file.read_text() + "# changed\n")
    assert discover([file]).methods["mine"].source_hash != before
