import numpy as np
import pytest
from neural_batches import cosine

from hashbench.checks.methods import toy
from hashbench.methods.dadh import DADH

torch = pytest.importorskip("torch")


def test_triplets_are_the_formula_one_by_one():
    _, labels = toy(10, classes=4, multilabel=True)
    labels[2] = 0
    image, text = np.random.default_rng(1).normal(size=(2, 10, 6))
    distance = np.maximum(0, 1 - cosine(image, text))
    common = labels.astype(int) @ labels.T.astype(int)
    expected = 0.0
    for i in range(10):
        gains = np.sort(2.0 ** common[i] - 1)[::-1]
        ideal = (gains / np.log2(np.arange(2, 12))).sum()
        for j in np.flatnonzero(common[i]):
            for other in np.flatnonzero(common[i] == 0):
                weight = ((2.0 ** common[i, j] - 1) - (2.0 ** common[i, other] - 1)) / ideal
                hinge = max(0, 10 * weight * (distance[i, j] - distance[i, other] + 0.4))
                expected += 1.21 * hinge
    H = [torch.tensor(X) for X in (image, text)]
    found = DADH().triplets(H, torch.tensor(labels, dtype=torch.float64))
    assert float(found) == pytest.approx(expected)


def test_labels_decide_the_codes():
    views, labels = toy(60)
    method = DADH(n_bits=8, hidden=32, epochs=3, random_state=0).fit(views, labels)
    for label in np.unique(labels, axis=0):
        codes = method.codes_[(labels == label).all(axis=1)]
        assert (codes == codes[0]).all()  # a random word for each label set, kept


def test_the_rate_falls_after_the_first_epoch_and_every_hundred():
    views, labels = toy(20)
    method = DADH(n_bits=4, hidden=16, epochs=102, rate=1e-3, random_state=0)
    rates = []
    step = method.step
    method.step = lambda batch: (
        rates.append(method.optimisers_[0].param_groups[0]["lr"]),
        step(batch),
    )[1]
    method.fit(views, labels)
    np.testing.assert_allclose(
        [rates[0], rates[1], rates[100], rates[101]], [1e-3, 8e-4, 8e-4, 6.4e-4]
    )


def test_a_discriminator_is_drawn_to_slopes_of_one():
    views, labels = toy(20)
    method = DADH(n_bits=4, hidden=16, epochs=1, random_state=0).fit(views, labels)
    weights = torch.tensor([[3.0, 4.0, 0.0, 0.0]])
    linear = torch.nn.Linear(4, 1, bias=False)
    linear.weight.data = weights
    zero = torch.zeros(6, 4)
    # Slope 5 everywhere; both sides are called real with probability one half.
    expected = 10 * (5 - 1) ** 2 + 2 * np.log(2)
    assert float(method._judged(linear, zero, zero).detach()) == pytest.approx(expected)
