"""What README and docs show is what comes of running it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import run_docs

RUN = [page for page in run_docs.pages() if "```console" in page.read_text()]


@pytest.mark.parametrize("page", RUN, ids=lambda page: page.name)
def test_a_page_shows_what_its_commands_print(page):
    wrong = run_docs.run_page(page)
    assert not wrong, "\n\n".join(wrong)


PAGE = """
Words.

```console
$ echo score 0.5000
score 0.5100
$ echo anything 12
any... 12
```

```python title="file.py"
print("written, not run")
```

<!-- not run: it takes hours -->
```console
$ false
```

```python
assert open("file.py").read().startswith("print")
```
"""


@pytest.fixture
def page(tmp_path, monkeypatch):
    monkeypatch.setattr(run_docs, "ROOT", tmp_path)
    place = tmp_path / "page.md"
    place.write_text(PAGE)
    return place


def test_what_is_right_passes(page):
    assert run_docs.run_page(page) == []


@pytest.mark.parametrize(
    ("right", "altered", "message"),
    [
        ("score 0.5100", "score 0.6100", "expected"),
        ("score 0.5100", "scores 0.5100", "expected"),
        ("any... 12", "any... 13", "expected"),
        ("<!-- not run: it takes hours -->\n", "", "exit 1"),
        ('startswith("print")', 'startswith("x")', "AssertionError"),
        ("```python\nassert", "```\nhashbench run\n```\n```python\nassert", "neither run nor"),
    ],
)
def test_what_is_altered_by_hand_is_found(page, right, altered, message):
    assert right in PAGE
    page.write_text(PAGE.replace(right, altered))
    (wrong,) = run_docs.run_page(page)
    assert message in wrong


def test_writing_puts_in_what_is_printed(page):
    page.write_text(PAGE.replace("score 0.5100", "another text"))
    run_docs.run_page(page, write=True)
    assert page.read_text() == PAGE.replace("score 0.5100", "score 0.5000")


def test_links_between_pages_lead_somewhere():
    for page in run_docs.pages():
        text = re.sub(r"```.*?^```$", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
            if not re.match(r"[a-z]+:", target):
                assert (page.parent / target).exists(), f"{page.name}: {target}"
                assert Path(target).suffix != "" or target.endswith("/"), target
