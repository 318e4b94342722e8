"""The search engine of the page: its ranking is the evaluator's."""

import json

import numpy as np
import pytest

import hashbench
from hashbench.analysis.per_query import per_query
from hashbench.core.codes import unpack
from hashbench.data.splits import Searched
from tests.helpers.browsing import BROWSER, choose, open_page, wait_for

pytestmark = BROWSER


SEARCHED = [Searched("unseen", "encoded"), Searched("seen", "learned")]


@pytest.fixture
def engine(browser, emoji_results):
    open_page(browser, emoji_results.path / "report" / "index.html")
    browser.execute_script("document.getElementById('search').scrollIntoView()")
    wait_for(browser, "return document.querySelectorAll('.returned li').length > 0")
    return browser


def type_in(browser, text):
    browser.execute_script(
        "const find = document.getElementById('find'); find.value = arguments[0];"
        "find.dispatchEvent(new Event('input'))",
        text,
    )


def returned(browser):
    """What stands on the page: method -> row, (distance, ties) and kind of each item."""
    return dict(
        browser.execute_script(
            "return [...document.querySelectorAll('.returned')].map(block => "
            "[block.dataset.method, [...block.querySelectorAll('li')].map(li => "
            "[Number(li.dataset.row), [Number(li.dataset.distance), Number(li.dataset.ties)],"
            " li.className])])"
        )
    )


def cell(results, method, bits=16):
    return next(
        stored for stored in results.done()
        if (stored.cell.label, stored.cell.bits) == (method, bits)
    )  # fmt: skip


def test_a_word_finds_the_emoji(engine):
    type_in(engine, "camel")
    listed = wait_for(
        engine,
        "const texts = [...document.querySelectorAll('#query-list button')]"
        ".map(each => each.title);"
        "return texts.length && texts.every(text => text.includes('camel')) && texts",
    )
    assert any("🐫" in text or "🐪" in text for text in listed)
    wait_for(engine, "return document.getElementById('query').textContent.includes('camel')")


def found(browser, text):
    """The titles of the queries that a text finds."""
    type_in(browser, text)
    browser.execute_async_script("const done = arguments[0]; listQueries().then(() => done())")
    return browser.execute_script(
        "return [...document.querySelectorAll('#query-list button')].map(each => each.title)"
    )


def test_the_beginning_of_a_word_is_enough_but_not_its_end(engine):
    assert any("camel" in title for title in found(engine, "cam"))
    assert not any("camel" in title for title in found(engine, "amel"))


def test_keywords_are_searched_after_names(engine):
    names = found(engine, "donkey")
    assert "donkey" in names[0]
    by_keyword = found(engine, "alcohol")  # a keyword, and in no name
    assert by_keyword
    assert not any("alcohol" in title for title in by_keyword)


def test_a_word_that_finds_nothing_clears_what_was_found_before(engine):
    assert returned(engine)
    assert found(engine, "xyzzy") == []
    assert returned(engine) == {}
    assert engine.find_element("id", "query").text == ""
    assert "xyzzy" in engine.find_element("id", "query-count").text
    assert found(engine, "heart")
    assert returned(engine)


def test_the_first_query_is_the_median_of_the_best_method(engine, emoji_results):
    best = next(iter(returned(engine)))
    stored = cell(emoji_results, best)
    scores = per_query(emoji_results, stored, "text->image", SEARCHED[0], "AP")
    row = engine.execute_script("return search.row")
    query = list(emoji_results.split(stored.cell.split).query).index(row)
    assert scores[query] == pytest.approx(np.nanmedian(scores), abs=0.02)


@pytest.mark.parametrize("task", ["image→text", "text→image"])
@pytest.mark.parametrize("found_in", SEARCHED)
def test_the_ranking_is_the_evaluators(engine, emoji_results, task, found_in):
    choose(engine, "task", task)
    choose(engine, "database", str(found_in))
    stored = cell(emoji_results, "edsh")
    split, codes = emoji_results.split(stored.cell.split), stored.codes()
    asked, searched = (0, 1) if task == "image→text" else (1, 0)
    labels = [
        unpack(words, split.n_labels) for words in (split.query_labels, split.database_labels)
    ]
    rows = np.flatnonzero(split.is_seen == (found_in.database == "seen"))
    learned = found_in.codes == "learned"
    database = (
        codes.learned[searched % len(codes.learned)][split.learned_rows]
        if learned
        else codes.database[searched][rows]
    )
    labels[1] = labels[1][rows]
    scores = hashbench.evaluate(
        unpack(codes.query[asked], 16),
        unpack(database, 16),
        *labels,
        ["AP(ties=index)", "AP"],
        per_query=True,
    ).scores
    indexed = scores[next(name for name in scores if "index" in name)].per_query
    expected = scores["AP"].per_query
    method = engine.execute_script("return findMethod('edsh')")
    key = f"d0-m{method}-b0"
    engine.execute_script(f"loadPart('{key}')")
    wait_for(engine, f"return window.hashbenchParts['{key}'] !== undefined")
    name = task.replace("→", "->")
    for query in np.flatnonzero(~split.copies[asked])[[0, 7, -1]].tolist():
        order, page_score = engine.execute_script(
            f"const part = window.hashbenchParts['{key}'], items = window.hashbenchParts.d0;"
            "const searched = data.databases.find(each => each.name === arguments[0]);"
            f"return [[...retrieve(part, items, {query}, '{name}', searched).order],"
            f"queryScores(part, '{name}', searched.name)[{query}]]",
            str(found_in),
        )
        assert sorted(order) == rows.tolist()
        relevant = (labels[0][query] & labels[1][np.searchsorted(rows, order)]).any(axis=1)
        precision = relevant.cumsum() / np.arange(1, len(order) + 1)
        assert precision[relevant].mean() == pytest.approx(indexed[query], abs=1e-9)
        assert page_score == pytest.approx(expected[query], abs=1e-6)


def test_what_is_shown_is_the_head_of_that_ranking(engine, emoji_results):
    query = 5
    split = emoji_results.split(cell(emoji_results, "edsh").cell.split)
    type_in(engine, str(split.query[query]))
    wait_for(engine, f"return document.getElementById('query').textContent"
                     f".includes('item {split.query[query]} ')")  # fmt: skip
    shown = returned(engine)
    assert set(shown) == {"edsh", "scm-s"}  # real-valued has no codes
    task = engine.execute_script("return data.tasks[selectedSlice()[1]].name")
    assert task == "text->image"  # where pictures are found
    for method in shown:
        codes = cell(emoji_results, method).codes()
        distances = np.bitwise_count(codes.query[1][query] ^ codes.database[0]).sum(axis=1)
        distances = np.where(split.is_seen, 99, distances)
        order = np.argsort(distances, kind="stable")[:10]
        found = shown[method]
        assert [row for row, _, _ in found] == split.database[order].tolist()
        ties = [[d, (distances == d).sum()] for d in distances[order]]
        assert [text for _, text, _ in found] == ties
        hits = ((split.query_labels[query] & split.database_labels[order]) != 0).any(axis=1)
        assert [kind for _, _, kind in found] == ["hit" if each else "miss" for each in hits]


def test_only_codes_of_chosen_methods_are_read(engine):
    read = engine.execute_script("return Object.keys(window.hashbenchParts)")
    assert len([key for key in read if "-b1" in key]) == 0  # the other length
    engine.execute_script("document.getElementById('all-bits').click()")
    wait_for(engine, "return [...document.querySelectorAll('.returned h3')]"
                     ".some(each => each.textContent.includes('32 bits'))")  # fmt: skip
    engine.execute_script("document.getElementById('both-kinds').click()")
    wait_for(engine, "return [...document.querySelectorAll('.returned h3')]"
                     ".some(each => each.textContent.includes('learned'))")  # fmt: skip


def test_queries_that_tell_two_methods_apart_come_first(engine, emoji_results):
    choose(engine, "query-order", "where the first two methods differ most")
    split = emoji_results.split(cell(emoji_results, "edsh").cell.split)
    a, b = (
        per_query(emoji_results, cell(emoji_results, name), "text->image", SEARCHED[0], "AP")
        for name in ("edsh", "scm-s")
    )
    most = int(split.query[np.nanargmax(np.abs(a - b))])
    wait_for(engine, f"return document.querySelector('#query-list button')?.value === '{most}'")


def test_a_link_restores_the_search(engine, emoji_results):
    type_in(engine, "heart")
    wait_for(engine, "return document.getElementById('query').textContent.includes('heart')")
    before, address = returned(engine), engine.current_url
    assert "find=heart" in address
    engine.get("about:blank")
    engine.get(address)
    engine.execute_script("document.getElementById('search').scrollIntoView()")
    wait_for(engine, "return document.getElementById('query').textContent.includes('heart')")
    wait_for(engine, f"return document.querySelectorAll('.returned').length === {len(before)}")
    assert returned(engine) == before


def test_nothing_fails_and_nothing_leaves_the_page(engine, emoji_results):
    urls = [
        message["params"]["request"]["url"]
        for entry in engine.get_log("performance")
        if (message := json.loads(entry["message"])["message"])["method"]
        == "Network.requestWillBeSent"
    ]
    assert any("search/d0.js" in url for url in urls)
    assert [url for url in urls if not url.startswith(("file:", "data:", "blob:", "about:"))] == []
    assert [entry for entry in engine.get_log("browser") if entry["level"] == "SEVERE"] == []
