import pytest
from hypothesis import given
from hypothesis import strategies as st

from hashbench.core.errors import HashbenchError
from hashbench.plugins.selection import Selection, format_value, parse_value, select

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
    ("text", "facts"),
    [
        ("edhs", ["method", "'edhs'", "'edsh'"]),
        ("edsh[gama=1]", ["parameter", "edsh", "'gama'", "'gamma'"]),
        ("edsh[gamma]", ["'edsh[gamma]'", "'gamma'", "name=value"]),
        ("edsh[gamma=1", ["'edsh[gamma=1'", "brackets"]),
        ("zz*", ["'zz*'", "`hashbench list methods`"]),
        ("cca,!cca", ["'cca,!cca'", "all,!NAME"]),
        ("!cca", ["'!cca'", "all,!NAME"]),
        ("edsh[gamma=1,gamma=2]", ["'edsh[gamma=1,gamma=2]'", "gamma twice"]),
        ("edsh[gamma=1|]", ["'gamma=1|'", "name=value"]),
    ],
)
def test_errors_name_the_thing(text, facts):
    with pytest.raises(HashbenchError) as error:
        names(text)
    assert all(fact in str(error.value) for fact in facts), error.value


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
    assert choice == Selection("edsh", (("alpha", 3), ("gamma", 0.5)))


GROUPS = {"reconstructions": ["cca"]}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("all", ["edsh", "edsh-dcc", "random"]),
        ("all,reconstructions", ["edsh", "edsh-dcc", "random", "cca"]),
        ("reconstructions", ["cca"]),
        ("reconstructions[ridge=1]", ["cca[ridge=1]"]),
        ("cca,random", ["cca", "random"]),
        ("c*,random", ["cca", "random"]),
        ("cca,random,!reconstructions", ["random"]),
        ("cca,random,!all", ["cca"]),
    ],
)
def test_all_leaves_out_groups_that_are_selected_by_their_word(text, expected):
    assert [str(choice) for choice in select(text, KNOWN, "method", groups=GROUPS)] == expected
