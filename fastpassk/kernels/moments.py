"""Mean and standard error over problems, for many groups and ks at once, each rounding decided or left open.

Cell i stands for m_i problems of a group with the same q_i = (high + low) 2^exponent of relative error at most beta;
there are N problems. pass@k is 1 - q, so its mean is 1 minus that of q, and its spread is that of q: working on q keeps
the digits of values that lie next to 1. At each k all q are scaled by the largest exponent to x_i in [0, 4), then cut
to digits (`fixed`): what is summed is off from x_i by at most delta = 4 beta + 2^(1 - BITS). With L digits:

Mean. S1 = sum m x has a relative error of 3 L u^2, the quotient S1 / N one of 15 u^2: y is within delta + (3 L + 16)
u^2 y of the mean.

Spread. V = N S2 - S1^2, with S2 = sum m x^2 taken exactly before it becomes a double-double (6 L u^2). Since S1^2 <= N
S2, V is off by at most (12 L + 20) u^2 N S2 + 3 u^2 V. The standard error is sqrt(V / N^2 / (N - 1)): half the relative
error of V, and 32 u^2 for three quotients and the root. And since the standard error is a norm of what is left when the
mean is taken off, values that are off by delta change it by delta / sqrt(N - 1) at most.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fastpassk.kernels import fixed
from fastpassk.kernels.integers import PASS_AT_K
from fastpassk.kernels.pairs import ONE, TINY, U2, ZERO, add, divide, multiply, quick_sum, two_product, two_sum

if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Ints: TypeAlias = NDArray[np.int64]
    Flags: TypeAlias = NDArray[np.bool_]

NARROW = 1e-6  # relative error of V up to which its root is taken


class Moments(NamedTuple):
    """Estimate and standard error, float64 of shape (groups, ks), and which of them are not decided."""

    estimate: Floats
    error: Floats
    open_estimate: Flags
    open_error: Flags


class Sums(NamedTuple):
    """S1 and S2 as double-doubles of shape (groups, ks), in units of 2^top and its square, and what they stand on."""

    first: tuple[Floats, Floats]
    second: tuple[Floats, Floats]
    top: Ints  # (ks,)
    off: Floats  # delta, (ks,)
    digits: int
    problems: Floats  # N, (groups, 1)


def moments(form: int, weights: Floats, high: Floats, low: Floats, exponent: Ints, bound: Floats) -> Moments:
    """Return mean and standard error of a form over cells, for each group at each k.

    Parameters
    ----------
    form
        0 for 1 - q, 1 for q.
    weights
        How many problems of each group stand in each cell: whole float64 numbers of shape (groups, cells), at least one
        problem a group and at most `fixed.MOST_PROBLEMS`. For a single one the error means nothing.
    high, low, exponent
        q of every cell and k, shape (cells, ks), high 0 or in (1/8, 4).
    bound
        Largest relative error of q at each k, shape (ks,).
    """
    sums = _sums(weights, high, low, exponent, bound)
    estimate, open_estimate = _estimate(form, sums)
    error, open_error = _error(sums)
    nothing = sums.top < ZERO  # all q below 2^-1078: the doubles nearest to them, and to their spread, are 0
    estimate[:, nothing], error[:, nothing] = 1.0 - form, 0.0
    open_estimate[:, nothing] = open_error[:, nothing] = False
    return Moments(estimate, error, open_estimate, open_error)


def _sums(weights: Floats, high: Floats, low: Floats, exponent: Ints, bound: Floats) -> Sums:
    top = np.where(high > 0.0, exponent, -(1 << 62)).max(axis=0)
    problems = weights.sum(axis=1, keepdims=True)
    bits = fixed.width(int(problems.max()))
    found = fixed.digits(high, low, np.where(high > 0.0, exponent - top, 0), bits)
    first = fixed.weighted(weights, found, bits)
    second = fixed.weighted(weights, fixed.squares(found, bits), bits)
    return Sums(first, second, top, 4.0 * bound + 2.0 ** (1 - fixed.BITS), len(found), problems)


def _estimate(form: int, sums: Sums) -> tuple[Floats, Flags]:
    """Round the mean of a form."""
    high, low = divide(*sums.first, sums.problems, 0.0)
    off = sums.off + (3.0 * sums.digits + 16.0) * U2 * high
    if form != PASS_AT_K:
        return _settled(high, low, sums.top, off)
    near = np.clip(sums.top, ONE - 8, 2).astype(np.int32)  # below ONE, 1 - q is 1.0 in any case
    high, low, off = (np.ldexp(part, near) for part in (high, low, off))
    start = 1.0 - high
    rest = ((1.0 - start) - high) - low  # exact but for a rounding below u^2 where high < 1/2
    value, open_ = _settled(*two_sum(start, rest), np.zeros_like(sums.top), off + 2.0 * U2)
    small = sums.top < ONE
    value[:, small], open_[:, small] = 1.0, False
    return value, open_


def _error(sums: Sums) -> tuple[Floats, Flags]:
    """Round the standard error of the mean; open for a single problem."""
    many, fewer = sums.problems, np.maximum(sums.problems - 1.0, 1.0)
    whole_high, whole_low = multiply(*sums.second, many, 0.0)
    square_high, square_low = multiply(*sums.first, *sums.first)
    high, low = add(whole_high, whole_low, -square_high, -square_low)
    with np.errstate(divide="ignore", invalid="ignore"):
        off = (12.0 * sums.digits + 20.0) * U2 * whole_high / high + 3.0 * U2
        good = (high > 0.0) & (off < NARROW)
    high, low = np.where(good, high, 1.0), np.where(good, low, 0.0)
    for divisor in (many, many, fewer):
        high, low = divide(high, low, divisor, 0.0)
    root = np.sqrt(high)
    square, rest = two_product(root, root)
    root, low = quick_sum(root, ((high - square) - rest + low) / (2.0 * root))
    bound = root * (0.51 * np.where(good, off, 0.0) + 32.0 * U2) + 1.01 * sums.off / np.sqrt(fewer)
    value, open_ = _settled(root, low, sums.top, bound)
    return value, open_ | ~good


def _settled(high: Floats, low: Floats, exponent: Ints, bound: Floats) -> tuple[Floats, Flags]:
    """Round (high + low) 2^exponent; open where the value moved by `bound` to either side rounds to another double.

    As `rounding.settle`, for arrays; a result that may be subnormal stays open.
    """
    bound = bound + 2.1 * U2 * np.abs(high)
    same = (high + (low - bound) == high) & (high + (low + bound) == high)
    power = np.clip(exponent, -4000, 4000).astype(np.int32)
    normal = np.frexp(high)[1] + power > TINY
    return np.ldexp(high, power), ~(same & normal)
