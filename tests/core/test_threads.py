"""Parts of a whole, on as many threads as are allowed."""

import os
import threading

import numpy as np
import pytest

from hashbench.core import threads
from hashbench.measures import evaluate_ranking
from hashbench.measures.rankings import HammingRanking


@pytest.fixture
def several(monkeypatch):
    """Let three threads be used, whatever this machine has."""
    monkeypatch.setattr(threads, "most_threads", lambda: 3)
    threads._pool.cache_clear()
    yield
    threads._pool.cache_clear()


def parts_of(count):
    """Return the parts, and the threads that were given one."""
    found, used = [], set()
    together = threading.Barrier(min(threads.most_threads(), count) or 1)

    def work(begin, end):
        together.wait(10)  # until all have begun
        found.append((begin, end))
        used.add(threading.get_ident())

    threads.parallel_ranges(work, count)
    return sorted(found), used


@pytest.mark.parametrize(
    ("count", "parts"),
    [(10, [(0, 3), (3, 6), (6, 10)]), (2, [(0, 1), (1, 2)]), (0, [(0, 0)])],
)
def test_parts_make_up_the_whole_and_run_at_once(several, count, parts):
    found, used = parts_of(count)
    assert found == parts
    assert len(used) == len(parts)


def test_one_thread_is_this_one(monkeypatch):
    monkeypatch.setattr(threads, "most_threads", lambda: 1)
    assert parts_of(10) == ([(0, 10)], {threading.get_ident()})


@pytest.mark.parametrize("wrong", [0, 5])
def test_what_goes_wrong_in_a_part_is_raised(several, wrong):
    def work(begin, end):
        if begin <= wrong < end:
            raise ValueError("here")

    with pytest.raises(ValueError, match="here"):
        threads.parallel_ranges(work, 9)


def test_a_fork_has_threads_of_its_own(several):
    parts_of(9)
    child = os.fork()
    if not child:
        os._exit(0 if len(parts_of(9)[1]) == 3 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_numbers_do_not_depend_on_the_number_of_threads(monkeypatch):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 1 << 16, (5000, 1), dtype=np.uint64)
    labels = np.uint64(1) << rng.integers(0, 8, (5000, 1), dtype=np.uint64)
    measures = ["AP", "AP(norm=all,ties=index)@50", "nDCG(ties=index)@50", "Success@10"]
    found = []
    for count in (1, 3):
        ranking = HammingRanking(codes[:1000], codes, 16, labels[:1000], labels)
        monkeypatch.setattr(threads, "most_threads", lambda count=count: count)
        found.append(evaluate_ranking(ranking, measures, per_query=True, bounds=True))
    for one, three in zip(*(each.scores.values() for each in found), strict=True):
        np.testing.assert_array_equal(one.per_query, three.per_query)
