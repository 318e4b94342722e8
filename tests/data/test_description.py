"""A dataset in numbers: checked by hand, by brute force, and against what papers say."""

import numpy as np
import pytest

from hashbench.data.description import chance_map, describe
from hashbench.plugins.dataset import Data, Dataset, GivenSplit, RandomQuery
from hashbench.render.dataset_panels import draw_dataset


class Toy(Dataset):
    """Twelve rows, one of them bare of labels, one query a copy of a database row."""

    name = "toy"
    protocols = {"random": RandomQuery(0.25), "given": GivenSplit()}  # noqa: RUF012
    preprocessing = ("l2,centre", "none")

    def load(self):
        rng = np.random.default_rng(0)
        text = (rng.random((12, 4)) < 0.5).astype(np.float32)
        text[:, 0] = 1
        labels = np.zeros((12, 3), np.uint8)
        labels[np.arange(11), np.arange(11) % 3] = 1
        labels[:4, 0] = 1
        return Data([rng.random((12, 6)), text], labels, notes=["made by hand"])


def expected_ap(relevant, n):
    """Mean over random orders, from E[rel_i] = R/n and E[rel_i rel_j] = R(R-1) / n(n-1)."""
    harmonic = (1 / np.arange(1, n + 1)).sum()
    return (harmonic + (relevant - 1) / (n - 1) * (n - harmonic)) / n


def test_chance_of_single_labels():
    rng = np.random.default_rng(1)
    query, database = np.eye(4, dtype=np.uint8)[[0, 1, 2]], np.eye(4, dtype=np.uint8)[[0, 0, 1, 2]]
    query, database = np.repeat(query, 5, axis=0), np.repeat(database, 25, axis=0)
    rng.shuffle(database)
    expected = np.mean([expected_ap(relevant, 100) for relevant in (50, 25, 25)])
    assert chance_map(query, database) == pytest.approx(expected)


def test_chance_of_several_labels_is_what_random_orders_give():
    rng = np.random.default_rng(2)
    query, database = (rng.random((n, 5)) < 0.3 for n in (40, 60))
    query[:, 0] = True
    relevant = (query.astype(int) @ database.astype(int).T) > 0
    scores = []
    for _ in range(300):
        order = relevant[:, rng.permutation(60)]
        precision = order.cumsum(axis=1) / np.arange(1, 61)
        scores.append(((precision * order).sum(axis=1) / order.sum(axis=1)).mean())
    chance = chance_map(query.astype(np.uint8), database.astype(np.uint8))
    assert chance == pytest.approx(np.mean(scores), abs=4 * np.std(scores) / 300**0.5)


def test_the_numbers():
    toy = Toy()
    found = describe(toy, toy.load())
    assert (found.rows, found.classes, found.most_labels) == (12, 3, 2)
    assert found.labels_per_row == pytest.approx((11 + 2) / 12)
    image, text = found.views
    assert (image.columns, image.density, image.preprocessing) == (6, 1.0, "l2,centre")
    assert text.density == pytest.approx(np.count_nonzero(toy.load().views[1]) / 48)
    assert text.copies == 12 - len(np.unique(toy.load().views[1], axis=0))
    assert [(s.protocol, s.query) for s in found.splits] == [
        ("random", 3),
        ("given", None),
        ("default", 3),
    ]
    assert [line.partition(":")[0] for line in found.findings] == ["text", "text", "labels"]
    for line, rows in zip(found.findings, ("1 (6=5)", "1 (0)", "1 (11)"), strict=True):
        assert rows in line
    assert found.split_hash == toy.split(toy.load(), "random", 0).hash


def test_the_text_gives_the_numbers_and_notes():
    toy = Toy()
    text = describe(toy, toy.load(), seed=3).as_text()
    for fact in ("12 rows", "3 classes", "train 9, query 3, database 9", "seed 3", "made by hand"):
        assert fact in text


def test_the_text_fits_a_terminal():
    toy = Toy()
    data = toy.load()
    data.notes = ["a note of many words " * 8]
    description = describe(toy, data)
    assert max(map(len, description.as_text().splitlines())) <= 80
    wide = description.as_text(width=2000).splitlines()
    assert [line.split() for line in wide if line.startswith("note")] == [
        ["note:", *data.notes[0].split()]
    ]
    assert " ".join(description.as_text().split()) == " ".join(" ".join(wide).split())


@pytest.mark.parametrize("suffix", ["png", "pdf", "svg"])
def test_the_page(tmp_path, suffix):
    toy = Toy()
    data = toy.load()
    path = tmp_path / f"page.{suffix}"
    draw_dataset(describe(toy, data), toy, data, toy.split(data, "random", 0), path)
    starts = {"png": b"\x89PNG", "pdf": b"%PDF", "svg": b"<?xml"}
    assert path.read_bytes().startswith(starts[suffix])


@pytest.mark.parametrize("case", ["unit rows", "zeros", "one column"])
def test_the_page_of_odd_views(tmp_path, case):
    toy = Toy()
    data = toy.load()
    rounded = 1 + np.resize([0, 2.2e-16], 12)  # as long as 1, up to rounding
    angles = np.linspace(0, 1, 12)
    data.views[1] = {
        "unit rows": rounded[:, None] * np.stack([np.cos(angles), np.sin(angles)], axis=1),
        "zeros": np.zeros((12, 3)),
        "one column": angles[:, None],
    }[case]
    path = tmp_path / "page.png"
    draw_dataset(describe(toy, data), toy, data, toy.split(data, "random", 0), path)
    assert path.read_bytes().startswith(b"\x89PNG")
