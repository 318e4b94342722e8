"""The live log: lines in, the last one out, never too many."""

from hashbench.core import task_log


def test_the_last_whole_line_after_the_name(tmp_path):
    assert task_log.last_line(tmp_path) == ""
    task_log.append(tmp_path, b"a cell\n")
    assert task_log.last_line(tmp_path) == ""
    task_log.append(tmp_path, b"first\nsecond\nhalf a li")
    assert task_log.last_line(tmp_path) == "second"
    task_log.append(tmp_path, b"x" * 5000 + b"\nlast\n")
    assert task_log.last_line(tmp_path) == "last"


def test_a_log_stops_growing(tmp_path):
    for _ in range(5):
        task_log.append(tmp_path, b"x" * (task_log.LARGEST // 2))
    assert (tmp_path / task_log.NAME).stat().st_size <= 2 * task_log.LARGEST


def test_a_log_that_cannot_be_written_is_let_go(tmp_path):
    task_log.append(tmp_path / "gone", b"text\n")
    assert not (tmp_path / "gone").exists()


def test_progress_of_a_fit_is_written(tmp_path, monkeypatch):
    clock = iter([0.0, 0.5, 2.0, 2.5, 9.0])
    monkeypatch.setattr(task_log.time, "monotonic", lambda: next(clock))
    tell = task_log.TaskLog(tmp_path, 10)
    for count in (1, 2, 3, 4):
        tell(count, 0.25, 3.0 * count)
    lines = (tmp_path / task_log.NAME).read_text().splitlines()
    assert len(lines) == 2
    for line, facts in zip(lines, (("2 of 10", "24.0 s"), ("4 of 10", "18.0 s")), strict=True):
        assert all(fact in line for fact in (*facts, "0.25")), line
