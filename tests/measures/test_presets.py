"""Each preset against a plain re-statement of its rule, where a fifth of the queries find nothing.

What code does with a query that has nothing to find is where published evaluators differ most
quietly: on data without such queries they all agree.
"""

import numpy as np
import pytest

from hashbench.measures import evaluate
from hashbench.measures.presets import PRESETS

CUTOFF = 7
QUERIES, EMPTY = 40, 8


@pytest.fixture(scope="module", params=range(3))
def case(request):
    """Codes and labels of 40 queries, 8 of which have a class that no item has."""
    rng = np.random.default_rng(request.param)
    query, database = rng.random((QUERIES, 6)) < 0.5, rng.random((90, 6)) < 0.5
    classes = rng.integers(5, size=90)
    asked = rng.integers(5, size=QUERIES)
    asked[rng.choice(QUERIES, EMPTY, replace=False)] = 5
    # class 4 is rare: some of its queries have something to find, and miss it in the first ranks
    classes[classes == 4] = 0
    classes[:2] = 4
    eye = np.eye(6, dtype=bool)
    return query, database, eye[asked], eye[classes]


def hit_ranks(plain, case):
    """Return the ranks of the relevant items of each query, from 1, ties in database order."""
    _, shared = plain.stable_order(*case)
    return [np.flatnonzero(grades) + 1 for grades in shared]


def precisions(ranks):
    return [hit / rank for hit, rank in enumerate(ranks, 1)]


def mean(values):
    return sum(values) / len(values)


def inside(ranks):
    return [rank for rank in ranks if rank <= CUTOFF]


def over_hits(ranks):
    """Return the mean precision at the hits inside the cut, 0 if there are none."""
    return mean(precisions(inside(ranks))) if inside(ranks) else 0.0


def seph(found):
    return mean([mean(precisions(ranks)) for ranks in found if len(ranks)])


def dcmh(found):
    return sum(mean(precisions(ranks)) for ranks in found if len(ranks)) / len(found)


def topk(found):
    return mean([over_hits(ranks) for ranks in found if len(ranks)])


def topmap(found):
    return sum(over_hits(ranks) for ranks in found) / len(found)


def hashnet(found):
    return mean([over_hits(ranks) for ranks in found if inside(ranks)])


def torchcmh(found):
    """The first min(K, R) hits wherever they are; every query is divided by."""
    return sum(mean(precisions(ranks[:CUTOFF])) for ranks in found if len(ranks)) / len(found)


INDEX_ORDER = {
    "seph": seph,
    "dcmh": dcmh,
    f"topk({CUTOFF})": topk,
    f"topmap({CUTOFF})": topmap,
    f"hashnet({CUTOFF})": hashnet,
    f"torchcmh({CUTOFF})": torchcmh,
}


@pytest.mark.parametrize("preset", INDEX_ORDER)
def test_rules_in_database_order(plain, case, preset):
    found = hit_ranks(plain, case)
    assert sum(not len(ranks) for ranks in found) == EMPTY
    assert any(len(ranks) and not inside(ranks) for ranks in found)
    assert evaluate(*case, preset)[preset] == pytest.approx(
        INDEX_ORDER[preset](found), abs=1e-12, rel=0
    )


def test_the_papers_cut_at_a_hundred(plain, case):
    database = np.repeat(case[1], 3, axis=0)  # more items than the cut takes
    labels = np.repeat(case[3], 3, axis=0)
    found = hit_ranks(plain, (case[0], database, case[2], labels))
    values = [precisions([r for r in ranks if r <= 100]) for ranks in found if len(ranks)]
    expected = mean([mean(value) if value else 0.0 for value in values])
    assert evaluate(case[0], database, case[2], labels, "edsh")["edsh"] == pytest.approx(
        expected, abs=1e-12, rel=0
    )


@pytest.mark.parametrize("preset", [f"trec({CUTOFF})", "talr"])
def test_rules_over_all_orders_of_tied_items(plain, preset):
    rng = np.random.default_rng(3)
    query, database = rng.random((20, 3)) < 0.5, rng.random((9, 3)) < 0.5
    classes, asked = rng.integers(2, size=9), rng.integers(2, size=20)
    asked[:4] = 2
    eye = np.eye(3, dtype=bool)
    cutoff, norm = (CUTOFF, "all") if preset != "talr" else (len(database), "retrieved")
    values = []
    for code, label in zip(query, asked, strict=True):
        distances = (code != database).sum(axis=1)
        relevant = classes == label
        counts = [
            [int((~relevant[distances == d]).sum()), int(relevant[distances == d].sum())]
            for d in range(4)
        ]
        if relevant.any():
            values.append(
                plain.over_orders(
                    counts, lambda order: plain.average_precision(order, cutoff, norm)
                )["expected"]
            )
    assert len(values) == 16
    assert evaluate(query, database, eye[asked], eye[classes], preset)[preset] == pytest.approx(
        mean(values), abs=1e-12, rel=0
    )


def test_the_pooled_area(case):
    query, database, asked, classes = case
    distances = (query[:, None] != database[None]).sum(axis=2)
    relevant = (asked.astype(int) @ classes.astype(int).T) > 0
    precision, recall = [], []
    for radius in range(query.shape[1] + 1):
        ball = distances <= radius
        if ball.any():
            precision.append(relevant[ball].sum() / ball.sum())
            recall.append(relevant[ball].sum() / relevant.sum())
    area = recall[0] * precision[0] + np.trapezoid(precision, recall)
    assert evaluate(*case, "habir")["habir"] == pytest.approx(area, abs=1e-12, rel=0)


def test_every_preset_is_restated_here():
    restated = {name.partition("(")[0] for name in INDEX_ORDER}
    assert restated | {"edsh", "trec", "talr", "habir"} == set(PRESETS)
