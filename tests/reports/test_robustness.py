"""The score against an option of the protocol."""

import pytest

from hashbench.render import figures
from hashbench.render.report import NothingToShowError
from hashbench.render.style import Style
from hashbench.reports.robustness import Robustness

PERFECT = ("00", "00", "11", "11")
MIXED = ("00", "01", "10", "11")


def test_values_of_one_option_are_one_line(hand_made):
    protocols = {"toy": "random", "toy[label_noise=0.2]": "random; label_noise=0.2"}
    for dataset, protocol in protocols.items():
        for method in ("a", "b"):
            codes = PERFECT if method == "a" or dataset == "toy" else MIXED
            hand_made.add(method=method, dataset=dataset, protocol=protocol, database=codes)
    # another option, of which there is no second value
    other = {"dataset": "toy[unseen_classes=0.5]", "protocol": "random; unseen_classes=0.5"}
    hand_made.add(method="a", database=MIXED, **other)
    # another preprocessing is no option
    hand_made.add(method="a", dataset="toy[preprocess=l2]", protocol="random", database=MIXED)
    results = hand_made.results()
    data = Robustness().data(results)
    noise = data[(data["option"] == "label_noise") & (data["task"] == "image->text")]
    lines = {
        method: rows.sort_values("value")[["value", "mean"]].to_numpy().tolist()
        for method, rows in noise.groupby("method")
    }
    assert lines["a"] == [[0, 1], [0.2, 1]]
    assert lines["b"][1][1] < 1
    assert set(data["dataset"][data["option"] == "label_noise"]) == set(protocols)
    with figures.plot_context():
        pictures = Robustness().draw(data, Style.of(results))
    first = next(each for each in pictures if each.name.startswith("label_noise"))
    assert "share" in next(axes.get_xlabel() for axes in first.figure.axes)


def test_a_long_name_of_an_axis_stands_once_below_narrow_panels(hand_made):
    protocols = {"toy": "random", "toy[label_noise=0.2]": "random; label_noise=0.2"}
    for dataset, protocol in protocols.items():
        hand_made.add(method="a", dataset=dataset, protocol=protocol)
    results = hand_made.results()
    data = Robustness().data(results)
    with figures.plot_context():
        figure = Robustness().draw(data, Style.of(results, "column"))[0].figure
        figure.draw_without_rendering()
    assert "share" in figure.get_supxlabel()
    assert {panel.get_xlabel() for panel in figure.axes} == {""}


def test_one_value_is_no_line(hand_made):
    hand_made.add(method="a")
    with pytest.raises(NothingToShowError, match=r"label_noise=0\|0.2"):
        Robustness().data(hand_made.results())
