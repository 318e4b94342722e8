"""The page on shallow and deep methods says what the record says, and what it lacks."""

from itertools import chain

import numpy as np
import pandas as pd
import pytest

from hashbench.methods.dsph import DSPH
from research import deep_findings, deep_page, freshness

TASKS = deep_page.IMAGE, deep_page.TEXT_TASK


def rows(finding, dataset, method, which, image, text, trials=0):
    return [
        (finding, dataset, method, 0, task, which, value, trials)
        for task, value in zip(TASKS, (image, text), strict=True)
    ]


def record(*parts):
    return pd.DataFrame(list(chain(*parts)), columns=deep_findings.COLUMNS)


@pytest.fixture
def known():
    return record(
        rows("default", "wiki", "dsph", "encoded", 0.3, 0.4),
        rows("default", "wiki", "lemon", "encoded", 0.2, 0.52),
        rows("default", "wiki", "lemon", "learned", 0.25, 0.7),
        rows("default", "emoji", "dsph", "encoded", 0.8, 0.8),
        [("seconds", "wiki", "dsph", 0, "any", "any", 6.0, np.nan)],
        [("seconds", "emoji", "dsph", 0, "any", "any", 12.3, np.nan)],
        [("seconds", "wiki", "lemon", 0, "any", "any", 0.04, np.nan)],
        rows("tuned", "wiki", "dsph", "encoded", 0.32, 0.4, 8),
        rows("selection", "wiki", "dsph", "last epoch", 0.3, 0.4),
        rows("selection", "wiki", "dsph", "best epoch", 0.31, 0.43),
        rows("memory", "wiki", "lemon", "trained on", 0.2, 0.5),
        rows("memory", "wiki", "lemon", "never seen", 0.2, 0.3),
    )


def test_the_page_in_the_documentation_is_that_of_its_record():
    written = freshness.stamped(
        deep_page.page(deep_findings.read()), freshness.read()["docs/research/deep.md"]
    )
    assert deep_page.PAGE.read_text() == written


def test_every_table_has_its_numbers(known):
    page = deep_page.page(known)
    assert "| **`dsph`** | .300 / .400 (6.0 s) | .800 / .800 (12 s) |" in page
    assert "| `lemon` | .200 / .520 (< .1 s) | – |" in page
    leader = (
        "| wiki | `lemon` .200 / .520 (< .1 s) | `dsph` .300 / .400 (6.0 s) | -0.010 | 1 of 1 |"
    )
    assert leader in page
    assert "| **`dsph`** | .350 → .360 |" in page
    for fact in ("8 trials", "+0.020 AP", "+0.010 to +0.030"):
        assert fact in page
    assert "| `lemon` | .200 / .520 → .250 / .700 |" in page
    assert "| wiki | `lemon` | .200 | .200 | +0.000 | .500 | .300 | -0.200 |" in page


def test_networks_that_were_not_run_are_named(known):
    lines = deep_page.gaps(known).splitlines()
    assert "| by default | dsph | none | none | none | dsph |" in lines
    nets = record(*(rows("default", "wiki", n, "encoded", 0, 0) for n in deep_page.networks()[1:]))
    assert f"| by default | all but {deep_page.networks()[0]} |" in deep_page.gaps(nets)


def test_a_record_of_cells_alone_makes_a_page(known):
    page = deep_page.page(known[known["finding"] == "default"])
    assert page.count(" yet.") == 2  # nothing was tuned, no epoch was chosen
    assert "| .350 →" not in page


def test_what_is_measured_again_replaces_what_was(known, tmp_path, monkeypatch):
    monkeypatch.setattr(deep_findings, "RECORD", tmp_path / "deep.csv")
    deep_findings.keep(known)
    deep_findings.keep(record(rows("default", "wiki", "dsph", "encoded", 0.9, 0.9)))
    kept = deep_findings.read()
    assert len(kept) == len(known)
    again = kept.query("finding == 'default' and dataset == 'wiki' and method == 'dsph'")
    assert again["value"].tolist() == [0.9, 0.9]


def test_what_is_known_is_not_measured_again(known, tmp_path, monkeypatch):
    monkeypatch.setattr(deep_findings, "RECORD", tmp_path / "deep.csv")
    asked = []

    def memory(*what):
        asked.append(what)
        return [(task, which, 0.5) for task in TASKS for which in ("trained on", "never seen")]

    monkeypatch.setitem(deep_findings.MEASURED, "memory", memory)
    deep_findings.keep(known)
    for name in ("lemon", "dsph", "dsph"):
        deep_findings.measure("memory", name, "wiki", 0)
    assert asked == [("dsph", "wiki", 0)]


@pytest.mark.slow
def test_cells_of_a_folder_come_with_trials(hashbench, tmp_path):
    chosen = ("-m", "lemon", "-d", "synthetic[rows=100]", "-b", "16,32", "-s", "1", "--tune", "2")
    done = hashbench("run", *chosen, "-o", tmp_path / "out", "--measures", "AP")
    assert done.returncode == 0, done.stderr
    found = deep_findings.collect(tmp_path / "out")
    assert set(found["method"]) == {"lemon"}
    assert found.groupby(["finding", "which"])["trials"].max().to_dict() == {
        ("default", "encoded"): 0, ("default", "learned"): 0,
        ("tuned", "encoded"): 2, ("tuned", "learned"): 2,
    }  # fmt: skip
    assert len(found) == 8  # one code length, both tasks


def test_the_half_that_was_not_trained_on_is_searched(monkeypatch):
    searched = []

    def score(method, views, labels, query, database):
        searched.append(set(database))
        return dict.fromkeys(TASKS, 0.5)

    monkeypatch.setattr(deep_findings, "score", score)
    found = deep_findings.memory("random", "synthetic", 0)
    assert [which for _, which, _ in found] == ["trained on"] * 2 + ["never seen"] * 2
    seen, unseen = searched
    assert not seen & unseen
    assert abs(len(seen) - len(unseen)) <= 1


def test_the_best_epoch_of_each_task_is_beside_the_last(monkeypatch):
    pytest.importorskip("torch")
    scored = iter([(0.5, 0.1), (0.3, 0.4), (0.2, 0.3)])

    def score(method, *_):
        assert not any(net.training for net in method.networks_)
        return dict(zip(TASKS, next(scored), strict=True))

    def made(name, seed):
        return DSPH(n_bits=8, epochs=3, random_state=seed)

    monkeypatch.setattr(deep_findings, "score", score)
    monkeypatch.setattr(deep_findings, "made", made)
    found = {(task, which): v for task, which, v in deep_findings.selection("dsph", "synthetic", 0)}
    image, text = TASKS
    assert (found[image, "last epoch"], found[image, "best epoch"]) == (0.2, 0.5)
    assert (found[text, "last epoch"], found[text, "best epoch"]) == (0.3, 0.4)
