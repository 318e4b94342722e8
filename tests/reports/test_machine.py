"""Times, memory, convergence, codes and failures."""

import numpy as np
import pytest

from hashbench.core.errors import HashbenchError
from hashbench.plugins.selection import without
from hashbench.render import figures
from hashbench.render.report import NothingToShowError, Picture, Table
from hashbench.render.style import Style
from hashbench.reports.codes import Codes
from hashbench.reports.convergence import Convergence
from hashbench.reports.failures import Failures
from hashbench.reports.scaling import Scaling, slope
from hashbench.reports.time_vs_map import TimeVersusScore, on_front
from hashbench.reports.training_time import TrainingTime


def timed(seconds, **more):
    return {"seconds": {"fit": seconds}, **more}


def test_training_time_by_hand(hand_made):
    hand_made.add(record=timed(2.0, threads=2, environment={"cpu": "A chip"}))
    hand_made.add(seed=1, record=timed(4.0, alone=False, environment={"cpu": "A chip"}))
    hand_made.add(method="slow", bits=2, status="memory", reason="too much")
    results = hand_made.results()
    data = TrainingTime().data(results)
    row = data[data["method"] == "edsh"].iloc[0]
    assert (row["fit_seconds"], row["fit_seconds_std"]) == (3.0, pytest.approx(2**0.5))
    assert not row["alone"]
    with figures.plot_context():
        table, bars = TrainingTime().draw(data, Style.of(results))
    assert [[entry.text for entry in row] for row in table.groups[0].rows] == [
        ["edsh", "3"],
        ["slow", "– memory"],
    ]
    for words in ("A chip", "2 threads", "other cells", "2 bits"):
        assert words in table.caption
        assert words in bars.caption


def test_the_front_is_what_nothing_faster_beats():
    seconds = np.array([1.0, 2.0, 3.0, 2.0, 1.0])
    scores = np.array([0.1, 0.5, 0.4, 0.5, 0.05])
    assert on_front(seconds, scores).tolist() == [True, True, False, True, False]


def test_time_against_score(hand_made):
    hand_made.add(method="good", database=("00", "00", "11", "11"), record=timed(2.0))
    hand_made.add(method="bad", database=("11", "11", "00", "00"), record=timed(3.0))
    results = hand_made.results()
    data = TimeVersusScore().data(results).set_index(["task", "method"])
    assert data.loc[("image->text", "good"), ["value", "fit_seconds", "front"]].tolist() == [
        1.0,
        2.0,
        True,
    ]
    assert not data.loc[("image->text", "bad"), "front"]


def test_convergence_draws_one_line_per_seed(hand_made):
    hand_made.add(method="cca")
    with pytest.raises(NothingToShowError):
        Convergence().data(hand_made.results())
    for seed in (0, 1):
        hand_made.add(seed=seed, history={"objective": [3.0, 2.0], "objective_seconds": [0.1, 0.2]})
    results = hand_made.results()
    with figures.plot_context():
        by_iteration, by_second = Convergence().draw(Convergence().data(results), Style.of(results))
    (panel,) = by_iteration.figure.axes
    assert [line.get_xdata().tolist() for line in panel.lines] == [[1, 2], [1, 2]]
    assert by_second.figure.axes[0].lines[0].get_xdata().tolist() == [0.0, 0.1]
    assert by_second.figure.axes[0].lines[0].get_ydata().tolist() == [3.0, 2.0]


def test_convergence_has_a_panel_per_dataset(hand_made, registry):
    history = {"objective": [3.0, 2.0, 2.5], "objective_seconds": [0.1, 0.2, 0.4]}
    for dataset in ("one", "two"):
        hand_made.add(dataset=dataset, history=history)
    results = hand_made.results(registry)
    report = Convergence(panels="dataset")
    with figures.plot_context():
        pictures = report.draw(report.data(results), Style.of(results))
    assert [picture.name for picture in pictures] == ["iteration edsh 2 bits", "second edsh 2 bits"]
    panels = pictures[1].figure.axes
    assert [panel.get_title() for panel in panels] == ["one", "two"]
    (line,) = panels[0].lines
    assert line.get_xdata().tolist() == pytest.approx([0, 0.1, 0.3])
    # a panel in which the objective rises says why
    assert "Eq. 18" in panels[0].texts[0].get_text()
    with pytest.raises(HashbenchError, match="'task'"):
        Convergence(panels="task").draw(report.data(results), Style.of(results))


def test_slopes_of_known_powers():
    rows = [100, 200, 400, 100, 200, 400]
    assert slope(rows, [5 * n**2 for n in rows]) == pytest.approx(2)
    assert slope(rows, [3 * n**0.5 for n in rows]) == pytest.approx(0.5)
    assert np.isnan(slope([100, 100], [1, 2]))
    assert without("synthetic[rows=500,snr=0.2]", "rows") == "synthetic[snr=0.2]"


def test_scaling_joins_the_sizes_of_a_dataset(hand_made):
    hand_made.add()
    with pytest.raises(NothingToShowError, match="train_rows"):
        Scaling().data(hand_made.results())
    hand_made.cells.clear()
    for size, rows in ((1, (2,)), (2, (2, 3)), (4, (2, 3, 4, 5))):
        hand_made.split(f"s{size}", train=rows)
        memory = {"peak_memory": int(1e6 * (10 + size)), "resident_at_start": int(1e7)}
        hand_made.add(
            dataset=f"toy[rows={size}]", split=f"s{size}", record=timed(3.0 * size**2, **memory)
        )
    results = hand_made.results()
    data = Scaling().data(results)
    assert set(data["dataset"]) == {"toy"}
    assert data["train_rows"].tolist() == [1, 2, 4]
    assert data["fit_seconds_slope"].tolist() == pytest.approx([2.0] * 3)
    assert data["own_memory"].tolist() == pytest.approx([1.0, 2.0, 4.0])
    assert data["own_memory_slope"].tolist() == pytest.approx([1.0] * 3)
    with figures.plot_context():
        picture, table = Scaling().draw(data, Style.of(results))
    assert isinstance(picture, Picture)
    assert [entry.text for entry in table.groups[0].rows[0]] == ["edsh", "2.00", "1.00"]


def test_a_capped_method_is_one_curve_with_the_uncapped(hand_made):
    hand_made.split("few", train=(2, 3))
    hand_made.add(record=timed(4.0))
    hand_made.add(params="train_rows=2", split="few", record=timed(1.0))
    data = Scaling().data(hand_made.results())
    assert set(data["method"]) == {"edsh"}
    assert data["fit_seconds_slope"].tolist() == pytest.approx([2.0, 2.0])


def test_codes_are_described(hand_made):
    hand_made.add(database=("00", "01", "01", "01"), learned=("00", "00", "11", "11"))
    results = hand_made.results()
    data = Codes().data(results).set_index(["codes", "view"])
    assert data.loc[("encoded", "image"), ["constant", "distinct"]].tolist() == [1, 2]
    assert data.loc[("learned", ""), "correlation"] == pytest.approx(1.0)
    table, learned = Codes().draw(data.reset_index(), Style.of(results))
    assert [group.title for group in table.groups] == ["image", "text"]
    assert [group.title for group in learned.groups] == [""]
    row = [entry.text for entry in table.groups[0].rows[0]]
    # bit 0 is never set, bit 1 in three of four: ones (0 + 3/4) / 2, imbalance (1/2 + 1/4) / 2;
    # of the three pairs of items with code 01 two have labels 0 and 1
    assert row == ["edsh", "0.38", "0.38", "–", "1", "2", "0.67"]


def test_equal_failures_share_one_row(hand_made):
    hand_made.add()
    with pytest.raises(NothingToShowError, match="1 cells"):
        Failures().data(hand_made.results())
    for seed in (1, 2):
        hand_made.add(bits=2, seed=seed, status="failed", reason="ValueError: <no> & $x_1$")
    hand_made.add(bits=4, status="timeout", reason="ran longer than 1 s")
    results = hand_made.results()
    data = Failures().data(results)
    assert len(data) == 3
    (table,) = Failures().draw(data, Style.of(results))
    assert isinstance(table, Table)
    assert [[entry.text for entry in row[2:]] for row in table.groups[0].rows] == [
        ["2", "1, 2", "failed", "ValueError: <no> & $x_1$"],
        ["4", "0", "timeout", "ran longer than 1 s"],
    ]
