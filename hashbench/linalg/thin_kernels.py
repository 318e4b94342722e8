# mypy: disable-error-code="no-untyped-def,no-untyped-call,call-arg,unreachable"
"""Products of wide features with a few columns, from the features as they lie.

A general product copies its operands into an order of its own first, which pays off where every
number is used hundreds of times. With 16 columns, each is used 16 times, and copying takes half as
long as multiplying. These loops read the features once and as they lie, and keep sums in registers:
those of a few rows in X M, those of a few columns in X'T. They are taken in the order of columns
and rows, however many registers there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from hashbench.base.compiled import kernel
from hashbench.base.validation import Matrix
from hashbench.linalg.registers import INDEX, LANES, WIDE, Code, Sums, aligned, readonly
from hashbench.linalg.threads import row_parts, share_out

#: Columns of a panel of M, and registers that make up one of its rows.
PANEL_COLUMNS = 16
PANEL = PANEL_COLUMNS // LANES
#: Rows of X whose sums are in registers in X M, and columns of X whose sums are in X'T.
ROWS, COLUMNS = (8, 16) if WIDE else (6, 6)
#: Columns of X M that one turn of its loop goes through.
UNROLLED = 8
#: Rows of all views that stay in the second cache between X M and X'T: with one panel of targets,
#: and with more of them, whose sums are so many that they had better be read for more rows at once.
PASS_ROWS = (ROWS, 2 * ROWS)
#: Rows whose products are summed in single precision.
SUM_ROWS = 2048


@intrinsic
def _rows_times_panel(typing_context, x, x_width, m, v, v_width, columns, ahead):
    """Write the products of a few rows of X and sixteen columns of M; places are addresses.

    With wide registers, which leave memory less time, every other row of those that come so many
    numbers later is fetched meanwhile.
    """

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        x, x_width, m, v, v_width, columns, ahead = arguments
        code = Code(builder)
        x, m, v = map(code.numbers, (x, m, v))
        sums = Sums(code, ROWS, PANEL)

        def add(first: Any, count: int) -> None:
            rows = [code.at(x, code.offset(row, x_width, first)) for row in range(ROWS)]
            panel = code.at(m, code.offset(first, PANEL_COLUMNS, 0))
            for row in range(0, ROWS, 2) if WIDE and count > 1 else ():
                code.fetch(rows[row], ahead, cache=2)
            for column in range(count):
                line = [code.load(panel, PANEL_COLUMNS * column + LANES * j) for j in range(PANEL)]
                for row in range(ROWS):
                    sums.add(row, code.repeated(rows[row], column), line)

        many, one = INDEX(UNROLLED), INDEX(1)
        most = builder.sub(columns, builder.urem(columns, many))
        with cgutils.for_range_slice(builder, INDEX(0), most, many) as (first, _):
            add(first, UNROLLED)
        with cgutils.for_range_slice(builder, most, columns, one) as (first, _):
            add(first, 1)
        sums.write(v, v_width)
        return context.get_dummy_value()

    return types.void(*[types.intp] * 7), build


@kernel()
def _values(X, M, V):
    """Set V = X M for X, (b, d), M, (p, d, 16) and V, (b, 16 p), all float32; ROWS at least."""
    b, d = X.shape
    panels, width = M.shape[0], V.shape[1]
    x, m, v = X.ctypes.data, M.ctypes.data, V.ctypes.data
    for group in range(0, b, ROWS):
        row = min(group, b - ROWS)  # the last rows once more rather than fewer
        for j in range(panels):
            place = v + 4 * (row * width + j * PANEL_COLUMNS)
            panel = m + 4 * j * d * PANEL_COLUMNS
            _rows_times_panel(x + 4 * row * d, d, panel, place, width, d, ROWS * d)


def _adder(columns: int) -> Any:
    """Return a word that adds products of so many columns of X and all of a panel of T to sums."""

    @intrinsic
    def add(typing_context, x, x_width, t, s, rows):
        def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            x, x_width, t, s, rows = arguments
            code = Code(builder)
            x, t, s = map(code.numbers, (x, t, s))
            sums = Sums(code, columns, PANEL)
            sums.read(s, PANEL_COLUMNS)
            with cgutils.for_range(builder, rows) as loop:
                numbers = code.at(x, code.offset(loop.index, x_width, 0))
                target = code.at(t, code.offset(loop.index, PANEL_COLUMNS, 0))
                line = [code.load(target, LANES * j) for j in range(PANEL)]
                code.fetch(numbers, columns, cache=1)  # what comes next
                # and in the next rows; where X M has fetched every other one, in those between
                row = builder.or_(loop.index, INDEX(1)) if WIDE else loop.index
                later = code.at(x, builder.mul(x_width, builder.add(rows, row)))
                code.fetch(later, 0, cache=2)
                for column in range(columns):
                    sums.add(column, code.repeated(numbers, column), line)
            sums.write(s, PANEL_COLUMNS)
            return context.get_dummy_value()

        return types.void(*[types.intp] * 5), build

    return add


_add_columns, _add_column = _adder(COLUMNS), _adder(1)


@kernel()
def _add_products(x, width, t, rows, s):
    """Add X'T to sums, (width, 16), for X, (rows, width), and T, (rows, 16), at these addresses."""
    whole = width - width % COLUMNS
    for first in range(0, whole, COLUMNS):
        _add_columns(x + 4 * first, width, t, s + 4 * first * PANEL_COLUMNS, rows)
    for column in range(whole, width):
        _add_column(x + 4 * column, width, t, s + 4 * column * PANEL_COLUMNS, rows)


@kernel()
def _add_blocks(X, T, sums, total):
    """Add X'T to total for X, (b, d), T, (p, b, 16), both float32, and total, (d, t), float64."""
    b, d = X.shape
    x, s = X.ctypes.data, sums.ctypes.data
    for j in range(T.shape[0]):
        t = T[j].ctypes.data
        sums[:] = 0
        for start in range(0, b, ROWS):
            rows = min(ROWS, b - start)
            _add_products(x + 4 * start * d, d, t + 4 * start * PANEL_COLUMNS, rows, s)
        first = j * PANEL_COLUMNS
        for column in range(d):
            for bit in range(min(PANEL_COLUMNS, total.shape[1] - first)):
                total[column, first + bit] += sums[column, bit]


@kernel()
def _pass(places, widths, M, V, targets, sums, totals, signed):
    """Do what `add_pass` says of views that lie at `places`, with M, sums and totals in panels."""
    n, k = V.shape
    panels, d, most = totals.shape[0], totals.shape[1], targets.shape[1]
    values = np.empty((most, panels * PANEL_COLUMNS), np.float32)
    m, s, v, t = M.ctypes.data, sums.ctypes.data, values.ctypes.data, targets.ctypes.data
    width = values.shape[1]
    start = summed = 0
    while start < n:
        b = most - ROWS if n - start >= most else n - start
        first = 0
        for view in range(len(places)):
            if M.shape[1] == 0:
                break
            x, columns = places[view], widths[view]
            for j in range(panels):
                panel = m + 4 * (j * d + first) * PANEL_COLUMNS
                for group in range(0, b, ROWS):
                    row = min(group, b - ROWS)  # the last rows once more rather than fewer
                    place = v + 4 * (row * width + j * PANEL_COLUMNS)
                    rows = x + 4 * (start + row) * columns
                    _rows_times_panel(rows, columns, panel, place, width, columns, b * columns)
            for row in range(b):
                for bit in range(k):
                    V[start + row, bit] += values[row, bit]
            first += columns
        for row in range(b):
            for bit in range(k):
                if signed:
                    V[start + row, bit] = 1 if V[start + row, bit] >= 0 else -1
                targets[bit // PANEL_COLUMNS, row, bit % PANEL_COLUMNS] = V[start + row, bit]
        first = 0
        for view in range(len(places)):
            rows, columns = places[view] + 4 * start * widths[view], widths[view]
            for j in range(panels):
                target = t + 4 * j * most * PANEL_COLUMNS
                total = s + 4 * (j * d + first) * PANEL_COLUMNS
                _add_products(rows, columns, target, b, total)
            first += columns
        start += b
        summed += b
        if summed >= SUM_ROWS or start == n:
            summed = 0
            for j in range(panels):
                for column in range(d):
                    for bit in range(PANEL_COLUMNS):
                        totals[j, column, bit] += sums[j, column, bit]
            sums[:] = 0


@kernel(reorder=True)
def _sides(X, w, least, h, sums, products):
    """Do what `add_sides` says; four rows at a time, so that memory is all that it waits for."""
    n, d = X.shape
    for first in range(0, n, SUM_ROWS):
        last = min(first + SUM_ROWS, n)
        sums[:] = 0
        for row in range(first, last, 4):
            count = min(4, last - row)
            # fewer rows are the last one several times, which counts once
            i, j, k = min(row + 1, last - 1), min(row + 2, last - 1), min(row + 3, last - 1)
            a = b = c = e = np.float32(0)
            for column in range(d):
                a += X[row, column] * w[column]
                b += X[i, column] * w[column]
                c += X[j, column] * w[column]
                e += X[k, column] * w[column]
            h[row] = a = np.float32(1 if a >= least else -1)
            h[i] = b = np.float32(1 if b >= least else -1)
            h[j] = c = np.float32(1 if c >= least else -1)
            h[k] = e = np.float32(1 if e >= least else -1)
            if count < 4:
                e = np.float32(0)
            if count < 3:
                c = np.float32(0)
            if count < 2:
                b = np.float32(0)
            for column in range(d):
                sums[column] += (
                    a * X[row, column] + b * X[i, column] + c * X[j, column] + e * X[k, column]
                )
        for column in range(d):
            products[column] += sums[column]


def add_sides(X: Matrix, w: Matrix, least: Any, h: Matrix, products: Matrix) -> None:
    """Set h = 1 where X w is `least` or more and else -1, and add X'h to products.

    Parameters
    ----------
    X : (n, d), float32 and C-contiguous
    w : (d,), float32
    h, products : (n,) and (d,) in float64
    """
    _sides(readonly(X), readonly(w), least, h, np.empty(len(w), np.float32), products)


def add_pass(V: Matrix, views: Sequence[Matrix], M: Matrix, signed: bool) -> list[Matrix]:
    """Add X_m M_m of all views to V, (n, t), take its signs if `signed`; return every X_m'V.

    A few rows at a time go through all of it: what a processor has for itself holds them.

    Parameters
    ----------
    V : (n, t), float32 and C-contiguous, written to; ROWS at least
    views : (n, d_m) each, float32 and C-contiguous
    M : panels of all M_m one below the other; of no rows if nothing is to be added

    Returns
    -------
    (d_m, t) in float64 for every view
    """
    places = np.array([X.ctypes.data for X in views])
    widths = np.array([X.shape[1] for X in views])
    totals = np.zeros((-(-V.shape[1] // PANEL_COLUMNS), widths.sum(), PANEL_COLUMNS))
    rows = PASS_ROWS[len(totals) > 1]
    targets = aligned(len(totals), rows + ROWS, PANEL_COLUMNS)
    _pass(places, widths, M, V, targets, aligned(*totals.shape), totals, signed)
    found = np.hstack(list(totals))[:, : V.shape[1]]
    return np.split(found, np.cumsum(widths)[:-1])


def values(X: Matrix, M: Matrix) -> Matrix:
    """Return X M for X, (b, d), float32 and C-contiguous, and panels of M; ROWS at least."""
    V = np.empty((len(X), len(M) * PANEL_COLUMNS), np.float32)

    def part(rows: slice) -> None:
        rows = slice(min(rows.start, len(X) - ROWS), rows.stop)
        _values(readonly(X[rows]), M, V[rows])

    parts = list(row_parts(len(X)))
    if len(parts) > 1:
        share_out(part, parts)
    else:  # one of many blocks: asking for threads takes a tenth of its time
        part(parts[0])
    return V


def add_products(total: Matrix, X: Matrix, T: Matrix) -> None:
    """Add X'T to total for X, (b, d) and T, (b, t), both float32, X C-contiguous.

    Parameters
    ----------
    total : (d, t) in float64, C-contiguous
    """
    _add_blocks(readonly(X), panels(T), aligned(X.shape[1], PANEL_COLUMNS), total)


def panels(M: Matrix) -> Matrix:
    """Return M, (d, t), in panels of sixteen columns, (p, d, 16): zero where M has ended."""
    d, t = M.shape
    found = aligned(-(-t // PANEL_COLUMNS), d, PANEL_COLUMNS)
    for panel, start in zip(found, range(0, t, PANEL_COLUMNS), strict=True):
        part = M[:, start : start + PANEL_COLUMNS]
        panel[:, : part.shape[1]] = part
    return found
