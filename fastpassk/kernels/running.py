"""Log-space running products: any n that an int64 holds, and whole curves k = 1..K in O(K).

q = C(n-r, k) / C(n, k) is a quotient of two products of integers, prod (n-M-j) over prod (n-j) for j < m, with
m = min(r, k) and M = max(r, k). Each is kept as a double-double from 1 to 2^512 and the power of two taken out of it; a
factor is an integer below 2^63 and so an exact double-double. 1 - k/i is never formed: it would lose the digits that
small values live on.

Error, with u = 2^-53: a product of m factors makes m multiplications of 7 u^2 each, two products and one quotient of 15
u^2 give (14 m + 15) u^2 up to terms in u^3 and m^2 u^4, which for m <= `MAX_TERMS` are far below u^2; so under (14 m +
32) u^2. Taking out powers of two is exact. Taking them out by `frexp` after every factor, instead of by one comparison,
took 28 ns a term against 12.

A row ends early once q is below 2^floor, because its form is then decided whatever follows (every factor is at most 1).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fastpassk import threads
from fastpassk.errors import FastpasskError
from fastpassk.kernels import rounding
from fastpassk.kernels._jit import helper, kernel
from fastpassk.kernels.integers import PASS_AT_K, quotient
from fastpassk.kernels.pairs import ONE, U2, ZERO, divide, multiply, quick_sum

if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Ints: TypeAlias = NDArray[np.int64]

MAX_TERMS = 1 << 28  # of one row: some seconds
STRIDE = 1 << 20  # terms of one call of the kernel: between calls an interrupt, or the end of a `run`, is heard
FLOORS = (ONE - 8, ZERO - 8)  # by form: below, 1 - q is 1.0 and q is 0.0
BITS = 512.0
BIG = 2.0**512  # a product that reaches it is divided by it: far from 2^996, where Dekker's products overflow
LEAST = -1300  # the floor where q itself is wanted: far enough below 2^-1075 to be nothing in a sum


class Ratios(NamedTuple):
    """q = (high + low) 2^exponent with relative error at most `bound`; arrays of one shape, high 0 or in [1/2, 1]."""

    high: Floats
    low: Floats
    exponent: Ints
    bound: Floats


def running(form: int, n: Ints, c: Ints, k: Ints) -> Floats:
    """Return correctly rounded values of valid rows; NaN where k > n. int64 arrays of shape (rows,).

    Parameters
    ----------
    form
        0 for pass@k, 1 for pass^k.
    n, c, k
        n >= 1, 0 <= c <= n, k >= 1; min(c, k) terms a row (pass^k: min(n - c, k)), fewer when decided early.

    Raises
    ------
    FastpasskError
        a row would need more than `MAX_TERMS` terms.
    """
    removed = c if form == PASS_AT_K else n - c
    return _finished(form, n, removed, k, ratios(n, removed, k, FLOORS[form]))


def ratios(n: Ints, removed: Ints, k: Ints, floor: int = LEAST) -> Ratios:
    """Return q row by row; a row found to be below 2^floor carries some value below 2^floor.

    Parameters
    ----------
    n, removed, k
        int64 of shape (rows,), n >= 1, 0 <= removed <= n, k >= 1.
    floor
        binary exponent below which a row may stop early.

    Raises
    ------
    FastpasskError
        a row would need more than `MAX_TERMS` terms.
    """
    _refuse_endless(n, removed, k, floor)
    high, low, exponent = np.empty(n.size), np.empty(n.size), np.empty(n.size, np.int64)
    state, row = np.zeros(6), 0
    while row < n.size:
        threads.go_on()
        row = int(_walk(n, removed, k, floor, row, STRIDE, state, high, low, exponent))
    return Ratios(high, low, exponent, _bound(np.minimum(removed, k)))


def running_curve(form: int, n: int, c: int, last: int) -> Floats:
    """Return the correctly rounded values at k = 1..last of one row, from one walk of `last` factors.

    Parameters
    ----------
    form
        0 for pass@k, 1 for pass^k.
    n, c, last
        1 <= last <= n <= 2^63 - 1, 0 <= c <= n.
    """
    removed = c if form == PASS_AT_K else n - c
    high, low, exponent = np.empty(last), np.empty(last), np.empty(last, np.int64)
    state = np.zeros(5)
    for first in range(0, last, STRIDE):
        part = slice(first, first + STRIDE)
        _walk_curve(n, removed, first, state, high[part], low[part], exponent[part])
    k = np.arange(1, last + 1)
    found = Ratios(high, low, exponent, _bound(k))
    return _finished(form, np.full(last, n), np.full(last, removed), k, found)


@kernel(writes=4)
def _walk(
    n: Ints,
    removed: Ints,
    k: Ints,
    floor: int,
    row: int,
    budget: int,
    state: Floats,
    high: Floats,
    low: Floats,
    exponent: Ints,
) -> int:
    """Walk rows from `row` on for `budget` terms; return the next row, its unfinished products in `state`."""
    while row < n.size and budget > 0:
        short, far = min(removed[row], k[row]), n[row] - max(removed[row], k[row])
        over_high, over_low, under_high, under_low, size = state[0], state[1], state[2], state[3], state[4]
        j = np.int64(state[5])
        if j == 0:
            over_high, under_high = 1.0, 1.0
        if far < short:
            over_high, j = 0.0, short
        least = math.ldexp(1.0, int(floor - size))  # of the quotient of what is left; 0 where size alone says no
        while j < short and budget > 0:
            over_high, over_low, up = _times(over_high, over_low, far - j)
            under_high, under_low, down = _times(under_high, under_low, n[row] - j)
            j, budget = j + 1, budget - 1
            if up != down:
                size += up - down
                least = math.ldexp(1.0, int(floor - size))
            if over_high < under_high * least:
                short = j
        if j < short:
            state[0], state[1], state[2], state[3], state[4] = over_high, over_low, under_high, under_low, size
            state[5] = j
            return row
        high[row], low[row], exponent[row] = _quotient(over_high, over_low, under_high, under_low, size)
        state[:] = 0.0
        row, budget = row + 1, budget - 1
    return row


@kernel(writes=4)
def _walk_curve(n: int, removed: int, first: int, state: Floats, high: Floats, low: Floats, exponent: Ints) -> None:
    """Continue a curve from k = first + 1; `state` carries the products."""
    over_high, over_low, under_high, under_low, size = state[0], state[1], state[2], state[3], state[4]
    if first == 0:
        over_high, under_high = 1.0, 1.0
    for i in range(high.size):
        j = first + i
        if n - removed > j:
            over_high, over_low, up = _times(over_high, over_low, n - removed - j)
            under_high, under_low, down = _times(under_high, under_low, n - j)
            size += up - down
        else:
            over_high, over_low = 0.0, 0.0
        if removed == 0:
            high[i], low[i], exponent[i] = 1.0, 0.0, 0
        else:
            high[i], low[i], exponent[i] = _quotient(over_high, over_low, under_high, under_low, size)
    state[0], state[1], state[2], state[3], state[4] = over_high, over_low, under_high, under_low, size


@helper
def _times(high: float, low: float, factor: int) -> tuple[float, float, float]:
    """Multiply a number from 1 up by a positive int64; return it below 2^512, and the power of two taken out."""
    upper, lower = quick_sum(float(factor >> 32) * 4294967296.0, float(factor & 4294967295))
    high, low = multiply(high, low, upper, lower)
    if high < BIG:
        return high, low, 0.0
    return high / BIG, low / BIG, BITS


@helper
def _quotient(
    over_high: float, over_low: float, under_high: float, under_low: float, size: float
) -> tuple[float, float, int]:
    """Divide two products; return the mantissa, high in [1/2, 1] or 0, and the exponent."""
    high, low = divide(over_high, over_low, under_high, under_low)
    high, power = math.frexp(high)
    return high, math.ldexp(low, -power), int(size) + power


def _bound(terms: Ints) -> Floats:
    """Return the proven relative error of q after that many terms."""
    return (14.0 * terms.astype(np.float64) + 32.0) * U2


def _finished(form: int, n: Ints, removed: Ints, k: Ints, found: Ratios) -> Floats:
    """Round, finish open rows with exact integers, and write NaN where k > n."""
    values, open_ = rounding.rounded(form, *found)
    for i in np.flatnonzero(open_ & (k <= n)):
        threads.go_on()
        values[i] = quotient(form, int(n[i]), int(removed[i]), int(k[i]))
    values[k > n] = np.nan
    return values


def _refuse_endless(n: Ints, removed: Ints, k: Ints, floor: int) -> None:
    """Refuse a row of too many terms; factors are at most 1 - M/n, so 0.7 |floor| n / M of them reach 2^floor."""
    long = np.maximum(removed, k).astype(np.float64)
    terms = np.minimum(np.minimum(removed, k), 0.7 * abs(floor) * n / np.maximum(long, 1.0))
    terms[(k > n) | (n - removed < k)] = 0
    if n.size and terms.max() > MAX_TERMS:
        i = int(terms.argmax())
        raise FastpasskError(
            f"n={n[i]}, k={k[i]}, with {removed[i]} samples left out, needs some {int(terms[i])} factors "
            f"(allowed: {MAX_TERMS}); lower k or n"
        )
