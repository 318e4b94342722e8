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


def test_how_far_a_fit_has_come(tmp_path, monkeypatch):
    clock = iter([0.0, 0.5, 2.0, 2.5, 9.0])
    monkeypatch.setattr(live.time, "monotonic", lambda: next(clock))
    tell = live.Told(tmp_path, 10)
    for count in (1, 2, 3, 4):
        tell(count, 0.25, 3.0 * count)
    assert (tmp_path / live.NAME).read_text() == (
        "iteration 2 of 10, about 24.0 s left: objective 0.25\n"
        "iteration 4 of 10, about 18.0 s left: objective 0.25\n"
    )
