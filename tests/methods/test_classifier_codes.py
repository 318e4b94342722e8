import numpy as np

from hashbench.checks.methods import toy
from hashbench.methods.classifier_codes import ClassifierCodes
from tests.methods.restated.ridge_labels import regressions


def test_single_labels_get_the_codeword_of_the_class_with_the_largest_score():
    views, Y = toy(n=200, classes=4)
    method = ClassifierCodes(n_bits=8, ridge=0.1, random_state=0).fit(views, Y)
    codewords = np.array([method.codes_[Y[:, label] == 1][0] for label in range(4)])
    for view, (X, regressed) in enumerate(zip(views, regressions(views, Y, 0.1), strict=True)):
        scores = regressed(X) + Y.mean(axis=0)
        np.testing.assert_array_equal(method.encode(X, view), codewords[scores.argmax(axis=1)])


def test_several_labels_get_the_codeword_of_the_label_set_with_the_smallest_angle():
    views, Y = toy(n=200, classes=4, multilabel=True)
    Y[:10] = 0
    method = ClassifierCodes(n_bits=16, ridge=0.1, random_state=0).fit(views, Y)
    sets, first = np.unique(Y, axis=0, return_index=True)
    labelled = sets.any(axis=1)  # rows without labels are not predicted
    sets, codewords = sets[labelled], method.codes_[first[labelled]]
    np.testing.assert_array_equal(method.label_sets_, sets)
    np.testing.assert_array_equal(method.codewords_, codewords)
    scores = regressions(views, Y, 0.1)[0](views[0]) + Y.mean(axis=0)
    cosines = scores @ (sets / np.linalg.norm(sets, axis=1, keepdims=True)).T
    np.testing.assert_array_equal(method.encode(views[0], 0), codewords[cosines.argmax(axis=1)])


def test_codewords_of_different_classes_differ_even_at_few_bits():
    Y = np.eye(10, dtype=np.uint8)[np.arange(200) % 10]
    rng = np.random.default_rng(0)
    views = [Y @ rng.standard_normal((10, 12)) for _ in range(2)]
    for seed in range(5):
        method = ClassifierCodes(n_bits=6, random_state=seed).fit(views, Y)
        assert len(np.unique(method.codewords_, axis=0)) >= 9
