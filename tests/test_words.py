"""Names and sentences use the terms of the field, not pictures for them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

#: Folders where every name and sentence is checked.
FOLDERS = (
    "hashbench", "methods", "datasets", "reports", "docs", "tests", "examples", "benchmarks",
    "research", "tools",
)  # fmt: skip

#: word -> what to write instead; endings and parts of identifiers are found, too
HINTS = {
    "shelf": "cache",
    "hardship": "modifier, harder protocol",
    "rooms": "packages",
    "believed": "validated",
    "owed": "remaining",
    "drown": "dominate, hide",
    "told": "logged, distinguished",
    "untold": "not logged",
    "at hand": "available, cached",
    "kept aside": "held out",
    "telltale": "sign",
    "wish": "option, request",
    "beside the point": "irrelevant",
    "whoever asks": "the caller",
    "stands for itself": "is clear",
}
NOUNS = "bit|cell|class|column|dataset|file|item|line|method|module|plugin|query|row|seed|task|view"
SINGLE = f"{NOUNS}|array|code|colour|factorisation|map|number|preprocessing|regression|script|value"
PLURAL = "arrays|bits|bytes|codebooks|labels|operations|passes|products|rows|steps|values"
IDIOM = re.compile(
    rf"\b(?:(?:an?|one|\d+) (?:[\w']+ )?(?:[\w']+ )?(?:{SINGLE})|{PLURAL})"
    rf" an? (?:{NOUNS}|iteration|split)\b"
)
WORDS = re.compile(rf"(?<![a-zA-Z])(?:{'|'.join(HINTS)})(?:s|ed|ing)?(?![a-zA-Z])", re.IGNORECASE)


def hits(text: str) -> list[str]:
    """Return one line per metaphor in a text: its line, the word and the hint."""
    found = []
    for match in WORDS.finditer(text):
        word = next(each for each in HINTS if match[0].lower().startswith(each))
        found.append((match.start(), f"{match[0]!r}: write {HINTS[word]}"))
    found += [(m.start(), f"{m[0]!r}: write one X per Y") for m in IDIOM.finditer(text)]
    return [f"{text.count(chr(10), 0, start) + 1}: {hint}" for start, hint in sorted(found)]


@pytest.mark.parametrize("folder", FOLDERS)
def test_words_of_the_field(folder):
    if not (ROOT / folder).exists():
        pytest.skip("not run from a source tree")
    texts = (".py", ".md", ".ipynb", ".toml", ".txt")
    paths = [path for path in (ROOT / folder).rglob("*") if path.suffix in texts]
    paths = [path for path in paths if path != Path(__file__)]
    assert [f"{p.relative_to(ROOT)}:{hit}" for p in paths for hit in hits(p.read_text())] == []


def test_each_kind_of_hit_is_found():
    assert len(hits("shelf_size = 1\nthe queries are told\na row a cell\none file a plugin")) == 4
    assert hits("one row per cell; the path; a method a user wrote; selfish; stolde") == []
