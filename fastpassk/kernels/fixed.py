"""Sums of m x and m x^2 over the cells of many groups at once, without a rounding.

A value x in [0, 4) is cut into digits of b bits: x = sum digit[j] 2^(-b (j + 1)), integers of which all but the first
lie below 2^b. Their squares are exact products of digits. A product of matrices, weights by digits, then adds integers
whose sums stay below 2^53: every partial sum is exact, so neither the order nor the fused operations of a BLAS show in
the result. For 50 groups of 428 cells at 76 ks the twelve products take 0.9 ms, against 8.6 in int64. They are cut so
that a BLAS does each in the calling thread: threads of its own wait by spinning, which took 280 ms beside another
process.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastpassk.kernels.pairs import add

if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Ints: TypeAlias = NDArray[np.int64]

BITS = 112  # of a value, at least: u^2 = 2^-106 and some
WIDEST = 28  # bits of a digit: four times the product of two, 2^60, is an int64
SERIAL = 1 << 18  # multiplications up to which OpenBLAS stays in one thread
MOST_PROBLEMS = 1 << 40  # of a group


def width(problems: int) -> int:
    """Return the bits of a digit whose sums over so many problems are exact: the first digit of a square has b + 4."""
    return min(WIDEST, 53 - 4 - problems.bit_length())


def digits(high: Floats, low: Floats, exponent: Ints, bits: int) -> Ints:
    """Cut x = (high + low) 2^exponent into digits; beyond the last, up to 2^(1 - BITS) of it is cut off either way.

    Parameters
    ----------
    high, low, exponent
        Arrays of one shape; 0 <= x < 4.
    bits
        The width of a digit.

    Returns
    -------
    int64 of shape (digits, *shape), the first digit below 2^(bits + 2).
    """
    power = np.clip(exponent, -4000, 2).astype(np.int32)
    found = np.zeros((-(-BITS // bits), *high.shape), np.int64)
    for part in (high, low):
        rest = np.ldexp(part, power)
        for place in range(len(found)):
            rest *= 2.0**bits
            whole = np.trunc(rest)  # of a negative low, floor would leave a rest next to 1, and that rounds
            rest -= whole
            found[place] += whole.astype(np.int64)
    _carry(found, bits)
    return found


def squares(found: Ints, bits: int) -> Ints:
    """Return the digits of the squares, exactly: twice as many, the first below 2^(bits + 4)."""
    many = len(found)
    made = np.zeros((2 * many, *found.shape[1:]), np.int64)
    for i in range(many):
        made[2 * i + 1] += found[i] * found[i]
        for j in range(i + 1, many):
            made[i + j + 1] += 2 * found[i] * found[j]
    _carry(made, bits)
    return made


def weighted(weights: Floats, found: Ints, bits: int) -> tuple[Floats, Floats]:
    """Return the weighted sums over cells as double-doubles, of relative error below 3 u^2 a digit.

    Parameters
    ----------
    weights
        Whole numbers of shape (groups, cells), each row adding up to what `width` was asked for, at most.
    found
        Digits of shape (digits, cells, ks).
    bits
        The width of a digit.

    Returns
    -------
    high and low, of shape (groups, ks).
    """
    sums = _product(weights, found.astype(np.float64))
    high, low = np.zeros(sums.shape[1:]), np.zeros(sums.shape[1:])
    for place, one in enumerate(sums):
        high, low = add(high, low, one * 2.0 ** (-bits * (place + 1)), 0.0)
    return high, low


def _product(weights: Floats, found: Floats) -> Floats:
    """Multiply (groups, cells) by (digits, cells, ks), each product too small for a BLAS to call its threads."""
    step = SERIAL // (found.shape[1] * found.shape[2])
    if step < 2 or len(weights) == 1:  # a product with one row has a smaller limit
        return np.asarray(np.einsum("gc,dck->dgk", weights, found))
    parts = [np.matmul(weights[first : first + step], found) for first in range(0, len(weights), step)]
    return np.concatenate(parts, axis=1)


def _carry(found: Ints, bits: int) -> None:
    """Bring all digits but the first into [0, 2^bits), in place."""
    for place in range(len(found) - 1, 0, -1):
        over = found[place] >> bits
        found[place] -= over << bits
        found[place - 1] += over
