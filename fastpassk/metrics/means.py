"""Mean and standard error over the problems of a group, correctly rounded.

    estimate  = sum m P / N
    std_error = sqrt((sum m P^2 - (sum m P)^2 / N) / (N - 1) / N)

Both are the double nearest to the exact value, so they do not depend on the order of the cells or on how they were
computed: in integers over one common denominator, or in double-double with a decided rounding (`kernels.moments`),
where a point that stays open is done again in integers.
"""

from __future__ import annotations

from math import comb, lcm
from typing import TYPE_CHECKING

import numpy as np

from fastpassk import threads
from fastpassk.errors import FastpasskError
from fastpassk.kernels.integers import PASS_AT_K, PASS_HAT_K, square_root
from fastpassk.metrics.rows import LARGEST
from fastpassk.metrics.small import affordable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from numpy.typing import NDArray

    from fastpassk.metrics.records import Metric

    Floats: TypeAlias = NDArray[np.float64]
    Ints: TypeAlias = NDArray[np.int64]
    Flags: TypeAlias = NDArray[np.bool_]

CELLS = 1 << 14  # values of q of one task


def mean_and_error(
    metric: Metric,
    n: Ints,
    c: Ints,
    problems: Ints,
    ks: Ints,
) -> tuple[Floats, Floats]:
    """Return estimate and standard error at every k, each the double nearest to the exact value.

    Parameters
    ----------
    metric
        what to average.
    n, c, problems
        the cells of one group in any order, int64 of shape (cells,): so many problems have n samples and c
        passes; 1 <= n, 0 <= c <= n, 1 <= problems.
    ks
        int64 of shape (ks,), 1 <= k <= the smallest n.

    Returns
    -------
    Two float64 arrays of shape (ks,); standard errors are NaN for fewer than two problems.
    """
    _refuse_unfit(n, ks)
    order = np.lexsort((c, n))
    n, c, problems = n[order], c[order], problems[order]
    if not ks.size or _beyond_kernels(problems) or affordable(_cost(n, ks)):
        points = [_exact_point(metric, n, c, problems, int(k)) for k in ks]
        return np.array([point[0] for point in points]), np.array([point[1] for point in points])
    _kernel_points(metric, n[:1], c[:1], problems[:1], ks[:1])  # compile here, not in a worker
    step = max(1, CELLS // n.size)
    parts = [ks[first : first + step] for first in range(0, ks.size, step)]
    found = threads.run(lambda part: _kernel_points(metric, n, c, problems, part), parts)
    return np.concatenate([estimate for estimate, _ in found]), np.concatenate([error for _, error in found])


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
    return _rounded([top * (whole // denominator) for top, denominator in ratios], problems.tolist(), whole)


def _beyond_kernels(problems: Ints) -> bool:
    """Return whether there are more problems than an int64 can count."""
    total: int = sum(problems.tolist())
    return total > LARGEST


def _cost(n: Ints, ks: Ints) -> float:
    """Return what exact points cost, in short exact values: C(n, k) takes the square of its factors, the rest its bits.

    The constants are fitted to times at n from 50 to 100,000, with one n and with 200 of them.
    """
    largest = int(n.max())
    factors = np.minimum(ks, largest - ks).astype(np.float64)
    bits = np.minimum(np.unique(n).size * largest.bit_length() * factors, 1.5 * largest)  # of the common denominator
    return n.size * float((1.0 + factors**2 / 10_000.0 + bits / 400.0).sum())


def _exact_point(metric: Metric, n: Ints, c: Ints, problems: Ints, k: int) -> tuple[float, float]:
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
    return _rounded(values, problems.tolist(), whole)


def _rounded(values: Sequence[int], problems: Sequence[int], whole: int) -> tuple[float, float]:
    """Return mean and standard error of values / whole, each rounded once."""
    total = sum(problems)
    first = sum(m * value for m, value in zip(problems, values, strict=True))
    estimate = first / (whole * total)
    if total < 2:
        return estimate, float("nan")
    second = sum(m * value * value for m, value in zip(problems, values, strict=True))
    return estimate, square_root(total * second - first * first, whole * whole * total * total * (total - 1))


def _kernel_points(metric: Metric, n: Ints, c: Ints, problems: Ints, ks: Ints) -> tuple[Floats, Floats]:
    """Do some ks in double-double; what stays open is done again in integers."""
    from fastpassk.kernels.moments import moments

    removed = c if metric.form == PASS_AT_K else n - c
    shape = (ks.size, n.size)
    rows = (np.ascontiguousarray(np.broadcast_to(a, shape)).reshape(-1) for a in (n, removed, ks[:, None]))
    high, low, exponent, bound = _quotients(*rows)
    high = high.reshape(shape)
    worst = bound.reshape(shape).max(axis=1)
    found = moments(metric.form, problems, high, low.reshape(shape), exponent.reshape(shape), worst)
    if metric.form == PASS_AT_K and removed.any():
        found.open_estimate[found.estimate == 0.0] = True  # some problem is solved: a mean of 0 is lost, not found
    level = _level(removed, high, exponent.reshape(shape))
    found.error[level] = 0.0
    for j in np.flatnonzero(found.open_estimate | (found.open_error & ~level)):
        found.estimate[j], found.error[j] = _exact_point(metric, n, c, problems, int(ks[j]))
    if problems.sum() < 2:
        found.error[:] = np.nan
    return found.estimate, found.error


def _level(removed: Ints, high: Floats, exponent: Ints) -> Flags:
    """Return at which ks the standard error is 0 for certain: there is one cell, or q is 1, or next to nothing, in all.

    It is at most the largest q, and where that is below 2^-1078 the double nearest to either is 0. Such q, which the
    running products cut short, may come out equal, so the kernel would leave their spread open.
    """
    from fastpassk.kernels.rounding import ZERO

    nothing: Flags = ((high == 0.0) | (exponent < ZERO)).all(axis=1)
    return nothing | bool(removed.size == 1 or (removed == 0).all())


def _quotients(n: Ints, removed: Ints, k: Ints) -> tuple[Floats, Floats, Ints, Floats]:
    """Return q = (high + low) 2^exponent of rows, and their bounds: from the table or, beyond it, running products."""
    from fastpassk.kernels import columns, running
    from fastpassk.kernels.factorials import LIMIT

    if int(n.max()) <= LIMIT:
        return *columns.ratios(n, removed, k), np.full(n.size, columns.BOUND)
    return running.ratios(n, removed, k)


def _refuse_unfit(n: Ints, ks: Ints) -> None:
    """Refuse a k for which some problem has no value."""
    if not n.size:
        raise FastpasskError("a group without problems has no mean; give at least one cell")
    if ks.size and (ks.min() < 1 or ks.max() > n.min()):
        raise FastpasskError(f"k goes from {ks.min()} to {ks.max()}; allowed: 1 to the smallest n, {n.min()}")
