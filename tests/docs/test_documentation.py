"""What README and docs show is what comes of running it."""

import json
import re
from pathlib import Path

import pytest

from hashbench.plugins.numerical_tolerance import measured
from tools import run_docs

PAGES = run_docs.pages()


def slow(page):
    return any("slow" in block.marks for block in run_docs.blocks(page.read_text()))


@pytest.mark.docs
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_shows_what_its_commands_print(page):
    wrong = run_docs.run_page(page)
    assert not wrong, "\n\n".join(wrong)


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if slow(page)], ids=lambda page: page.stem)
def test_a_page_shows_what_its_slow_commands_print(page):
    wrong = run_docs.run_page(page, slow=True)
    assert not wrong, "\n\n".join(wrong)


PAGE = """
Words.

<!-- before
from pathlib import Path
Path("made.txt").write_text("made before")
-->
```console
$ echo score 0.5000
score 0.5000
$ echo anything 12, 1.5
any... 12, 1.5
$ cat made.txt
made before
$ echo wrong >&2; exit 2
wrong
[exit 2]
```

```python title="file.py"
print("written, not run")
```

<!-- not run: it takes hours -->
```console
$ false
```

<!-- slow -->
```console
$ false
```

```python
assert open("file.py").read().startswith("print")
```

```python
>>> x = 0.25
>>> 2 * x
0.5
```
"""


@pytest.fixture
def page(tmp_path, monkeypatch):
    monkeypatch.setattr(run_docs, "ROOT", tmp_path)
    monkeypatch.setattr(run_docs, "exact", lambda: True)
    place = tmp_path / "page.md"
    place.write_text(PAGE)
    return place


def test_what_is_right_passes(page):
    assert run_docs.run_page(page) == []


@pytest.mark.parametrize(
    ("right", "altered", "message"),
    [
        ("score 0.5000\n$", "score 0.5001\n$", "expected"),
        ("score 0.5000\n$", "scores 0.5000\n$", "expected"),
        ("any... 12, 1.5\n$", "any... 13, 1.5\n$", "expected"),
        ("any... 12, 1.5\n$", "any... 12, 1.6\n$", "expected"),
        ("[exit 2]", "[exit 3]", "expected"),
        ("made before\n$", "made\n$", "expected"),
        ("<!-- not run: it takes hours -->\n", "", "exit 1"),
        ("<!-- slow -->\n", "", "exit 1"),
        ('startswith("print")', 'startswith("x")', "AssertionError"),
        ("2 * x\n0.5", "2 * x\n0.6", "expected"),
        ("Words.", "```\nhashbench run\n```", "neither run nor"),
        ("Words.", "Words:\n\n    hashbench run", "neither run nor"),
    ],
)
def test_what_is_altered_by_hand_is_found(page, right, altered, message):
    assert PAGE.count(right) == 1
    page.write_text(PAGE.replace(right, altered))
    (wrong,) = run_docs.run_page(page)
    assert message in wrong


def test_slow_blocks_run_when_asked_for(page):
    (wrong,) = run_docs.run_page(page, slow=True)
    assert "$ false" in wrong


def test_numbers_are_near_on_another_machine(page, monkeypatch):
    page.write_text(PAGE.replace("score 0.5000\n$", "score 0.5050\n$"))
    assert len(run_docs.run_page(page)) == 1
    monkeypatch.setattr(run_docs, "exact", lambda: False)
    assert run_docs.run_page(page) == []


def test_numbers_of_methods_are_as_near_as_rounding_leaves_them(monkeypatch):
    monkeypatch.setattr(run_docs, "exact", lambda: False)
    shaken = max(measured(), key=lambda name: measured()[name].largest)
    assert run_docs.tolerance(f"{shaken}  0.5") == measured()[shaken].largest
    assert run_docs.tolerance("random  0.5") == run_docs.LEAST
    assert run_docs.tolerance("mean  0.5") == run_docs.TOLERANCE
    table = "method  16 bits\nrandom  0.5000\n"
    for value, near in (("0.5015", True), ("0.5025", False)):
        assert run_docs.same(table, table.replace("0.5000", value), run_docs.tolerance) is near


def test_numbers_are_exact_where_the_pages_were_written(tmp_path, monkeypatch):
    place = tmp_path / "written-on.json"
    monkeypatch.setattr(run_docs, "WRITTEN_ON", place)
    for written, allowed in ((run_docs.here(), 0.0), ({"numpy": "1"}, run_docs.TOLERANCE)):
        place.write_text(json.dumps(written))
        run_docs.exact.cache_clear()
        assert run_docs.tolerance("") == allowed
    run_docs.exact.cache_clear()


def test_writing_puts_in_what_is_printed(page):
    page.write_text(PAGE.replace("score 0.5000\n$", "another text\n$").replace("\n0.5\n", "\n1\n"))
    run_docs.run_page(page, write=True)
    assert page.read_text() == PAGE


def test_a_planned_block_is_planned(page):
    text = "<!-- planned: hours -->\n```console\n$ echo hashbench run -s 5\n{}```\n"
    page.write_text(text.format("hashbench run --plan -s 5\n"))
    assert run_docs.run_page(page) == []
    page.write_text(text.format("hashbench run -s 5\n"))
    assert len(run_docs.run_page(page)) == 1


def test_what_readme_shows_of_its_first_command(monkeypatch):
    monkeypatch.setattr(run_docs, "exact", lambda: True)
    text = (run_docs.ROOT / "README.md").read_text()
    (shown,) = [each.body for each in run_docs.blocks(text) if each.mark.startswith("printed by")]
    assert run_docs.printed_by_readme(f"before\n{shown}after\n") == []
    altered = re.sub(r"0\.\d", "0.1", shown, count=1)
    assert run_docs.printed_by_readme(altered)
    monkeypatch.setattr(run_docs, "exact", lambda: False)
    assert run_docs.printed_by_readme(shown) == []
    assert len(run_docs.printed_by_readme(altered)) == 1


def test_links_between_pages_lead_somewhere():
    for page in run_docs.pages():
        text = re.sub(r"```.*?^```$", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
            if not re.match(r"[a-z]+:", target):
                assert (page.parent / target).exists(), f"{page.name}: {target}"
                assert Path(target).suffix != "" or target.endswith("/"), target


FILE = re.compile(r"`((?:tests|research|tools|benchmarks|hashbench|docs)/[\w/.-]+\.\w+)`")


def test_files_that_pages_name_exist():
    written = [run_docs.ROOT / "CONTRIBUTING.md", *run_docs.pages()]
    named = {(page.name, name) for page in written for name in FILE.findall(page.read_text())}
    missing = {(page, name) for page, name in named if not (run_docs.ROOT / name).exists()}
    assert len(named) > 20
    assert not missing
