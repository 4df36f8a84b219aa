"""Scores of problems: sorted counts, a slice of them at a time, each row repeated for every metric and k, and scored.

Slices are cut so that what they grow to has `CELLS` rows, whatever the number of ks: memory follows the counts and not
the scores. On two threads, 2 million counts and three ks: 0.5 s from sorted counts to the file. Tried and left: a join
with the ks and a sort of the result, 3.5 s; the counts as one lazy frame, which Polars cuts into 100,000 rows before
it repeats them, the same time, but 8.7 GB and 40 s at 100 ks, against 0.8 GB and 12 s.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from polars.io.plugins import register_io_source

from fastpassk.metrics.stopping import check_metric, limits
from fastpassk.schema.policies import ks_up_to
from fastpassk.steps.scores.ordered import PROBLEMS
from fastpassk.steps.scores.values import LIMIT, score_of_rows, score_of_stopped_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fastpassk.metrics.records import Metric
    from fastpassk.steps.scores.ordered import Ordered

    Ints = np.ndarray[tuple[int], np.dtype[np.int64]]

CELLS = 1 << 17  # rows of scores that are made at a time


@dataclass(frozen=True)
class Plan:
    """What is computed of each group.

    Attributes
    ----------
    by
        The columns that make a group.
    metrics
        Sorted by name.
    stopped
        The stopping rule.
    groups
        One row a group: the columns of `by`, `k` (list of its ks) and `LIMIT`, the largest k of a problem that ended
        early.
    rows, undefined
        How many scores there will be, and how many of them null.
    """

    by: list[str]
    metrics: list[Metric]
    stopped: int | None
    groups: pl.DataFrame
    rows: int
    undefined: int


def planned(counts: Ordered, metrics: list[Metric], ks: list[int] | str | None) -> Plan:
    """Choose the ks of every group, and count what is undefined; raises as `limits` and `check_metric` do."""
    by, stopped = counts.by, counts.stopped
    for metric in metrics:
        check_metric(metric, stopped)
    rows, total, undefined = [], 0, 0
    for *group, n, c, problems in counts.cells.group_by(by).agg("n", "c", PROBLEMS).iter_rows():
        ends = limits(np.array(n, np.int64), np.array(c, np.int64), stopped)
        own = ks_up_to(ks, int(ends.min()))
        rows.append((*group, own, max(n)))
        total += len(own) * sum(problems)
        undefined += _beyond(ends, np.array(problems, np.int64), np.array(own, np.int64))
    schema = [*counts.cells.select(by).schema.items(), ("k", pl.List(pl.Int64())), (LIMIT, pl.Int64())]
    groups = pl.DataFrame(rows, schema, orient="row")
    return Plan(
        by, sorted(metrics, key=lambda one: one.name), stopped, groups, total * len(metrics), undefined * len(metrics)
    )


def scores_of(counts: Ordered, plan: Plan) -> pl.LazyFrame:
    """Return the scores of counts, in their order, then by metric and k."""
    longest = max(map(len, plan.groups["k"]), default=1) * len(plan.metrics)
    step = max(1, CELLS // longest)

    def slices(columns: list[str] | None, *_: object) -> Iterator[pl.DataFrame]:
        for piece in counts.slices(step):
            whole = _with_ks(piece, plan)
            yield whole if columns is None else whole.select(columns)

    columns = counts.cells.clear().with_columns(pl.lit(None, pl.String).alias("problem"))
    schema = _with_ks(columns.select(*plan.by, "problem", "n", "c"), plan).schema
    lazy = register_io_source(slices, schema=schema)
    return _repeated(lazy, plan).select(*plan.by, "problem", "n", "c", "metric", "k", "score")


def _beyond(ends: Ints, problems: Ints, ks: Ints) -> int:
    """Count the pairs of a problem and a k in which the k is larger than where the problem ends."""
    order = np.argsort(ends)
    before = np.concatenate([[0], np.cumsum(problems[order])])
    return int(before[np.searchsorted(ends[order], ks, side="left")].sum())


def _with_ks(piece: pl.DataFrame, plan: Plan) -> pl.DataFrame:
    """Add the ks of each row's group, and the largest k for which it is defined where there is a stopping rule."""
    if plan.groups.height == 1:
        named = piece.with_columns(pl.lit(plan.groups[name]).first().alias(name) for name in ("k", LIMIT))
    else:
        named = piece.join(plan.groups, on=plan.by, how="left", nulls_equal=True, maintain_order="left")
    if plan.stopped is None:
        return named.drop(LIMIT)
    return named.with_columns(pl.when(pl.col("c") == plan.stopped).then(LIMIT).otherwise("n").alias(LIMIT))


def _repeated(lazy: pl.LazyFrame, plan: Plan) -> pl.LazyFrame:
    """Repeat every row for each metric and k, and score it."""
    names = [metric.name for metric in plan.metrics]
    lazy = lazy.with_columns(pl.lit(pl.Series([names])).first().alias("metric")).explode("metric").explode("k")
    score = _score(plan.metrics[-1], plan.stopped)
    for metric in plan.metrics[:-1]:
        score = pl.when(pl.col("metric") == metric.name).then(_score(metric, plan.stopped)).otherwise(score)
    return lazy.with_columns(score.alias("score"))


def _score(metric: Metric, stopped: int | None) -> pl.Expr:
    return score_of_rows(metric) if stopped is None else score_of_stopped_rows(metric, stopped)
