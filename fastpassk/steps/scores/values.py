"""The values of scores: which metrics, and the column of them, elementwise so that a stream of rows stays one."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from fastpassk.arrays.carriers import Work, send
from fastpassk.errors import UsageError
from fastpassk.metrics import metric as metric_named
from fastpassk.metrics.evaluate import evaluate
from fastpassk.metrics.lookup import Lookup
from fastpassk.metrics.stopping import effective
from fastpassk.schema.policies import DEFAULT_METRIC

if TYPE_CHECKING:
    from fastpassk.metrics.records import Metric

LIMIT = "__limit"  # a helper column, in no table's way


def chosen(names: list[str] | None) -> list[Metric]:
    """Return the metrics of these names; raises a `UsageError` for one that does not exist, and for none at all."""
    if names == []:
        raise UsageError("no metric is named; give one, as in metric='pass@k'")
    return [metric_named(name) for name in names or [DEFAULT_METRIC]]


def values_of(metric: Metric, n: Any, c: Any, k: Any, limit: Any, stopped: int | None, *, threads: bool = True) -> Any:
    """Return the score of each row, NaN when undefined; under a stopping rule those with k up to `limit` are defined.

    `n`, `c`, `k` and `limit` are int64 arrays of shape (rows,), and so is the result in float64.
    """
    if stopped is None:
        return evaluate(metric, n, c, k, threads=threads)
    values = np.full(len(k), np.nan)
    for one in np.unique(k):
        rows = (k == one) & (limit >= one)
        small_n, small_c = effective(n[rows], c[rows], int(one), stopped)
        values[rows] = evaluate(metric, small_n, small_c, int(one), threads=threads)
    return values


def score_of_rows(metric: Metric) -> pl.Expr:
    """Return the column `score` of rows with n, c and k: null where k > n and where one of them is null."""
    columns = {name: pl.col(name) for name in ("n", "c", "k")}
    score: pl.Expr = send(Work(Lookup(metric), metric.name), columns, None)
    return score.fill_nan(None).alias("score")


def score_of_stopped_rows(metric: Metric, stopped: int) -> pl.Expr:
    """Return the column `score` of rows with n, c, k and `LIMIT` under a stopping rule."""
    batch = partial(_stopped_batch, metric, stopped)
    score = pl.map_batches(["n", "c", "k", LIMIT], batch, return_dtype=pl.Float64(), is_elementwise=True)
    return score.fill_nan(None).alias("score")


def _stopped_batch(metric: Metric, stopped: int, columns: Any) -> pl.Series:
    """Score one batch; no pool is entered from the engine's threads."""
    n, c, k, limit = (column.to_numpy() for column in columns)
    return pl.Series("score", values_of(metric, n, c, k, limit, stopped, threads=False))
