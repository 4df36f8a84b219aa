"""What the tests of the array functions share: rows with exact answers, and every kind of column."""

from __future__ import annotations

from math import comb, nan

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

N = [10, 10, 4, 1, 200, 7]
C = [3, 0, 2, 1, 17, 7]
K = 5


def pass_at(n, c, k):
    return nan if k > n else (comb(n, k) - comb(n - c, k)) / comb(n, k)


def pass_hat(n, c, k):
    return nan if k > n else comb(c, k) / comb(n, k)


EXACT = {"pass_at_k": pass_at, "pass_hat_k": pass_hat}
METRIC = {"pass_at_k": "pass@k", "pass_hat_k": "pass^k"}

# One line a kind: name, how to make a column of it, the type of the result, how to read the result.
KINDS = {
    "list": (list, np.ndarray, np.asarray),
    "tuple": (tuple, np.ndarray, np.asarray),
    "range-like": (lambda v: np.array(v).data, np.ndarray, np.asarray),
    "numpy": (np.array, np.ndarray, np.asarray),
    "pandas": (pd.Series, np.ndarray, np.asarray),
    "pandas nullable": (lambda v: pd.Series(v, dtype="Int64"), np.ndarray, np.asarray),
    "pandas arrow": (lambda v: pd.Series(v, dtype="int64[pyarrow]"), np.ndarray, np.asarray),
    "arrow": (pa.array, pa.Array, lambda a: a.to_numpy(zero_copy_only=False)),
    "chunked": (lambda v: pa.chunked_array([v[:2], v[2:]]), pa.ChunkedArray, lambda a: a.to_numpy()),
    "dictionary": (lambda v: pa.array(v).dictionary_encode(), pa.Array, lambda a: a.to_numpy(zero_copy_only=False)),
    "series": (pl.Series, pl.Series, lambda s: s.to_numpy()),
    "series chunks": (
        lambda v: pl.concat([pl.Series(v[:2]), pl.Series(v[2:])], rechunk=False),
        pl.Series,
        lambda s: s.to_numpy(),
    ),
}
