"""What is retrieved, item by item."""

import io

import numpy as np
import pytest
from PIL import Image

from hashbench.data.prepare import pictures_name, save_pictures
from hashbench.plugins.dataset import ContactSheet
from hashbench.plugins.report import NothingToShowError
from hashbench.printing import figures
from hashbench.printing.style import Look
from hashbench.reports.retrieval import Retrieval, _pixels

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
    assert one["item"].tolist() == [4, 3, 2, 5]  # rows of the dataset; ties in database order
    assert one["string"].tolist() == ["c", "<b>", "a", "d" * 60]
    assert one["relevant"].tolist() == [False, True, True, False]
    assert set(one["query_labels"]) == {"cat"}


def test_queries_are_chosen_by_the_best_method(hand_made):
    hand_made.split(**STRINGS)
    # query 0 is perfect, query 1 is not
    hand_made.add(method="best", database=("00", "00", "01", "01"), queries=("00", "00"))
    hand_made.add(method="worst", database=("11", "11", "00", "00"))
    data = Retrieval().data(hand_made.results())
    one = data[data["task"] == "image->text"]
    places = dict(zip(one["method"], one["place"], strict=True))
    assert places == {"best": 1, "worst": 2}
    assert set(one.loc[one["kind"] == "bad", "query"]) == {1}


def test_without_strings_and_pictures_there_is_nothing(hand_made):
    hand_made.add()
    with pytest.raises(NothingToShowError, match="display strings"):
        Retrieval().data(hand_made.results())


def test_pictures_are_cut_from_the_sheet_and_drawn(hand_made):
    sheet = np.zeros((4, 6, 3), np.uint8)
    sheet[2:4, 2:4] = 255  # row 4 of a sheet of 3 columns, 2 pixels each
    stream = io.BytesIO()
    Image.fromarray(sheet).save(stream, "PNG")
    pictures = ContactSheet(stream.getvalue(), size=2, columns=3)
    assert (_pixels(pictures, 4)[..., :3] == 1).all()
    assert (_pixels(pictures, 3)[..., :3] == 0).all()
    hand_made.split()
    save_pictures(pictures, hand_made.path / "splits" / f"{pictures_name('f')}.npz")
    hand_made.add()
    results = hand_made.results()
    look = Look.of(results)
    assert look.datasets["toy"].pictures == pictures
    with figures.style():
        drawn = Retrieval().draw(Retrieval().data(results), look)
    assert [picture.name for picture in drawn] == [
        "toy image->text 2 bits",
        "toy text->image 2 bits",
    ]
    # three queries, four items each
    assert len(drawn[0].figure.axes[0].images) == 3 * (1 + 4)
