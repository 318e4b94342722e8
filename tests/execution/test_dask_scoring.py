"""Evaluation by blocks of queries, on workers: the numbers of one machine, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
from click.testing import CliRunner

import hashbench
from hashbench.cli import cli
from hashbench.core.errors import HashbenchError
from hashbench.measures import DEFAULT_MEASURES

distributed = pytest.importorskip("distributed", reason="the extra 'dask' is not installed")
pytestmark = pytest.mark.cluster

NAMES = [*DEFAULT_MEASURES, "nDCG@7", "AP(ties=index)", "P(radius=1)", "PRarea(mean=micro)",
         "R(relevant=pair)@7", "R(radius=2,relevant=pair)"]  # fmt: skip


@pytest.fixture(scope="module")
def address():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
    ) as cluster:
        yield cluster.scheduler_address


@pytest.mark.parametrize("n_queries", [1, 5, 23])
def test_workers_find_the_same_numbers(address, make_case, n_queries):
    case = make_case(3, n_queries=n_queries, n_database=60, bits=12)
    options = {"per_query": True, "bounds": True, "chance": True, "ranks": [1, 5, 60]}
    options["pairs"] = [(7 * query) % 60 for query in range(n_queries)]
    here = hashbench.evaluate(*case, NAMES, **options)
    there = hashbench.evaluate(*case, NAMES, scheduler=address, **options)
    for name, score in here.scores.items():
        other = there.scores[name]
        np.testing.assert_array_equal(other.per_query, score.per_query)
        assert (other.value, other.bounds, other.chance) == (
            score.value,
            score.bounds,
            score.chance,
        )
    for name, curve in here.curves.items():
        np.testing.assert_array_equal(there.curves[name].precision, curve.precision)
        np.testing.assert_array_equal(there.curves[name].recall, curve.recall)


def test_the_command_takes_a_scheduler(address, make_case, tmp_path):
    case = make_case(3, n_queries=6, n_database=50, bits=12)
    roles = ("query_codes", "database_codes", "query_labels", "database_labels")
    np.savez(tmp_path / "codes.npz", **dict(zip(roles, case, strict=True)))
    command = ["evaluate", str(tmp_path / "codes.npz")]
    here = CliRunner().invoke(cli, command, catch_exceptions=False)
    there = CliRunner().invoke(cli, [*command, "--scheduler", address], catch_exceptions=False)
    assert here.exit_code == there.exit_code == 0
    assert here.output == there.output


def test_a_missing_scheduler_is_refused(make_case, monkeypatch):
    monkeypatch.setattr("hashbench.execution.dask.CONNECT_SECONDS", 0.2)
    with pytest.raises(HashbenchError, match=r"scheduler.*'tcp://127.0.0.1:9'"):
        hashbench.evaluate(*make_case(3), scheduler="tcp://127.0.0.1:9")
