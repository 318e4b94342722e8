"""Somebody else's text is made harmless, and what was harmless is left alone."""

import json

from hypothesis import given
from hypothesis import strategies as st

from hashbench.core.text import LONGEST_LINE, LONGEST_TEXT, one_line, several_lines

ANY = st.text(st.characters(codec=None))  # halves of characters too


@given(ANY)
def test_whatever_it_was_it_can_be_written_and_shown(text):
    for clean in (one_line(text), several_lines(text)):
        clean.encode("utf-8")
        assert json.loads(json.dumps(clean)) == clean
        assert not set(clean) & {"\x1b", "\x00", "\u202e", "\x9b"}
    assert "\n" not in one_line(text)


def test_plain_text_stays_as_it_is():
    assert (
        one_line("η: found −1; allowed: ≥ 0 (naïve 日本)")
        == "η: found −1; allowed: ≥ 0 (naïve 日本)"
    )
    assert several_lines("a\n\tb\n") == "a\n\tb\n"


def test_ten_megabytes_keep_their_ends():
    text = "begin " + "\ud800" * 10_000_000 + " end"
    for clean, longest in ((one_line(text), LONGEST_LINE), (several_lines(text), LONGEST_TEXT)):
        assert len(clean) <= longest
        assert clean.startswith("begin")
        assert clean.endswith("end")
