"""Tables on a terminal: in 80 columns, the best first, nothing left out in silence."""

import re

import click
import pytest

from hashbench.render.terminal import Order, listing, score_tables, winners


def table_rows(bits=(8, 16, 24, 32, 64, 128), methods=("edsh", "a-method-with-a-very-long-name")):
    return [
        {"dataset": "wiki", "method": method, "params": "gamma=1,train_rows=5000" if i else "",
         "bits": b, "seed": seed, "task": task, "database": "unseen", "codes": "encoded",
         "measure": "AP",
         "value": i + b / 1000 + seed}
        for i, method in enumerate(methods)
        for b in bits
        for seed in range(2)
        for task in ("image->text", "text->image")
    ]  # fmt: skip


@pytest.mark.parametrize("bits", [(8,), (8, 16), (8, 16, 24, 32), (8, 16, 24, 32, 48, 64, 96, 128)])
def test_tables_fit_80_columns_and_hold_every_mean(bits):
    text = click.unstyle(score_tables(table_rows(bits), [], "AP"))
    assert max(map(len, text.splitlines())) <= 80
    assert "2 seeds" in text
    for b in bits:
        assert f"{0.5 + b / 1000:.3f}" in text
        assert f"{1.5 + b / 1000:.3f}" in text


def test_names_take_the_space_that_numbers_leave():
    names = [f"alpha=1,beta=2,gamma=3,delta={value}" for value in (1, 2)]
    rows = [{**row, "params": name} for name in names for row in table_rows((8,), ("edsh",))]
    text = score_tables(rows, [], "AP")
    assert all(f"\nedsh[{name}]" in text for name in names)


def test_the_best_is_bold():
    text = score_tables(table_rows((8,)), [], "AP")
    _, *bold = text.split("\x1b[1m")
    assert len(bold) == 2
    assert all(part.strip().startswith("1.508") for part in bold)


def ranked(count):
    """Rows of methods m00, m01, ..., each better than the one before."""
    return [
        {**row, "method": f"m{number:02}", "value": number / 100}
        for number in range(count)
        for row in table_rows((8,), ("edsh",))
    ]


def shown(text):
    return re.findall(r"^m\d\d", text, re.MULTILINE)


def test_the_best_ten_come_first_and_those_asked_for_by_name():
    order = Order(methods=["m03", "m01"], named=["all", "m03"], where="the page")
    text = score_tables(ranked(14), [], "AP", order)
    assert shown(text) == [f"m{number:02}" for number in (*range(13, 3, -1), 3)]
    last = text.splitlines()[-1]
    assert "3 methods" in last
    assert "the page" in last


def test_methods_and_datasets_are_shown_in_the_order_of_the_study():
    rows = [{**row, "dataset": name} for name in ("a", "b") for row in ranked(12)]
    asked = [f"m{number:02}" for number in (5, 11, 0, 1, 2, 3, 4, 6, 7, 8, 9, 10)]
    text = score_tables(rows, [], "AP", Order(["b", "a"], asked, set(asked), where="the page"))
    assert shown(text) == asked * 2
    assert text.index(" on b") < text.index(" on a")
    assert "the page" not in text


def test_what_failed_comes_last_among_the_best():
    runs = [{"dataset": "wiki", "method": "zero", "params": "", "bits": 8, "status": "timeout"}]
    text = score_tables(ranked(3), runs, "AP")
    assert [line.split()[0] for line in text.splitlines()[3:]] == ["m02", "m01", "m00", "zero"]


def test_listings_wrap_their_last_columns():
    text = listing(("name", "what", "why"), [("one", "word " * 20, "reason " * 20)], wrapped=2)
    assert max(map(len, text.splitlines())) <= 80
    assert text.count("word") == 20
    assert all(line == line.rstrip() for line in text.splitlines())


def test_a_method_that_the_measure_is_not_for_has_a_dash():
    runs = [
        {"dataset": "wiki", "method": method, "params": "", "bits": 8, "seed": 0, "status": "done"}
        for method in ("edsh", "vectors")
    ]
    rows = table_rows((8,), ("edsh",))
    (line,) = [each for each in score_tables(rows, runs, "AP").splitlines() if "vectors" in each]
    assert line.split() == ["vectors", "-", "-"]
    (line,) = score_tables([], runs, "AP").splitlines()
    assert line.startswith("AP on wiki: ")


def test_methods_without_hamming_distances_are_marked_with_their_bytes():
    rows = table_rows((8, 16), ("edsh", "pq"))
    runs = [
        {**row, "status": "done", "hamming": row["method"] == "edsh", "item_bytes": row["bits"] / 8}
        for row in rows
    ]
    runs += [{**runs[0], "method": "failed", "status": "failed", "hamming": None}]
    *_, note = lines = score_tables(rows, runs, "AP").splitlines()
    marked = [line.split("[")[0] for line in lines if "‡" in line.split()[0]]
    assert marked == ["pq", note.split("[")[0]]
    assert note.startswith("‡ ")
    assert re.search(r"pq\S*: 1 to 2 bytes per item", note)
    assert "edsh" not in note


def test_cells_that_are_not_done_stand_in_the_table():
    rows = [row for row in table_rows((8,), ("edsh", "cca")) if row["params"] == ""]
    base = {"dataset": "wiki", "params": "", "bits": 8}
    runs = [
        {**base, "method": "edsh", "seed": 2, "status": "timeout"},
        {**base, "method": "hangs", "seed": 0, "status": "timeout"},
        {**base, "method": "cca", "seed": 0, "status": "done"},
        {**base, "dataset": "other", "method": "elsewhere", "seed": 0, "status": "failed"},
    ]
    text = score_tables(rows, runs, "AP")
    assert "0.508*" in text
    assert "\n* " in text  # what the star means
    (line,) = [line for line in text.splitlines() if line.startswith("hangs")]
    assert line.split() == ["hangs", "timeout", "timeout"]
    assert "elsewhere" not in text
    assert text.splitlines()[-1].startswith("AP on other: ")


def test_reconstructions_are_marked_with_what_was_inferred():
    order = Order(reconstructions={"m01": "the weight is inferred"})
    text = click.unstyle(score_tables(ranked(3), [], "AP", order))
    assert re.search(r"^m01†", text, re.MULTILINE)
    assert not re.search(r"^m0[02]†", text, re.MULTILINE)
    assert "the weight is inferred" in text


def rows_of(dataset, scores):
    """Rows of one seed: scores by method and code length."""
    return [
        {**row, "dataset": dataset, "method": method, "params": "", "value": value}
        for method, by_bits in scores.items()
        for bits, value in by_bits.items()
        for row in table_rows((bits,), ("edsh",))
        if row["seed"] == 0 and row["task"] == "image->text"
    ]


def test_the_winner_has_the_best_mean_rank_not_the_highest_mean():
    rows = rows_of("one", {"a": {8: 0.9, 16: 0.5, 32: 0.5}, "b": {8: 0.6, 16: 0.51, 32: 0.51}})
    rows += rows_of("two", {"a": {8: 0.4}, "b": {8: 0.41}, "vectors": {8: 1.0}})
    runs = [{**row, "status": "done", "hamming": row["method"] != "vectors"} for row in rows]
    text = winners(rows, runs, "AP")
    lines = [" ".join(line.split()) for line in text.replace("\n  ", " ").splitlines()]
    assert [re.findall(r"\b([ab]) (\d\.\d) ", line) for line in lines] == [
        [("b", "1.3"), ("a", "1.7")],
        [("b", "2.0"), ("a", "3.0")],  # of vectors, which have no codes, nothing is said
        [("b", "1.2"), ("a", "1.8")],
    ]
    assert max(map(len, text.splitlines())) <= 80


def test_what_is_printed_as_equal_is_bold_alike():
    rows = rows_of("one", {"a": {8: 0.5004}, "b": {8: 0.5001}, "c": {8: 0.4}})
    text = score_tables(rows, [], "AP")
    assert re.findall(r"\x1b\[1m\s*(\S+)\x1b", text) == ["0.500", "0.500"]


def test_rows_of_highlighted_methods_are_shaded():
    rows = table_rows((16,), ("edsh", "mine"))
    order = Order(highlighted=["mine[gamma=1,train_rows=5000]"])
    text = score_tables(rows, [], "AP", order)
    shaded = [line for line in text.split("\n") if re.search(r"\x1b\[(1;)?7m", line)]
    assert shaded
    assert all("mine" in line for line in shaded)
