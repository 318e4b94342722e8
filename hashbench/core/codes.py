"""Codes: the forms of binary codes that are accepted, and packing into words of 64 bits.

People keep codes as booleans, as 0/1, as -1/+1 (often in floating point, because a sign function
made them) or packed into bytes. All of these are accepted; values that are not
binary raise an error, because a single zero among -1/+1 silently changes every distance.
Real values become bits by ``values >= 0``: zero counts as 1, here as in every hash function.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hashbench.core.errors import HashbenchError
from hashbench.core.validation import BLOCK_ROWS, check_bits

Bits = npt.NDArray[np.bool_]
Words = npt.NDArray[np.uint64]

WORD_BITS = 64


def n_words(n_bits: int) -> int:
    """Return how many 64-bit words hold one code."""
    return -(-n_bits // WORD_BITS)


def pack(codes: Bits) -> Words:
    """Pack codes, 64 bits to a word.

    Parameters
    ----------
    codes : (n, bits) bool

    Returns
    -------
    (n, ceil(bits / 64)) uint64
        Bit j of a code is bit ``j % 64`` (counted from the lowest) of word ``j // 64``; the bits
        beyond the code are 0.
    """
    n, n_bits = codes.shape
    padded = np.zeros((n, n_words(n_bits) * 8), np.uint8)
    padded[:, : -(-n_bits // 8)] = np.packbits(codes, axis=1, bitorder="little")
    return padded.view("<u8").astype(np.uint64, copy=False)


def unpack(words: Words, n_bits: int) -> Bits:
    """Return the (n, bits) bool codes that `pack` made into words."""
    data = np.ascontiguousarray(words, dtype="<u8").view(np.uint8)
    return np.unpackbits(data, axis=1, count=n_bits, bitorder="little").view(np.bool_)


def as_array(values: Any, what: str) -> npt.NDArray[Any]:
    """Return an array-like or a sparse matrix as a plain array; a map stays on disk."""
    try:
        array: npt.NDArray[Any] = np.asarray(
            values.toarray() if hasattr(values, "toarray") else values
        )
    except ValueError as error:  # what numpy says of lists of different lengths
        raise HashbenchError(f"{what}: found no table of numbers ({error})") from error
    return array


def as_codes(array: Any, n_bits: int | None = None, *, what: str = "codes") -> Bits:
    """Return codes in any of the usual forms as (n, bits) bool.

    Parameters
    ----------
    array : (n, bits) array-like or sparse matrix
        bool, 0/1 or -1/+1 of any type; or, with `n_bits` given, (n, ceil(bits / 8)) uint8 as
        `numpy.packbits` makes them, or (n, ceil(bits / 64)) uint64 as `pack` makes them.
        A single column for a single bit is the bit itself, never a packed one.
    n_bits : int, optional
        Number of bits; needed for packed codes, checked for all others.
    what : str
        How a message names the codes.
    """
    words, n_bits = as_words(array, n_bits, what=what)
    return unpack(words, n_bits)


def as_words(array: Any, n_bits: int | None = None, *, what: str = "codes") -> tuple[Words, int]:
    """Return codes in any of the usual forms packed, with their number of bits.

    Takes what `as_codes` takes, and reads it in blocks of rows: the codes may be a memory map.
    Words that are packed already are not copied.
    """
    array = as_array(array, what)
    if array.ndim != 2 or 0 in array.shape:
        raise HashbenchError(
            f"{what}: found shape {array.shape}; allowed: (items, bits), at least one of each"
        )
    if array.dtype.kind not in "biuf":
        raise HashbenchError(f"{what}: found {array.dtype} entries; allowed: 0/1, -1/+1 or bool")
    columns = array.shape[1]
    bits = columns if n_bits is None else check_bits(n_bits)
    if columns == bits:
        return _pack_values(array, what), bits
    if array.dtype == np.uint64 and columns == n_words(bits):
        words = np.asarray(array)
        _check_padding(words[:, -1] >> np.uint64((bits - 1) % 64) > 1, bits, what)
        return words, bits
    if array.dtype == np.uint8 and columns == -(-bits // 8):
        return _pack_bytes(array, bits, what), bits
    raise HashbenchError(
        f"{what}: found {columns} columns of {array.dtype} for {bits} bits; allowed: {bits} "
        f"columns, {-(-bits // 8)} bytes (uint8) or {n_words(bits)} words (uint64)"
    )


def _pack_values(array: npt.NDArray[Any], what: str) -> Words:
    """Pack bool, 0/1 or -1/+1 values block by block, refusing everything else."""
    words = np.empty((len(array), n_words(array.shape[1])), np.uint64)
    minus, zeros = False, 0
    for start in range(0, len(array), BLOCK_ROWS):
        block = np.asarray(array[start : start + BLOCK_ROWS])
        ones = block == 1
        if block.dtype != np.bool_:
            null, negative = block == 0, block == -1
            other = ~(ones | null | negative)
            if other.any():
                raise _not_binary(block[other][0], block.dtype, what)
            minus = minus or bool(negative.any())
            zeros += int(null.sum())
        words[start : start + len(block)] = pack(ones)
    if minus and zeros:
        raise HashbenchError(
            f"{what}: found 0 beside -1/+1, {zeros} times (a sign function gives 0 for 0); "
            "allowed: -1/+1 or 0/1; make bits of real values with values >= 0"
        )
    return words


def _not_binary(value: Any, dtype: np.dtype[Any], what: str) -> HashbenchError:
    hint = ""
    if dtype in (np.uint8, np.uint64):
        hint = "; codes that are packed need their number of bits"
    elif dtype.kind == "f" and not np.isnan(value):
        hint = "; make bits of real values with values >= 0"
    return HashbenchError(f"{what}: found {value}; allowed: 0/1, -1/+1 or bool{hint}")


def _pack_bytes(array: npt.NDArray[np.uint8], n_bits: int, what: str) -> Words:
    """Pack codes that come as bytes, first bit highest, as numpy.packbits makes them."""
    words = np.empty((len(array), n_words(n_bits)), np.uint64)
    for start in range(0, len(array), BLOCK_ROWS):
        bits = np.unpackbits(np.asarray(array[start : start + BLOCK_ROWS]), axis=1)
        _check_padding(bits[:, n_bits:].any(axis=1), n_bits, what)
        words[start : start + len(bits)] = pack(bits[:, :n_bits].view(np.bool_))
    return words


def _check_padding(used: Any, n_bits: int, what: str) -> None:
    """Refuse packed codes with bits beyond the last: another length or another bit order."""
    if used.any():
        raise HashbenchError(
            f"{what}: found bits set beyond bit {n_bits} in {int(used.sum())} packed rows; "
            "allowed: 0 there (bytes in the order of numpy.packbits)"
        )
