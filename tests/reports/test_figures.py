"""Figures for a paper: sizes, colours, legends and names."""

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from hashbench.core.errors import HashbenchError
from hashbench.render import figures, plots, text_layout, ticks
from hashbench.render.colours import COLOURS, GREY, MARKERS, fixed_style, text_colour
from hashbench.render.label_placement import LINE, Label, label_points, spread
from hashbench.render.style import MOST_COLOURED, WIDTHS, Style

MANY = [f"method number {number}" for number in range(30)]


def lines(methods, datasets=("one", "two")):
    return pd.DataFrame(
        [
            {
                "dataset": dataset, "task": task, "method": method, "x": x,
                "y": np.sin(x + number), "y_std": 0.1,
            }
            for dataset in datasets
            for task in ("image->text", "text->image")
            for number, method in enumerate(methods)
            for x in range(20)
        ]
    )  # fmt: skip


def line_figure(style, methods, **more):
    with figures.plot_context():
        return plots.line_figure(
            lines(methods, **more), style, "x", "y", ("x", "y"), lambda panel: None, dense=True
        )


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("count", [3, 30])
def test_the_legend_covers_no_panel_and_stays_inside(make_look, width, count):
    methods = MANY[:count]
    style = make_look(methods, ["one", "two"], width=width)
    figure = line_figure(style, methods)
    with figures.plot_context():
        figure.draw_without_rendering()
        renderer = figure.canvas.get_renderer()
        (legend,) = figure.legends
        box = legend.get_window_extent(renderer)
        assert box.x0 >= 0
        assert box.x1 <= figure.bbox.x1
        assert box.y0 >= 0
        for panel in figure.axes:
            assert not box.overlaps(panel.get_tightbbox(renderer))
            inner = panel.get_window_extent(renderer)
            assert inner.height > 60 * figure.dpi / 72  # no panel is squeezed
        assert figure.get_size_inches()[0] == pytest.approx(WIDTHS[width])
        assert len(legend.get_texts()) == (count if count <= MOST_COLOURED else MOST_COLOURED + 1)
        sizes = {text.get_fontsize() for text in legend.get_texts()}
        assert sizes == {7}


def test_no_two_of_many_methods_look_alike(make_look):
    style = make_look([str(number) for number in range(165)], [])
    pairs = {(method.colour, method.marker) for method in style.methods.values()}
    assert len(pairs) == 165
    assert len(COLOURS) * len(MARKERS) == 165


#: The methods of the EDSH paper's tables, and the rivals that papers compare with most.
LINE_UP = ("pdh", "scm-s", "cmfh", "lssh", "dashi", "dasht", "smfh", "fsh", "dlfh", "edsh")
RIVALS = ("seph", "dch", "scratch", "lemon", "batch")

#: Others that stand together in figures: what is best in the default study, networks, baselines.
TOGETHER = {
    "line-up": (*LINE_UP, *RIVALS),
    "quick": (
        *("fddh", "seph", "alech", "batch", "real-valued", "lemon", "fcmh", "fdch", "kdlfh"),
        *("classifier-codes", "edsh"),
    ),
    "networks": (
        *("cirh", "dadh", "dchmt", "dcmh", "dgcpn", "djsrh", "dsph", "jdsh", "ucch", "edsh"),
    ),
    "baselines": ("edsh", "scm-s", "cmfh", "cca-itq", "random", "classifier-codes"),
}


@pytest.mark.parametrize("group", TOGETHER)
def test_methods_that_stand_together_share_no_colour(group):
    colours = [fixed_style(name)[0] for name in TOGETHER[group]]
    assert len(set(colours)) == len(colours)


def oklab(colour, matrix):
    """Return a colour as (lightness, green-red, blue-yellow), where distances are as seen."""
    values = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)
    cones = [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
    opponents = [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
    return np.array(opponents) @ np.cbrt(np.array(cones) @ np.clip(matrix @ linear, 0, 1))


#: Full deuteranopia and protanopia in linear RGB (Machado, Oliveira and Fernandes 2009).
BLINDNESS = {
    "none": np.eye(3),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
}


@pytest.mark.parametrize("kind", BLINDNESS)
def test_colours_stay_apart_for_the_colour_blind(kind):
    seen = [oklab(colour, BLINDNESS[kind]) for colour in COLOURS]
    apart = [np.linalg.norm(a - b) for a, b in itertools.combinations(seen, 2)]
    assert min(apart) > (0.12 if kind == "none" else 0.05)


def test_a_method_has_its_colour_and_marker_in_every_figure(make_look):
    style = make_look(MANY, ["one", "two"])
    for methods in (MANY, MANY[3:9]):
        figure = line_figure(style, methods)
        for text, handle in zip(
            figure.legends[0].get_texts(), figure.legends[0].legend_handles, strict=True
        ):
            if text.get_text().endswith("other methods"):  # the other methods
                assert handle.get_color() == GREY
                continue
            expected = style.methods[text.get_text()]
            assert handle.get_color() == expected.colour
            assert handle.get_marker() == expected.marker


def test_panels_that_do_not_fit_a_page_go_to_other_figures(make_look):
    datasets = [f"data{number}" for number in range(9)]
    style = make_look(MANY, datasets, width="column")
    parts = list(figures.paginate(lines(MANY, datasets), style))
    assert len(parts) > 2
    together = [name for _, part in parts for name in dict.fromkeys(part["dataset"])]
    assert together == datasets
    for _, part in parts:
        figure = line_figure(style, MANY, datasets=tuple(dict.fromkeys(part["dataset"])))
        assert figure.get_size_inches()[1] < 11
    page = make_look(MANY, datasets)
    parts = list(figures.paginate(lines(MANY, datasets[:3]), page))
    assert len(parts) == 1  # two panels side by side, three lines of them
    few = make_look(MANY[:3], datasets[:2])
    assert [name for name, _ in figures.paginate(lines(MANY[:3], datasets[:2]), few)] == [""]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["wiki", "Wiki [protocol=paper]", "a very long name of a dataset"])
def test_titles_stay_above_their_panels(make_look, width, name):
    datasets = (name, f"{name} 2")
    figure = line_figure(make_look(["a"], datasets, width=width), ["a"], datasets=datasets)
    with figures.plot_context():
        figure.draw_without_rendering()
        boxes = [panel.title.get_window_extent() for panel in figure.axes]
        for first, second in itertools.combinations(boxes, 2):
            assert not first.overlaps(second)
        assert all(box.x0 >= 0 and box.x1 <= figure.bbox.x1 for box in boxes)


def test_nothing_drawn_touches_the_top(make_look):
    figure = line_figure(make_look(["a"], ["one"]), ["a"], datasets=("one",))
    for panel in figure.axes:
        assert panel.get_ylim() == (0, pytest.approx(1.05 * panel.dataLim.y1))


def test_bands_stay_where_scores_can_be(make_look):
    style = make_look(["a"], ["one"])
    data = lines(["a"], ("one",)).assign(y=0.95, y_std=0.1)
    with figures.plot_context():
        figure = plots.line_figure(data, style, "x", "y", ("x", "y"), lambda panel: None)
    (band,) = figure.axes[0].collections
    heights = band.get_paths()[0].vertices[:, 1]
    assert heights.min() == pytest.approx(0.85)
    assert heights.max() == 1


def test_names_are_drawn_as_they_stand(make_look):
    nasty = r"$\frac{1}{2}$ a_b \input 🙂‍" + "word" * 30
    style = make_look([nasty, "$unclosed"], ["$x$"])
    figure = line_figure(style, [nasty, "$unclosed"], datasets=("$x$",))
    with figures.plot_context():
        figure.draw_without_rendering()
    shown = {text.get_text() for text in figure.legends[0].get_texts()}
    assert "$unclosed" in shown
    (long,) = shown - {"$unclosed"}
    assert long.startswith(r"$\frac{1}{2}$")
    assert long.endswith("wordword")
    assert "…" in long
    assert len(long) <= text_layout.LONGEST
    assert figure.axes[0].get_title() == "$x$, image→text"


@pytest.mark.parametrize(
    ("ends", "named"),
    [((3, 40), ["5", "10", "20"]), ((0.004, 30), ["0.01", "0.1", "1", "10"])],
)
def test_a_logarithmic_axis_is_written_out(make_look, ends, named):
    figure, (panel,) = figures.make_figure(make_look([], []), 1, 2)
    ticks.log_axis(panel, "x")
    panel.set_xlim(*ends)
    figure.draw_without_rendering()
    low, high = ends
    shown = [t.get_text() for t, x in zip(panel.get_xticklabels(), panel.get_xticks(), strict=True)
             if low <= x <= high]  # fmt: skip
    assert shown == named
    panel.set_xlim(1e-9, 1e9)
    assert sum(1e-9 <= tick <= 1e9 for tick in panel.get_xticks()) <= ticks.MOST


def test_numbers_on_an_axis_are_short():
    found = [ticks.number(x) for x in (1500, 0.05, -2e6, 4e12)]
    assert [text.replace("\N{MINUS SIGN}", "-") for text in found] == ["1.5k", "0.05", "-2M", "4T"]


def test_ten_methods_have_a_colour_those_named_first(hand_made):
    for number in range(14):
        # the more numbers, the better
        good = ("00", "00", "11", "11") if number > 5 else ("11", "11", "00", "00")
        hand_made.add(method=f"m{number}", database=good)
    results = hand_made.results()
    style = Style.of(results).part(results, ["m0", "m3"])
    coloured = style.coloured(style.methods)
    assert len(coloured) == MOST_COLOURED
    assert set(coloured) == {"m0", "m3", *(f"m{number}" for number in range(6, 14))}
    styles = style.figure_styles(style.methods)
    assert styles["m1"].colour == GREY
    assert [name for name in styles if styles[name].highlighted] == ["m0", "m3"]
    shown = [styles[name] for name in coloured]
    assert len({each.colour for each in shown}) == len({each.marker for each in shown}) == 10
    assert style.coloured(["m1", "m2"]) == ["m1", "m2"], "few methods are all in colour"
    with pytest.raises(HashbenchError, match=r"'m99'.*'m9'"):
        Style.of(results).part(results, ["m99"])


def test_a_method_looks_the_same_in_all_studies(hand_made, registry):
    styles = {name: fixed_style(name) for name in registry.methods}
    assert len({style[:2] for style in styles.values()}) == len(styles)
    hand_made.add(method="zzz-before")
    hand_made.add(method="lemon")
    shown = Style.of(hand_made.results()).methods["lemon"]
    assert (shown.colour, shown.marker, shown.dash) == styles["lemon"]


def test_labels_of_points_do_not_overlap_and_stay_inside(make_look):
    rng = np.random.default_rng(0)
    points = rng.random((20, 2)) * 0.9 + 0.05
    figure, (panel,) = figures.make_figure(make_look([], []), 1, 3)
    panel.set(xlim=(0, 1), ylim=(0, 1))
    markers = [panel.plot(*point, "o")[0] for point in points]
    figures.run_layout(figure)
    labels = [Label(x, y, f"name {number}", "black") for number, (x, y) in enumerate(points)]
    texts = label_points(panel, labels, markers)
    assert [text.get_text() for text in texts] == [label.text for label in labels]
    boxes = [text.get_window_extent().padded(-1) for text in texts]
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))
    inside = panel.get_window_extent()
    assert all(inside.containsx(x) for box in boxes for x in (box.x0, box.x1))
    assert all(inside.containsy(y) for box in boxes for y in (box.y0, box.y1))
    assert label_points(panel, [], markers) == []


def test_labels_at_ends_are_spread_and_stay_inside():
    found = spread([5, 5, 5, 98, 99], LINE, 0, 100)
    assert np.diff(found).min() >= LINE - 1e-9
    assert found[0] >= 0
    assert found[-1] <= 100
    assert spread([10, 50, 90], LINE, 0, 100) == [10, 50, 90]


def test_papers_mix_database_codes(hand_made):
    hand_made.add(method="both", learned=("00", "00", "11", "11"))
    hand_made.add(method="scm")
    results = hand_made.results()
    mixed = results.select(codes=["learned-or-encoded"]).scores()
    assert set(mixed["codes"]) == {"learned-or-encoded"}
    values = mixed.groupby("method")["value"].mean()
    plain = results.scores().set_index(["method", "codes"])["value"].groupby(level=[0, 1]).mean()
    assert values["both"] == plain["both", "learned"]
    assert values["scm"] == plain["scm", "encoded"]
    style = Style.of(results)
    assert "e, encoded: scm" in style.summary("x", database="seen", codes="learned-or-encoded")
    assert "without scm" in style.summary("x", database="seen", codes="learned")


def test_texts_can_be_read_on_white():
    def luminance(colour):
        values = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
        linear = np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)
        return linear @ [0.2126, 0.7152, 0.0722]

    for colour in COLOURS:
        assert 1.05 / (luminance(text_colour(colour)) + 0.05) >= 4.5
    assert text_colour("#000000") == "#000000"


def test_methods_in_one_figure_differ_in_colour_and_marker(make_look):
    style = make_look([str(number) for number in range(30)], [])
    twins = {
        name: replace(shown, colour="#0072B2", marker="o") for name, shown in style.methods.items()
    }
    styles = replace(style, methods=twins).figure_styles([str(number) for number in range(12)])
    coloured = [shown for shown in styles.values() if shown.colour != GREY]
    assert len(coloured) == MOST_COLOURED
    assert len({shown.colour for shown in coloured}) == MOST_COLOURED
    assert len({shown.marker for shown in coloured}) == MOST_COLOURED
    assert styles["0"] == twins["0"], "the first keeps its own"


def test_a_highlighted_line_is_thicker_and_in_front(make_look):
    style = make_look(["mine", "theirs"], ["one"])
    mine = replace(style.methods["mine"], highlighted=True)
    style = replace(style, methods={**style.methods, "mine": mine})
    figure = line_figure(style, ["mine", "theirs"], datasets=("one",))
    lines = {line.get_color(): line for line in figure.axes[0].lines}
    first, second = (lines[style.methods[name].colour] for name in ("mine", "theirs"))
    assert first.get_linewidth() > 2 * second.get_linewidth()
    assert first.get_zorder() > second.get_zorder()


def test_a_legend_lists_the_best_first(make_look):
    style = make_look(["low", "high"], ["one"])
    data = lines(["low", "high"], ("one",))
    data["y"] = np.where(data["method"] == "high", 0.9, 0.1)
    with figures.plot_context():
        figure = plots.line_figure(
            data, style, "x", "y", ("x", "y"), lambda panel: None, dense=True
        )
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["high", "low"]


def test_dots_are_sorted_and_have_a_key(make_look):
    style = make_look(["low", "high"], ["one"])
    data = pd.DataFrame(
        {
            "dataset": "one",
            "task": "a->b",
            "method": ["low", "high"],
            "f": [0.1, 0.9],
            "o": [0.3, 0.8],
        }
    )
    with figures.plot_context():
        figure = plots.dot_figure(data, style, "f", "o", "AP")
    (panel,) = figure.axes
    names = {text.get_text(): text.get_position()[1] for text in panel.get_yticklabels()}
    assert names["high"] > names["low"]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["f", "o"]
    faces = [handle.get_markerfacecolor() for handle in figure.legends[0].legend_handles]
    assert faces[0] != faces[1] == "white"
