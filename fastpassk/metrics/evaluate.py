"""Correctly rounded values of rows of (n, c, k): the one door to the kernels, and the choice between them.

Small work is answered with exact integers, so that scoring a few hundred problems never waits for numba. Every path
gives the double nearest to the exact value, so which one ran never shows in the result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastpassk.errors import FastpasskError
from fastpassk.metrics import small
from fastpassk.metrics.rows import Rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastpassk.metrics.records import Metric


def evaluate(
    metric: Metric, n: Any, c: Any, k: Any, out: NDArray[np.float64] | None = None, *, threads: bool = True
) -> NDArray[np.float64]:
    """Return the metric at every row of n, c, k broadcast together: float64, the double nearest to the exact value.

    Parameters
    ----------
    metric
        what to compute.
    n, c, k
        integer arrays of any dtype and strides, or integers; read-only ones are welcome.
    out
        where to write, float64 of the broadcast shape; returned when given. After an error its contents are undefined.
    threads
        whether large work may use the thread pool.

    Returns
    -------
    Values in [0, 1]; NaN where k > n.

    Raises
    ------
    FastpasskError
        a row has n < 1, c < 0, c > n or k < 1, or a value beyond int64; the message names the first.
    """
    value = _single(metric, n, c, k) if out is None else None
    if value is not None:
        return np.array(value)
    rows = Rows(n, c, k)
    result = np.empty(rows.shape) if out is None else _checked(out, rows.shape)
    if result.size and not small.fill(metric, rows, result):
        from fastpassk.metrics import large

        large.fill(metric, rows, result, threads=threads)
    return result


def _single(metric: Metric, n: Any, c: Any, k: Any) -> float | None:
    """Return the value of one good row of plain numbers, without the cost of arrays; None for anything else."""
    numbers = [int(value) for value in (n, c, k) if _is_number(value)]
    return small.single(metric, *numbers) if len(numbers) == 3 else None


def _is_number(value: Any) -> bool:
    """Return whether this is one integer."""
    if isinstance(value, np.ndarray):
        return value.ndim == 0 and value.dtype.kind in "iu"
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _checked(out: Any, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Return `out` when results can be written into it as they are."""
    if not isinstance(out, np.ndarray) or out.dtype != np.float64 or out.shape != shape or not out.flags.writeable:
        found = f"{out.dtype} of shape {out.shape}" if isinstance(out, np.ndarray) else type(out).__name__
        raise FastpasskError(f"out is {found}; allowed: a writeable float64 array of shape {shape}")
    return out
