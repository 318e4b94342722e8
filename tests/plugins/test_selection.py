import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hashbench.base.errors import HashbenchError
from hashbench.plugins.selection import Choice, format_value, parse_value, select

KNOWN = {
    "edsh": ["gamma", "alpha"],
    "edsh-dcc": ["gamma"],
    "cca": ["ridge"],
    "random": [],
}


def names(text):
    return [str(choice) for choice in select(text, KNOWN, "method")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("edsh,cca", ["edsh", "cca"]),
        ("edsh*", ["edsh", "edsh-dcc"]),
        ("all,!edsh*", ["cca", "random"]),
        ("edsh[gamma=1]", ["edsh[gamma=1]"]),
        (
            "edsh[gamma=1|10,alpha=2]",
            ["edsh[alpha=2,gamma=1]", "edsh[alpha=2,gamma=10]"],
        ),
        ("cca,cca", ["cca"]),
        ("cca, random", ["cca", "random"]),
        ("cca[ridge=1e-4]", ["cca[ridge=0.0001]"]),
        ("edsh[gamma=1|10],!edsh[gamma=10]", ["edsh[gamma=1]"]),
    ],
)
def test_grammar(text, expected):
    assert names(text) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("edhs", "unknown method 'edhs'; did you mean 'edsh'"),
        ("edsh[gama=1]", "unknown parameter of edsh 'gama'; did you mean 'gamma'"),
        ("edsh[gamma]", "found 'gamma'; allowed: name=value"),
        ("edsh[gamma=1", "brackets do not match"),
        ("zz*", "no method matches 'zz*'"),
        ("cca,!cca", "no method is left"),
        ("!cca", "as in all,!NAME"),
        ("edsh[gamma=1,gamma=2]", "found gamma twice; allowed: once"),
        ("edsh[gamma=1|]", "found 'gamma=1|'; allowed: name=value"),
    ],
)
def test_errors_name_the_thing(text, message):
    with pytest.raises(HashbenchError, match=re.escape(message)):
        names(text)


@given(
    st.one_of(
        st.integers(-(10**9), 10**9),
        st.floats(allow_nan=False, allow_infinity=False),
        st.booleans(),
        st.none(),
    )
)
def test_values_parse_back(value):
    assert parse_value(format_value(value)) == value


def test_a_choice_parses_back():
    (choice,) = select("edsh[gamma=0.5,alpha=3]", KNOWN, "method")
    assert select(str(choice), KNOWN, "method") == [choice]
    assert choice == Choice("edsh", (("alpha", 3), ("gamma", 0.5)))
