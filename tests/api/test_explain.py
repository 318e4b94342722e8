"""Printed numbers: the protocol of numbers of our own is found, and none for invented ones."""

import numpy as np
import pytest

import hashbench as package
from hashbench.analysis.explain import explain_numbers, parse_number, printed_in
from hashbench.analysis.number_variants import readings
from hashbench.core.errors import HashbenchError

BITS = 16


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    out = tmp_path_factory.mktemp("explain") / "out"
    return package.run(["scm-s", "random"], "emoji", BITS, 3, out=out, measures="AP", quiet=True)


@pytest.fixture(scope="module")
def every(study):
    """Return every reading of the codes of one method, with its values."""
    return list(readings(study.select(methods="scm-s")))


def explain(printed, study, **choices):
    return package.explain(printed, "scm-s", "emoji", BITS, folders=study.path, **choices)


def test_readings_are_the_numbers_of_the_study(study, every):
    scores = study.scores(["AP", "AP(norm=min)@100"]).query("method == 'scm-s'")
    for row in scores.to_dict("records"):
        (values,) = (
            values
            for reading, values in every
            if reading.measure == row["measure"]
            and reading.seeds == (row["seed"],)
            and tuple(reading.searched) == (row["database"], row["codes"])
            and not reading.copies
        )
        assert values[row["task"]] == pytest.approx(row["value"], abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_the_protocol_of_a_number_of_our_own_is_found(every, seed):
    rng = np.random.default_rng(seed)
    reading, values = every[rng.integers(len(every))]
    task = str(rng.choice(list(values)))
    pair = explain_numbers([round(value, 4) for value in values.values()], every, 5e-5)
    assert reading in [each for match in pair.matches for each in match.readings]
    one = explain_numbers([round(values[task], 4)], every, 5e-5, task)
    assert reading in [each for match in one.matches for each in match.readings]
    assert len(one.matches) >= len(pair.matches)
    assert all(match.difference <= 5.0001e-5 for match in one.matches)


@pytest.mark.parametrize("seed", range(5))
def test_no_protocol_gives_an_invented_number(every, seed):
    rng = np.random.default_rng(100 + seed)
    invented = rng.uniform(0.05, 0.95, 2).round(4)
    found = explain_numbers(invented.tolist(), every, 5e-5)
    assert not found.matches
    assert len(found.nearest) == 3
    distances = [max(abs(np.array([*values.values()]) - invented)) for _, values in every]
    assert found.nearest[0].difference == pytest.approx(min(distances))
    assert found.tried == len(every)


def test_the_mean_over_seeds_by_the_simplest_name_comes_first(study):
    mean = study.shown().scores("AP").query("method == 'scm-s' and task == 'image->text'")
    found = explain(f"{mean['value'].mean():.4f}", study)
    first = found.matches[0].readings[0]
    assert (first.measure, first.seeds, first.copies) == ("AP", (0, 1, 2), False)
    assert first.searched == ("unseen", "encoded")
    assert found.by_chance < len(found.matches) + 10


def test_the_command_says_when_there_is_none(study, hashbench):
    words = ("-m", "scm-s", "-d", "emoji", "-b", BITS, study.path)
    assert hashbench("explain", "0.9999", *words).returncode == 1
    value = study.shown().scores("AP").query("method == 'scm-s'")["value"].iloc[0]
    done = hashbench("explain", f"{value:.4f}", *words)
    assert done.returncode == 0
    assert f"{value:.6f}" in done.stdout
    assert hashbench("explain", "7", *words).returncode == 2
    assert hashbench("explain", "0.5", "-m", "scm-s", "-d", "emoji", "-b", 8).returncode == 2


def test_scores_of_an_archive_are_tried(study, hashbench, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    hashbench("archive", "pack", study.path, "-o", "a", "--edition", "x", "--no-codes")
    value = study.shown().scores("AP").query("method == 'random' and seed == 1")["value"].iloc[0]
    found = package.explain(f"{value:.4f}", "random", "emoji", BITS, archive="a")
    sources = {each.source for match in found.matches for each in match.readings}
    assert sources == {"archive x"}
    names = [each.measure for match in found.matches for each in match.readings]
    assert "AP" in names


def test_numbers_of_papers_are_named():
    lines = printed_in([0.2051], 5e-5, "pdh", "wiki-cnn", 16)
    assert len(lines) == 1
    assert "AP(norm=retrieved,ties=index)@100" in lines[0]
    assert not printed_in([0.2051], 5e-5, "pdh", "wiki-cnn", 32)
    assert not printed_in([0.2051], 5e-5, "edsh", "wiki-cnn", 16)


@pytest.mark.parametrize("text", ["x", "-0.1", "1.5", "nan"])
def test_what_is_no_score_is_refused(text):
    with pytest.raises(HashbenchError, match="0 to 1"):
        parse_number(text)
