"""The live log: lines in, the last one out, never too many."""

from hashbench.base import live


def test_the_last_whole_line_after_the_name(tmp_path):
    assert live.last_line(tmp_path) == ""
    live.append(tmp_path, b"a cell\n")
    assert live.last_line(tmp_path) == ""
    live.append(tmp_path, b"first\nsecond\nhalf a li")
    assert live.last_line(tmp_path) == "second"
    live.append(tmp_path, b"x" * 5000 + b"\nlast\n")
    assert live.last_line(tmp_path) == "last"


def test_a_log_stops_growing(tmp_path):
    for _ in range(5):
        live.append(tmp_path, b"x" * (live.LARGEST // 2))
    assert (tmp_path / live.NAME).stat().st_size <= 2 * live.LARGEST


def test_a_log_that_cannot_be_written_is_let_go(tmp_path):
    live.append(tmp_path / "gone", b"text\n")
    assert not (tmp_path / "gone").exists()


def test_progress_of_a_fit_is_written(tmp_path, monkeypatch):
    clock = iter([0.0, 0.5, 2.0, 2.5, 9.0])
    monkeypatch.setattr(live.time, "monotonic", lambda: next(clock))
    tell = live.Told(tmp_path, 10)
    for count in (1, 2, 3, 4):
        tell(count, 0.25, 3.0 * count)
    lines = (tmp_path / live.NAME).read_text().splitlines()
    assert len(lines) == 2
    for line, facts in zip(lines, (("2 of 10", "24.0 s"), ("4 of 10", "18.0 s")), strict=True):
        assert all(fact in line for fact in (*facts, "0.25")), line
