"""What a run does, counted: nothing twice, and nothing again that has been done."""

from __future__ import annotations

from collections import Counter

import pytest

from hashbench.commands import cli

FLAGS = ["run", "-m", "dlfh", "-d", "emoji", "-b", "8", "--quiet", "-j", "1"]


@pytest.fixture
def counted(monkeypatch):
    """Count rankings, evaluations, files hashed, pages written."""
    import hashbench.api.computing
    import hashbench.measures.rankings
    import hashbench.page.publish
    import hashbench.results.evaluate
    from hashbench.base import files, processes

    counts: Counter[str] = Counter()
    monkeypatch.setattr(processes, "usable_cores", lambda: 1)  # a fork would count for itself

    def count(module, name, what):
        original = getattr(module, name)

        def instead(*arguments, **more):
            counts[what(*arguments)] += 1
            return original(*arguments, **more)

        monkeypatch.setattr(module, name, instead)

    # it ranks a few items that nobody asked for, to have compiled code loaded
    monkeypatch.setattr(hashbench.api.computing, "load_compiled", lambda measures: None)
    count(hashbench.results.evaluate, "make_ranking", lambda *_: "rankings")
    count(hashbench.results.evaluate, "evaluate_cell", lambda *_: "evaluations")
    count(hashbench.measures.rankings.HammingRanking, "__init__", lambda *_: "Hamming rankings")
    count(hashbench.page.publish, "write_scripts", lambda *_: "pages")
    count(hashbench.page.publish, "prepare", lambda *_: "reports")
    digest = files.hashlib.file_digest

    def hashing(stream, name):
        counts[f"hashed {stream.name.rpartition('/')[2]}"] += 1
        return digest(stream, name)

    monkeypatch.setattr(files.hashlib, "file_digest", hashing)
    return counts


def run(*flags):
    with pytest.raises(SystemExit) as ended:
        cli.main([*FLAGS, *map(str, flags)], standalone_mode=False)
    assert ended.value.code == 0


def hashed(counts):
    return {name: count for name, count in counts.items() if name.startswith("hashed ")}


def test_a_run_of_one_cell_does_nothing_twice(counted, tmp_path):
    run("-o", tmp_path / "out", "--report")
    assert counted["rankings"] == counted["Hamming rankings"] == 4
    assert counted["evaluations"] == 1
    assert counted["pages"] == 1
    assert {"hashed codes.npz", "hashed history.npz"} <= set(hashed(counted))
    assert set(hashed(counted).values()) == {1}


def test_a_run_with_nothing_left_does_nothing_again(counted, tmp_path):
    run("-o", tmp_path / "out", "--report")
    results = (tmp_path / "out" / "results.csv").read_bytes()
    counted.clear()
    run("-o", tmp_path / "out", "--report")
    assert not {"rankings", "evaluations", "pages", "reports"} & set(counted)
    assert set(hashed(counted).values()) <= {1}  # none, as soon as their times can be told apart
    assert (tmp_path / "out" / "results.csv").read_bytes() == results


@pytest.mark.parametrize("change", ["a file is gone", "another measure", "a report was asked for"])
def test_the_page_is_written_again_if_it_shows_something_else(counted, tmp_path, change):
    out = tmp_path / "out"
    run("-o", out, "--report")
    counted.clear()
    flags = []
    if change == "a file is gone":
        next((out / "report").glob("map-table*.md")).unlink()
    elif change == "another measure":
        flags = ["--measures", "P@5"]
    else:
        arguments = ["report", str(out), "map-table", "--width", "column"]
        cli.main(arguments, standalone_mode=False)
        counted.clear()
    run("-o", out, "--report", *flags)
    assert counted["pages"] == 1
