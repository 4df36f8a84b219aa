"""Double-double arithmetic, on floats or on whole arrays; kernels compile the same functions (`rounding`).

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

from typing import Any

U2 = 2.0**-106  # u^2
SPLITTER = 134217729.0  # 2^27 + 1

# Exponents at which q leaves the doubles.
ONE = -60  # q below 2^(ONE + 2) leaves 1 - q at 1.0
ZERO = -1080  # q below 2^(ZERO + 3) is nearer to 0.0 than to the least double, 2^-1074
TINY = -1019  # q from 2^(TINY - 3) up is a normal double


def two_sum(a: Any, b: Any) -> tuple[Any, Any]:
    """Return RN(a + b) and its exact error."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def quick_sum(a: Any, b: Any) -> tuple[Any, Any]:
    """Return RN(a + b) and its exact error, for |a| >= |b| or a = 0."""
    total = a + b
    return total, b - (total - a)


def two_product(a: Any, b: Any) -> tuple[Any, Any]:
    """Return RN(a b) and its exact error (Dekker), for |a|, |b| < 2^996."""
    product = a * b
    big = SPLITTER * a
    a_high = big - (big - a)
    a_low = a - a_high
    big = SPLITTER * b
    b_high = big - (big - b)
    b_low = b - b_high
    return product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


def add(a_high: Any, a_low: Any, b_high: Any, b_low: Any) -> tuple[Any, Any]:
    """Add two double-doubles."""
    high, low = two_sum(a_high, b_high)
    rest, small = two_sum(a_low, b_low)
    high, low = quick_sum(high, low + rest)
    return quick_sum(high, small + low)


def multiply(a_high: Any, a_low: Any, b_high: Any, b_low: Any) -> tuple[Any, Any]:
    """Multiply two double-doubles."""
    high, low = two_product(a_high, b_high)
    return quick_sum(high, low + (a_high * b_low + a_low * b_high))


def divide(a_high: Any, a_low: Any, b_high: Any, b_low: Any) -> tuple[Any, Any]:
    """Divide two double-doubles."""
    guess = a_high / b_high
    high, low = two_product(b_high, guess)  # b * guess: DWTimesFP1
    high, rest = quick_sum(high, b_low * guess)
    back, low = quick_sum(high, rest + low)
    return quick_sum(guess, ((a_high - back) + (a_low - low)) / b_high)
