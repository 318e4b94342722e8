import textwrap

import pytest

from hashbench.core.errors import HashbenchError
from hashbench.plugins.registry import discover

PLUGIN = """
import hashbench
from hashbench import LinearMethod

class Mine(LinearMethod):
    name = "{name}"
    supervised = False

    def __init__(self, n_bits=16, random_state=None):
        self.n_bits, self.random_state = n_bits, random_state

    def fit(self, views, labels=None):
        data = self.begin_fit(views, labels)
        views, rng = data.views, data.rng
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
    with pytest.raises(HashbenchError, match=r"'edsh'.*edsh\.py.*c\.py"):
        discover([write(tmp_path / "c.py", "edsh")])


def test_the_same_path_twice_is_one_plugin(tmp_path):
    file = write(tmp_path / "a.py")
    assert "mine" in discover([file, str(file)]).methods


def test_an_unknown_name_suggests_the_nearest():
    with pytest.raises(HashbenchError, match=r"'edhs'.*'edsh'"):
        discover().get("methods", "edhs")


def test_a_missing_path_is_an_error(tmp_path):
    with pytest.raises(HashbenchError, match=r"nowhere\.py"):
        discover([tmp_path / "nowhere.py"])


@pytest.mark.parametrize(
    ("change", "facts"),
    [
        (("supervised = False", ""), ["Mine.supervised", "True or False"]),
        (("supervised = False", "supervised = 1"), ["Mine.supervised", " 1"]),
        (("    def fit(", "    def fitt("), ["Mine: ", " fit"]),
        (("n_bits=16, ", "n_bits, "), ["Mine.__init__", "default", "n_bits"]),
        ((", random_state=None", ""), ["Mine.__init__", "default", "random_state"]),
        (('"mine"', '"my method"'), ["Mine.name", "'my method'"]),
        (('"mine"', "3"), ["Mine.name", " 3"]),
        (('"mine"', '"mine"\n    paper = "Me, 2026"'), ["Mine.paper", "'Me, 2026'"]),
        (
            ('"mine"', '"mine"\n    paper = hashbench.Paper(fidelity="good")'),
            ["Mine.paper.fidelity", "'good'", "equivalent, biased"],
        ),
        (("class Mine", "import sys\nsys.exit(3)\nclass Mine"), ["SystemExit: 3", "line 6"]),
        (("class Mine", "unheard_of\nclass Mine"), ["NameError", "'unheard_of'"]),
    ],
)
def test_a_class_that_cannot_be_used_is_listed_as_broken(tmp_path, change, facts):
    text = PLUGIN.format(name="mine")
    assert change[0] in text
    file = tmp_path / "mine.py"
    file.write_text(text.replace(*change))
    found = discover([file])
    (entry,) = found.broken
    assert all(fact in entry.error for fact in facts), entry.error
    assert entry.path == str(file)
    assert "mine" not in found.methods


def test_a_dataset_needs_a_way_to_split(tmp_path):
    file = tmp_path / "data.py"
    file.write_text(
        "from hashbench import Dataset\n\n\nclass Mine(Dataset):\n"
        '    name = "mine"\n    protocols = 5\n\n    def load(self): ...\n'
    )
    (entry,) = discover([file]).broken
    assert "Mine.protocols" in entry.error
    assert "found 5" in entry.error
