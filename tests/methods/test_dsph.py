import numpy as np
import pytest

from hashbench.checks.methods import toy
from hashbench.methods.dsph import DSPH, word_distance
from hashbench.neural.method import Batch

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch


def cosine(a, b):
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


@pytest.mark.parametrize("multilabel", [False, True])
def test_the_loss_follows_its_formula(multilabel):
    views, labels = toy(20, (6, 5), 5, multilabel=multilabel)
    labels[3] = 0
    method = DSPH(n_bits=8, epochs=1, dropout=0, random_state=0).fit(views, labels)
    x = [torch.tensor(i.transform(X)) for i, X in zip(method.scalers_, views, strict=True)]
    L = torch.tensor(labels, dtype=torch.float32)
    found = float(method.loss(Batch(torch.arange(20), x, L, 1)).detach())

    H = [net(each).detach().numpy() for net, each in zip(method.networks_, x, strict=True)]
    P, theta = method.proxies_.detach().numpy(), method.threshold_
    expected = 0.0
    for h in H:
        near = [1 - cosine(h[i], P[c]) for i, c in np.argwhere(labels == 1)]
        far = [max(0, cosine(h[i], P[c]) - theta) for i, c in np.argwhere(labels == 0)]
        expected += np.mean(near) + np.mean(far)
    several = np.flatnonzero(labels.sum(axis=1) > 1)
    apart = [(i, j) for i in several for j in several if not (labels[i] & labels[j]).any()]
    assert bool(apart) == multilabel
    for first, second in ((0, 0), (0, 1), (1, 1)) if apart else ():
        hinges = [max(0, cosine(H[first][i], H[second][j]) - theta) for i, j in apart]
        expected += 0.8 * np.mean(hinges)
    assert found == pytest.approx(expected, rel=1e-4)


def test_word_distances_are_those_of_the_best_known_codes():
    assert [word_distance(bits, 24) for bits in (16, 32, 64, 128)] == [8, 16, 32, 64]
    assert [word_distance(bits, 80) for bits in (16, 24)] == [6, 10]
    assert word_distance(2, 80) == 0  # there are only four words of two bits


def test_the_loss_falls_and_rows_with_a_common_label_get_near_codes():
    views, labels = toy(200, (12, 8), 4)
    method = DSPH(n_bits=16, random_state=0, epochs=200).fit(views, labels)
    assert method.objective_[-1] < 0.6 * method.objective_[0]
    codes = [method.encode(X, view) for view, X in enumerate(views)]
    same = labels @ labels.T > 0
    distance = (codes[0][:, None] != codes[1][None]).mean(axis=2)
    assert distance[same].mean() < 0.25 < 0.5 < distance[~same].mean()
