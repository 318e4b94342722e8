"""DASH-t: codes of the text view, and least squares from the other views to them.

Mathematics, cost and deviations are those of :mod:`hashbench.methods.dashi`.
"""

from __future__ import annotations

from hashbench.methods.dashi import DASHi


class DASHt(DASHi):
    """DASH with codes from the second view.

    Parameters
    ----------
    n_bits, ridge, iterations, random_state
        As for :class:`DASHi`.
    """

    name = "dasht"
    title = "DASH-t"
    source = 1
