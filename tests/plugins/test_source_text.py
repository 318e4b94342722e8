"""What of a file decides whether results are computed again."""

import pytest

from hashbench.plugins.registry import discover
from hashbench.plugins.source_hash import source_hash
from hashbench.plugins.source_text import code_of

TEXT = b'''"""About."""
from hashbench import Method, Paper  # names


class Mine(Method):
    """A method."""

    name, title = "mine", "Mine"
    paper = Paper(year=2020, fidelity="own")

    def fit(self, views, labels=None):
        """Fit."""
        # a remark
        self.a_ = f"{views!r}" + str(
            1.5
        )
        return self
'''


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"About.", b"Something else."),
        (b"  # names", b""),
        (b'"""A method."""', b'"""A better method."""'),
        (b"2020", b"2021"),
        (b'"own"', b'"verified"'),
        (b"# a remark", b"\n"),
        (b"str(\n            1.5\n        )", b"str(1.5)"),
        (b'        """Fit."""\n', b""),
    ],
)
def test_what_cannot_change_an_outcome_is_left_out(old, new):
    assert old in TEXT
    assert code_of(TEXT.replace(old, new)) == code_of(TEXT)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"1.5", b"1.6"),
        (b"views!r", b"views!s"),
        (b'"mine"', b'"yours"'),
        (b"labels=None", b"labels=0"),
        (b"return self", b"pass"),
        (b"import Method, Paper", b"import Method, Paper, Log"),
    ],
)
def test_code_counts(old, new):
    assert old in TEXT
    assert code_of(TEXT.replace(old, new)) != code_of(TEXT)


def test_a_file_that_does_not_parse_counts_as_it_is():
    assert code_of(b"def broken(") == b"def broken("


def test_methods_have_different_hashes():
    methods = discover().methods
    assert len({source_hash(methods[name]) for name in ("edsh", "scm-s", "scm-o", "cca")}) == 4
