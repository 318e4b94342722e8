"""The public function: properties that hold for all codes, and every measure by its definition."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

import hashbench
from hashbench.core.codes import pack
from hashbench.core.errors import HashbenchError
from hashbench.measures import DEFAULT_MEASURES, evaluate

NUMBERS = (
    "AP",
    "AP(norm=retrieved)@7",
    "AP(norm=all)@7",
    "AP(norm=min)@7",
    "AP(cut=hits)@3",
    "AP(rel=2)",
    "P@7",
    "R@7",
    "F1@7",
    "Success@7",
    "RR",
    "Rprec",
    "nDCG",
    "nDCG@7",
    "nDCG(gain=exp)@7",
    "nDCG(rel=1)@7",
    "ACG@7",
    "WAP",
    "WAP@7",
    "P(radius=1)",
    "R(radius=1)",
    "F1(radius=1)",
    "Success(radius=1)",
    "PRarea",
    "PRarea(mean=micro)",
)
ORDERED = tuple(name for name in NUMBERS if hashbench.measures.parse(name).has_ties)
cases = st.integers(0, 10**6)


def index_form(name):
    return str(hashbench.measures.parse(name).with_(ties="index"))


@settings(max_examples=25, deadline=None)
@given(cases)
def test_the_order_of_the_rows_does_not_matter(make_case, seed):
    query, database, query_labels, database_labels = make_case(seed)
    shuffle = np.random.default_rng(seed).permutation(len(database))
    one = evaluate(query, database, query_labels, database_labels, NUMBERS, per_query=True)
    other = evaluate(
        query, database[shuffle], query_labels, database_labels[shuffle], NUMBERS, per_query=True
    )
    for name in NUMBERS:
        np.testing.assert_array_equal(one.scores[name].per_query, other.scores[name].per_query)


@settings(max_examples=25, deadline=None)
@given(cases)
def test_index_order_and_expectation_lie_between_the_bounds(make_case, seed):
    case = make_case(seed)
    expected = evaluate(*case, ORDERED, bounds=True)
    index = evaluate(*case, [index_form(name) for name in ORDERED], bounds=True)
    for name in ORDERED:
        low, high = expected.scores[name].bounds
        assert low - 1e-12 <= expected[name] <= high + 1e-12
        assert low - 1e-12 <= index[index_form(name)] <= high + 1e-12
        assert index.scores[index_form(name)].bounds == (low, high)


@settings(max_examples=25, deadline=None)
@given(cases)
def test_index_order_agrees_with_a_stable_sort(plain, make_case, seed):
    case = make_case(seed)
    _, shared = plain.stable_order(*case)
    values = evaluate(*case, [index_form(name) for name in ORDERED], per_query=True)
    for q, grades in enumerate(shared):
        if not (grades > 0).any():
            assert all(np.isnan(score.per_query[q]) for score in values.scores.values())
            continue
        expected = plain.measures(grades.tolist(), 7)
        expected["AP(cut=hits)@3"] = plain.first_hits_precision(grades > 0, 3)
        if (grades >= 2).any():
            expected["AP(rel=2)"] = plain.average_precision(grades >= 2, 60, "all")
        checked = [name for name in ORDERED if name in expected]
        assert len(checked) >= len(ORDERED) - 1
        for name in checked:
            found = values.scores[index_form(name)].per_query[q]
            assert found == pytest.approx(expected[name], abs=1e-12), name


@settings(max_examples=25, deadline=None)
@given(cases)
def test_without_ties_every_treatment_gives_the_same(make_case, seed):
    generator = np.random.default_rng(seed)
    # thermometer codes: item i differs from the query in i bits, so that no distance occurs twice
    database = np.tri(40, 39, -1, dtype=bool)[generator.permutation(40)]
    query = np.zeros((1, 39), bool)
    labels = generator.random((41, 3)) < 0.4
    labels[:2, :2] = True
    case = (query, database, labels[:1], labels[1:])
    expected = evaluate(*case, ORDERED, bounds=True)
    index = evaluate(*case, [index_form(name) for name in ORDERED])
    for name in ORDERED:
        assert expected[name] == pytest.approx(index[index_form(name)], abs=1e-12), name
        assert expected.scores[name].bounds == pytest.approx((expected[name],) * 2, abs=1e-12)


@settings(max_examples=25, deadline=None)
@given(cases)
def test_a_constant_code_scores_chance(make_case, seed):
    query, database, query_labels, database_labels = make_case(seed, density=0.5)
    query[:], database[:] = True, True
    values = evaluate(
        query, database, query_labels, database_labels, ORDERED, chance=True, per_query=True
    )
    for name in ORDERED:
        assert values.scores[name].value == pytest.approx(values.scores[name].chance, abs=1e-15)
    # what exactly: precision is R/N at every rank; AP lies above it, because the precision at a
    # relevant rank counts that very item
    shared = query_labels.astype(int) @ database_labels.astype(int).T > 0
    R, N = shared.sum(axis=1), len(database)
    there = R > 0
    np.testing.assert_allclose(values.scores["P@7"].per_query[there], (R / N)[there], atol=1e-15)
    harmonic = (1 / np.arange(1, N + 1)).sum() / N
    chance = harmonic + (R - 1) / (N - 1) * (1 - harmonic)
    np.testing.assert_allclose(values.scores["AP"].per_query[there], chance[there], atol=1e-14)


def test_chance_is_the_mean_over_random_orders(plain, make_case):
    query, database, query_labels, database_labels = make_case(3, n_queries=1, density=0.5)
    values = evaluate(
        query, database, query_labels, database_labels, "AP,AP(norm=retrieved)@7", chance=True
    )
    generator = np.random.default_rng(0)
    hit = (query_labels.astype(int) @ database_labels.astype(int).T > 0)[0]
    orders = [generator.permutation(hit) for _ in range(4000)]
    for name, cutoff in (("AP", 60), ("AP(norm=retrieved)@7", 7)):
        mean = np.mean([plain.average_precision(order, cutoff, "retrieved") for order in orders])
        assert values.scores[name].chance == pytest.approx(mean, abs=0.01)


@settings(max_examples=25, deadline=None)
@given(cases, st.integers(0, 6))
def test_within_a_radius(make_case, seed, radius):
    case = make_case(seed)
    names = [f"{family}(radius={radius})" for family in ("P", "R", "F1", "Success")]
    values = evaluate(*case, names, per_query=True)
    near = (case[0][:, None] != case[1][None]).sum(axis=2) <= radius
    hit = case[2].astype(int) @ case[3].astype(int).T > 0
    for q in np.flatnonzero(hit.any(axis=1)):
        found, ball = (near[q] & hit[q]).sum(), near[q].sum()
        precision, recall = found / ball if ball else 0.0, found / hit[q].sum()
        f1 = 2 * precision * recall / (precision + recall) if found else 0.0
        for score, value in zip(
            values.scores.values(), (precision, recall, f1, found > 0), strict=True
        ):
            assert score.per_query[q] == pytest.approx(float(value), abs=1e-14)


def test_curves(make_case):
    case = make_case(5)
    names = "PR,PR(by=radius),PR(by=radius,mean=micro),PR(ties=index)"
    result = evaluate(*case, names, ranks=[1, 7, 60], per_query=True)
    by_rank = result.curves["PR"]
    singles = evaluate(*case, "P@1,P@7,P@60,R@1,R@7,R@60")
    assert by_rank.precision.tolist() == [singles[f"P@{k}"] for k in (1, 7, 60)]
    assert by_rank.recall.tolist() == [singles[f"R@{k}"] for k in (1, 7, 60)]
    assert by_rank.x.tolist() == [1, 7, 60]
    indexed = evaluate(*case, "P(ties=index)@7")
    assert result.curves["PR(ties=index)"].precision[1] == indexed["P(ties=index)@7"]

    macro, micro = result.curves["PR(by=radius)"], result.curves["PR(by=radius,mean=micro)"]
    within = evaluate(*case, "P(radius=2),R(radius=2)")
    assert macro.precision[2] == pytest.approx(within["P(radius=2)"], abs=1e-15)
    assert macro.recall[2] == pytest.approx(within["R(radius=2)"], abs=1e-15)
    hit = case[2].astype(int) @ case[3].astype(int).T > 0
    counted = hit.any(axis=1)
    near = (case[0][:, None] != case[1][None]).sum(axis=2) <= 2
    pool, hits = near[counted].sum(), (near & hit)[counted].sum()
    assert micro.precision[2] == hits / pool
    assert micro.recall[2] == hits / hit.sum()
    assert macro.x.tolist() == [0, 1, 2, 3, 4, 5]
    assert macro.per_query.shape == (7, 6, 2)


def test_default_ranks_are_round_numbers(make_case):
    x = evaluate(*make_case(0, n_database=25), "PR").curves["PR"].x
    assert x.tolist() == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 20, 25]
    x = evaluate(*make_case(0, n_database=20), "PR").curves["PR"].x
    assert x.tolist() == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 20]


@pytest.mark.parametrize(
    ("ranks", "found"),
    [
        ([0, 1], r"\b0\b"),
        ([1, 2, 1, *range(5000)], "1 after 2"),
        ([1, 1], "1 after 1"),
        ([1.5], r"\(1,\) of float64"),
        ([], r"\(0,\)"),
        ("7", r"\(\)"),
    ],
)
def test_bad_ranks_are_refused(make_case, ranks, found):
    with pytest.raises(HashbenchError, match=rf"ranks.*{found}") as error:
        evaluate(*make_case(0), "PR", ranks=ranks)
    assert len(str(error.value)) < 100


def test_area_joins_radii_by_straight_lines():
    # one query; distances 1, 1, 2, 3 with hits at the first, third and fourth item
    codes = np.array([[1, 0, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1]])
    labels = [1, 0, 1, 1]
    # radii 1, 2, 3: recall 1/3, 2/3, 1 and precision 1/2, 2/3, 3/4; level up to the first
    expected = 1 / 3 * 1 / 2 + 1 / 3 * (1 / 2 + 2 / 3) / 2 + 1 / 3 * (2 / 3 + 3 / 4) / 2
    result = evaluate([[0, 0, 0]], codes, [1], labels, "PRarea,PRarea(mean=micro),habir")
    assert result["PRarea"] == pytest.approx(expected, abs=1e-15)
    assert result["habir"] == result["PRarea(mean=micro)"] == pytest.approx(expected, abs=1e-15)
    curve = evaluate([[0, 0, 0]], codes, [1], labels, "PR(by=radius,mean=micro)")
    assert np.isnan(curve.curves["PR(by=radius,mean=micro)"].precision[0])


def test_queries_without_relevant_items_count_as_the_name_says():
    codes = np.array([[0, 0], [0, 1], [1, 1]])
    case = (codes[[0, 0]], codes, [5, 9], [5, 5, 6])
    names = "AP,AP(empty=zero),P(empty=zero)@1,P(empty=zero,radius=0),PR(empty=zero)"
    result = evaluate(*case, names, per_query=True)
    assert (result["AP"], result["AP(empty=zero)"]) == (1, 0.5)
    assert result["P(empty=zero)@1"] == result["P(empty=zero,radius=0)"] == 0.5
    assert result.curves["PR(empty=zero)"].precision[0] == 0.5
    skipped, zero = result.scores["AP"], result.scores["AP(empty=zero)"]
    assert (skipped.n_empty, skipped.n_counted) == (1, 1)
    assert (zero.n_empty, zero.n_counted) == (1, 2)
    np.testing.assert_array_equal(result.scores["AP"].per_query, [1, np.nan])
    with pytest.raises(HashbenchError, match=r"'AP\(empty=error\)'.*\b1 queries.*query 1\b"):
        evaluate(*case, "AP(empty=error)")
    pooled = evaluate(*case, "PRarea(mean=micro),PRarea(empty=zero,mean=micro)")
    assert pooled["PRarea(mean=micro)"] > pooled["PRarea(empty=zero,mean=micro)"]


def test_no_query_counts_at_all():
    result = evaluate([[0, 1]], [[0, 1]], [1], [2], [*NUMBERS, *DEFAULT_MEASURES], chance=True)
    assert all(np.isnan(value) for value in result.values())
    assert np.isnan(result.scores["AP"].chance)
    for curve in result.curves.values():
        assert np.isnan(curve.precision).all()
        assert np.isnan(curve.recall).all()


def test_queries_without_hits_count_zero_unless_left_out():
    codes = np.array([[0, 0], [0, 1], [1, 1]])
    case = (codes[[0, 0]], codes, [5, 6], [5, 5, 6])
    result = evaluate(*case, "topk(1),hashnet(1)", bounds=True)
    assert (result["topk(1)"], result["hashnet(1)"]) == (0.5, 1)
    assert result.scores["AP(no_hits=skip,norm=retrieved,ties=index)@1"].bounds is None
    assert result.scores["AP(norm=retrieved,ties=index)@1"].bounds == (0.5, 0.5)


def test_names_find_their_numbers(make_case):
    result = evaluate(*make_case(2), "edsh,P@3,PR")
    assert list(result) == ["AP(norm=retrieved,ties=index)@100", "P@3"]
    assert result["edsh"] == result["mAP(ties=index, norm=retrieved)@100"]
    assert dict(result)["P@3"] == result["P@3"]
    assert result.scores["edsh"].value == result["edsh"]
    assert result.curves["PR(by=rank)"] is result.curves["PR"]
    for values in (result, result.scores, result.curves):
        with pytest.raises(KeyError, match="P@4"):
            values["P@4"]
    with pytest.raises(HashbenchError, match=r"'PR'.*\.curves"):
        result["PR"]
    assert "edsh" in result
    assert not any(name in result for name in ("P@4", "PR", "no measure"))
    assert "P@3: 0." in repr(result)
    assert "PR" in repr(result)


def test_company_changes_no_number(make_case):
    case = make_case(8)
    names = [*NUMBERS, *(index_form(name) for name in ORDERED), "hashnet(4)"]
    together = evaluate(*case, names)
    for name in names:
        assert evaluate(*case, [name])[name] == together[name]


def test_defaults_and_the_short_way_in(make_case):
    result = hashbench.evaluate(*make_case(2))
    assert list(result) == ["AP", "AP(norm=retrieved,ties=index)@100", "P@100"]
    assert list(result.curves) == ["PR", "PR(by=radius)", "PR(by=radius,mean=micro)"]
    assert result.scores["AP"].per_query is None
    assert result.scores["AP"].bounds is None
    assert result.scores["AP"].chance is None


@pytest.mark.filterwarnings("ignore:the matrix subclass")
def test_codes_in_every_form_score_alike(make_case):
    query, database, *labels = make_case(4, bits=70)
    expected = evaluate(query, database, *labels, "AP")["AP"]
    signs = np.where(query, 1.0, -1.0)
    assert evaluate(signs, database.astype(int), *labels, "AP")["AP"] == expected
    packed = np.packbits(query, axis=1), np.packbits(database, axis=1)
    assert evaluate(*packed, *labels, "AP", n_bits=70)["AP"] == expected
    assert evaluate(pack(query), pack(database), *labels, "AP", n_bits=70)["AP"] == expected
    numbers = [np.arange(len(part)) % 3 + 1 for part in labels]
    columns = [np.asmatrix(part).T for part in numbers]  # what todense makes of a sparse matrix
    assert dict(evaluate(query, database, *columns)) == dict(evaluate(query, database, *numbers))
    sparse = [scipy.sparse.csr_array(part) for part in (query, database, *labels)]
    assert evaluate(*sparse, hashbench.measures.parse("AP"))["AP"] == expected
    with pytest.raises(HashbenchError, match=r"query codes.*\b0 .*-1/\+1"):
        evaluate(np.where(query, 0.0, signs), database, *labels)


def test_cutoffs_beyond_the_database(plain, make_case):
    case = make_case(6)
    names = "P@100,R@100,AP(norm=all)@100,AP,nDCG,nDCG@100,edsh,seph,WAP,WAP@100,ACG@60,ACG@100,PR"
    result = evaluate(*case, names)
    hit = case[2].astype(int) @ case[3].astype(int).T > 0
    counted = hit.any(axis=1)
    assert result["P@100"] == pytest.approx(hit[counted].sum(axis=1).mean() / 100)
    assert result["R@100"] == 1
    assert result["AP(norm=all)@100"] == result["AP"]
    assert result["WAP@100"] == result["WAP"]
    assert result["ACG@100"] == pytest.approx(result["ACG@60"] * 60 / 100)
    assert result["nDCG@100"] == result["nDCG"]
    assert result["edsh"] == result["seph"]


def own_partner(pairs, n_database):
    """Return labels by which exactly the partners of each query are relevant."""
    labels = np.zeros((n_database, len(pairs)), bool)
    for query, positions in enumerate(pairs):
        labels[[p for p in positions if p >= 0], query] = True
    return np.eye(len(pairs), dtype=bool), labels


@settings(max_examples=25, deadline=None)
@given(cases, st.sampled_from([1, 3]))
def test_pairs_are_labels_of_their_own(make_case, seed, partners):
    query, database, *labels = make_case(seed, n_queries=70)  # more than one word of labels
    pairs = np.random.default_rng(seed).integers(-1, 60, (70, partners))
    names = ("R@7", "R(ties=index)@7", "Success@7", "RR", "RR(ties=index)", "R(radius=1)")
    paired = [hashbench.measures.parse(name).with_(relevant="pair") for name in names]
    options = {"per_query": True, "bounds": True, "chance": True}
    found = evaluate(query, database, *labels, paired, pairs=pairs, **options)
    expected = evaluate(query, database, *own_partner(pairs, 60), names, **options)
    for pair_score, score in zip(found.scores.values(), expected.scores.values(), strict=True):
        np.testing.assert_array_equal(pair_score.per_query, score.per_query)
        assert pair_score.bounds == score.bounds
        assert pair_score.chance == score.chance
        assert pair_score.n_empty == score.n_empty == (pairs < 0).all(axis=1).sum()


def test_recall_of_the_own_partner_by_hand():
    codes = [[0, 0], [0, 1], [1, 1]]
    case = ([[0, 0], [1, 1], [0, 1]], codes, [0, 0, 0], [1, 1, 1])  # no label is shared
    names = "R(relevant=pair)@1,R(relevant=pair)@2,RR(relevant=pair)"
    result = evaluate(*case, names, pairs=[0, 1, -1], per_query=True)
    # query 0: its partner is first; query 1: second; query 2 has none
    assert result["R(relevant=pair)@1"] == 0.5
    assert result["R(relevant=pair)@2"] == 1
    np.testing.assert_array_equal(result.scores["RR(relevant=pair)"].per_query, [1, 0.5, np.nan])


@pytest.mark.parametrize(
    ("pairs", "facts"),
    [
        (None, r"'R\(relevant=pair\)@1'.*partner.*pairs="),
        ([0, 1], r"pairs.*\(2,\) of int64.*7 queries"),
        (np.zeros(7), r"pairs.*\(7,\) of float64"),
        ([60] * 7, r"pairs.*60.*0 to 59.*-1"),
        ([-2] * 7, r"pairs.*-2.*0 to 59"),
    ],
)
def test_bad_pairs_are_refused(make_case, pairs, facts):
    with pytest.raises(HashbenchError, match=facts) as error:
        evaluate(*make_case(0), "R(relevant=pair)@1", pairs=pairs)
    assert "\n" not in str(error.value)


def test_graded_measures_by_hand():
    # one query of two labels; the first three ranks share 2, 0 and 1 labels
    codes = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1]]
    labels = [[1, 1], [0, 0], [1, 0], [0, 0]]
    result = evaluate(
        [[0, 0, 0]], codes, [[1, 1]], labels, "ACG@3,WAP@3,nDCG(gain=exp)@3,nDCG@3,Rprec,RR,F1@3"
    )
    assert result["ACG@3"] == pytest.approx((2 + 0 + 1) / 3)
    assert result["WAP@3"] == pytest.approx((2 / 1 + 3 / 3) / 2)
    assert result["nDCG(gain=exp)@3"] == pytest.approx((3 + 1 / 2) / (3 + 1 / np.log2(3)))
    assert result["nDCG@3"] == pytest.approx((2 + 1 / 2) / (2 + 1 / np.log2(3)))
    assert (result["Rprec"], result["RR"], result["F1@3"]) == (0.5, 1, pytest.approx(0.8))


def test_queries_that_are_left_out_change_nothing():
    rng = np.random.default_rng(5)
    query, database = rng.random((20, 6)) < 0.5, rng.random((50, 6)) < 0.5
    query_labels, database_labels = (rng.random((n, 3)) < 0.4 for n in (20, 50))
    left_out = np.arange(20) % 3 == 0
    names = ["AP", "P@5", "AP(mean=classes)", "P(radius=1)", "PRarea", "PR", "PR(by=radius)"]
    whole = evaluate(
        query, database, query_labels, database_labels, names, chance=True, left_out=left_out,
        per_query=True,
    )  # fmt: skip
    kept = ~left_out
    part = evaluate(query[kept], database, query_labels[kept], database_labels, names, chance=True)
    assert dict(whole) == pytest.approx(dict(part))
    for name, score in whole.scores.items():
        other = part.scores[name]
        assert (score.n_counted, score.n_empty) == (other.n_counted, other.n_empty)
        assert (score.chance, score.chance_error) == pytest.approx(
            (other.chance, other.chance_error), nan_ok=True
        )
        assert np.isnan(score.per_query[left_out]).all()
    for name, curve in whole.curves.items():
        np.testing.assert_allclose(curve.precision, part.curves[name].precision)


def test_the_mean_over_classes_weighs_rare_classes_as_frequent_ones():
    rng = np.random.default_rng(6)
    query, database = rng.random((30, 4)) < 0.5, rng.random((40, 4)) < 0.5
    query_labels = np.zeros((30, 3), bool)
    query_labels[:, 0] = True
    query_labels[:4, 1] = True  # of several classes; no query has the last one
    database_labels = np.eye(3, dtype=bool)[rng.integers(3, size=40)]
    found = evaluate(
        query, database, query_labels, database_labels, ["AP", "AP(mean=classes)"], per_query=True
    )
    values = found.scores["AP"].per_query
    assert found["AP(mean=classes)"] == pytest.approx((values.mean() + values[:4].mean()) / 2)
    assert found["AP"] == pytest.approx(values.mean())
