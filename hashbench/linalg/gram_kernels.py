# mypy: disable-error-code="no-untyped-def,no-untyped-call,call-arg,unreachable"
"""The symmetric product of wide features with themselves, centred.

A library multiplies two matrices that it takes to be different: it computes both triangles or puts
its operands in order twice, in blocks that it chooses without knowing that sums of many blocks
follow. Here the centred rows are put in order once, for both sides of the product, one triangle is
computed, and what is summed in single precision stays in the second cache until it is added in
double precision.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from hashbench.base.compiled import kernel
from hashbench.base.validation import Matrix
from hashbench.linalg.registers import LANES, WIDE, Code, Sums, aligned, readonly
from hashbench.linalg.threads import row_blocks, share_out

Work = Callable[[], None]

#: Registers that make up a row of a panel, and columns of a panel.
REGISTERS = 2
PANEL_COLUMNS = REGISTERS * LANES
#: Columns of the left side whose sums with a panel are in registers.
LEFT_COLUMNS = 14 if WIDE else 6
#: Rows that a panel has: one of the left side stays in the first cache, others in the second.
PANEL_ROWS = 128
#: Panels of either side whose products stay in the second cache.
LEFT_PANELS, RIGHT_PANELS = 16, 8
STRIP_COLUMNS = LEFT_COLUMNS * LEFT_PANELS
#: Rows of a panel that the first cache fetches ahead.
ROWS_AHEAD = 16
#: Numbers of the next panels that the second cache fetches with every row of a tile: 16 x 8 tiles
#: fetch all of them.
FETCHED = 4
#: Rows that are put in order together.
GROUP = 8


@intrinsic
def _add_tile(typing_context, left, right, sums, width, rows, ahead):
    """Add the product of two panels to sums, (LEFT_COLUMNS, width); places are addresses.

    FETCHED numbers a row of what is `ahead` are fetched meanwhile.
    """

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        left, right, tile, width, rows, ahead = arguments
        code = Code(builder)
        left, right, tile, ahead = map(code.numbers, (left, right, tile, ahead))
        sums = Sums(code, LEFT_COLUMNS, REGISTERS)
        sums.read(tile, width)
        with cgutils.for_range(builder, rows) as loop:
            numbers = code.at(left, code.offset(loop.index, LEFT_COLUMNS, 0))
            panel = code.at(right, code.offset(loop.index, PANEL_COLUMNS, 0))
            line = [code.load(panel, LANES * j) for j in range(REGISTERS)]
            for j in range(REGISTERS):
                code.fetch(panel, ROWS_AHEAD * PANEL_COLUMNS + LANES * j, cache=1)
            code.fetch(ahead, code.offset(loop.index, FETCHED, 0), cache=2)
            for column in range(LEFT_COLUMNS):
                sums.add(column, code.repeated(numbers, column), line)
        sums.write(tile, width)
        return context.get_dummy_value()

    return types.void(*[types.intp] * 6), build


@kernel()
def _write_panels(X, shift, panels):
    """Set panels, (p, PANEL_ROWS, PANEL_COLUMNS), to X - 1 shift', (b, d), and leave the rest."""
    b, d = X.shape
    for start in range(0, b, GROUP):
        for p in range(panels.shape[0]):
            first = p * PANEL_COLUMNS
            for row in range(start, min(start + GROUP, b)):
                for column in range(min(PANEL_COLUMNS, d - first)):
                    panels[p, row, column] = X[row, first + column] - shift[first + column]


@kernel()
def _write_strip(blocks, rows, first, last, strip):
    """Set strip, (blocks, LEFT_PANELS, PANEL_ROWS, LEFT_COLUMNS), to columns of the panels."""
    for block in range(blocks.shape[0]):
        depth = min(PANEL_ROWS, rows - block * PANEL_ROWS)
        for group in range(-(-(last - first) // LEFT_COLUMNS)):
            column = first + group * LEFT_COLUMNS
            panel, within = divmod(column, PANEL_COLUMNS)
            here = min(LEFT_COLUMNS, PANEL_COLUMNS - within)
            more = min(LEFT_COLUMNS, last - column) - here  # of the panel after it
            for row in range(depth):
                for place in range(here):
                    strip[block, group, row, place] = blocks[block, panel, row, within + place]
                for place in range(more):
                    strip[block, group, row, here + place] = blocks[block, panel + 1, row, place]


@kernel()
def _add_strip(blocks, rows, first, last, left, sums, total):
    """Add the product of a strip of columns and all columns from there on to total, (d, d).

    blocks: panels of the first so many rows, (blocks, p, PANEL_ROWS, PANEL_COLUMNS); left: columns
    of the strip, (blocks, LEFT_PANELS, PANEL_ROWS, LEFT_COLUMNS); sums: room for what it is
    multiplied with at a time, (STRIP_COLUMNS, RIGHT_PANELS PANEL_COLUMNS).
    """
    d, count, panels, width = total.shape[0], blocks.shape[0], blocks.shape[1], sums.shape[1]
    s, l, r = sums.ctypes.data, left.ctypes.data, blocks.ctypes.data
    left_size, right_size = 4 * PANEL_ROWS * LEFT_COLUMNS, 4 * PANEL_ROWS * PANEL_COLUMNS
    start = first // PANEL_COLUMNS
    while start < panels:
        end = min(start + RIGHT_PANELS, panels)
        sums[:] = 0
        for block in range(count):
            depth = min(PANEL_ROWS, rows - block * PANEL_ROWS)
            next_block, next_start = (block + 1, start) if block + 1 < count else (0, end)
            for group in range(LEFT_PANELS):
                column = first + group * LEFT_COLUMNS
                if column >= last:
                    break
                here = l + (block * LEFT_PANELS + group) * left_size
                # half of the groups fetch the right side of the next block, the others its left
                if group < LEFT_PANELS // 2:
                    ahead = r + (next_block * panels + next_start) * right_size
                else:
                    ahead = l + next_block * LEFT_PANELS * left_size
                ahead += 4 * FETCHED * PANEL_ROWS * RIGHT_PANELS * (group % (LEFT_PANELS // 2))
                # what lies left of the diagonal is the other triangle
                for p in range(max(start, column // PANEL_COLUMNS), end):
                    there = r + (block * panels + p) * right_size
                    tile = s + 4 * (group * LEFT_COLUMNS * width + (p - start) * PANEL_COLUMNS)
                    place = ahead + 4 * FETCHED * PANEL_ROWS * (p - start)
                    _add_tile(here, there, tile, width, depth, place)
        begin = start * PANEL_COLUMNS
        for row in range(first, last):
            for column in range(begin, min(begin + width, d)):
                total[row, column] += sums[row - first, column - begin]
        start = end


def add_triangle(total: Matrix, X: Any, shift: Matrix, size: int) -> None:
    """Add the upper triangle of (X - 1 shift')'(X - 1 shift') to total, blocks of `size` rows each.

    Threads put the next block in order while they multiply one, and wait for each other once a
    block.

    Parameters
    ----------
    total : (d, d) in float64, C-contiguous
        Whatever of the lower triangle lies beside the upper one is added to as well.
    X : (n, d) in float32
    shift : (d,) in float32
    """
    n, d = X.shape
    depth, panels = -(-min(size, n) // PANEL_ROWS), -(-d // PANEL_COLUMNS)
    blocks = list(row_blocks(n, size))
    rooms = [aligned(depth, panels, PANEL_ROWS, PANEL_COLUMNS) for _ in blocks[:2]]

    def writes(i: int) -> list[Work]:
        parts = zip(row_blocks(blocks[i], PANEL_ROWS), rooms[i % 2], strict=False)
        return [partial(_write_rows, X, rows, shift, room) for rows, room in parts]

    share_out(_call, writes(0))
    for i, rows in enumerate(blocks):
        room, strips = rooms[i % 2], row_blocks(d, STRIP_COLUMNS)
        work = [partial(_add_columns, room, rows.stop - rows.start, s, total) for s in strips]
        share_out(_call, work + (writes(i + 1) if i + 1 < len(blocks) else []))


def _call(work: Work) -> None:
    work()


def _write_rows(X: Any, rows: slice, shift: Matrix, panels: Matrix) -> None:
    _write_panels(readonly(np.ascontiguousarray(X[rows], np.float32)), shift, panels)


def _add_columns(room: Matrix, rows: int, columns: slice, total: Matrix) -> None:
    blocks = room[: -(-rows // PANEL_ROWS)]
    left = aligned(len(blocks), LEFT_PANELS, PANEL_ROWS, LEFT_COLUMNS, empty=True)
    sums = aligned(STRIP_COLUMNS, RIGHT_PANELS * PANEL_COLUMNS, empty=True)
    _write_strip(blocks, rows, columns.start, columns.stop, left)
    _add_strip(blocks, rows, columns.start, columns.stop, left, sums, total)
