import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hashbench.core.errors import HashbenchError
from hashbench.measures.grammar import (
    ALIASES,
    DEFAULT_MEASURES,
    FAMILIES,
    Measure,
    catalogue,
    parse,
    parse_many,
)
from hashbench.measures.presets import PRESETS


@st.composite
def texts(draw):
    """Names with any choices, of which some contradict each other."""
    family = draw(st.sampled_from(sorted(FAMILIES)))
    given_choices = []
    for name, choice in draw(st.permutations(sorted(FAMILIES[family].choices.items()))):
        values = [*choice.words, *([] if choice.least is None else [str(choice.least + 1)])]
        if draw(st.booleans()):
            given_choices.append(f"{name}={draw(st.sampled_from(values))}")
    cutoff = FAMILIES[family].cutoff
    at = cutoff == "required" or (cutoff in ("optional", "radius") and draw(st.booleans()))
    inside = f"({', '.join(given_choices)})" if given_choices else ""
    return family + inside + (f"@{draw(st.integers(1, 5000))}" if at else "")


@given(texts())
def test_a_name_parses_back_to_the_same_measure(text):
    try:
        measure = parse(text)
    except HashbenchError:
        return
    assert parse(str(measure)) == measure
    assert " " not in str(measure)
    assert all(
        value != FAMILIES[measure.family].choices[name].default for name, value in measure.given
    )


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("AP", "AP"),
        ("AP()", "AP"),
        ("mAP", "AP"),
        ("mAP(norm=all)@100", "AP(norm=all)@100"),
        (" AP( ties = index , norm=retrieved )@100", "AP(norm=retrieved,ties=index)@100"),
        ("AP(norm=retrieved)@100", "AP(norm=retrieved)@100"),
        ("AP(cut=hits)@5", "AP(cut=hits)@5"),
        ("AP(ties=index,norm=all,empty=zero)@50", "AP(empty=zero,norm=all,ties=index)@50"),
        ("AP(norm=all)", "AP"),
        ("AP(cut=hits)", "AP"),
        ("AP(no_hits=skip)", "AP"),
        ("AP(rel=1,norm=min)@5", "AP(norm=min)@5"),
        ("nDCG(rel=graded)@50", "nDCG@50"),
        ("nDCG(rel=1)@50", "nDCG(rel=1)@50"),
        ("nDCG(gain=linear)", "nDCG"),
        ("nDCG(gain=exp)@50", "nDCG(gain=exp)@50"),
        ("nDCG(gain=exp,rel=1)@50", "nDCG(rel=1)@50"),
        ("P(radius=0)", "P(radius=0)"),
        ("F1( rel=2, radius=2)", "F1(radius=2,rel=2)"),
        ("R(relevant=labels)@5", "R@5"),
        ("R(relevant=pair)@5", "R(relevant=pair)@5"),
        ("RR(relevant=pair,ties=index)", "RR(relevant=pair,ties=index)"),
        ("PR(by=rank)", "PR"),
        ("edsh", "AP(norm=retrieved,ties=index)@100"),
        ("dcmh", "AP(empty=zero,ties=index)"),
        ("seph", "AP(ties=index)"),
        ("topk(50)", "AP(norm=retrieved,ties=index)@50"),
        ("hashnet( 1000 )", "AP(no_hits=skip,norm=retrieved,ties=index)@1000"),
        ("topmap(50)", "AP(empty=zero,norm=retrieved,ties=index)@50"),
        ("torchcmh(50)", "AP(cut=hits,empty=zero,ties=index)@50"),
        ("trec(7)", "AP(norm=all)@7"),
        ("talr", "AP"),
        ("habir", "PRarea(empty=zero,mean=micro)"),
    ],
)
def test_canonical_form(text, canonical):
    assert str(parse(text)) == canonical


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("map", ["'map'", "'mAP'"]),
        ("AP@100", ["'AP@100'", "AP(norm=retrieved)@100", "first 100;", "AP(norm=all)@100"]),
        ("mAP(ties=index)@7", ["'mAP(ties=index)@7'", "AP(norm=retrieved)@7", "AP(norm=all)@7"]),
        ("AP(cut=ranks)@7", ["AP(norm=retrieved)@7"]),
        ("ndcg@5", ["'ndcg'", "'nDCG'"]),
        ("hashnett(5)", ["'hashnett'", "'hashnet'"]),
        ("xyz", ["'xyz'", "ACG, AP, F1, P, PR"]),
        ("AP(tie=index)", ["choice", "AP", "'tie'", "'ties'"]),
        ("AP(ties=random)", [" ties=random", "expected, index, optimistic, pessimistic"]),
        ("AP(rel=0)", [" rel=0", "1 to 1000000000"]),
        ("AP(rel=1000000001)", [" rel=1000000001", "1 to 1000000000"]),
        ("AP(rel=graded)", [" rel=graded", "1 to 1000000000"]),
        ("AP(ties=index,ties=index)", ["'ties=index'", "once"]),
        ("AP(ties)", ["'ties'", "choice=value"]),
        ("AP@0", ["cutoff '0'", "1 to 1000000000"]),
        ("AP@x", ["cutoff 'x'", "1 to 1000000000"]),
        ("AP@", ["cutoff ''", "1 to 1000000000"]),
        ("AP@99999999999999999999", ["cutoff '99999999999999999999'", "1 to 1000000000"]),
        (5, ["measure 5", "FAMILY(choice=value,...)@cutoff"]),
        ("P", ["'P'", "P@100", "P(radius=2)"]),
        ("P(radius=x)", [" radius=x", "0 to 1000000000"]),
        ("R(radius=2)@5", ["'R(radius=2)@5'", "cutoff or a radius"]),
        ("F1(radius=2,ties=index)", [": ties ", "radius"]),
        ("AP(radius=2)", ["choice of AP", "'radius'"]),
        ("ACG", ["'ACG'", "ACG@100"]),
        ("ACG(rel=2)@5", ["choice of ACG", "'rel'"]),
        ("RR@5", ["'RR@5'", "cutoff"]),
        ("R(relevant=pair,rel=2)@5", [": rel ", "relevant=pair"]),
        ("P(relevant=pair)@5", ["choice of P", "'relevant'"]),
        ("AP(cut=hits,norm=all)@5", ["cut=hits ", "norm "]),
        ("AP(no_hits=skip,norm=all)@5", ["no_hits=skip ", "ties=index"]),
        ("PR(by=radius,ties=index)", [": ties ", "radius"]),
        ("PR(mean=micro)", [": mean ", "rank"]),
        ("AP 100", ["'AP 100'", "FAMILY(choice=value,...)@cutoff"]),
        ("topk", ["'topk'", "topk(K)", "topk(50)"]),
        ("topk(0)", ["'topk(0)'", "topk(K)"]),
        ("topk(99999999999999999999)", ["topk(K)"]),
        ("edsh(5)", ["'edsh(5)'", " edsh"]),
        ("edsh@5", ["'edsh@5'", " edsh"]),
    ],
)
def test_wrong_names_are_refused(text, facts):
    with pytest.raises(HashbenchError) as error:
        parse(text)
    assert all(fact in str(error.value) for fact in facts), error.value


def test_lists_of_names():
    text = "AP, AP(norm=all, ties=index)@5,edsh,AP(norm=retrieved,ties=index)@100,mAP"
    names = [str(m) for m in parse_many(text)]
    assert names == ["AP", "AP(norm=all,ties=index)@5", "AP(norm=retrieved,ties=index)@100"]
    assert parse_many(["P@1", parse("AP")]) == [parse("P@1"), parse("AP")]
    assert parse_many("") == []


def test_a_changed_choice_stays_canonical():
    changed = parse("AP(norm=all,ties=index)@5").with_(ties="expected")
    assert str(changed) == "AP(norm=all)@5"
    assert parse("AP").with_(rel=2) == Measure("AP", (("rel", 2),))


def test_defaults_are_canonical():
    assert [str(parse(name)) for name in DEFAULT_MEASURES] == list(DEFAULT_MEASURES)


def test_the_list_explains_every_family_choice_and_preset():
    entries = {re.split(r"[(\[@=]", entry.name)[0]: entry for entry in catalogue()}
    choices = {choice for family in FAMILIES.values() for choice in family.choices}
    assert set(entries) == {*FAMILIES, *ALIASES, *choices, *PRESETS}
    assert all(0 < len(entry.summary) < 200 for entry in entries.values())
    assert all(entries[name].reproduces for name in PRESETS)


def test_the_documentation_names_everything():
    text = (Path(__file__).parents[2] / "docs" / "guide" / "measures.md").read_text()
    assert all(f"`{name}`" in text for name in ALIASES)
    for name, family in FAMILIES.items():
        assert f"`{name}" in text
        for choice, spec in family.choices.items():
            assert f"`{choice}`" in text
            assert all(f"`{word}`" in text for word in spec.words), choice
    for name, preset in PRESETS.items():
        shown = f"{name}(K)" if preset.takes_cutoff else name
        assert f"| `{shown}` | `{preset.stands_for.format(K='K')}` |" in text
    assert all(f"`{name}`" in text for name in DEFAULT_MEASURES)


def test_names_cost_no_heavy_import():
    code = (
        "import sys, hashbench.measures; "
        "print([m for m in ('numpy', 'numba', 'scipy', 'pandas') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
