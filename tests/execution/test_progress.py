"""A run shows a bar on a terminal, one line per cell elsewhere, and nothing with ``--quiet``."""

from __future__ import annotations

import io
import sys
from datetime import datetime
from types import SimpleNamespace

import pytest

from hashbench.execution.progress import (
    Bar,
    Lines,
    Log,
    Quiet,
    TimeLeft,
    make_progress,
    scoring_keys,
    training_keys,
)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def tell(progress, make_cell):
    """Let two cells run, of which one fails."""
    progress.loading("dataset toy")
    progress.loaded()
    progress.note("a note")
    cells = [make_cell(seed=seed, params="") for seed in (0, 1)]
    progress.begin(cells)
    for cell in cells:
        progress.started(cell)
    progress.ended(cells[0], "done", "", 0.25)
    progress.ended(cells[1], "failed", "no good", 75)
    progress.close()


@pytest.mark.parametrize(
    ("stream", "quiet", "kind"),
    [(Terminal(), False, Bar), (io.StringIO(), False, Lines), (Terminal(), True, Quiet)],
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
    tell(Lines(stream), make_cell)
    assert_facts(stream.getvalue().splitlines(), [("a note",), *ENDED])


def test_a_log_has_one_line_with_its_time_per_event(make_cell):
    stream = io.StringIO()
    log = make_progress(False, stream, verbose=True)
    assert type(log) is Log
    tell(log, make_cell)
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
    tell(bar, make_cell)
    assert [more["total"] for more in drawn] == [2]
    assert "{bar}" in drawn[0]["bar_format"]  # what tqdm puts its widget in place of
    assert "\x1b" not in stream.getvalue()
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: None))
    assert type(make_progress(False, stream)) is Lines


def test_a_bar_names_what_runs_and_puts_failures_above_itself(make_cell):
    stream = Terminal()
    tell(Bar(stream), make_cell)
    shown = stream.getvalue()
    assert "dataset toy\r\x1b[K" in shown, "the line is taken away"
    (failure,) = [line for line in shown.splitlines() if line.endswith("no good")]
    assert all(fact in failure for fact in ("failed", "edsh", "toy", "seed 1")), failure
    assert "2/2 |" in shown
    assert shown.rstrip().endswith(", 1 failed")


def test_a_bar_shows_the_progress_of_a_cell(make_cell):
    stream = Terminal()
    progress, cell = Bar(stream), make_cell(params="")
    progress.begin([cell])
    progress.started(cell)
    progress.said(cell, "iteration 3 of 9")
    progress.ended(cell, "done", "", 1.0)
    progress.close()
    assert "(iteration 3 of 9)" in stream.getvalue()


@pytest.mark.parametrize(
    ("columns", "shown"),
    [
        (100, "edsh 8 toy s0 (iteration 3 of 9)"),
        (65, "edsh 8 toy s0"),
        (50, "1 running"),
    ],
)
def test_a_bar_shows_what_fits_on_a_line(make_cell, monkeypatch, columns, shown):
    monkeypatch.setenv("COLUMNS", str(columns))
    progress, cell = Bar(Terminal()), make_cell(params="")
    progress.begin([cell])
    progress.started(cell)
    progress.said(cell, "iteration 3 of 9")
    assert progress.bar.postfix == shown
    progress.close()


def test_the_first_cell_scored_tells_nothing_of_the_others(make_cell):
    left = TimeLeft(scoring_keys)
    cells = [make_cell(seed=seed) for seed in range(3)]
    left.expect(cells)
    left.ended(cells[0], None)
    assert left.words() == ""
    left.ended(cells[1], 2.0)
    assert left.seconds() == 2


def test_quiet_is_quiet(make_cell, capsys):
    tell(make_progress(quiet=True), make_cell)
    assert capsys.readouterr() == ("", "")


def test_time_left_is_judged_by_cells_that_are_alike(make_cell):
    left = TimeLeft(training_keys)
    slow = [make_cell(method="slow", params="", seed=seed) for seed in range(4)]
    fast = [make_cell(method="fast", params="", seed=seed) for seed in range(4)]
    new = [make_cell(method="new", params="")]
    left.expect([*slow, *fast])
    assert left.seconds() is None
    assert left.words() == ""
    left.ended(slow[0], 100.0)
    left.ended(fast[0], 1.0)
    assert left.seconds() == pytest.approx(303)
    left.expect(new)
    assert left.seconds() == pytest.approx(50.5)
    left.expect(slow[1:])
    assert "1 min 40 s" in left.words(3)
    left.ended(slow[1], 200.0)
    assert left.seconds() == pytest.approx(2 * 150), "what was learned before counts"


def test_scoring_is_judged_by_the_dataset(make_cell):
    left = TimeLeft(scoring_keys)
    small, large, other = (
        make_cell(dataset=dataset, method=method)
        for dataset, method in (("small", "a"), ("large", "a"), ("large", "b"))
    )
    left.expect([small, large, other])
    left.ended(small, 1.0)
    left.ended(large, 9.0)
    assert left.seconds() == 9
