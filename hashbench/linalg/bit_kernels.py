# mypy: disable-error-code="no-untyped-def,no-untyped-call"
"""Bits renewed one after the other, row by row, where thousands of rows wait for their turn.

A bit depends on how many bits its row shares with some sampled codes, and changes those numbers.
numpy goes through all rows for every bit and fetches a number a pair from a table; a compiled loop
keeps a row's numbers at hand until all its bits are renewed.
"""

from __future__ import annotations

import numpy as np

from hashbench.base.compiled import kernel


@kernel(reorder=True)
def renew(B, columns, pull, table, inertia):
    """Do what `renew_bits` says, the codes O given as columns, (k, m), in the precision of B."""
    n, k = B.shape
    m = columns.shape[1]
    zero = inertia - inertia  # in its precision
    agreeing = np.empty(m, np.int32)
    for i in range(n):
        agreeing[:] = 0
        for j in range(k):
            positive = B[i, j] > 0
            for c in range(m):
                agreeing[c] += (columns[j, c] > 0) == positive
        for j in range(k):
            total = zero
            for c in range(m):
                total += table[agreeing[c]] * columns[j, c]
            old = B[i, j]
            new = 1 if pull[i, j] - total + inertia * old >= 0 else -1
            if new != old:
                B[i, j] = new
                for c in range(m):
                    agreeing[c] += 1 if (columns[j, c] > 0) == (new > 0) else -1
