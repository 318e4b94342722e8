"""Every method against other code, on the data that code was run on: scores are as recorded."""

import numpy as np
import pandas as pd
import pytest

from hashbench.plugins.method import FIDELITIES
from hashbench.plugins.registry import discover
from hashbench.plugins.selection import parse_item
from research import fidelity, fidelity_doc, fidelity_words
from research.equivalence import DIFFERENT, TOLERANCE, judge
from research.fidelity_originals import DEFAULT, ORIGINALS, originals
from tests.helpers.data import needs_data

RECORD = pd.read_csv(fidelity.RECORD)
#: Code lengths that every run of the suite compares, and of slow methods; the others take minutes
#: more.
SLOW = ("alech", "ccq", "dlfh", "fsh", "imh", "kdlfh", "lssh", "scratch", "seph")
OFTEN, SELDOM = (8, 16, 32), dict.fromkeys(SLOW, (16,))


def marks(typed, bits):
    often = SELDOM.get(parse_item(typed)[0], OFTEN)
    return () if bits in often else pytest.mark.slow


CASES = [
    pytest.param(dataset, typed, bits, form, marks=marks(typed, bits))
    for dataset in fidelity.SOURCES
    for typed, bits in fidelity.referenced(dataset)
    for form in fidelity.forms(typed)
]


@needs_data
@pytest.mark.parametrize(("dataset", "typed", "bits", "form"), CASES)
def test_as_good_as_recorded(dataset, typed, bits, form):
    """The first five runs, from which the others of a noisy method are not known to differ."""
    runs = [fidelity.scores(dataset, typed, form, bits, seed) for seed in fidelity.SEEDS]
    found = fidelity.spread(runs)
    own = RECORD.query("dataset == @dataset and method == @typed and form == @form")
    own = own[own["bits"] == bits]
    moved = found[~fidelity.held(found, own)]
    assert moved.empty, "\n" + moved.to_string(index=False)


def test_the_record_has_every_comparison_in_every_form():
    wanted = pd.concat([fidelity.reference(dataset) for dataset in fidelity.SOURCES])
    wanted = wanted.assign(form=wanted["method"].map(fidelity.forms)).explode("form")
    pairs = RECORD.merge(wanted, on=fidelity.KEYS, how="outer", indicator=True)
    assert (pairs["_merge"] == "both").all()
    np.testing.assert_allclose(pairs["theirs"], pairs["mean"], atol=1e-5)
    np.testing.assert_array_equal(pairs["their_seeds"], pairs["count"])
    few, all_runs = len(fidelity.SEEDS), len(fidelity.SEEDS) + len(fidelity.MORE_SEEDS)
    assert pairs["seeds"].isin([few, all_runs]).all()


def test_the_record_follows_from_its_numbers():
    again = judge(RECORD)
    np.testing.assert_allclose(RECORD[["low", "high"]], again[["low", "high"]], atol=2e-4)
    ends = RECORD[["low", "high", "difference"]].abs()
    edge = ends.sub(TOLERANCE).abs().lt(5e-4).any(axis=1)
    sure = ~edge  # rounding to five places decides nothing but edges
    assert (again["verdict"] == RECORD["verdict"])[sure].all()
    assert (again["compared"] == RECORD["compared"]).all()


def test_the_page_says_what_follows_from_the_record():
    page = (fidelity.ROOT / "docs" / "research" / "fidelity.md").read_text(encoding="utf-8")
    for part in fidelity_doc.parts(RECORD).values():
        assert part in page


def test_every_original_is_of_a_method_that_is_compared():
    names = {parse_item(typed)[0] for typed in RECORD["method"]}
    assert set(ORIGINALS) <= names
    assert not originals("imh[batch_thresholds=true]")  # it is there already
    for name, known in ORIGINALS.items():  # and their parameters exist
        for each in known:
            assert set(each.parameters) <= set(discover().get("methods", name).cls.defaults())


def test_a_word_is_what_the_record_earns():
    methods = {name: plugin.cls for name, plugin in discover().methods.items()}
    words = fidelity_words.earned()
    assert {name: methods[name].paper.fidelity for name in words} == words
    compared = {"equivalent", "equivalent, biased", "consistent", "differs"}
    assert {name for name, cls in methods.items() if cls.paper.fidelity in compared} == set(words)
    assert not compared - set(FIDELITIES)


def test_the_mark_of_rank_is_where_ours_exceeds_others_beyond_it():
    marked = {name for name, plugin in discover().methods.items() if plugin.cls.paper.up_to_rank}
    assert marked == {"cca", "cca-itq", "cvh", "scm-o"}
    beyond = RECORD[RECORD["beyond_rank"] & RECORD["form"].eq(DEFAULT)]
    assert set(beyond["method"].map(lambda typed: parse_item(typed)[0])) == marked
    for name in ("cca", "cvh", "scm-o"):  # nothing but the bits beyond the rank is other
        differ = beyond[beyond["method"].eq(name) & beyond["verdict"].eq(DIFFERENT)]
        assert len(differ) > 0
        assert (differ["difference"] > 0).all()


@pytest.mark.parametrize(
    ("ours", "std", "holds"),
    [(0.254, 0.0, True), (0.256, 0.0, False), (0.26, 0.01, True), (0.27, 0.01, False)],
)
def test_a_score_stays_where_it_was_recorded(ours, std, holds):
    ranking = {"task": "image->text", "database": "encoded", "measure": "AP"}
    found = pd.DataFrame([{**ranking, "ours": ours, "ours_std": std}])
    record = pd.DataFrame([{**ranking, "ours": 0.25, "ours_std": std}])
    assert fidelity.held(found, record).tolist() == [holds]
    assert fidelity.held(found, record.iloc[:0]).tolist() == [False]


def test_what_is_recorded_for_the_present_code_is_complete():
    row = {"dataset": "wiki", "method": "cca", "form": DEFAULT, "bits": 8, "seeds": 5}
    row |= {"ours_std": 0.0, "source": fidelity.source("cca")}
    key = ("wiki", "cca", DEFAULT, 8)
    assert fidelity.complete(pd.DataFrame([row])) == {key}
    assert not fidelity.complete(pd.DataFrame([row | {"source": "other"}]))
    assert not fidelity.complete(pd.DataFrame([row | {"ours_std": 0.006}]))
    assert fidelity.complete(pd.DataFrame([row | {"ours_std": 0.006, "seeds": 20}])) == {key}
    assert not fidelity.complete(pd.DataFrame())


@needs_data
@pytest.mark.parametrize("bits", [8, 16, 24, 32])
def test_scm_s_finds_the_very_codes(bits):
    method = discover().get("methods", "scm-s").cls(n_bits=bits)
    train, query, train_labels, _ = fidelity.split_parts("wiki")
    method.fit(train, train_labels)
    theirs = np.load(fidelity.REFERENCE / "scm_s_wiki_codes.npz")
    flips = []
    for view, word in enumerate(("image", "text")):
        for part, X in (("query", query[view]), ("database", train[view])):
            stored = np.unpackbits(theirs[f"{word}_{part}_{bits}"], axis=1)[:, :bits]
            flips.append((method.encode(X, view) != stored.astype(bool)).mean(axis=0))
    flips = np.array(flips)
    # A bit may be flipped in both views at once: then it differs everywhere.
    assert np.isin(flips, [0, 1]).all()
    assert (flips == flips[0]).all()
