import numpy as np
import pytest

from hashbench.checks.methods import toy
from hashbench.methods.classifier_codes import ClassifierCodes
from hashbench.methods.real_valued import RealValued
from hashbench.methods.ridge_labels import RidgeLabels


def scores(X, Y, strength=0.1):
    """The regression written out, label means included."""
    Xc, balance = X - X.mean(axis=0), Y.mean(axis=0)
    penalty = strength * np.square(Xc).sum() / X.shape[1]
    W = np.linalg.solve(Xc.T @ Xc + penalty * np.eye(X.shape[1]), Xc.T @ (Y - balance))
    return Xc @ W + balance


def test_ridge_labels_projects_the_regression():
    views, Y = toy(n=100, classes=5)
    for n_bits in (3, 5, 12):
        method = RidgeLabels(n_bits=n_bits, random_state=0).fit(views, Y)
        centred = scores(views[0], Y) - Y.mean(axis=0)
        H = np.linalg.lstsq(centred, method.project(views[0], 0), rcond=1e-9)[0]
        np.testing.assert_allclose(centred @ H, method.project(views[0], 0), atol=1e-9)
        assert method.codes_.shape == (100, n_bits)
        _, groups = np.unique(Y, axis=0, return_inverse=True)
        for group in range(5):
            assert len(np.unique(method.codes_[groups == group], axis=0)) == 1


def test_classifier_codes_of_single_labels_are_those_of_the_largest_score():
    views, Y = toy(n=200, classes=4)
    method = ClassifierCodes(n_bits=8, random_state=0).fit(views, Y)
    codeword = {tuple(labels): code for labels, code in zip(Y, method.codes_, strict=True)}
    for m, X in enumerate(views):
        predicted = np.eye(4, dtype=int)[scores(X, Y).argmax(axis=1)]
        expected = np.array([codeword[tuple(labels)] for labels in predicted])
        np.testing.assert_array_equal(method.encode(X, m), expected)


def test_classifier_codes_predict_the_label_set_nearest_in_angle():
    views, Y = toy(n=200, classes=4, multilabel=True)
    Y[:10] = 0
    method = ClassifierCodes(n_bits=16, random_state=0).fit(views, Y)
    sets = np.array([labels for labels in np.unique(Y, axis=0) if labels.any()], float)
    cosines = scores(views[0], Y) @ (sets / np.linalg.norm(sets, axis=1, keepdims=True)).T
    codeword = {tuple(labels): code for labels, code in zip(Y, method.codes_, strict=True)}
    expected = [codeword[tuple(sets[i].astype(Y.dtype))] for i in cosines.argmax(axis=1)]
    np.testing.assert_array_equal(method.encode(views[0], 0), np.array(expected))


def test_codewords_of_different_classes_differ_even_at_few_bits():
    Y = np.eye(10, dtype=np.uint8)[np.arange(200) % 10]
    rng = np.random.default_rng(0)
    views = [Y @ rng.standard_normal((10, 12)) for _ in range(2)]
    for seed in range(5):
        method = ClassifierCodes(n_bits=6, random_state=seed).fit(views, Y)
        assert len(np.unique(method.codewords_, axis=0)) >= 9


def test_real_valued_compares_regressions_by_cosine():
    views, Y = toy(n=100, classes=5, multilabel=True)
    method = RealValued().fit(views, Y)
    expected = scores(views[1], Y) - Y.mean(axis=0)
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    for role in ("query", "database"):
        found = method.vectors(views[1], 1, role)
        np.testing.assert_allclose(found, expected, atol=1e-6)
    assert found.dtype == np.float32
    assert method.item_bytes == 20


@pytest.mark.parametrize("method", [RidgeLabels, ClassifierCodes])
def test_training_rows_are_mostly_told_apart_by_class(method):
    views, Y = toy(n=200, classes=4)
    fitted = method(n_bits=16, random_state=0).fit(views, Y)
    same = (Y @ Y.T > 0)[~np.eye(200, dtype=bool)]
    codes = [np.where(fitted.encode(X, m), 1, -1) for m, X in enumerate(views)]
    agreement = (codes[0] @ codes[1].T)[~np.eye(200, dtype=bool)]
    assert agreement[same].mean() > agreement[~same].mean() + 4
