# mypy: disable-error-code="no-untyped-call"
"""Registers of the processor, and the few words that loops over them are written in.

A compiler that is left to itself keeps sums in memory, and on processors with the widest registers
it uses half of each. The loops that matter say what lies in which register.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, config
from numba.core.codegen import get_host_cpu_features

from hashbench.base.validation import Matrix

_settings: Any = config  # a module that makes its attributes when imported
#: Whether there are 32 registers of sixteen numbers in single precision, or else 16 of eight, on
#: the processor that numba compiles for: NUMBA_CPU_FEATURES may name another.
WIDE = "+avx512f" in (_settings.CPU_FEATURES or get_host_cpu_features()).split(",")
#: Numbers in a register.
LANES = 16 if WIDE else 8

INDEX = ir.IntType(64)
_NUMBER = ir.FloatType()
_REGISTER = ir.VectorType(_NUMBER, LANES)
_LINE = 64  # bytes that a cache fetches together


def aligned(*shape: int, empty: bool = False) -> Matrix:
    """Return an array of zeros, or of anything, float32, that begins where a line of a cache does.

    A register that is filled from two lines takes twice the time.
    """
    size = int(np.prod(shape))
    room = (np.empty if empty else np.zeros)(size + _LINE // 4, np.float32)
    start = -room.ctypes.data % _LINE // 4
    return room[start : start + size].reshape(shape)


def readonly(X: Matrix) -> Matrix:
    """Return the same numbers, as mapped features are, so that a loop is compiled once."""
    view = X.view()
    view.flags.writeable = False
    return view


class Code:
    """The few words that the loops are written in; an offset counts numbers."""

    def __init__(self, builder: Any) -> None:
        self.builder = builder

    def numbers(self, address: Any) -> Any:
        """Return the numbers that lie at an address."""
        return self.builder.inttoptr(address, _NUMBER.as_pointer())

    def offset(self, row: Any, width: Any, column: Any) -> Any:
        """Return where a number of a matrix of so many columns lies."""
        row, width, column = map(_index, (row, width, column))
        return self.builder.add(self.builder.mul(row, width), column)

    def at(self, numbers: Any, offset: Any) -> Any:
        """Return the numbers from an offset on, at an address of their own.

        The compiler is not to see where it comes from: it would have the processor add two
        registers for every number again, which takes as long as the product that it is for.
        """
        address = self.builder.gep(numbers, [_index(offset)])
        kind = ir.FunctionType(address.type, [address.type])
        return self.builder.asm(kind, "", "=r,0", [address], False)

    def fetch(self, numbers: Any, offset: Any, cache: int) -> None:
        """Have the first or the second cache fetch a line, while other work goes on."""
        address = self.builder.gep(numbers, [_index(offset)])
        flag = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [address.type, flag, flag, flag])
        word = self.builder.module.declare_intrinsic("llvm.prefetch", [address.type], kind)
        self.builder.call(word, [address, flag(0), flag(4 - cache), flag(1)])

    def load(self, numbers: Any, offset: Any) -> Any:
        """Return a register filled with the numbers from an offset on."""
        loaded = self.builder.load(self._lanes(numbers, offset))
        loaded.align = 4
        return loaded

    def store(self, value: Any, numbers: Any, offset: Any) -> None:
        """Write a register to an offset."""
        self.builder.store(value, self._lanes(numbers, offset)).align = 4

    def repeated(self, numbers: Any, offset: Any) -> Any:
        """Return a register that holds one number in all its places."""
        nothing = ir.Constant(_REGISTER, ir.Undefined)
        number = self.builder.load(self.builder.gep(numbers, [_index(offset)]))
        first = self.builder.insert_element(nothing, number, ir.Constant(ir.IntType(32), 0))
        everywhere = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
        return self.builder.shuffle_vector(first, nothing, everywhere)

    def _lanes(self, numbers: Any, offset: Any) -> Any:
        """Return where as many numbers begin as a register holds."""
        address = self.builder.gep(numbers, [_index(offset)])
        return self.builder.bitcast(address, _REGISTER.as_pointer())


class Sums:
    """Sums of products that stay in registers: so many rows of so many registers, zero at first."""

    def __init__(self, code: Code, rows: int, registers: int) -> None:
        self.code = code
        self.places = {
            (row, j): cgutils.alloca_once(code.builder, _REGISTER)
            for row in range(rows)
            for j in range(registers)
        }
        for place in self.places.values():
            code.builder.store(ir.Constant(_REGISTER, [0.0] * LANES), place)

    def add(self, row: int, number: Any, registers: list[Any]) -> None:
        """Add the products of one number, `repeated`, and of registers to a row."""
        builder = self.code.builder
        for j, register in enumerate(registers):
            place = self.places[row, j]
            product = builder.fmul(number, register, flags=["contract"])
            builder.store(builder.fadd(product, builder.load(place), flags=["contract"]), place)

    def read(self, numbers: Any, width: Any) -> None:
        """Take the sums from a matrix of so many columns."""
        for place, offset in self._offsets(width):
            self.code.builder.store(self.code.load(numbers, offset), place)

    def write(self, numbers: Any, width: Any) -> None:
        """Write the sums to a matrix of so many columns."""
        for place, offset in self._offsets(width):
            self.code.store(self.code.builder.load(place), numbers, offset)

    def _offsets(self, width: Any) -> list[tuple[Any, Any]]:
        return [
            (place, self.code.offset(row, width, LANES * j))
            for (row, j), place in self.places.items()
        ]


def _index(value: Any) -> Any:
    return ir.Constant(INDEX, value) if isinstance(value, int) else value
