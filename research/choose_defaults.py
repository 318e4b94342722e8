"""Choose the unit of `ridge`, and defaults that no paper gives, on validation rows.

    HASHBENCH_DATA=/path/to/data python research/choose_defaults.py [unit | METHOD ...]

`unit` compares three units of the ridge; the name of a method compares values of its parameters.
Without arguments, everything is compared: about six minutes on one core.

Only training rows of the default split (seed 0) are used. A fifth of them is held out as queries,
and the others serve as training rows and database; this is done twice with different rows. The
queries of that split are not used; under random protocols, other seeds may have some of these rows
as queries, and so may the two datasets of Wiki, which share their items. Every dataset takes part
with its own preprocessing and standardised, because a default has to serve features of any scale.

A table has one line per setting: the AP of encoded codes at 16 bits, averaged over both tasks and
both draws, for each dataset and over the datasets. The largest average is marked by `*`.
"""

import itertools
import os
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

import hashbench
from hashbench import linalg
from hashbench.data import preprocessing
from hashbench.linalg import Ridge, signs
from hashbench.plugins.dataset import Data, Split
from hashbench.plugins.registry import discover

BITS = 16
DRAWS = 2
STRENGTHS = [1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0]

#: Settings to compare, by method. A ridge below 1e-6 would be lost in the rounding of float32.
GRIDS = {
    "acq": {"ridge": [1e-2, 1e-1, 1.0, 10.0, 100.0]},
    "dashi": {"ridge": [1e-4, 1e-3, 1e-2, 1e-1, 1.0]},
    "dasht": {"ridge": [1e-4, 1e-3, 1e-2, 1e-1, 1.0]},
    "qch": {"alpha": [0.3, 1.0, 3.0], "ridge": [1e-1, 1.0, 10.0]},
    "ridge-labels": {"ridge": [1e-3, 1e-2, 1e-1, 1.0, 10.0]},
    "fdch": {"mu": [0.1, 0.3, 1.0], "ridge": [1e-6, 1e-4, 1e-3, 1e-2, 1e-1]},
}


def coco():
    """Return COCO's photographs (CNN features) and captions (mean word vectors)."""
    with np.load(Path(os.environ["HASHBENCH_DATA"]) / "coco" / "coco_val2017.npz") as file:
        labels = np.unpackbits(file["labels_packed"], axis=1)[:, :80]
        rows = np.flatnonzero(labels.any(axis=1))
        views = [file[name].astype(np.float32)[rows] for name in ("image_cnn", "text_wordllama")]
    data, rows = Data(views, labels[rows]), np.arange(len(rows))
    return data, Split(rows[1000:], rows[:1000], rows[1000:]), ("l2", "l2")


def packaged(name):
    """Return a dataset of hashbench, its default split and its preprocessing."""
    dataset = discover().get("datasets", name).cls()
    data = dataset.load()
    return data, dataset.split(data, dataset.default_protocol(), 0), dataset.preprocessing


def draws():
    """Yield dataset, draw, training views, training labels, query views and query labels."""
    for name in ("emoji", "wiki", "wiki-cnn", "uci-digits", "bdgp", "coco"):
        data, split, own = coco() if name == "coco" else packaged(name)
        for draw, steps in itertools.product(range(DRAWS), (own, ("standardise",) * 2)):
            order = np.random.default_rng(draw).permutation(split.train)
            query, train = np.split(order, [len(order) // 5])
            fitted = [
                preprocessing.fit(step, X, train) for step, X in zip(steps, data.views, strict=True)
            ]
            rows = [
                [step(X[part]) for step, X in zip(fitted, data.views, strict=True)]
                for part in (train, query)
            ]
            shown = name if steps is own else f"{name} (st.)"
            yield shown, draw, rows[0], data.labels[train], rows[1], data.labels[query]


def score(encode, train, train_labels, query, query_labels):
    """Return the mean AP of both tasks."""
    codes = [[encode(X, view) for view, X in enumerate(part)] for part in (query, train)]
    return np.mean(
        [
            hashbench.evaluate(codes[0][m], codes[1][1 - m], query_labels, train_labels, "AP")["AP"]
            for m in (0, 1)
        ]
    )


def unit_trials(views, labels, seed):
    """Yield setting and hash functions of three models under a ridge in each unit.

    The models are those that the methods with a `ridge` consist of: CCA of the views with ITQ, CCA
    of one view and the labels with ITQ and a regression for the other (DASH-i), and a regression
    to the labels. Methods accept one unit only, so that they are restated here.
    """
    means, n = linalg.column_means(views), len(labels)
    Y = (labels - labels.mean(axis=0)).astype(views[0].dtype)
    grams = [linalg.gram(X, mean) for X, mean in zip(views, means, strict=True)]
    size = max(BITS, Y.shape[1])
    H = linalg.random_rotation(size, np.random.default_rng(seed))[: Y.shape[1], :BITS]
    units = {
        "relative": [np.trace(G) / len(G) for G in grams],
        "covariance": [n - 1.0] * 2,
        "scatter": [1.0] * 2,
    }
    for (unit, scale), strength in itertools.product(units.items(), STRENGTHS):
        ridges = [strength * each for each in scale]
        M = [
            linalg.scatter_whitening(X, mean, ridge, G)
            for X, mean, ridge, G in zip(views, means, ridges, grams, strict=True)
        ]
        solvers = [Ridge(X, r, mean) for X, r, mean in zip(views, ridges, means, strict=True)]

        A, _ = linalg.correlated_directions(views, BITS, means, M)
        A = [np.sqrt(n) * a for a in A]
        V = np.vstack(
            [linalg.project(X, a, mean) for X, a, mean in zip(views, A, means, strict=True)]
        )
        R = linalg.itq(V, np.random.default_rng(seed))
        yield ("cca-itq", unit, strength), [a @ R for a in A]

        whiteners = (M[0], linalg.scatter_whitening(Y, None, 0.0))
        found = linalg.cca(views[0], Y, BITS, 0.0, (means[0], None), whiteners)
        W = np.sqrt(n) * found.left * found.correlations
        V = linalg.project(views[0], W, means[0])
        R = linalg.itq(V, np.random.default_rng(seed))
        yield ("dashi", unit, strength), [W @ R, solvers[1].solve(signs(V @ R))]

        yield ("ridge-labels", unit, strength), [solver.solve(Y) @ H for solver in solvers]


def choose_unit():
    """Print the scores of every unit and strength."""
    rows = []
    for name, draw, train, train_labels, query, query_labels in draws():
        means = linalg.column_means(train)
        for setting, W in unit_trials(train, train_labels, draw):
            offsets = [mean @ w for mean, w in zip(means, W, strict=True)]
            value = score(
                lambda X, m, W=W, offsets=offsets: X @ W[m] - offsets[m] >= 0,
                train, train_labels, query, query_labels,
            )  # fmt: skip
            rows.append((*setting, name, value))
    table = pd.DataFrame(rows, columns=["model", "unit", "strength", "dataset", "AP"])
    for model, part in table.groupby("model", sort=False):
        show(part.drop(columns="model"), ["unit", "strength"], f"{model}: unit of the ridge")


def choose_parameters(method):
    """Print the scores of a method at every point of its grid."""
    cls, rows = discover().get("methods", method).cls, []
    names = list(GRIDS[method])
    for dataset, draw, train, train_labels, query, query_labels in draws():
        for values in itertools.product(*GRIDS[method].values()):
            fitted = cls(BITS, random_state=draw, **dict(zip(names, values, strict=True)))
            fitted.fit(train, train_labels)
            value = score(fitted.encode, train, train_labels, query, query_labels)
            rows.append((*values, dataset, value))
    defaults = ", ".join(f"{name}={getattr(cls(), name)}" for name in names)
    table = pd.DataFrame(rows, columns=[*names, "dataset", "AP"])
    show(table, names, f"{method}: the defaults are {defaults}")


def show(table, settings, title):
    """Print the mean AP by setting and dataset."""
    means = table.pivot_table("AP", settings, "dataset", sort=False)
    means["mean"] = means.mean(axis=1)
    means[""] = np.where(means["mean"] == means["mean"].max(), "*", "")
    print(f"\n{title}\n{means.round(4).to_string()}", flush=True)


def main():
    """Compare what the command line names, or everything."""
    warnings.simplefilter("ignore", UserWarning)
    with threadpool_limits(1):
        for name in sys.argv[1:] or ["unit", *GRIDS]:
            choose_unit() if name == "unit" else choose_parameters(name)


if __name__ == "__main__":
    main()
