"""Double-double arithmetic, and a rounding that is decided rather than hoped for.

A double-double is the unevaluated sum hi + lo of two doubles with hi = RN(hi + lo). With u = 2^-53, the relative errors
of the algorithms used, from Joldes, Muller, Popescu, "Tight and rigorous error bounds for basic building blocks of
double-word arithmetic", ACM TOMS 44 (2017), none of which needs a fused multiply-add:

    add       AccurateDWPlusDW, algorithm 6     3 u^2 + 13 u^3, operands of any sign
    multiply  DWTimesDW1, algorithm 10          7 u^2
    divide    DWDivDW2, algorithm 17            15 u^2 + 56 u^3

FMA intrinsics are not used: they do not run with the JIT off, and are calls into a slow routine on processors without
them.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from fastpassk.kernels._jit import helper, kernel

if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Ints: TypeAlias = NDArray[np.int64]
    Flags: TypeAlias = NDArray[np.bool_]

U2 = 2.0**-106  # u^2
SPLITTER = 134217729.0  # 2^27 + 1

ONE = -60  # q below 2^(ONE + 2) leaves 1 - q at 1.0
ZERO = -1080  # q below 2^(ZERO + 3) is nearer to 0.0 than to the least double, 2^-1074
NEARLY_HALF = 0.5 - 2.0**-50  # leaves room for the rounding of what is compared with it
TINY = -1019  # q from 2^(TINY - 3) up is a normal double


def rounded(
    form: int,
    high: Floats,
    low: Floats,
    exponent: Ints,
    bound: Floats,
) -> tuple[Floats, Flags]:
    """Return the doubles nearest to a form of q, and which of them are not decided.

    Parameters
    ----------
    form
        0 for 1 - q, 1 for q.
    high, low, exponent
        q = (high + low) * 2**exponent, float64 and int64 of shape (rows,), high 0 or in (1/8, 8).
    bound
        proven relative error of q, float64 of shape (rows,).
    """
    values = np.empty(high.size)
    open_ = np.empty(high.size, np.bool_)
    _round(form, high, low, exponent, bound, values, open_)
    return values, open_


@kernel(writes=2)
def _round(form: int, high: Floats, low: Floats, exponent: Ints, bound: Floats, values: Floats, open_: Flags) -> None:
    for i in range(high.size):
        value, decided = value_of(form, high[i], low[i], exponent[i], bound[i])
        values[i] = value
        open_[i] = not decided


@helper
def value_of(form: int, high: float, low: float, exponent: int, bound: float) -> tuple[float, bool]:
    """Round 1 - q (form 0) or q (form 1), for q = (high + low) 2^exponent of relative error `bound`.

    q of one row is exactly 0 when high is 0, and exactly 1 when it is 1 + 0: every other q is at most 1 - 1/n <=
    1 - 2^-63. A mean of many q can come nearer to 1; whoever takes one looks at a result of 0 again.
    1 - high is exact for high >= 1/2 (Sterbenz), and then so is the rest; below that the rest is under 2^-53 and its
    rounding costs at most u^2, for which 2 u^2 are allowed.
    """
    if high == 0.0:
        return 1.0 - form, True
    if form == 1:
        return settle(high, low, exponent, 1.01 * bound * high)
    if exponent < ONE:
        return 1.0, True
    exponent = int(exponent)  # with the JIT off it is a NumPy number, which ldexp refuses
    high, low = math.ldexp(high, exponent), math.ldexp(low, exponent)
    if high == 1.0 and low == 0.0:
        return 0.0, True
    slack = 1.01 * bound * high
    if high < 0.5:
        slack += 2.0 * U2
    start = 1.0 - high
    high, low = two_sum(start, ((1.0 - start) - high) - low)
    return settle(high, low, 0, slack)


@helper
def settle(high: float, low: float, exponent: int, bound: float) -> tuple[float, bool]:
    """Round (high + low) 2^exponent; decided when the value moved by `bound` to either side rounds to the same double.

    `bound` is absolute, before scaling. The sums low - bound and low + bound are themselves rounded, by at most
    u (|low| + bound), where |low| <= u |high|. For that `bound` grows by 2.1 u^2 |high|, enough while it is at most
    u |high|; a larger one is wider than half the spacing of doubles and decides nothing. A subnormal result is a whole
    number of 2^-1074: there the distance to that whole number decides.
    """
    exponent = int(exponent)
    bound += 2.1 * U2 * abs(high)
    if exponent < ZERO:
        return 0.0, True
    if exponent < TINY:
        shift = exponent + 1074
        scaled = math.ldexp(high, shift)
        if scaled < 4503599627370496.0:  # 2^52, in units of 2^-1074: below the least normal double
            whole = math.floor(scaled + 0.5)
            rest = abs((scaled - whole) + math.ldexp(low, shift))
            return math.ldexp(float(whole), -1074), rest + math.ldexp(bound, shift) < NEARLY_HALF
    decided = high + (low - bound) == high and high + (low + bound) == high
    return math.ldexp(high, exponent), decided


@helper
def two_sum(a: float, b: float) -> tuple[float, float]:
    """Return RN(a + b) and its exact error."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


@helper
def quick_sum(a: float, b: float) -> tuple[float, float]:
    """Return RN(a + b) and its exact error, for |a| >= |b| or a = 0."""
    total = a + b
    return total, b - (total - a)


@helper
def two_product(a: float, b: float) -> tuple[float, float]:
    """Return RN(a b) and its exact error (Dekker), for |a|, |b| < 2^996."""
    product = a * b
    big = SPLITTER * a
    a_high = big - (big - a)
    a_low = a - a_high
    big = SPLITTER * b
    b_high = big - (big - b)
    b_low = b - b_high
    return product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


@helper
def add(a_high: float, a_low: float, b_high: float, b_low: float) -> tuple[float, float]:
    """Add two double-doubles."""
    high, low = two_sum(a_high, b_high)
    rest, small = two_sum(a_low, b_low)
    high, low = quick_sum(high, low + rest)
    return quick_sum(high, small + low)


@helper
def multiply(a_high: float, a_low: float, b_high: float, b_low: float) -> tuple[float, float]:
    """Multiply two double-doubles."""
    high, low = two_product(a_high, b_high)
    return quick_sum(high, low + (a_high * b_low + a_low * b_high))


@helper
def divide(a_high: float, a_low: float, b_high: float, b_low: float) -> tuple[float, float]:
    """Divide two double-doubles."""
    guess = a_high / b_high
    high, low = two_product(b_high, guess)  # b * guess: DWTimesFP1
    high, rest = quick_sum(high, b_low * guess)
    back, low = quick_sum(high, rest + low)
    return quick_sum(guess, ((a_high - back) + (a_low - low)) / b_high)
