"""The plugin shown in docs/guide/neural.md runs and ranks better than chance."""

import csv
import re
from pathlib import Path

import pytest

import hashbench as package

pytest.importorskip("torch")
pytestmark = pytest.mark.torch

PAGE = Path(package.__file__).parent.parent / "docs" / "guide" / "neural.md"


@pytest.fixture
def plugin(tmp_path):
    if not PAGE.exists():
        pytest.skip("not run from a source tree")
    (text,) = re.findall(r'```python title="contrast.py"\n(.*?)```', PAGE.read_text(), flags=re.S)
    assert len(text.splitlines()) <= 40
    path = tmp_path / "contrast.py"
    path.write_text(text)
    return path


def test_the_shown_plugin_beats_random_codes(hashbench, plugin, tmp_path):
    out = tmp_path / "out"
    chosen = ("-m", "contrast,random", "-d", "emoji", "-b", "16", "-s", "1", "-o", out)
    done = hashbench("run", "--plugin", plugin, *chosen, "--measures", "AP")
    assert done.returncode == 0, done.stderr
    with (out / "results.csv").open() as stream:
        rows = [row for row in csv.DictReader(stream) if row["codes"] == "encoded"]
    values = {
        (row["method"], row["task"]): float(row["value"])
        for row in rows
        if row["database"] == "unseen"
    }
    for task in ("image->text", "text->image"):
        assert values["contrast", task] > 1.3 * values["random", task]
