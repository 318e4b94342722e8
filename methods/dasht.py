"""DASH-t: codes born in the second view, the text's, and taught to the others.

Mathematics, cost and deviations are those of :mod:`hashbench.methods.dashi`.
"""

from __future__ import annotations

from hashbench.methods.dashi import DASHi


class DASHt(DASHi):
    """DASH with codes from the second view; parameters as for :class:`DASHi`."""

    name = "dasht"
    title = "DASH-t"
    giver = 1
