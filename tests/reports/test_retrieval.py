"""What is retrieved, item by item."""

import io

import numpy as np
import pytest
from PIL import Image

from hashbench.analysis.per_query import retrieved
from hashbench.data.prepare import pictures_name, save_pictures
from hashbench.plugins.dataset import ContactSheet
from hashbench.render import figures
from hashbench.render.report import NothingToShowError
from hashbench.render.style import Style
from hashbench.reports.retrieval import Retrieval

STRINGS = {
    "query_strings": np.array(["q0", "q1 🙂"]),
    "database_strings": np.array(["a", "<b>", "c", "d" * 60]),
}


def test_items_stand_in_the_order_of_their_distance(hand_made):
    hand_made.split(**STRINGS)
    hand_made.add(database=("11", "01", "00", "11"))
    data = Retrieval().data(hand_made.results())
    one = data[(data["task"] == "image->text") & (data["query"] == 0)]
    one = one.drop_duplicates("rank").set_index("rank")
    assert one["distance"].tolist() == [0, 1, 2, 2]
    assert one["ties"].tolist() == [1, 1, 2, 2]
    items = one["item"].tolist()  # rows of the dataset
    assert items[:2] == [4, 3]
    assert set(items[2:]) == {2, 5}, "tied items in the order that the seed draws"
    strings = dict(zip([2, 3, 4, 5], ["a", "<b>", "c", "d" * 60], strict=True))
    assert one["string"].tolist() == [strings[item] for item in items]
    assert one["relevant"].tolist() == [item in (2, 3) for item in items]
    # the relevant items are at distances 1 and 2; of the two at 2 either may come first
    assert one["score"].iloc[0] == pytest.approx((1 / 2 + (2 / 3 + 2 / 4) / 2) / 2)
    assert set(one["query_labels"]) == {"cat"}


def test_which_of_tied_items_are_shown_is_drawn_with_the_seed(hand_made):
    hand_made.split(**STRINGS)
    for seed in range(8):
        hand_made.add(database=("00", "00", "00", "00"), seed=seed)
    results = hand_made.results()
    orders = [
        tuple(retrieved(results, stored, "image->text", [0], 4, "seen", stored.cell.seed).items[0])
        for stored in results.done()
    ]
    assert len(set(orders)) > 1
    again = retrieved(results, results.done()[0], "image->text", [0], 4, "seen", 0)
    assert tuple(again.items[0]) == orders[0]


def test_queries_are_chosen_by_the_best_method(hand_made):
    hand_made.split(**STRINGS)
    # query 0 is perfect, query 1 is not
    hand_made.add(method="best", database=("00", "00", "01", "01"), queries=("00", "00"))
    hand_made.add(method="worst", database=("11", "11", "00", "00"))
    data = Retrieval().data(hand_made.results())
    one = data[data["task"] == "image->text"]
    places = dict(zip(one["method"], one["method_rank"], strict=True))
    assert places == {"best": 1, "worst": 2}
    assert set(one.loc[one["kind"] == "bad", "query"]) == {1}


def test_without_strings_and_pictures_there_is_nothing(hand_made):
    hand_made.add()
    with pytest.raises(NothingToShowError, match="strings or pictures"):
        Retrieval().data(hand_made.results())


def test_pictures_are_cut_from_the_sheet_and_drawn(hand_made):
    sheet = np.zeros((4, 6, 3), np.uint8)
    sheet[2:4, 2:4] = 255  # row 4 of a sheet of 3 columns, 2 pixels each
    stream = io.BytesIO()
    Image.fromarray(sheet).save(stream, "PNG")
    pictures = ContactSheet(stream.getvalue(), size=2, columns=3)
    hand_made.split()
    save_pictures(pictures, hand_made.path / "splits" / f"{pictures_name('f')}.npz")
    hand_made.add()
    results = hand_made.results()
    style = Style.of(results)
    assert style.datasets["toy"].pictures == pictures
    with figures.plot_context():
        drawn = Retrieval().draw(Retrieval().data(results), style)
    assert [picture.name for picture in drawn] == [
        "toy image->text 2 bits",
        "toy text->image 2 bits",
    ]
    # three queries, four items each; without strings the text view is shown as pictures, too
    shown = [image.get_array()[..., :3] for image in drawn[0].figure.axes[0].images]
    assert [pixels.shape for pixels in shown] == [(2, 2, 3)] * 3 * (1 + 4)
    assert sum((pixels == 1).all() for pixels in shown) == 3  # row 4, once per query
    assert sum((pixels == 0).all() for pixels in shown) == 3 * 4


@pytest.mark.parametrize("width", ["page", "column"])
def test_words_are_words_and_pictures_pictures(hand_made, width):
    stream = io.BytesIO()
    Image.fromarray(np.zeros((4, 6, 3), np.uint8)).save(stream, "PNG")
    hand_made.split(**STRINGS)
    sheet = ContactSheet(stream.getvalue(), size=2, columns=3)
    save_pictures(sheet, hand_made.path / "splits" / f"{pictures_name('f')}.npz")
    hand_made.add()
    results = hand_made.results()
    with figures.plot_context():
        drawn = Retrieval().draw(Retrieval().data(results), Style.of(results, width))
    (to_text,), (to_image,) = (picture.figure.axes for picture in drawn)
    assert len(to_text.images) == 3, "the queries are pictures, what they find is words"
    assert len(to_image.images) == 3 * 4
    assert sum(text.get_text() == "<b>" for text in to_text.texts) == 3
    assert min(text.get_fontsize() for text in (*to_text.texts, *to_image.texts)) >= 6
