"""The exact path for small work: integer columns, or one integer quotient a row. Python and NumPy only, no numba.

Exact integers cost about half a microsecond a value, numba about half a second before its first value. So a process
works with integers until it has spent some 50,000 values on them, and with kernels from then on.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from fastpassk.kernels.integers import PASS_AT_K
from fastpassk.metrics.rows import LARGEST, faults

if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import NDArray

    from fastpassk.metrics.records import Metric
    from fastpassk.metrics.rows import Rows

    Floats: TypeAlias = NDArray[np.float64]
    Ints: TypeAlias = NDArray[np.int64]
    Flags: TypeAlias = NDArray[np.bool_]

FEW = 256  # rows that are scored one by one
FACTORS = 20_000  # of the products of a few rows, together: some milliseconds
ROWS = 50_000
CELLS = 50_000  # of exact columns, in the life of a process; one of longer integers counts more than once
LONG = 1_000  # factors of C(n, k) that make a cell take twice the time of a short one
SHORT = 2_000  # columns up to this n are kept


class _Account:
    """How many exact values this process has spent."""

    spent = 0.0


def fill(metric: Metric, rows: Rows, out: Floats) -> bool:
    """Write the values of all rows into `out` and return True; return False, and write nothing, for larger work.

    Raises
    ------
    FastpasskError
        a row cannot be scored.
    """
    if rows.size * rows.per_row > ROWS:
        return False
    n, c, k = rows.expanded(0, rows.size)
    if faults(n, c, k).any():
        rows.check([(0, rows.size)])
    live = k <= n
    values = _few(metric, n, c, k) if n.size <= FEW else None
    if values is None:
        values = _gathered(metric, n, c, k, live)
    if values is None:
        return False
    out[...] = values.reshape(out.shape)
    return True


def single(metric: Metric, n: int, c: int, k: int) -> float | None:
    """Return the value of one row; None when it cannot be scored or needs too long a product."""
    if not (1 <= n <= LARGEST and 0 <= c <= n and 1 <= k <= LARGEST):
        return None
    if k > n:
        return float("nan")
    removed = c if metric.form == PASS_AT_K else n - c
    if n - removed >= k and min(removed, k) > FACTORS:
        return None
    top, whole = metric.ratio(n, c, k)
    return top / whole


def columns(metric: Metric, pairs: list[tuple[int, int]]) -> list[Floats] | None:
    """Return the metric at c = 0..n for each pair (n, k), 1 <= k <= n; None where that is more than is affordable."""
    if not affordable(sum((n + 1) * (1 + min(k, n - k) // LONG) for n, k in pairs)):
        return None
    return [_column(metric, n, k) for n, k in pairs]


def affordable(cells: float) -> bool:
    """Return whether so many more exact values are within what this process may spend on them, and count them."""
    if _Account.spent + cells > CELLS:
        return False
    _Account.spent += cells
    return True


def _few(metric: Metric, n: Ints, c: Ints, k: Ints) -> Floats | None:
    """Score row by row; None when the products are too long."""
    removed = c if metric.form == PASS_AT_K else n - c
    if float(np.minimum(removed, k)[n - removed >= k].sum(dtype=np.float64)) > FACTORS:
        return None
    values = np.full(n.size, np.nan)
    for i, (a, b, d) in enumerate(zip(n.tolist(), c.tolist(), k.tolist(), strict=True)):
        if d <= a:
            top, whole = metric.ratio(a, b, d)
            values[i] = top / whole
    return values


def _gathered(metric: Metric, n: Ints, c: Ints, k: Ints, live: Flags) -> Floats | None:
    """Score by exact columns; None when they have too many cells."""
    n, c, k = n[live], c[live], k[live]
    values = np.full(live.size, np.nan)
    if int(n.max(initial=0)) > CELLS:
        return None
    code, place = np.unique(n * (CELLS + 1) + k, return_inverse=True)
    made = columns(metric, [divmod(pair, CELLS + 1) for pair in code.tolist()])
    if made is None:
        return None
    if made:
        starts = np.cumsum([0] + [column.size for column in made])
        values[live] = np.concatenate(made)[starts[place] + c]
    return values


def _column(metric: Metric, n: int, k: int) -> Floats:
    """Return the column of (n, k), kept when it is short."""
    return _kept_column(metric, n, k) if n <= SHORT else _exact_column(metric, n, k)


def _exact_column(metric: Metric, n: int, k: int) -> Floats:
    """Return the metric at c = 0..n, each value one integer division."""
    numerators = metric.column(n, k)
    whole = max(numerators)
    return np.array([value / whole for value in numerators])


_kept_column = lru_cache(maxsize=512)(_exact_column)
