# mypy: disable-error-code="no-untyped-def,no-untyped-call,call-arg,unreachable"
"""Products of wide features with a few columns, from the features as they lie.

A general product copies its operands into an order of its own first, which pays off where every
number is used hundreds of times. With 16 columns, each is used 16 times, and copying takes half as
long as multiplying. This loop keeps twelve sums of eight numbers each in registers, as many as
common processors have room for, and reads the features once, at the speed of large products.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import prange, types
from numba.core import cgutils
from numba.extending import intrinsic

from hashbench.base.compiled import ALONE, kernel
from hashbench.base.validation import Matrix

#: Numbers in a register, and registers that make up a row of a panel of M.
LANES, PANEL = 8, 2
#: Rows of X that are multiplied together.
ROWS = 6

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


@kernel(parallel=True)
def _values(X, M, V, parts):
    """Set V = X M for X, (b, d), M, (p, d, 16) and V, (b, 16 p), all float32; six rows at least.

    Parts of the rows, as many as asked for, are taken at once.
    """
    b, d = X.shape
    panels, width = M.shape[0], V.shape[1]
    x, m, v = X.ctypes.data, M.ctypes.data, V.ctypes.data
    sixes = (b + ROWS - 1) // ROWS
    for part in prange(parts):
        for six in range(part * sixes // parts, (part + 1) * sixes // parts):
            row = min(six * ROWS, b - ROWS)  # the last rows once more rather than fewer
            for j in range(panels):
                place = v + 4 * (row * width + j * PANEL_COLUMNS)
                panel = m + 4 * j * d * PANEL_COLUMNS
                _rows_times_panel(x + 4 * row * d, d, panel, PANEL_COLUMNS, place, width, d)


def values(X: Matrix, M: Matrix) -> Matrix:
    """Return X M for X, (b, d) and M, (d, t), both float32, X C-contiguous; six rows at least."""
    d, t = M.shape
    filled = np.pad(M, ((0, 0), (0, -t % PANEL_COLUMNS))) if t % PANEL_COLUMNS else M
    panels = np.ascontiguousarray(filled.reshape(d, -1, PANEL_COLUMNS).swapaxes(0, 1))
    V = np.empty((len(X), filled.shape[1]), np.float32)
    with ALONE:
        _values(X, panels, V, numba.get_num_threads())
    return V[:, :t]
