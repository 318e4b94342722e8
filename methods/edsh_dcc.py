"""EDSH-DCC: EDSH with discrete coordinate descent for the codes.

The objective, the cost and the other steps are those of :mod:`hashbench.methods.edsh`. The B-step
lowers, one bit of all rows after the other,

    gamma ||Y - B P'||^2 + alpha ||B - V R'||^2    over B in {-1, +1}

instead of treating its quadratic term as constant, so that with the exact R-step the objective
never rises. Not in the paper.
"""

from __future__ import annotations

from typing import Any, ClassVar

from hashbench import COUNT
from hashbench.linalg import (
    discrete_descent,
)
from hashbench.methods.edsh import EDSH


class EDSHDCC(EDSH):
    """EDSH with discrete coordinate descent for the codes: the objective never rises.

    Parameters
    ----------
    n_bits, lam, beta, gamma, alpha, mu, iterations, random_state
        As for :class:`EDSH`.
    sweeps : int
        At most this many passes over the bits in each B-step.
    """

    name = "edsh-dcc"
    title = "EDSH-DCC"
    allowed: ClassVar = {"sweeps": COUNT}
    objective_note = ""
    rotation = "exact"  # not a choice here: the printed step would let the objective rise

    def __init__(
        self,
        n_bits: int = 16,
        lam: float = 1.0,
        beta: float = 10.0,
        gamma: float = 10.0,
        alpha: float = 2.0,
        mu: float = 5.0,
        iterations: int = 20,
        sweeps: int = 5,
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.lam = lam
        self.beta = beta
        self.gamma = gamma
        self.alpha = alpha
        self.mu = mu
        self.iterations = iterations
        self.sweeps = sweeps
        self.random_state = random_state

    def _codes(self, B, Q, P):
        return discrete_descent(B, Q, self.gamma * P.T @ P, self.sweeps)
