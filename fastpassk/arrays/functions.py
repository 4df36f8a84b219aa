"""The public array functions and their types: whole numbers in, float64 out, the same kind of container out as in.

A row is one problem: n samples, c of them passes. k > n is undefined and gives NaN, so that a mean cannot quietly drop
short problems; the plug-in, which is biased anyway, exists there too.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from fastpassk.arrays.carriers import Work, send
from fastpassk.arrays.integers import integers
from fastpassk.arrays.signatures import curve_function, row_function
from fastpassk.errors import FastpasskError
from fastpassk.metrics import METRICS
from fastpassk.metrics import metric as metric_named
from fastpassk.metrics.evaluate import evaluate
from fastpassk.metrics.rows import Rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastpassk.arrays.integers import Integers
    from fastpassk.metrics.records import Metric

_MODERATE = 256  # factors of an exact product: some microseconds
_STRETCH = 1 << 16  # rows that are checked at a time


@row_function
def pass_at_k(n: Any, c: Any, k: Any, *, out: Any = None) -> Any:
    """Chance that at least one of k samples passes: 1 - C(n-c, k) / C(n, k).

    The unbiased estimate from n samples of which c passed, computed row by row. Every value is the double nearest to
    the exact rational, so the result never falls as k or c grow, is symmetric in c and k, and equals c / n at k = 1,
    all to the last bit.

    Parameters
    ----------
    n
        Samples of each problem, at least 1: a whole number, or an array, Arrow array, Polars Series or expression of
        them. Any integer dtype; floats with whole values count as integers.
    c
        Passes among them, 0 ≤ c ≤ n.
    k
        Samples drawn without replacement, at least 1. n, c and k broadcast together.
    out
        A writeable float64 array of the result's shape, any strides, for NumPy arguments only. Its contents are
        undefined after an error.

    Returns
    -------
    A float for scalars, a float64 array for sequences and NumPy, and for Arrow and Polars their own kind. NaN where
    k > n (in a Polars comparison NaN is larger than every number), null where any argument is null. An expression is
    elementwise (a streaming query stays one) and is called `pass@10` for k = 10, `pass@k` when k is a column.

    Raises
    ------
    FastpasskError
        n < 1, c < 0, c > n, k < 1, a fraction or NaN; names the first such row and how many there are. Also when the
        lengths differ, for booleans, text, objects and masked arrays, and for an `out` that does not fit.

    References
    ----------
    Chen et al. 2021, Evaluating Large Language Models Trained on Code, arXiv 2107.03374.

    Examples
    --------
    >>> import fastpassk as fp
    >>> fp.pass_at_k(10, 3, 5)
    0.9166666666666666
    >>> fp.pass_at_k([10, 10, 4], [0, 3, 2], 5)
    array([0.        , 0.91666667,        nan])
    >>> import polars as pl
    >>> frame = pl.DataFrame({"n": [10, 10], "c": [3, None]})
    >>> frame.select(fp.pass_at_k(pl.col("n"), pl.col("c"), 5)).to_dict(as_series=False)
    {'pass@5': [0.9166666666666666, None]}
    """
    return send(_values_of("pass@k"), {"n": n, "c": c, "k": k}, out)


@row_function
def pass_hat_k(n: Any, c: Any, k: Any, *, out: Any = None) -> Any:
    """Chance that all of k samples pass, pass^k: C(c, k) / C(n, k).

    The unbiased estimate from n samples of which c passed; how reliable a model is, where pass@k says what it can do.
    Every value is the double nearest to the exact rational.

    Parameters
    ----------
    n
        Samples of each problem, at least 1; kinds and dtypes as in `pass_at_k`.
    c
        Passes among them, 0 ≤ c ≤ n.
    k
        Samples drawn without replacement, at least 1.
    out
        A writeable float64 array of the result's shape, for NumPy arguments only; undefined after an error.

    Returns
    -------
    The kind that came in, as in `pass_at_k`; NaN where k > n, null where any argument is null.

    Raises
    ------
    FastpasskError
        As in `pass_at_k`.

    References
    ----------
    Yao et al. 2024, τ-bench: A Benchmark for Tool-Agent-User Interaction in Real-World Domains, arXiv 2406.12045.

    Examples
    --------
    >>> import fastpassk as fp
    >>> fp.pass_hat_k(4, [2, 3, 4], 2)
    array([0.16666667, 0.5       , 1.        ])
    """
    return send(_values_of("pass^k"), {"n": n, "c": c, "k": k}, out)


@row_function
def plug_in(n: Any, c: Any, k: Any, *, out: Any = None) -> Any:
    """Biased chance of a pass among k samples, 1 - (1 - c/n)^k; there to be compared against.

    It treats the measured rate c/n as if it were the true one, and so comes out too low on average whenever k ≥ 2 and
    the true rate is neither 0 nor 1: at n = 5, k = 2 and a true rate of 2/5 its mean is 0.592 where the truth is 0.64.
    The bias shrinks as n grows and vanishes at k = 1. Drawing best-of-k with replacement estimates the same thing.
    It is computed as -expm1(k log1p(-c/n)), good to a few units in the last place, and exists for k > n too.

    Parameters
    ----------
    n
        Samples of each problem, at least 1; kinds and dtypes as in `pass_at_k`.
    c
        Passes among them, 0 ≤ c ≤ n.
    k
        Samples drawn with replacement, at least 1.
    out
        A writeable float64 array of the result's shape, for NumPy arguments only; undefined after an error.

    Returns
    -------
    The kind that came in, as in `pass_at_k`; null where any argument is null.

    Raises
    ------
    FastpasskError
        As in `pass_at_k`.

    References
    ----------
    Chen et al. 2021, arXiv 2107.03374, section 2.1 and appendix A, which warn of it.

    Examples
    --------
    >>> import fastpassk as fp
    >>> fp.plug_in(5, 2, 2), fp.pass_at_k(5, 2, 2)
    (0.64, 0.7)
    """
    return send(Work(_plug_in, "plug_in@k"), {"n": n, "c": c, "k": k}, out)


@curve_function
def pass_curve(n: Any, c: Any, ks: Any, *, out: Any = None, metric: str = "pass@k") -> Any:
    """Score every row at every k of `ks`: the values of a curve, before any mean is taken.

    Parameters
    ----------
    n
        Samples of each problem, at least 1; kinds and dtypes as in `pass_at_k`.
    c
        Passes among them, 0 ≤ c ≤ n. n and c broadcast together to the shape of the rows.
    ks
        Whole numbers, at least 1, in any order; a list, range or one-dimensional array of length K.
    out
        A writeable float64 array of shape (*rows, K), for scalars and NumPy only; undefined after an error.
    metric
        The name of the metric, one of `METRICS`.

    Returns
    -------
    A float64 array of shape (*rows, K), (K,) for scalars. For Arrow a FixedSizeList array, for Polars a Series or
    expression of dtype Array(Float64, K). NaN where k > n, a null row where n or c is null.

    Raises
    ------
    UsageError
        A metric that does not exist.
    FastpasskError
        As in `pass_at_k`.

    References
    ----------
    Those of `pass_at_k` and `pass_hat_k`.

    Examples
    --------
    >>> import fastpassk as fp
    >>> fp.pass_curve([10, 4], [3, 2], [1, 2, 5])
    array([[0.3       , 0.53333333, 0.91666667],
           [0.5       , 0.83333333,        nan]])
    """
    known = metric_named(metric)
    points = integers("ks", list(ks) if isinstance(ks, Iterator) else ks)
    if isinstance(points, int) or points.ndim != 1:
        raise FastpasskError("ks has to be a list of whole numbers, as in ks=[1, 10, 100]; for one k use pass_at_k")
    return send(Work(partial(_along, known, points), known.name, width=len(points)), {"n": n, "c": c}, out)


def _values_of(name: str) -> Work:
    """Make the work of a metric, one value a row."""
    return Work(partial(_values, METRICS[name]), name)


def _values(
    known: Metric, n: Integers, c: Integers, k: Integers, out: NDArray[np.float64] | None, *, threads: bool
) -> NDArray[np.float64] | float:
    """Evaluate rows; one good row of a moderate k is two integers and their quotient, without an array."""
    if isinstance(n, int) and isinstance(c, int) and isinstance(k, int) and 0 <= c <= n and 1 <= k <= min(n, _MODERATE):
        numerator, denominator = known.ratio(n, c, k)
        return numerator / denominator
    return evaluate(known, n, c, k, out, threads=threads)


def _along(
    known: Metric, ks: NDArray[Any], n: Integers, c: Integers, out: NDArray[np.float64] | None, *, threads: bool
) -> NDArray[np.float64]:
    """Evaluate every row at every k, the ks along a new last axis."""
    return evaluate(known, np.expand_dims(n, -1), np.expand_dims(c, -1), ks, out, threads=threads)


def _plug_in(
    n: Integers, c: Integers, k: Integers, out: NDArray[np.float64] | None, *, threads: bool
) -> NDArray[np.float64]:
    """Compute 1 - (1 - c/n)^k in place, so that no row needs more than its value."""
    del threads  # NumPy's loops let other threads run, but start none
    rows = Rows(n, c, k)
    rows.check((start, min(start + _STRETCH, rows.size)) for start in range(0, rows.size, _STRETCH))
    values = np.empty(rows.shape) if out is None else out
    np.divide(c, n, out=values)
    np.negative(values, out=values)
    with np.errstate(divide="ignore"):  # c = n: log 0 is -inf, and the value 1
        np.log1p(values, out=values)
    np.multiply(values, k, out=values)
    np.expm1(values, out=values)
    np.negative(values, out=values)
    return values
