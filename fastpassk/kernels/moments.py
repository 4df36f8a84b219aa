"""Mean and standard error over problems, in double-double, each rounding decided or left open.

For one k, cell i stands for m_i problems with the same q_i = (high + low) 2^exponent of relative error at most beta
(see `columns` and `running`); there are T cells and N problems. pass@k is 1 - q, so its mean is 1 minus that of q, and
its spread is that of q: working on q keeps the digits of values that lie next to 1. All q are scaled by the largest
exponent to x_i in [0, 4); what falls below 2^-900 of it is dropped, which is nothing beside u^2.

Mean. S = sum m_i x_i has terms of one sign: each carries beta and a product of 7 u^2, each partial sum another 3 u^2 (+
u^3), the quotient S / N (N split in two doubles) 15 u^2. The mean y has a relative error of at most e = beta + (4 T +
32) u^2.

Spread. V = sum m_i (x_i - mean)^2. The computed d_i = x_i - y is within e' (x_i + y) of the exact one, e' = e + 8 u^2,
so V is off by at most 2 e' A + 4 e'^2 C + (4 T + 32) u^2 V with A = sum m_i |d_i| (x_i + y) and C = sum m_i (x_i +
y)^2, both taken in plain doubles and 1 % up. The standard error sqrt(V / (N - 1) / N) has half the relative error of V,
and 48 u^2 for the two quotients and the root.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fastpassk.kernels._jit import helper, kernel
from fastpassk.kernels.rounding import U2, add, divide, multiply, quick_sum, settle, two_product, value_of

if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Ints: TypeAlias = NDArray[np.int64]
    Flags: TypeAlias = NDArray[np.bool_]


class Moments(NamedTuple):
    """Estimate and standard error at each k, float64 of shape (ks,), and which of them are not decided."""

    estimate: Floats
    error: Floats
    open_estimate: Flags
    open_error: Flags


def moments(
    form: int,
    problems: Ints,
    high: Floats,
    low: Floats,
    exponent: Ints,
    bound: Floats,
) -> Moments:
    """Return mean and standard error of a form over cells, at each k.

    Parameters
    ----------
    form
        0 for 1 - q, 1 for q.
    problems
        int64 of shape (cells,); the error means nothing for fewer than 2 problems.
    high, low, exponent
        q of every k and cell, shape (ks, cells).
    bound
        largest relative error of q at each k, shape (ks,).
    """
    ks = high.shape[0]
    made = Moments(np.empty(ks), np.empty(ks), np.empty(ks, np.bool_), np.empty(ks, np.bool_))
    _moments(form, problems, int(problems.sum()), high, low, exponent, bound, *made)
    return made


@kernel(writes=4)
def _moments(
    form: int,
    problems: Ints,
    total: int,
    high: Floats,
    low: Floats,
    exponent: Ints,
    bound: Floats,
    estimate: Floats,
    error: Floats,
    open_estimate: Flags,
    open_error: Flags,
) -> None:
    for j in range(high.shape[0]):
        top = _largest_exponent(high[j], exponent[j])
        y_high, y_low = _mean(problems, total, high[j], low[j], exponent[j], top)
        e = bound[j] + (4.0 * problems.size + 32.0) * U2
        y, power = math.frexp(y_high)
        value, decided = value_of(form, y, math.ldexp(y_low, -power), top + power, e)
        estimate[j], open_estimate[j] = value, not decided
        value, decided = _error(problems, total, high[j], low[j], exponent[j], top, y_high, y_low, e)
        error[j], open_error[j] = value, not decided


@helper
def _largest_exponent(high: Floats, exponent: Ints) -> int:
    """Return the largest exponent of the values that are not 0, or 0."""
    top = -(1 << 62)
    for i in range(high.size):
        if high[i] != 0.0 and exponent[i] > top:
            top = exponent[i]
    return top if top > -(1 << 62) else 0


@helper
def _scaled(high: float, low: float, exponent: int, top: int) -> tuple[float, float]:
    """Return q / 2^top; 0 when that is below 2^-897."""
    power = int(exponent - top)
    if high == 0.0 or power < -900:
        return 0.0, 0.0
    return math.ldexp(high, power), math.ldexp(low, power)


@helper
def _whole(number: int) -> tuple[float, float]:
    """Return a non-negative int64 as an exact double-double."""
    return quick_sum(float(number >> 32) * 4294967296.0, float(number & 4294967295))


@helper
def _mean(problems: Ints, total: int, high: Floats, low: Floats, exponent: Ints, top: int) -> tuple[float, float]:
    """Return the mean of q / 2^top."""
    sum_high, sum_low = 0.0, 0.0
    for i in range(high.size):
        x_high, x_low = _scaled(high[i], low[i], exponent[i], top)
        m_high, m_low = _whole(problems[i])
        x_high, x_low = multiply(x_high, x_low, m_high, m_low)
        sum_high, sum_low = add(sum_high, sum_low, x_high, x_low)
    n_high, n_low = _whole(total)
    return divide(sum_high, sum_low, n_high, n_low)


@helper
def _error(
    problems: Ints,
    total: int,
    high: Floats,
    low: Floats,
    exponent: Ints,
    top: int,
    y_high: float,
    y_low: float,
    e: float,
) -> tuple[float, bool]:
    """Return the standard error of the mean, and whether its rounding is decided."""
    v_high, v_low, a, c = 0.0, 0.0, 0.0, 0.0
    for i in range(high.size):
        x_high, x_low = _scaled(high[i], low[i], exponent[i], top)
        d_high, d_low = add(x_high, x_low, -y_high, -y_low)
        m_high, m_low = _whole(problems[i])
        a += m_high * abs(d_high) * (x_high + y_high)
        c += m_high * (x_high + y_high) * (x_high + y_high)
        d_high, d_low = multiply(d_high, d_low, d_high, d_low)
        d_high, d_low = multiply(d_high, d_low, m_high, m_low)
        v_high, v_low = add(v_high, v_low, d_high, d_low)
    if v_high <= 0.0:
        return 0.0, False
    e += 8.0 * U2
    off = (2.02 * e * a + 4.04 * e * e * c) / v_high + (4.0 * problems.size + 32.0) * U2
    for divisor in (total - 1, total):
        n_high, n_low = _whole(divisor)
        v_high, v_low = divide(v_high, v_low, n_high, n_low)
    if off > 0.01:
        return 0.0, False
    root = math.sqrt(v_high)
    square, rest = two_product(root, root)
    s_high, s_low = quick_sum(root, ((v_high - square) - rest + v_low) / (2.0 * root))
    s, power = math.frexp(s_high)
    s_low = math.ldexp(s_low, -power)
    return settle(s, s_low, top + power, s * (0.51 * off + 48.0 * U2))
