"""A rounding that is decided rather than hoped for, of double-doubles (`pairs`) inside kernels."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from fastpassk.kernels._jit import callable_in_kernels, helper, kernel
from fastpassk.kernels.pairs import ONE, TINY, U2, ZERO, add, divide, multiply, quick_sum, two_product, two_sum

if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Ints: TypeAlias = NDArray[np.int64]
    Flags: TypeAlias = NDArray[np.bool_]

for function in (two_sum, quick_sum, two_product, add, multiply, divide):
    callable_in_kernels(function)

NEARLY_HALF = 0.5 - 2.0**-50  # leaves room for the rounding of what is compared with it


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
