"""The points of one group's curve, from its tally: estimates, errors, and how many problems have too few samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from fastpassk.metrics.means import Groups, mean_and_error, means_and_errors
from fastpassk.metrics.stopping import effective, limits
from fastpassk.schema.frames import CURVES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fastpassk.metrics.records import Metric

    Integers = np.ndarray[tuple[int], np.dtype[np.int64]]

Point = tuple[int, float, float, int]  # k, estimate, standard error (NaN where there is none), undefined


@dataclass(frozen=True)
class Cells:
    """The tally of one group: int64 arrays of one length, and the rule by which sampling stopped."""

    n: Integers
    c: Integers
    problems: Integers
    stopped: int | None = None

    @property
    def limits(self) -> Integers:
        """The largest k at which each cell is defined."""
        return limits(self.n, self.c, self.stopped)

    @property
    def coverage(self) -> tuple[int, int, int]:
        """How many problems there are, and the smallest and largest n."""
        return int(self.problems.sum()), int(self.n.min()), int(self.n.max())


def points(metric: Metric, groups: Sequence[Cells], ks: Sequence[list[int]], *, available: bool) -> list[list[Point]]:
    """Return the points of each group at each of its ks.

    Parameters
    ----------
    metric
        What to average.
    groups
        The tally of each group.
    ks
        The ks of each group, ascending.
    available
        Where some problems have n < k, take the mean over the others; else the point is NaN.
    """
    limits = [cells.limits for cells in groups]
    regular = [
        [k for k in some if k <= limit.min()] if cells.stopped is None else []
        for cells, limit, some in zip(groups, limits, ks, strict=True)
    ]
    made = _regular(metric, groups, regular)
    for place, (cells, limit, some) in enumerate(zip(groups, limits, ks, strict=True)):
        rest = some[len(regular[place]) :]
        made[place] += [_irregular(metric, cells, limit, k, available=available) for k in rest]
    return made


def _regular(metric: Metric, groups: Sequence[Cells], ks: list[list[int]]) -> list[list[Point]]:
    """Return the points at ks that every problem of their group has, all groups in one go."""
    whole = sorted({k for some in ks for k in some})
    if not whole:
        return [[] for _ in groups]
    starts = np.cumsum([0, *(cells.n.size for cells in groups)])
    n, c, problems = (np.concatenate([getattr(cells, name) for cells in groups]) for name in ("n", "c", "problems"))
    means, errors = means_and_errors(metric, Groups(starts, n, c, problems), np.array(whole, np.int64))
    place = {k: j for j, k in enumerate(whole)}
    return [
        [(k, mean[place[k]], error[place[k]], 0) for k in some]
        for some, mean, error in zip(ks, means.tolist(), errors.tolist(), strict=True)
    ]


def framed(rows: Iterable[tuple[Any, ...]], like: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    """Build the Curves frame from rows that hold its columns in order: sorted, and null where a number is undefined."""
    schema = {name: like.schema[name] for name in by} | {one.name: getattr(pl, one.dtype) for one in CURVES.columns}
    frame = pl.DataFrame(list(rows), schema, orient="row").with_columns(pl.col("estimate", "std_error").fill_nan(None))
    return frame.sort(*by, "metric", "k", nulls_last=True)


def _irregular(metric: Metric, cells: Cells, limit: Integers, k: int, *, available: bool) -> Point:
    """Return the point at a k for which some problems are short, or which stopped sampling rewrites."""
    defined = limit >= k
    undefined = int(cells.problems[~defined].sum())
    if not defined.any() or (undefined and not available):
        return k, np.nan, np.nan, undefined
    n, c = effective(cells.n[defined], cells.c[defined], k, cells.stopped)
    mean, error = mean_and_error(metric, n, c, cells.problems[defined], np.array([k], np.int64))
    return k, float(mean[0]), float(error[0]), undefined
