"""A run with nothing left to do writes no report again; reports that would change are."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

STUDY = [
    "run", "-m", "dlfh", "-d", "synthetic[rows=100]", "-b", "8", "-s", "1", "--quiet", "--report",
]  # fmt: skip


def written(folder: Path) -> dict[str, int]:
    """Return when each file below a folder was last written."""
    return {str(path): path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


def test_reports_are_written_only_when_they_would_change(hashbench, tmp_path):
    out = tmp_path / "out"
    assert hashbench(*STUDY, "-o", out).returncode == 0
    first, results = written(out / "report"), (out / "results.csv").read_bytes()
    assert hashbench(*STUDY, "-o", out).returncode == 0
    assert written(out / "report") == first
    assert (out / "results.csv").read_bytes() == results

    table = next((out / "report").glob("map-table*.md"))
    table.unlink()
    assert hashbench(*STUDY, "-o", out).returncode == 0
    assert table.exists()

    assert hashbench(*STUDY, "-o", out, "--measures", "P@5").returncode == 0
    assert any("P@5" in path.read_text() for path in (out / "report").glob("map-table*.md"))


def test_another_study_in_the_folder_is_refused(hashbench, tmp_path):
    out = tmp_path / "out"

    def run(methods, bits, *flags):
        grid = ["-m", methods, "-d", "synthetic[rows=200]", "-b", bits, "-s", "1"]
        return hashbench("run", *grid, "--quiet", "--no-report", "-j", "1", "-o", out, *flags)

    def methods():
        return set(pd.read_csv(out / "results.csv").method)

    assert run("cca,random", "8").returncode == 0
    refused = run("cca", "8,16")
    assert refused.returncode == 2
    assert "--replace" in refused.stderr
    assert methods() == {"cca", "random"}
    assert run("cca", "8,16", "--replace").returncode == 0
    assert methods() == {"cca"}
    assert run("cca,random", "8,16").returncode == 0  # it has all cells of the other
    assert methods() == {"cca", "random"}
