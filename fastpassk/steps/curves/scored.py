"""Scores to curves by group-by: the way of metrics that are not functions of (n, c), and of people with data frames.

Where a table has n and c it is regrouped by them, and gives what the tally gives to the last bit; where it has scores
alone, their mean is taken exactly and rounded once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from fastpassk.errors import FastpasskError, UsageError, choose
from fastpassk.metrics import METRICS
from fastpassk.metrics.stopping import check_metric, limits
from fastpassk.metrics.sums import mean_and_error_of
from fastpassk.schema.frames import check_key, describe
from fastpassk.schema.policies import DEFAULT_METRIC
from fastpassk.sources import Dataset, collect
from fastpassk.steps.counts.grouping import group_columns, refuse_pooling, with_group, without_empty
from fastpassk.steps.curves.points import Cells, framed, points
from fastpassk.steps.scores import values_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fastpassk.metrics.records import Metric
    from fastpassk.schema.options import Settings

ROW = "__row"  # a helper column, in no table's way
TOLERANCE = 1e-6  # a score column may be float32; farther off it is not this metric of this n, c and k


def curves_of_scores(
    dataset: Dataset,
    settings: Settings,
    metrics: list[str] | None,
    ks: list[int] | str | None,
    stopped: int | None,
    *,
    undefined: str,
    average: str,
) -> tuple[pl.DataFrame, list[str]]:
    """Average a table of scores or triples at each of its k; returns the curves and the columns of their groups."""
    _refuse_idle(settings, average)
    frame = _with_metric(collect(dataset, dataset.frame), metrics)
    frame, identity = without_empty(frame, list(dataset.identity), settings)
    _refuse_impossible(frame)
    if isinstance(ks, list):
        frame = _only(frame, ks)
    by = group_columns(identity, settings)
    _refuse_repeats(frame, identity, by)
    frame, by = with_group(frame, by)
    rows = [
        row
        for part in frame.partition_by(*by, "metric")
        for row in _rows(part, by, stopped, available=undefined == "available")
    ]
    return framed(rows, frame, by), by


def _refuse_idle(settings: Settings, average: str) -> None:
    """Raise for options that mean nothing once there are scores."""
    if average != "problems":
        raise UsageError("average='samples' needs counts; scores are averaged over problems")
    idle = sorted(
        settings.changed().keys() - {"by", "problem", "n", "c", "assume", "where", "meta", "format", "stopped"}
    )
    if idle:
        raise UsageError(f"{idle[0]}= needs samples or counts; the input is a table of scores or triples")


def _with_metric(frame: pl.DataFrame, metrics: list[str] | None) -> pl.DataFrame:
    """Return the frame with a metric column: its own, cut to the names asked for, or the one name asked for."""
    if "metric" not in frame.columns:
        if metrics is not None and len(metrics) > 1:
            raise UsageError("the table has no metric column, so its scores are of one metric; name that one")
        return frame.with_columns(metric=pl.lit(metrics[0] if metrics else DEFAULT_METRIC))
    if metrics == []:
        raise UsageError("no metric is named; give one, as in metric='pass@k'")
    if frame["metric"].null_count():
        raise FastpasskError(
            f"the metric is null in {frame['metric'].null_count()} rows; every score must name its own"
        )
    there = frame["metric"].unique().sort().to_list()
    for name in metrics or ():
        choose(name, there, "metric")
    return frame if metrics is None else frame.filter(pl.col("metric").is_in(metrics))


def _refuse_impossible(frame: pl.DataFrame) -> None:
    """Raise for the first row whose k, n or c cannot be, or whose score is not finite."""
    whole = [name for name in ("k", "n", "c") if name in frame.columns]
    wrong = pl.any_horizontal(pl.col(whole).is_null(), pl.col(whole).cast(pl.Float64) % 1 != 0, pl.col("k") < 1)
    if "n" in whole and "c" in whole:
        wrong |= (pl.col("n") < 1) | (pl.col("c") < 0) | (pl.col("c") > pl.col("n"))
    if "score" in frame.columns:
        wrong |= pl.col("score").is_infinite().fill_null(False)
    rows = frame.with_row_index(ROW).filter(wrong)
    if rows.height:
        names = [name for name in (*whole, "score") if name in frame.columns]
        raise FastpasskError(
            f"row {rows[ROW][0] + 1} has {describe(rows.select(names).row(0, named=True))}, the first of "
            f"{rows.height} rows that cannot be; k >= 1, n >= 1 and 0 <= c <= n are whole numbers, a score is finite "
            "or null"
        )


def _only(frame: pl.DataFrame, ks: list[int]) -> pl.DataFrame:
    """Keep the k asked for; each must be in the table, since a score at another k is not in it."""
    absent = sorted(set(ks) - set(frame["k"].unique().to_list()))
    if absent:
        raise UsageError(f"the table has no scores at k = {absent[0]}; leave out k= to take those it has")
    return frame.filter(pl.col("k").is_in(ks))


def _refuse_repeats(frame: pl.DataFrame, identity: list[str], by: list[str]) -> None:
    """Raise when a problem would enter one point twice."""
    if "problem" not in frame.columns:
        return
    check_key(frame, [*identity, "problem", "metric", "k"], "scores")
    for name in (column for column in identity if column not in by):
        refuse_pooling(frame, [*by, "problem", "metric", "k"], name)


def _rows(part: pl.DataFrame, by: list[str], stopped: int | None, *, available: bool) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of one group and metric."""
    first = part.row(0, named=True)
    group, metric = tuple(first[name] for name in by), first["metric"]
    if metric in METRICS and {"n", "c"} <= set(part.columns):
        return (group + row for row in _rows_of_counts(part, METRICS[metric], stopped, available=available))
    return (group + row for row in _rows_of_values(part, metric, available=available))


def _rows_of_counts(
    part: pl.DataFrame, metric: Metric, stopped: int | None, *, available: bool
) -> Iterator[tuple[Any, ...]]:
    """Regroup by (n, c) at each k; k with the same cells share one call, as they do in a tally."""
    check_metric(metric, stopped)
    shared: dict[bytes, tuple[Cells, list[int]]] = {}
    whole = part.with_columns(pl.col("k", "n", "c").cast(pl.Int64))
    tallies = whole.group_by("k", "n", "c").agg(problems=pl.len().cast(pl.Int64)).sort("k", "n", "c")
    if "score" in part.columns:
        _refuse_other_scores(whole, metric, stopped)
    for (k,), rows in tallies.group_by("k", maintain_order=True):
        n, c, problems = (rows[name].to_numpy() for name in ("n", "c", "problems"))
        key = b"|".join(array.tobytes() for array in (n, c, problems))
        shared.setdefault(key, (Cells(n, c, problems, stopped), []))[1].append(int(str(k)))
    for cells, ks in shared.values():
        total, *span = cells.coverage
        for k, mean, error, short in points(metric, [cells], [ks], available=available)[0]:
            yield metric.name, k, mean, error, None, None, total, short, *span


def _refuse_other_scores(whole: pl.DataFrame, metric: Metric, stopped: int | None) -> None:
    """Raise when a score is not the metric of its own n, c and k: the table would be averaged under a false name."""
    cells = whole.group_by("n", "c", "k").agg(low=pl.col("score").min(), high=pl.col("score").max()).sort("n", "c", "k")
    n, c, k = (cells[name].to_numpy() for name in ("n", "c", "k"))
    right = values_of(metric, n, c, k, limits(n, c, stopped), stopped)
    right_series = pl.Series("right", right, nan_to_null=True)
    off = pl.any_horizontal(
        (pl.col(name).fill_nan(None) - pl.col("right")).abs() > TOLERANCE for name in ("low", "high")
    )
    wrong = cells.with_columns(right_series).filter(off.fill_null(False))
    if wrong.height:
        row = wrong.row(0, named=True)
        raise FastpasskError(
            f"a score of {metric.name} is {row['high']} at n={row['n']}, c={row['c']}, k={row['k']}, where it must "
            f"be {row['right']} ({wrong.height} such cells); drop the score column to score the counts, or rename "
            "the metric"
        )


def _rows_of_values(part: pl.DataFrame, metric: str, *, available: bool) -> Iterator[tuple[Any, ...]]:
    """Average scores that are not functions of (n, c), exactly; a null score is an undefined one."""
    values = part.with_columns(pl.col("score").cast(pl.Float64).fill_nan(None), pl.col("k").cast(pl.Int64))
    for (k,), rows in values.group_by("k"):
        span = (rows["n"].min(), rows["n"].max()) if "n" in rows.columns else (None, None)
        cells = rows.drop_nulls("score").group_by("score").agg(problems=pl.len().cast(pl.Int64)).sort("score")
        mean, error, short = np.nan, np.nan, rows.height - int(cells["problems"].sum())
        if cells.height and (available or not short):
            mean, error = mean_and_error_of(cells["score"].to_numpy(), cells["problems"].to_numpy())
        yield metric, k, mean, error, None, None, rows.height, short, *span
