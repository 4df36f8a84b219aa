"""Counts to scores: the metric of each problem at each k; and triples, scored row by row from file to file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from fastpassk import arrays
from fastpassk.errors import FastpasskError, UsageError, tell
from fastpassk.metrics import metric as metric_named
from fastpassk.metrics.evaluate import evaluate
from fastpassk.metrics.stopping import check_metric, effective, limits
from fastpassk.schema.options import Options, Settings
from fastpassk.schema.policies import DEFAULT_METRIC, Ks, ks_up_to, parse_ks, parse_names
from fastpassk.schema.provenance import digest, provenance, remember
from fastpassk.sources import Dataset, collect, read, sink_parquet
from fastpassk.steps.counts import counted, grouped
from fastpassk.storage import refuse_input, write_frame

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable
    from typing import Unpack

    from fastpassk.metrics.records import Metric


LIMIT = "__limit"  # a helper column, in no table's way


def score(
    source: Any,
    k: Ks = None,
    *,
    metric: str | Iterable[str] | None = None,
    sink: str | os.PathLike[str] | None = None,
    **options: Unpack[Options],
) -> pl.DataFrame:
    """Score every problem at every k; or, for a table with a `k` column, every row.

    Parameters
    ----------
    source
        Samples, counts, or (n, c, k) triples, in any form that `read` takes.
    k
        A whole number, a list, `"1,10"`, `"1:100"`, `"all"`, or None for 1, 2, 4, … and the group's smallest n. Not for
        triples, which bring their own.
    metric
        `"pass@k"` (None means this one), `"pass^k"`, or several of them (one for triples).
    sink
        A file to write instead of returning rows; triples are streamed to Parquet in bounded memory.
    options
        See `fastpassk.Options`.

    Returns
    -------
    Scores: the columns of `by`, `problem`, `n`, `c`, `metric`, `k`, `score` (null when k > n), sorted. For triples the
    source's columns, in its order of rows, and `score`. With `sink`, an empty frame of those columns.

    Raises
    ------
    FastpasskError
        As `count`, and for triples that cannot be (c > n, k < 1); a `UsageError` for options that do not exist.
    """
    settings, ks, metrics = Settings.of(options), parse_ks(k), chosen(parse_names(metric))
    dataset = read(source, **settings.reading())
    if sink is not None:
        refuse_input(sink, dataset.inputs)
    if dataset.kind == "triples":
        return _score_rows(dataset, metrics, ks, sink, settings)
    counts = grouped(counted(dataset, settings), settings)
    frame = pl.concat([_score_counts(counts.frame, counts.identity, one, ks, counts.stopped) for one in metrics])
    frame = frame.sort(*counts.identity, "problem", "metric", "k", nulls_last=True)
    facts: dict[str, object] = {"metric": [one.name for one in metrics], "stopped": counts.stopped}
    sha = digest(counts.frame.sort(*counts.identity, "problem", nulls_last=True))
    facts |= {"identity": counts.identity, "options": settings.stated(), "counts_sha256": sha}
    _tell_undefined(frame)
    frame = remember(frame, "scores", **facts)
    if sink is None:
        return frame
    write_frame(frame, sink, provenance(frame))
    return remember(frame.clear(), "scores", **facts)


def _tell_undefined(frame: pl.DataFrame) -> None:
    """Say in one line how many scores are null, and why."""
    undefined = frame["score"].null_count()
    if undefined:
        tell(f"{undefined} of {frame.height} scores are null: their problem has n < k, so the value is undefined")


def chosen(names: list[str] | None) -> list[Metric]:
    """Return the metrics of these names; raises a `UsageError` for one that does not exist, and for none at all."""
    if names == []:
        raise UsageError("no metric is named; give one, as in metric='pass@k'")
    return [metric_named(name) for name in names or [DEFAULT_METRIC]]


def _smallest_n(frame: pl.DataFrame, by: list[str], stopped: int | None) -> dict[tuple[object, ...], int]:
    """Return for each group the largest k at which each of its problems is defined."""
    groups = frame.group_by(by).agg(pl.col("n", "c"))
    return {
        row[:-2]: int(limits(np.array(row[-2], np.int64), np.array(row[-1], np.int64), stopped).min())
        for row in groups.iter_rows()
    }


def _score_counts(
    frame: pl.DataFrame, by: list[str], metric: Metric, ks: list[int] | str | None, stopped: int | None
) -> pl.DataFrame:
    check_metric(metric, stopped)
    smallest = _smallest_n(frame.unique([*by, "n", "c"]), by, stopped)
    rows = [(*group, ks_up_to(ks, limit)) for group, limit in smallest.items()]
    columns = [*frame.select(by).schema.items(), ("k", pl.List(pl.Int64()))]
    grid = pl.DataFrame(rows, columns, orient="row").explode("k")
    ended = pl.lit(value=False) if stopped is None else pl.col("c") == stopped
    limit = pl.when(ended).then(pl.col("n").max().over(by)).otherwise("n").alias(LIMIT)
    table = frame.with_columns(limit).join(grid, on=by, nulls_equal=True).with_columns(metric=pl.lit(metric.name))
    n, c, k, largest = (table[name].to_numpy() for name in ("n", "c", "k", LIMIT))
    score = pl.Series("score", values_of(metric, n, c, k, largest, stopped), nan_to_null=True)
    return table.with_columns(score).select(*by, "problem", "n", "c", "metric", "k", "score")


def values_of(metric: Metric, n: Any, c: Any, k: Any, limit: Any, stopped: int | None) -> Any:
    """Return the score of each row, NaN when undefined; under a stopping rule those with k up to `limit` are defined.

    `n`, `c`, `k` and `limit` are int64 arrays of shape (rows,), and so is the result in float64.
    """
    if stopped is None:
        return evaluate(metric, n, c, k)
    values = np.full(len(k), np.nan)
    for one in np.unique(k):
        rows = (k == one) & (limit >= one)
        values[rows] = evaluate(metric, *effective(n[rows], c[rows], int(one), stopped), int(one))
    return values


def _score_rows(
    dataset: Dataset,
    metrics: list[Metric],
    ks: list[int] | str | None,
    sink: str | os.PathLike[str] | None,
    settings: Settings,
) -> pl.DataFrame:
    """Score triples where they stand, in the order of their rows; streamed when there is a sink."""
    _refuse_for_triples(metrics, ks, settings)
    function = getattr(arrays, metrics[0].function)
    value = function(pl.col("n"), pl.col("c"), pl.col("k")).fill_nan(None).alias("score")
    lazy = dataset.frame.with_columns(value)
    facts: dict[str, object] = {"metric": [metrics[0].name], "options": settings.stated()}
    empty = remember(pl.DataFrame(schema=lazy.collect_schema()), "triples", **facts)
    try:
        if sink is None:
            return remember(collect(dataset, lazy), "triples", **facts)
        sink_parquet(dataset, lazy, sink, provenance(empty) or {})
    except FastpasskError as error:
        raise _with_row(dataset, error) from None
    return empty


def _refuse_for_triples(metrics: list[Metric], ks: list[int] | str | None, settings: Settings) -> None:
    if len(metrics) > 1:
        raise UsageError("triples take one metric at a time, since they get one score column")
    if ks is not None:
        raise UsageError("the table has a k column; leave out k=, or drop the column to score its counts")
    idle = sorted(settings.changed().keys() - {"n", "c", "where", "meta", "format", "assume"})
    if idle:
        raise UsageError(f"{idle[0]}= has no meaning for triples, whose rows are scored one by one")


def _with_row(dataset: Dataset, error: FastpasskError) -> FastpasskError:
    """Name the row of the whole table where a kernel that saw one batch of it found a row that cannot be."""
    n, c, k = (pl.col(name) for name in ("n", "c", "k"))
    whole = [pl.col(name).cast(pl.Float64) % 1 != 0 for name in ("n", "c", "k")]
    wrong = pl.any_horizontal(n < 1, c < 0, c > n, k < 1, *whole).fill_null(False)
    rows = dataset.frame.select("n", "c", "k").with_row_index("row").filter(wrong)
    try:
        found = collect(dataset, rows.sort("row"))
    except FastpasskError:
        return error
    if not found.height:
        return error
    row, *values = found.row(0)
    return FastpasskError(
        f"row {row + 1} has n={values[0]}, c={values[1]}, k={values[2]}, the first of {found.height} rows that cannot "
        "be; n, c, k are whole numbers with n >= 1, 0 <= c <= n, k >= 1"
    )
