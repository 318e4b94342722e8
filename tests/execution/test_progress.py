"""A run shows a bar on a terminal, one line per cell elsewhere, and nothing with ``--quiet``."""

import io
import sys
from datetime import datetime
from types import SimpleNamespace

import pytest

from hashbench.execution.progress import (
    BarProgress,
    LineProgress,
    LogProgress,
    Progress,
    make_progress,
)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def run_two_cells(progress, make_cell):
    """Report two cells, of which one fails."""
    progress.loading_dataset("dataset toy")
    progress.datasets_loaded()
    progress.message("a note")
    cells = [make_cell(seed=seed, params="") for seed in (0, 1)]
    progress.begin(cells)
    for cell in cells:
        progress.cell_started(cell)
    progress.cell_finished(cells[0], "done", "", 0.25)
    progress.cell_finished(cells[1], "failed", "no good", 75)
    progress.close()


@pytest.mark.parametrize(
    ("stream", "quiet", "kind"),
    [
        (Terminal(), False, BarProgress),
        (io.StringIO(), False, LineProgress),
        (Terminal(), True, Progress),
    ],
)
def test_the_stream_decides(stream, quiet, kind):
    assert type(make_progress(quiet, stream)) is kind


#: What the lines of the two cells that end name.
ENDED = (
    ("1/2", "done", "edsh", "8 bits", "toy", "seed 0", "250 ms"),
    ("2/2", "failed", "edsh", "8 bits", "toy", "seed 1", "1 min 15 s", "no good"),
)


def assert_facts(lines, facts):
    for line, expected in zip(lines, facts, strict=True):
        assert all(fact in line for fact in expected), line


def test_lines_count_and_give_reasons(make_cell):
    stream = io.StringIO()
    run_two_cells(LineProgress(stream), make_cell)
    assert_facts(stream.getvalue().splitlines(), [("a note",), *ENDED])


def test_a_log_has_one_line_with_its_time_per_event(make_cell):
    stream = io.StringIO()
    log = make_progress(False, stream, verbose=True)
    assert type(log) is LogProgress
    run_two_cells(log, make_cell)
    lines = stream.getvalue().splitlines()
    for line in lines:
        datetime.fromisoformat(line[:23])
    started = [("started", "edsh", "toy", f"seed {seed}") for seed in (0, 1)]
    assert_facts(lines, [("dataset toy",), ("a note",), ("2 cells",), *started, *ENDED])


def test_a_notebook_has_the_bar_of_notebooks(make_cell, monkeypatch):
    import tqdm.auto

    drawn = []

    class Widget(tqdm.std.tqdm):
        def __init__(self, **more):
            drawn.append(more)
            super().__init__(**more, file=io.StringIO())

    class Kernel:
        config = {"IPKernelApp": {}}  # noqa: RUF012

    monkeypatch.setattr(tqdm.auto, "tqdm", Widget)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=Kernel))
    stream = io.StringIO()
    bar = make_progress(False, stream)
    run_two_cells(bar, make_cell)
    assert [more["total"] for more in drawn] == [2]
    assert "{bar}" in drawn[0]["bar_format"]  # what tqdm puts its widget in place of
    assert "\x1b" not in stream.getvalue()
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: None))
    assert type(make_progress(False, stream)) is LineProgress


def test_a_bar_names_what_runs_and_puts_failures_above_itself(make_cell):
    stream = Terminal()
    run_two_cells(BarProgress(stream), make_cell)
    shown = stream.getvalue()
    assert "loading dataset toy" in shown
    (failure,) = [line for line in shown.splitlines() if line.endswith("no good")]
    assert all(fact in failure for fact in ("failed", "edsh", "toy", "seed 1")), failure
    assert "2/2 |" in shown
    assert shown.rstrip().endswith(", 1 failed")


def test_a_bar_shows_the_progress_of_a_cell(make_cell):
    stream = Terminal()
    progress, cell = BarProgress(stream), make_cell(params="")
    progress.begin([cell])
    progress.cell_started(cell)
    progress.cell_output(cell, "iteration 3 of 9")
    progress.cell_finished(cell, "done", "", 1.0)
    progress.close()
    assert "(iteration 3 of 9)" in stream.getvalue()


def test_a_bar_is_cut_at_the_edge_of_the_terminal(make_cell, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("LINES", "24")
    stream = Terminal()
    run_two_cells(BarProgress(stream), make_cell)
    lines = [line for line in stream.getvalue().replace("\r", "\n").splitlines() if "/2 |" in line]
    assert max(len(line.rstrip()) for line in lines) <= 60  # blanks erase what was longer
    assert any("1 running, " in line for line in lines)


def test_quiet_is_quiet(make_cell, capsys):
    run_two_cells(make_progress(quiet=True), make_cell)
    assert capsys.readouterr() == ("", "")
