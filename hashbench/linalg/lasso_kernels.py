# mypy: disable-error-code="no-untyped-def,no-untyped-call"
"""The proximal step of the lasso, and a product with sparse coefficients, as compiled loops.

numpy would go through all coefficients a dozen times per step; the loop goes through them once.
Most of them are then zero, and the product with the dictionary skips those.
"""

from __future__ import annotations

import numpy as np

from hashbench.core.compilation import kernel


@kernel(reorder=True)
def shrink(rows, G, threshold, beta, S, last, new, length):
    """Set the rows of `new` and return how many of their coefficients are not zero.

    Parameters
    ----------
    rows : (r,) of int
        Rows to compute. G holds only these rows, the other arrays hold all.
    G : (r, atoms)
        Minus the gradient at the point, divided by the bound.
    threshold : (b,)
    beta : float
        The point lies at S + beta (S - last).
    S, last : (b, atoms)
        Coefficients after the last step and the one before.
    new, length : (b, atoms), (b,)
        Outputs: coefficients, and ||new - point||^2.
    """
    zero = beta - beta  # in its precision
    count = 0
    for place in range(len(rows)):
        i = rows[place]
        g, s, before, after, limit = G[place], S[i], last[i], new[i], threshold[i]
        total = zero
        for j in range(len(g)):
            point = s[j] + beta * (s[j] - before[j])
            value = g[j] + point
            value -= max(min(value, limit), -limit)
            after[j] = value
            total += (value - point) * (value - point)
            count += value != 0
        length[i] = total
    return count


@kernel(reorder=True)
def multiply(rows, S, D, fitted):
    """Set the given rows of `fitted` to those of S D, for S, (b, atoms), that is mostly zero."""
    zero = D[0, 0] - D[0, 0]  # in its precision
    used = np.empty(S.shape[1] + 1, np.int32)
    for i in rows:
        s, f = S[i], fitted[i]
        count = 0
        for j in range(len(s)):
            used[count] = j
            count += s[j] != 0
        f[:] = zero
        for place in range(0, count - 3, 4):
            a, b, c, d = used[place : place + 4]
            A, B, C, E = D[a], D[b], D[c], D[d]
            for x in range(len(f)):
                f[x] += s[a] * A[x] + s[b] * B[x] + s[c] * C[x] + s[d] * E[x]
        for place in range(count - count % 4, count):
            j = used[place]
            for x in range(len(f)):
                f[x] += s[j] * D[j, x]
