"""A run with nothing left to do writes no report again; reports that would change are."""

from __future__ import annotations

from pathlib import Path

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
