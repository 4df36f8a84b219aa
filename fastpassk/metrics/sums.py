"""Mean and standard error in Python's integers: of points that are cheap, or that double-double leaves open."""

from __future__ import annotations

from math import comb, lcm
from typing import TYPE_CHECKING

import numpy as np

from fastpassk.errors import FastpasskError
from fastpassk.kernels.integers import PASS_HAT_K, square_root

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from numpy.typing import NDArray

    from fastpassk.metrics.records import Metric

    Floats: TypeAlias = NDArray[np.float64]
    Ints: TypeAlias = NDArray[np.int64]


def exact_point(metric: Metric, n: Ints, c: Ints, problems: Ints, k: int) -> tuple[float, float]:
    """Do one k in integers.

    The common denominator of all C(n, k) stays short: no prime power in C(n, k) exceeds n, so it divides lcm(1..largest
    n).
    """
    cells = list(zip(n.tolist(), c.tolist(), strict=True))
    subsets = {size: comb(size, k) for size in dict(cells)}
    whole = lcm(*subsets.values())
    scale = {size: whole // count for size, count in subsets.items()}
    if metric.form == PASS_HAT_K:
        values = [comb(passes, k) * scale[size] for size, passes in cells]
    else:
        values = [whole - comb(size - passes, k) * scale[size] for size, passes in cells]
    return rounded(values, problems.tolist(), whole)


def rounded(values: Sequence[int], problems: Sequence[int], whole: int) -> tuple[float, float]:
    """Return mean and standard error of values / whole, each rounded once."""
    total = sum(problems)
    first = sum(m * value for m, value in zip(problems, values, strict=True))
    estimate = first / (whole * total)
    if total < 2:
        return estimate, float("nan")
    second = sum(m * value * value for m, value in zip(problems, values, strict=True))
    return estimate, square_root(total * second - first * first, whole * whole * total * total * (total - 1))


def mean_and_error_of(values: Floats, problems: Ints) -> tuple[float, float]:
    """Return mean and standard error of given scores, each the double nearest to the exact value.

    Parameters
    ----------
    values
        finite float64 of shape (cells,).
    problems
        how many problems have each value, int64 of shape (cells,), >= 1.

    Returns
    -------
    Mean and standard error over problems, the latter NaN for fewer than two.
    """
    if not values.size or not np.isfinite(values).all():
        raise FastpasskError(
            "scores to average must be finite numbers, at least one; drop or fill what is missing first"
        )
    ratios = [value.as_integer_ratio() for value in values.tolist()]
    whole = max(denominator for _, denominator in ratios)  # powers of two: the largest is a multiple of all
    return rounded([top * (whole // denominator) for top, denominator in ratios], problems.tolist(), whole)


def cost(n: Ints, ks: Ints) -> float:
    """Return what exact points cost, in short exact values: C(n, k) takes the square of its factors, the rest its bits.

    The constants are fitted to times at n from 50 to 100,000, with one n and with 200 of them.
    """
    largest = int(n.max())
    factors = np.minimum(ks, largest - ks).astype(np.float64)
    bits = np.minimum(np.unique(n).size * largest.bit_length() * factors, 1.5 * largest)  # of the common denominator
    return n.size * float((1.0 + factors**2 / 10_000.0 + bits / 400.0).sum())
