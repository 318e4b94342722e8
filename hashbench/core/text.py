"""Limit the length of texts from outside, and replace their control characters.

What a method raises or prints, and what a file calls its variables, may be ten megabytes, half of
a character, or a command to a terminal. It is cleaned once, where it is received.
"""

from __future__ import annotations

import re
import unicodedata

LONGEST_LINE = 500  # letters of a reason, a note or a name
LONGEST_TEXT = 16_000  # of a traceback or of what was printed

#: What a spreadsheet takes for a formula.
_FORMULA = re.compile(r"[=+\-@\t]")


def one_line(text: object, longest: int = LONGEST_LINE) -> str:
    """Return a text on one line, cut in the middle where it is too long.

    Examples
    --------
    >>> one_line("a third \\x1b[31meigenvalue\\nis zero")
    'a third \\\\x1b[31meigenvalue is zero'
    >>> one_line("abcdefghij" * 10, longest=20)
    'abcdefg ... defghij'
    """
    return _cut(" ".join(_escape_controls(_bounded(str(text), longest)).split()), longest)


def several_lines(text: object) -> str:
    """Return a text with its line breaks, cut in the middle where it is too long."""
    return _cut(_escape_controls(_bounded(str(text), LONGEST_TEXT)), LONGEST_TEXT)


def spreadsheet_text(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula.

    An apostrophe in front is how one types such a text there.

    Examples
    --------
    >>> spreadsheet_text("=cmd()"), spreadsheet_text("edsh")
    ("'=cmd()", 'edsh')
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n")  # a bare return is not quoted
    return f"'{lines}" if _FORMULA.match(lines) else lines


def _bounded(text: str, longest: int) -> str:
    """Return both ends of a long text, enough for :func:`_cut`: escaping ten MB is slow."""
    return text if len(text) <= 8 * longest else text[: 4 * longest] + text[-4 * longest :]


def _escape_controls(text: str) -> str:
    """Write controls and halves of characters as their numbers; line breaks stay."""
    if text.isprintable():
        return text
    return "".join(letter if _is_text(letter) else _escape(letter) for letter in text)


def _is_text(letter: str) -> bool:
    # Cc: controls, Cf: marks that turn the direction of text or join letters, Cs: surrogates
    return letter in "\n\t" or unicodedata.category(letter) not in ("Cc", "Cf", "Cs")


def _escape(letter: str) -> str:
    code = ord(letter)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def _cut(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    part = (longest - len(" ... ")) // 2
    return f"{text[:part]} ... {text[-part:]}"
