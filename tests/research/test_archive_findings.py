"""What the page of findings says follows from the rows of the archive."""

import numpy as np
import pandas as pd
import pytest

from hashbench.analysis.tests import range_test
from research import archive_findings as page

#: method -> default and tuned score at 2 bytes, seconds of training
METHODS = {"edsh": (0.6, 0.62, 0.5), "cca": (0.3, 0.5, 0.2), "dcmh": (0.55, None, 90.0)}


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    found = []
    for method, (default, tuned, seconds) in METHODS.items():
        for is_tuned, mean in ((False, default), (True, tuned)):
            for seed in range(5) if mean else ():
                for bits in (16, 32):
                    for database in ("unseen", "seen"):
                        better = 0.1 * (bits == 32) + 0.3 * (database == "seen" and method == "cca")
                        found.append({
                            "dataset": "one", "method": method, "tuned": is_tuned, "bits": bits,
                            "label": f"{method}(tuned)" if is_tuned else method, "seed": seed,
                            "split": f"s{seed}", "overlap": 1 / 3, "hamming": True,
                            "item_bytes": bits / 8, "fit_seconds": seconds, "measure": "AP",
                            "codes": "encoded", "database": database, "edition": "x",
                            "cpu": "a processor", "params": "",
                            "cell": f"{method} {is_tuned} {seed} {bits}",
                            "value": mean + better + rng.normal(0, 0.002)})  # fmt: skip
    return pd.DataFrame(found)


def test_the_leader_and_its_group(rows):
    ((dataset, first, score, splits, group),) = page.leaders(page.cells(rows))
    assert (dataset, first, splits, group) == ("one", "edsh", "5", "none")
    assert score == ".600" or abs(float(score) - 0.6) < 0.005


def test_a_difference_has_the_p_value_of_the_range_test(rows):
    scores = page.cells(rows).query("bits == 16")
    found = page.difference(scores, "edsh", "dcmh")
    wide = scores.pivot_table(index="split", columns="label", values="value")
    expected = range_test(wide[["edsh", "dcmh"]].to_numpy(), 1 / 3)
    assert found.mean == pytest.approx(expected.means[0] - expected.means[1])
    assert (found.p_value, found.splits) == (expected.p_values[0, 1], 5)


def test_tuning_counts_gains(rows):
    at_16, at_32 = page.tuning(page.cells(rows))
    assert at_16[0] == "one, 16 bits"
    assert at_16[1] == at_32[1] == "2"
    assert (at_16[3], at_16[4]) == ("2", "0")
    assert at_16[5].startswith("cca +0.2")


def test_one_second_against_a_network(rows):
    ((_, quick, deep, change),) = page.fast_against_networks(page.cells(rows), ["dcmh"])
    assert (quick, deep) == ("edsh (0.5 s)", "dcmh (90 s)")
    assert change.startswith(("+0.05", "+0.04"))


def test_bytes_and_seen_rows(rows):
    ((_, step, names, change),) = page.bytes_bought(page.cells(rows))
    assert (step, names) == ("2 -> 4", "edsh -> edsh")
    assert change.startswith(("+0.10", "+0.09"))
    seen, unseen = page.cells(rows, "seen"), page.cells(rows)
    ((_, first, second, _),) = page.seen_against_unseen(seen, unseen)
    assert (first, second) in {("edsh", "edsh"), ("cca", "edsh")}


def test_the_page_says_where_an_edition_has_nothing(rows):
    text = page.page(rows[~rows["tuned"]])
    assert text.count("This edition has no rows") == 1
    assert "| dcmh | 5/5 |" in text
