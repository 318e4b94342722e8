"""Importing a plugin: whatever its file does, it is a broken plugin and harms nothing else."""

import os

import pytest

from tests.safety.test_folders_of_others import MINE

BROKEN = {
    "exits": "import os\nos._exit(0)",
    "exits-politely": "raise SystemExit(0)",
    "crashes": "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)",
    "generator-exit": "raise GeneratorExit",
    "keyboard-interrupt": "raise KeyboardInterrupt",
    "closes-stdout": "import sys\nsys.stdout.close()",
    "closes-everything": "import os\nos.closerange(0, 256)",
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_file_that_cannot_be_imported_is_named_and_the_study_runs(hashbench, name, tmp_path):
    plugin = tmp_path / "bad.py"
    plugin.write_text(BROKEN[name] + "\n")
    flags = ["-m", "random", "-d", "synthetic[rows=80]", "-b", "8", "-s", "1", "--no-report"]
    done = hashbench("run", "--plugin", plugin, *flags, "-o", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert f"broken plugin {plugin}: " in done.stderr
    assert "Traceback" not in done.stderr
    assert "1 cell: 1 done" in done.stdout


def test_a_plugin_that_changes_the_working_directory_moves_nothing(
    hashbench, tmp_path, monkeypatch
):
    there, elsewhere = tmp_path / "there", tmp_path / "elsewhere"
    there.mkdir()
    elsewhere.mkdir()
    (elsewhere / "mine.py").write_text(f"import os\nos.chdir(os.path.dirname(__file__))\n{MINE}")
    monkeypatch.chdir(there)
    flags = ["-m", "mine", "-d", "synthetic[rows=80]", "-b", "8", "-s", "1", "--no-report"]
    done = hashbench("run", "--plugin", elsewhere / "mine.py", *flags, "-o", "out")
    assert done.returncode == 0, done.stderr
    assert os.getcwd() == str(there)
    assert (there / "out" / "results.csv").is_file()
    assert [path.name for path in elsewhere.iterdir() if path.name != "__pycache__"] == ["mine.py"]
