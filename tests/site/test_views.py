"""What is looked at: the overview, the filters, and the address that keeps the view."""

import re
import time

import pytest

from hashbench.data.splits import Searched
from tests.helpers.browsing import BROWSER, choose, column, open_page, ranking, sort_by, wait_for

pytestmark = BROWSER


def heads(browser):
    return browser.find_elements("css selector", "#table th.heat button")


def test_means_are_over_all_slices_of_the_measure_and_the_codes(opened, results):
    from hashbench.render.style import Style

    style = Style.of(results)
    for measure, *searched in (
        ("AP", "unseen", "encoded"),
        ("P@100", "unseen", "encoded"),
        ("P@100", "seen", "learned"),
    ):
        choose(opened, "measure", measure)
        choose(opened, "database", str(Searched(*searched)))
        scores = results.scores()
        names = ("measure", "database", "codes")
        for name, value in zip(names, (measure, *searched), strict=True):
            scores = scores[scores[name] == value]
        slices = scores.pivot_table(
            index=["dataset", "task", "bits"], columns="method", values="value"
        )
        ranks, means = slices.rank(axis=1, ascending=False).mean(), slices.mean()
        shown = dict(
            zip(
                column(opened, "title"),
                zip(column(opened, "meanRank"), column(opened, "meanScore"), strict=True),
                strict=True,
            )
        )
        for name in slices.columns:
            rank, score = map(float, shown[style.methods[name].label])
            assert rank == pytest.approx(ranks[name], abs=0.051)
            assert score == pytest.approx(means[name], abs=0.00051)
        order = sorted(slices.columns, key=lambda name: (ranks[name], -means[name]))
        assert column(opened, "title")[0] == style.methods[order[0]].label
        leader = opened.find_element("id", "results-title").text
        assert leader == f"{style.methods[order[0]].title} leads"
        words = opened.find_element("id", "leader").text
        assert f"{means[order[0]]:.3f}" in words
        assert style.methods[order[1]].title in words


def test_the_dot_plot_has_the_best_of_the_slice(opened, results):
    choose(opened, "bits", "8")
    shown = opened.execute_script(
        "return [...document.querySelectorAll('#top li')].map(li => ["
        "li.querySelector('.method').textContent, li.querySelector('.number').textContent,"
        "li.querySelector('.dot').style.left, li.querySelector('.chance').style.left])"
    )
    expected = [(name, value.strip("°")) for name, value in ranking(opened) if value != "–"]
    assert [value for _, value, *_ in shown] == [value for _, value in expected]
    assert {(name, value) for name, value, *_ in shown} == set(expected)  # two methods are tied
    lefts = [float(left.strip("%")) for *_, left, _ in shown]
    assert lefts == sorted(lefts, reverse=True)
    intervals = opened.execute_script(
        "return [...document.querySelectorAll('#top .interval')].map(each => each.style.width)"
    )
    assert len(intervals) > 1  # three splits
    assert len(set(intervals)) == 1
    ratio = float(shown[0][1]) / float(shown[-1][1])
    assert lefts[0] / lefts[-1] == pytest.approx(ratio, abs=0.01)
    assert len({chance for *_, chance in shown}) == 1


def test_a_head_of_the_heat_map_selects_its_slice(opened):
    assert len(heads(opened)) == 8  # two datasets, two tasks, two lengths
    label = heads(opened)[-1].get_attribute("aria-label")
    opened.execute_script("arguments[0].click()", heads(opened)[-1])
    assert "text→image, 16 bits" in opened.find_element("id", "about").text
    assert label.startswith("T→I 16")
    # the head's column holds the ranking's numbers
    last = opened.execute_script(
        "return [...document.querySelectorAll('#table tbody tr')]"
        ".map(tr => [tr.querySelector('th').textContent, tr.lastElementChild.textContent])"
    )
    found = {name: value.strip("°").removeprefix("0") for name, value in ranking(opened)}
    assert dict(map(tuple, last)) == found


def test_filters_leave_methods_out_everywhere(opened):
    choose(opened, "labels", "supervised")
    names = {"EDSH", "SCM-Seq", "Ridge to labels"}
    shown = {name for name, value in ranking(opened) if value != "–"}
    assert "Random" not in shown
    assert len(shown) == len(names), shown
    chips = opened.execute_script(
        "return [...document.querySelectorAll('#chips label')].filter(e => !e.hidden).length"
    )
    assert chips == len(shown)
    traces = "return document.querySelectorAll('#curve-chart .scatterlayer .trace').length"
    wait_for(opened, f"{traces} === {len(shown)}")


def test_a_link_restores_the_view(opened, page):
    choose(opened, "bits", "8")
    choose(opened, "task", "text→image")
    choose(opened, "database", "seen database, learned codes")
    choose(opened, "labels", "supervised")
    choose(opened, "curve", "Recall at K")
    box = opened.find_element("css selector", "#chips label:not([hidden]) input:checked")
    opened.execute_script("arguments[0].click()", box)
    sort_by(opened, "title")
    address = opened.current_url
    assert "b=8" in address
    style = (
        "return [ranking.rows, document.getElementById('about').textContent,"
        "document.getElementById('table').textContent,"
        "[...document.querySelectorAll('select')].map(e => e.value),"
        "[...document.querySelectorAll('#chips input')].map(e => e.checked)]"
    )
    before = opened.execute_script(style)
    opened.get(page.as_uri())
    opened.get("about:blank")
    opened.get(address)
    assert opened.execute_script(style) == before
    opened.get("about:blank")
    opened.get(page.as_uri())
    assert opened.execute_script(style) != before


def test_the_button_copies_a_link(opened):
    opened.execute_script(
        "window.copied = [];"
        "navigator.clipboard.writeText = async (text) => { window.copied.push(text) }"
    )
    choose(opened, "bits", "8")
    opened.execute_script("document.getElementById('copy-link').click()")
    copied = wait_for(opened, "return window.copied[0]")
    assert copied == opened.current_url
    assert "b=8" in copied
    wait_for(opened, "return document.getElementById('copied').textContent === 'Link copied'")


def test_a_link_to_a_part_keeps_the_view(opened):
    choose(opened, "bits", "8")
    address = opened.current_url
    link = opened.find_element("css selector", "nav a[href='#how']")
    opened.execute_script("arguments[0].click()", link)
    assert opened.current_url == address
    top = opened.execute_script("return document.getElementById('how').getBoundingClientRect().top")
    assert top < 900


@pytest.mark.parametrize("address", ["#d=nothing&b=7&labels=none&show=who&sort=zzz", "#%%=&=&d"])
def test_an_address_of_nonsense_does_no_harm(browser, page, address):
    browser.get("about:blank")
    browser.get_log("browser")
    browser.get(page.as_uri() + address)
    assert len(heads(browser)) > 3
    assert len(ranking(browser)) > 3
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []


def test_columns_of_dashes_are_left_out(browser, failed_study):
    browser.get((failed_study / "report" / "index.html").as_uri())
    heads = browser.execute_script(
        "return [...document.querySelectorAll('#table thead button')].map(each => each.textContent)"
    )
    assert heads == [
        "Method",
        "Rank here",
        "AP",
        "Fit, s",
        "Not done",
    ]  # one seed, no value, a failure


def looks_of_sections(browser):
    """What every section shows now, by its id."""
    return browser.execute_script(
        "const seen = {}; for (const each of document.querySelectorAll('main section')) {"
        "const figures = [...each.querySelectorAll('figure[data-slices]')];"
        "const charts = [...each.querySelectorAll('.chart')].map(chart =>"
        "JSON.stringify((chart.data ?? []).map(trace => [trace.x, trace.y])));"
        "seen[each.id] = each.id === 'figures'"
        "? charts + figures.map(figure => figure.hidden).join()"
        "+ [...each.querySelectorAll('.follows')].map(line => line.textContent)"
        ": each.textContent + charts; } return seen"
    )


def test_every_section_follows_the_selectors(drawn):
    before = looks_of_sections(drawn)
    choose(drawn, "dataset", drawn.execute_script(
        "return document.querySelectorAll('#dataset option')[1].textContent"
    ))  # fmt: skip
    choose(drawn, "task", "text→image")
    choose(drawn, "bits", "8")
    choose(drawn, "measure", "P@100")
    choose(drawn, "database", "seen database, learned codes")
    still = {"how"}  # how it was run is the same for all
    for _ in range(100):  # codes are read and charts drawn meanwhile
        after = looks_of_sections(drawn)
        same = {name for name in before if after[name] == before[name]} - still
        if not same:
            break
        time.sleep(0.1)
    assert same == set()


def test_an_exhibit_of_another_slice_is_hidden_until_asked_for(opened):
    choose(opened, "database", "seen database, learned codes")
    names, selected = opened.execute_script("return [selectors, selectedSlice()]")
    chosen = dict(zip(names, selected, strict=True))
    figures = opened.execute_script(
        "return [...document.querySelectorAll('details.report')]"
        ".filter(report => report.querySelector('figure[hidden]'))"
        ".flatMap(report => [...report.querySelectorAll('figure')])"
        ".map(each => [each.hidden, JSON.parse(each.dataset.slices)])"
    )
    assert len({hidden for hidden, _ in figures}) == 2
    for hidden, slices in figures:
        assert hidden == any(chosen[name] not in values for name, values in slices.items())
    opened.execute_script("document.getElementById('everything').click()")
    count = "return document.querySelectorAll('figure[data-slices][hidden]').length"
    assert opened.execute_script(count) == 0
    assert "all=1" in opened.current_url


def test_another_dataset_is_asked_a_query_of_its_own(drawn):
    row = drawn.execute_script("return window.hashbenchParts.d0.rows.at(-1)")
    drawn.execute_script("showQuery(arguments[0])", row)
    unasked = "document.getElementById('query').textContent.includes('no query of the study')"
    wait_for(drawn, f"return {unasked}")
    options = [each.text for each in drawn.find_elements("css selector", "#dataset option")]
    choose(drawn, "dataset", options[1])
    wait_for(drawn, f"return !{unasked}")


def test_a_field_says_its_score_and_names_stay_in_sight(browser, page):
    open_page(browser, page, 390, 844)
    said = browser.execute_script(
        "const field = document.querySelector('#table tbody tr').lastElementChild;"
        "return [field.textContent, field.title]"
    )
    name, slice_of, score = re.fullmatch(
        r"(.+?), (Synthetic .+ 16 bits): ([\d.]+)", said[1]
    ).groups()
    assert (name, said[0]) == (column(browser, "title")[0], f"{float(score):.3f}".removeprefix("0"))
    assert "text→image" in slice_of
    left = (
        "const region = document.querySelector('#all .scroll');"
        "const name = document.querySelector('#table tbody th');"
        "return name.getBoundingClientRect().left - region.getBoundingClientRect().left"
    )
    browser.execute_script("document.querySelector('#all .scroll').scrollLeft = 200")
    wait_for(browser, f"{left.replace('return ', 'return Math.abs(')}) < 2")
