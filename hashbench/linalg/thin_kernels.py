# mypy: disable-error-code="no-untyped-def,no-untyped-call,call-arg,unreachable"
"""Products of wide features with a few columns, from the features as they lie.

A general product copies its operands into an order of its own first, which pays off where every
number is used hundreds of times. With 16 columns, each is used 16 times, and copying takes half as
long as multiplying. These loops keep twelve registers of eight numbers, as many as common
processors have room for, and read the features once and as they lie: X M keeps its sums there, X'T
its targets.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from hashbench.base.compiled import kernel
from hashbench.base.validation import Matrix
from hashbench.linalg.threads import row_parts, share_out

#: Numbers in a register, and registers that make up a row of a panel of M.
LANES, PANEL = 8, 2
#: Rows of X that are multiplied together.
ROWS = 6
#: Columns of X whose sums of products stay in the second cache, with room for its rows.
TILE = 512
#: Rows of all views that stay in the second cache between X M and X'T, a multiple of ROWS.
PASS_ROWS = 24
#: Rows whose products are summed in single precision.
SUM_ROWS = 2048

PANEL_COLUMNS = LANES * PANEL

_NUMBER, _INDEX = ir.FloatType(), ir.IntType(64)
_REGISTER = ir.VectorType(_NUMBER, LANES)


class _Code:
    """The few words that the loop is written in."""

    def __init__(self, builder: Any) -> None:
        self.builder = builder

    def numbers(self, address: Any) -> Any:
        return self.builder.inttoptr(address, _NUMBER.as_pointer())

    def sums(self, rows: int, columns: int) -> list[list[Any]]:
        """Return places for sums, which the compiler turns into registers."""
        zero = ir.Constant(_REGISTER, [0.0] * LANES)
        places = [
            [cgutils.alloca_once(self.builder, _REGISTER) for _ in range(columns)]
            for _ in range(rows)
        ]
        for row in places:
            for place in row:
                self.builder.store(zero, place)
        return places

    def offset(self, row: Any, width: Any, column: Any) -> Any:
        row, column = (
            ir.Constant(_INDEX, each) if isinstance(each, int) else each for each in (row, column)
        )
        return self.builder.add(self.builder.mul(row, width), column)

    def eight(self, numbers: Any, offset: Any) -> Any:
        """Return where eight numbers begin."""
        return self.builder.bitcast(self.builder.gep(numbers, [offset]), _REGISTER.as_pointer())

    def load(self, numbers: Any, offset: Any) -> Any:
        loaded = self.builder.load(self.eight(numbers, offset))
        loaded.align = 4
        return loaded

    def store(self, value: Any, numbers: Any, offset: Any) -> None:
        self.builder.store(value, self.eight(numbers, offset)).align = 4

    def product_and(self, total: Any, left: Any, right: Any) -> Any:
        product = self.builder.fmul(left, right, flags=["contract"])
        return self.builder.fadd(product, total, flags=["contract"])

    def repeated(self, numbers: Any, offset: Any) -> Any:
        """Return a register that holds one number eight times."""
        nothing = ir.Constant(_REGISTER, ir.Undefined)
        number = self.builder.load(self.builder.gep(numbers, [offset]))
        first = self.builder.insert_element(nothing, number, ir.Constant(ir.IntType(32), 0))
        everywhere = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
        return self.builder.shuffle_vector(first, nothing, everywhere)


@intrinsic
def _rows_times_panel(typing_context, x, x_width, m, m_width, v, v_width, columns):
    """Write the products of six rows of X and sixteen columns of M; places are addresses."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        x, x_width, m, m_width, v, v_width, columns = arguments
        code = _Code(builder)
        x, m, v = map(code.numbers, (x, m, v))
        sums = code.sums(ROWS, PANEL)
        with cgutils.for_range(builder, columns) as loop:
            panel = [
                code.load(m, code.offset(loop.index, m_width, LANES * j)) for j in range(PANEL)
            ]
            for row in range(ROWS):
                number = code.repeated(x, code.offset(row, x_width, loop.index))
                for j in range(PANEL):
                    total = code.product_and(builder.load(sums[row][j]), number, panel[j])
                    builder.store(total, sums[row][j])
        for row in range(ROWS):
            for j in range(PANEL):
                code.store(builder.load(sums[row][j]), v, code.offset(row, v_width, LANES * j))
        return context.get_dummy_value()

    return types.void(*[types.intp] * 7), build


@kernel()
def _values(X, M, V):
    """Set V = X M for X, (b, d), M, (p, d, 16) and V, (b, 16 p), all float32; six rows at least."""
    b, d = X.shape
    panels, width = M.shape[0], V.shape[1]
    x, m, v = X.ctypes.data, M.ctypes.data, V.ctypes.data
    for six in range(0, b, ROWS):
        row = min(six, b - ROWS)  # the last rows once more rather than fewer
        for j in range(panels):
            place = v + 4 * (row * width + j * PANEL_COLUMNS)
            panel = m + 4 * j * d * PANEL_COLUMNS
            _rows_times_panel(x + 4 * row * d, d, panel, PANEL_COLUMNS, place, width, d)


@intrinsic
def _add_rows_by_panel(typing_context, x, x_width, t, s, columns):
    """Add the products of six rows of X and the same rows of a panel of T to sums, (columns, 16).

    The six rows of T stay in registers, and X and the sums are read from one end to the other.
    """

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        x, x_width, t, s, columns = arguments
        code = _Code(builder)
        x, t, s = map(code.numbers, (x, t, s))
        width = ir.Constant(_INDEX, PANEL_COLUMNS)
        rows = [
            [code.load(t, code.offset(row, width, LANES * j)) for j in range(PANEL)]
            for row in range(ROWS)
        ]
        with cgutils.for_range(builder, columns) as loop:
            places = [code.offset(loop.index, width, LANES * j) for j in range(PANEL)]
            sums = [code.load(s, place) for place in places]
            for row in range(ROWS):
                number = code.repeated(x, code.offset(row, x_width, loop.index))
                sums = [code.product_and(sums[j], number, rows[row][j]) for j in range(PANEL)]
            for total, place in zip(sums, places, strict=True):
                code.store(total, s, place)
        return context.get_dummy_value()

    return types.void(*[types.intp] * 5), build


@kernel()
def _add_products(X, T, total):
    """Add X'T to total for X, (b, d), T, (p, 6 c, 16), both float32, and total, (d, t), float64.

    The last six rows of T belong to the last six of X, and are zero where they have come before.
    """
    b, d = X.shape
    panels, rows = T.shape[0], T.shape[1]
    x, t = X.ctypes.data, T.ctypes.data
    sums = np.empty((TILE, PANEL_COLUMNS), np.float32)
    s = sums.ctypes.data
    for first in range(0, d, TILE):
        last = min(first + TILE, d)
        for j in range(panels):
            sums[: last - first] = 0
            for row in range(0, rows, ROWS):
                place = x + 4 * (min(row, b - ROWS) * d + first)
                panel = t + 4 * (j * rows + row) * PANEL_COLUMNS
                _add_rows_by_panel(place, d, panel, s, last - first)
            start = j * PANEL_COLUMNS
            width = min(PANEL_COLUMNS, total.shape[1] - start)
            for column in range(first, last):
                for bit in range(width):
                    total[column, start + bit] += sums[column - first, bit]


@kernel()
def _pass(places, widths, M, V, totals, signed):
    """Do what `add_pass` says of views that lie at `places`, with M and totals in panels."""
    n, k = V.shape
    panels, d = totals.shape[0], totals.shape[1]
    sums = np.zeros(totals.shape, np.float32)
    values = np.empty((PASS_ROWS + ROWS, panels * PANEL_COLUMNS), np.float32)
    targets = np.zeros((panels, PASS_ROWS + 2 * ROWS, PANEL_COLUMNS), np.float32)
    m, s, v, t = M.ctypes.data, sums.ctypes.data, values.ctypes.data, targets.ctypes.data
    width, length = values.shape[1], targets.shape[1]
    start = summed = 0
    while start < n:
        b = PASS_ROWS if n - start >= PASS_ROWS + ROWS else n - start
        first = 0
        for view in range(len(places)):
            if M.shape[1] == 0:
                break
            x, columns = places[view], widths[view]
            for j in range(panels):
                panel = m + 4 * (j * d + first) * PANEL_COLUMNS
                for six in range(0, b, ROWS):
                    row = min(six, b - ROWS)  # the last rows once more rather than fewer
                    place = v + 4 * (row * width + j * PANEL_COLUMNS)
                    rows = x + 4 * (start + row) * columns
                    _rows_times_panel(rows, columns, panel, PANEL_COLUMNS, place, width, columns)
            for row in range(b):
                for bit in range(k):
                    V[start + row, bit] += values[row, bit]
            first += columns
        if signed:
            for row in range(start, start + b):
                for bit in range(k):
                    V[row, bit] = 1 if V[row, bit] >= 0 else -1
        for six in range(0, b, ROWS):
            row = min(six, b - ROWS)
            for i in range(ROWS):
                for bit in range(k):
                    value = V[start + row + i, bit] if row + i >= six else np.float32(0)
                    targets[bit // PANEL_COLUMNS, six + i, bit % PANEL_COLUMNS] = value
        first = 0
        for view in range(len(places)):
            x, columns = places[view], widths[view]
            for tile in range(0, columns, TILE):
                for j in range(panels):
                    total = s + 4 * (j * d + first + tile) * PANEL_COLUMNS
                    for six in range(0, b, ROWS):
                        rows = x + 4 * ((start + min(six, b - ROWS)) * columns + tile)
                        target = t + 4 * (j * length + six) * PANEL_COLUMNS
                        _add_rows_by_panel(rows, columns, target, total, min(TILE, columns - tile))
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


def add_pass(V: Matrix, views: Sequence[Matrix], M: Matrix, signed: bool) -> list[Matrix]:
    """Add X_m M_m of all views to V, (n, t), take its signs if `signed`; return every X_m'V.

    A few rows at a time go through all of it: what a processor has for itself holds them.

    Parameters
    ----------
    V : (n, t), float32 and C-contiguous, written to; six rows at least
    views : (n, d_m) each, float32 and C-contiguous
    M : panels of all M_m one below the other; of no rows if nothing is to be added

    Returns
    -------
    (d_m, t) in float64 for every view
    """
    places = np.array([X.ctypes.data for X in views])
    widths = np.array([X.shape[1] for X in views])
    totals = np.zeros((-(-V.shape[1] // PANEL_COLUMNS), widths.sum(), PANEL_COLUMNS))
    _pass(places, widths, M, V, totals, signed)
    found = np.hstack(list(totals))[:, : V.shape[1]]
    return np.split(found, np.cumsum(widths)[:-1])


def values(X: Matrix, M: Matrix) -> Matrix:
    """Return X M for X, (b, d), float32 and C-contiguous, and panels of M; six rows at least."""
    V = np.empty((len(X), len(M) * PANEL_COLUMNS), np.float32)

    def part(rows: slice) -> None:
        rows = slice(min(rows.start, len(X) - ROWS), rows.stop)
        _values(X[rows], M, V[rows])

    share_out(part, row_parts(len(X)))
    return V


def add_products(total: Matrix, X: Matrix, T: Matrix) -> None:
    """Add X'T to total for X, (b, d) and T, (b, t), both float32, X C-contiguous; b six at least.

    Parameters
    ----------
    total : (d, t) in float64, C-contiguous
    """
    b = len(X)
    rest, targets = b % ROWS, panels(T, b + -b % ROWS)
    if rest:
        targets[:, -rest:] = targets[:, b - rest : b].copy()
        targets[:, -ROWS:-rest] = 0
    _add_products(X, targets, total)


def panels(M: Matrix, rows: int | None = None) -> Matrix:
    """Return M, (d, t), in panels of sixteen columns, (p, rows, 16): zero where M has ended."""
    d, t = M.shape
    found = np.zeros((-(-t // PANEL_COLUMNS), rows or d, PANEL_COLUMNS), np.float32)
    for panel, start in zip(found, range(0, t, PANEL_COLUMNS), strict=True):
        part = M[:, start : start + PANEL_COLUMNS]
        panel[:d, : part.shape[1]] = part
    return found
