"""Passes over the pairs against numpy, for any number of bits and classes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hashbench.core.codes import pack
from hashbench.core.errors import HashbenchError
from hashbench.measures import hamming_ranking, rankings
from hashbench.measures.labels import label_words
from hashbench.measures.rankings import HammingRanking

RELS = (1, 2, 3, "graded")


def plain_counts(query, database, query_labels, database_labels, rel):
    distances = (query[:, None] != database[None]).sum(axis=2)
    shared = query_labels.astype(int) @ database_labels.astype(int).T
    grades = shared if rel == "graded" else (shared >= rel).astype(int)
    levels = query_labels.sum(axis=1).max() + 1 if rel == "graded" else 2
    counts = np.zeros((len(query), query.shape[1] + 1, levels), int)
    rows = np.broadcast_to(np.arange(len(query))[:, None], distances.shape)
    np.add.at(counts, (rows, distances, grades), 1)
    return counts


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    bits=st.integers(1, 200),
    classes=st.integers(1, 140),
    n_database=st.integers(1, 90),
    rel=st.sampled_from(RELS),
)
def test_counts(make_case, seed, bits, classes, n_database, rel):
    case = make_case(seed, 3, n_database, bits, classes, density=0.1)
    assert np.array_equal(hamming_ranking(*case).distance_counts(rel), plain_counts(*case, rel))


@pytest.mark.parametrize("bits", [8, 64, 128, 600])
@pytest.mark.parametrize("rel", RELS)
def test_counts_over_several_tiles_and_blocks(make_case, monkeypatch, bits, rel):
    monkeypatch.setattr(rankings, "DATABASE_ROWS", 5001)
    case = make_case(bits, 3, 11003, bits, 70, density=0.05)
    assert np.array_equal(hamming_ranking(*case).distance_counts(rel), plain_counts(*case, rel))


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    bits=st.integers(1, 130),
    depth=st.integers(1, 70),
    rel=st.sampled_from(RELS),
)
def test_index_order_is_that_of_a_stable_sort(plain, make_case, seed, bits, depth, rel):
    case = make_case(seed, bits=bits)
    _, shared = plain.stable_order(*case)
    grades = shared if rel == "graded" else shared >= rel
    depth = min(depth, grades.shape[1])
    found = hamming_ranking(*case).rank_grades(rel, slice(None), depth)
    assert np.array_equal(found, grades[:, :depth])


@pytest.mark.parametrize("depth", [1, 10, 300, 7001])
def test_index_order_over_several_tiles_and_blocks(plain, make_case, monkeypatch, depth):
    monkeypatch.setattr(rankings, "DATABASE_ROWS", 1500)
    case = make_case(depth, 4, 7001, 12, 6)
    _, shared = plain.stable_order(*case)
    found = hamming_ranking(*case).rank_grades(1, slice(1, 3), depth)
    assert np.array_equal(found, shared[1:3, :depth] > 0)


def test_blocks_cover_all_queries(make_case, monkeypatch):
    ranking = hamming_ranking(*make_case(0))
    (whole,) = ranking.blocks({1: 60, "graded": 0})
    assert whole["graded"].grades is None
    monkeypatch.setattr(rankings, "BLOCK_BYTES", 2 * 60 * 3)
    blocks = [block[1] for block in ranking.blocks({1: 60})]
    assert [len(block.counts) for block in blocks] == [3, 3, 1]
    assert np.array_equal(np.concatenate([block.grades for block in blocks]), whole[1].grades)
    assert np.array_equal(
        np.concatenate([block.counts for block in blocks]), ranking.distance_counts(1)
    )


def test_packed_codes_may_be_a_read_only_memory_map(make_case, tmp_path, monkeypatch):
    monkeypatch.setattr(rankings, "DATABASE_ROWS", 17)
    query, database, query_labels, database_labels = make_case(1, bits=70)
    np.save(tmp_path / "words.npy", pack(database))
    mapped = np.load(tmp_path / "words.npy", mmap_mode="r")
    labels = label_words(query_labels, database_labels)
    ranking = HammingRanking(pack(query), mapped, 70, *labels)
    expected = hamming_ranking(query, database, query_labels, database_labels)
    assert np.array_equal(ranking.distance_counts(1), expected.distance_counts(1))
    assert np.array_equal(
        ranking.rank_grades(1, slice(None), 9), expected.rank_grades(1, slice(None), 9)
    )


def test_class_numbers_are_labels():
    query, database = label_words([[3], [1]], [[1.0], [3.0], [200.0]])
    assert (query[:, None] & database[None]).any(axis=2).tolist() == [
        [False, True, False],
        [True, False, False],
    ]
    many = label_words(np.arange(150), np.arange(150))
    assert many[0].shape == (150, 3)
    assert ((many[0][:, None] & many[1][None]).any(axis=2) == np.eye(150, dtype=bool)).all()


def test_one_column_of_zeros_and_ones_is_one_class():
    query, _ = label_words([[0], [1]], [[1], [1]])
    assert query.tolist() == [[0], [1]]


@pytest.mark.parametrize(
    ("query", "database", "facts"),
    [
        (np.eye(2), np.eye(3), r"labels.*\(2, 2\).*\(3, 3\)"),
        (np.eye(2), [1, 2], r"labels.*\(2, 2\).*\(2,\)"),
        ([[0, 2]], [[0, 1]], r"query labels.*\b2\b.*0 and 1"),
        ([[0, 1]], [[0, -1]], r"database labels.* -1\b.*0 and 1"),
        ([0.5], [1.0], r"query labels.*\b0\.5\b.*class numbers"),
        ([float("nan")], [1.0], "query labels.*nan"),
        ([["a"]], [[1]], "query labels.*<U1"),
        (np.zeros((0, 2)), np.eye(2), r"query labels.*\(0, 2\)"),
    ],
)
def test_bad_labels_are_refused(query, database, facts):
    with pytest.raises(HashbenchError, match=facts):
        label_words(query, database)


def test_mismatches_are_refused(make_case):
    query, database, query_labels, database_labels = make_case(0)
    with pytest.raises(HashbenchError, match=r"codes.*5 bits.*3"):
        hamming_ranking(query, database[:, :3], query_labels, database_labels)
    with pytest.raises(HashbenchError, match=r"query.*6 rows of codes.*7 of labels"):
        hamming_ranking(query[:6], database, query_labels, database_labels)
    with pytest.raises(HashbenchError, match=r"database.*60 rows of codes.*59 of labels"):
        hamming_ranking(query, database, query_labels, database_labels[:59])
