import numpy as np
import pytest

from hashbench.checks.methods import toy
from hashbench.methods.cirh import CIRH
from tests.helpers.neural_batches import batch_of, cosine, rows_of

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch


@pytest.fixture
def fitted():
    views, labels = toy(25, (6, 5))
    method = CIRH(n_bits=4, image_hidden=9, epochs=1, dropout=0, random_state=0)
    method.fit(views, labels)
    return method, views, labels


def test_the_graph_is_built_over_all_rows(fitted):
    method, views, labels = fitted
    method.setup(rows_of(method, views, labels))
    image, text = (x.numpy().astype(float) for x in batch_of(method, views, labels).views)
    S1 = 0.6 * cosine(image, image) + 0.4 * cosine(text, text)
    for row in S1:
        row[np.argsort(row)[:15]] = 0  # .6 of the rows
    S2 = 2 / (1 + np.exp(-S1)) - 1 + np.eye(25)
    A = 0.6 * S1 + 0.4 * (S2 + S2.T) / 2
    rows = np.array([4, 20, 7, 11])
    part = rows_of(method, views, labels).batch(rows, 1)
    np.testing.assert_allclose(method.graph(part).numpy(), A[np.ix_(rows, rows)], atol=1e-5)


def test_the_loss_of_the_hash_functions_follows_its_formula(fitted):
    method, views, labels = fitted
    batch = batch_of(method, views, labels)
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(25, 25)), np.sign(rng.normal(size=(25, 4)))
    image, text = (method.hash_values(x, m).detach().numpy() for m, x in enumerate(batch.views))
    expected = sum(np.square(a - b).mean() for a, b in ((image, B), (text, B), (image, text)))
    for a, b in ((image, text), (image, image), (text, text)):
        expected += 0.01 * np.square(cosine(a, b) - A).mean()
    found = method.hash_loss(batch, *(torch.tensor(x, dtype=torch.float32) for x in (A, B)))
    assert float(found.detach()) == pytest.approx(expected, rel=1e-4)


def test_hash_functions_do_not_depend_on_the_length_of_rows(fitted):
    method, views, labels = fitted
    x = batch_of(method, views, labels).views[0]
    torch.testing.assert_close(method.hash_values(x, 0), method.hash_values(7 * x, 0))


def test_the_text_network_has_one_hidden_unit_per_column_by_default():
    assert CIRH(n_bits=4).networks((30, 20))[1][0].out_features == 20
    assert CIRH(n_bits=4, text_hidden=64).networks((30, 20))[1][0].out_features == 64
