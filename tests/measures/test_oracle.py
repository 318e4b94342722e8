"""Agreement with ir_measures, where rankings have no ties."""

import ir_measures
import numpy as np
import pytest

from hashbench.measures import evaluate, evaluate_ranking, score_ranking

#: ours -> theirs
SAME = {
    "AP": "AP",
    "AP(norm=all)@10": "AP@10",
    "AP(norm=all)@200": "AP@200",
    "P@5": "P@5",
    "P@200": "P@200",
    "R@5": "R@5",
    "R@30": "R@30",
    "RR": "RR",
    "Rprec": "Rprec",
    "Success@1": "Success@1",
    "Success@5": "Success@5",
    "nDCG": "nDCG",
    "nDCG@5": "nDCG@5",
    "nDCG@30": "nDCG@30",
}


def thermometer(generator, n_items, bits):
    """Return codes at distances 0, 1, 2, ... from the zero code, in random order."""
    return np.tri(n_items, bits, -1, dtype=bool)[generator.permutation(n_items)]


def theirs(shared, scores):
    qrels = [
        ir_measures.Qrel(f"q{q}", f"d{d}", int(shared[q, d]))
        for q in range(shared.shape[0])
        for d in range(shared.shape[1])
    ]
    run = [
        ir_measures.ScoredDoc(f"q{q}", f"d{d}", float(scores[q, d]))
        for q in range(shared.shape[0])
        for d in range(shared.shape[1])
    ]
    measures = [ir_measures.parse_measure(name) for name in SAME.values()]
    return ir_measures.calc_aggregate(measures, qrels, run)


@pytest.mark.parametrize("seed", range(4))
def test_hamming_rankings(seed):
    generator = np.random.default_rng(seed)
    database = thermometer(generator, 80, 90)
    query = np.zeros((6, 90), bool)
    labels = generator.random((86, 5)) < 0.25
    labels[:6, 0] = labels[6, 0] = True
    ours = evaluate(query, database, labels[:6], labels[6:], SAME)
    shared = labels[:6].astype(int) @ labels[6:].astype(int).T
    distances = (query[:, None] != database[None]).sum(axis=2)
    oracle = theirs(shared, -distances)
    for name, other in SAME.items():
        assert ours[name] == pytest.approx(oracle[ir_measures.parse_measure(other)], abs=1e-12)


def test_score_rankings():
    generator = np.random.default_rng(9)
    query, database = generator.normal(size=(6, 8)), generator.normal(size=(80, 8))
    labels = generator.random((86, 5)) < 0.25
    labels[:6, 0] = labels[6, 0] = True
    ours = evaluate_ranking(score_ranking(query, database, labels[:6], labels[6:]), SAME)
    shared = labels[:6].astype(int) @ labels[6:].astype(int).T
    oracle = theirs(shared, query.astype(np.float32) @ database.astype(np.float32).T)
    for name, other in SAME.items():
        assert ours[name] == pytest.approx(oracle[ir_measures.parse_measure(other)], abs=1e-12)
