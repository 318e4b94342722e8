import os
import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from hashbench.base.validation import BLOCK_ROWS
from hashbench.linalg import add_up, lasso, row_blocks, share_out
from hashbench.linalg.threads import row_parts
from hashbench.methods.scm_s import SCMS


@pytest.mark.parametrize("threads", [1, 2])
def test_results_come_in_the_order_of_the_blocks(threads):
    blocks = list(row_blocks(1000, 7))
    with threadpool_limits(threads, "blas"):
        assert share_out(lambda rows: rows.start, blocks) == [each.start for each in blocks]


@pytest.mark.parametrize("threads", [1, 2])
def test_sums_over_parts_are_those_over_all_rows(threads):
    rows = 2 * BLOCK_ROWS + 5
    with threadpool_limits(threads, "blas"):
        total, ones = add_up(
            lambda part: (np.arange(part.start, part.stop).sum(keepdims=True), np.ones(1)), rows
        )
    assert total == rows * (rows - 1) // 2
    assert ones == len(list(row_parts(rows)))


def test_an_error_in_a_block_is_raised():
    def work(rows):
        if rows.start:
            raise ValueError("second block")

    with threadpool_limits(2, "blas"), pytest.raises(ValueError, match="second block"):
        share_out(work, row_blocks(20, 10))


def test_blocks_that_are_worked_on_when_one_fails_come_to_their_end():
    begun, ended = threading.Event(), []

    def work(rows):
        if rows.start == 0:
            begun.wait(10)
            raise ValueError("first block")
        begun.set()
        for _ in range(1000):
            np.ones(1000).sum()
        ended.append(rows.start)

    with threadpool_limits(2, "blas"), pytest.raises(ValueError, match="first block"):
        share_out(work, row_blocks(20, 10))
    assert ended == [10]


def test_a_fork_has_threads_of_its_own():
    def threads_used():
        together = threading.Barrier(2)
        with threadpool_limits(2, "blas"):
            return len(set(share_out(lambda _: together.wait(10) + 2, row_blocks(20, 10))))

    assert threads_used() == 2
    child = os.fork()
    if not child:
        os._exit(0 if threads_used() == 2 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_libraries_have_their_threads_back():
    from threadpoolctl import threadpool_info

    with threadpool_limits(2, "blas"):
        before = threadpool_info()
        share_out(lambda rows: None, row_blocks(20, 10))
        assert threadpool_info() == before


def test_codes_are_the_same_with_any_number_of_threads():
    rng = np.random.default_rng(0)
    views = [rng.standard_normal((1500, d)).astype(np.float32) for d in (20, 12)]
    labels = np.eye(5, dtype=int)[rng.integers(0, 5, 1500)]
    codes, sparse = [], []
    for threads in (1, 2):
        with threadpool_limits(threads, "blas"):
            codes.append(SCMS(8, random_state=0).fit(views, labels).encode(views[0], 0))
            sparse.append(lasso(views[1][:40], views[1][40:], 0.2))
    assert np.array_equal(*codes)
    assert np.array_equal(*sparse)
