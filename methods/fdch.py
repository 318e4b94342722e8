"""FDCH: codes regressed from the labels and from the views at once, with a drift.

Minimises over codes B, class codes W, hash functions P_m and a drift t

    ||B - Y W - 1 t'||^2 + lambda ||W||^2 + sum_m mu ( ||B - K_m P_m||^2 + ridge ||P_m||^2 ),

letters, steps and cost as in :mod:`hashbench.methods.srlch`, whose objective is this one without
the drift.

Deviations
----------
- There is no released code. The features are those of its contemporaries, and lambda, mu, the
  ridge and the number of iterations are choices of this implementation. mu and the ridge are the
  best of fifteen pairs on validation rows of six datasets (``research/choose_defaults.py``; mu from
  0.1 to 1, ridge from 1e-6 to 1e-1).
"""

from __future__ import annotations

from typing import Any, ClassVar

from hashbench import COUNT, NON_NEGATIVE, Log, Paper
from hashbench.linalg import (
    anchor_maps,
)
from hashbench.methods.srlch import LabelRegression


class FDCH(LabelRegression):
    """Fast discrete cross-modal hashing with regressing from semantic labels.

    Parameters
    ----------
    n_bits : int
    lam : float
        lambda, the ridge of the class codes.
    mu : float
        Weight of predicting the codes from each view.
    ridge : float
        Ridge of the hash functions, added to the diagonal of K_m'K_m, relative to its mean
        eigenvalue.
    anchors : int
        Random training rows behind the RBF features of each view.
    iterations : int
    random_state : int, Generator or None
    """

    name = "fdch"
    title = "FDCH"
    space: ClassVar = {"lam": Log(1e-3, 1e2), "mu": Log(1e-2, 1), "ridge": Log(1e-6, 1e-1)}
    allowed: ClassVar = {
        "lam": NON_NEGATIVE, "mu": NON_NEGATIVE, "ridge": NON_NEGATIVE, "anchors": COUNT,
        "iterations": COUNT,
    }  # fmt: skip
    paper = Paper(
        "X. Liu, X. Nie, W. Zeng, C. Cui, L. Zhu, Y. Yin",
        "Fast discrete cross-modal hashing with regressing from semantic labels",
        "ACM International Conference on Multimedia",
        2018,
        fidelity="paper only",
        fidelity_note=(
            "Objective and updates follow the paper's description; no code was released, and "
            "features and parameter values are inferred."
        ),
    )
    drift = True
    relative_ridge = True

    def __init__(
        self,
        n_bits: int = 16,
        lam: float = 0.1,
        mu: float = 0.1,
        ridge: float = 1e-6,
        anchors: int = 500,
        iterations: int = 10,
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.lam = lam
        self.mu = mu
        self.ridge = ridge
        self.anchors = anchors
        self.iterations = iterations
        self.random_state = random_state

    def _features(self, views, rng):
        return anchor_maps(views, [self.anchors] * len(views), rng)

    def _weights(self, views):
        return [self.mu] * len(views), [self.ridge] * len(views)
