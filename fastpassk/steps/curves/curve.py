"""`curve`: the main job, from any source to the mean of a metric over problems at each k, for each group."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from fastpassk.errors import FastpasskError, UsageError, choose, tell
from fastpassk.metrics.stopping import check_metric
from fastpassk.schema.frames import describe
from fastpassk.schema.options import Options, Settings
from fastpassk.schema.policies import AVERAGE, UNDEFINED, Ks, ks_up_to, parse_ks, parse_names
from fastpassk.schema.provenance import digest, remember
from fastpassk.sources import read
from fastpassk.steps.counts import declared_stop
from fastpassk.steps.curves.points import Cells, framed, points
from fastpassk.steps.curves.scored import curves_of_scores
from fastpassk.steps.scores import chosen
from fastpassk.steps.tallies import Tallied, tallied

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Unpack

    from fastpassk.metrics.records import Metric

SIZE = "__size"  # a helper column, in no table's way
PARTIAL = "is a mean over the problems that have enough samples"


def curve(
    source: Any,
    k: Ks = None,
    *,
    metric: str | Iterable[str] | None = None,
    undefined: str = "null",
    average: str = "problems",
    interval: None = None,
    **options: Unpack[Options],
) -> pl.DataFrame:
    """Average a metric over the problems of each group, at each k.

    Parameters
    ----------
    source
        Samples, counts, a tally, scores or triples, in any form that `read` takes.
    k
        A whole number, a list, `"1,10"`, `"1:100"`, `"all"` (1 to the group's smallest n), or None for 1, 2, 4, … and
        that n. Scores and triples bring their own.
    metric
        `"pass@k"` (None means this one), `"pass^k"`, or several of them; of scores, those to keep (None keeps all).
    undefined
        When some problems have n < k: `"null"` leaves the point null, `"available"` averages the others,
        `"error"` refuses.
    average
        `"problems"`: the mean over problems; `"samples"`: the share of all samples that passed, for k = 1 only.
    interval
        None; the methods are still to come.
    options
        See `fastpassk.Options`.

    Returns
    -------
    Curves: the columns of `by`, `metric`, `k`, `estimate`, `std_error`, `low`, `high`, `problems`, `undefined`,
    `n_min`, `n_max`, sorted. Estimate and standard error are the doubles nearest to their exact values.

    Raises
    ------
    FastpasskError
        As `count`; a `UsageError` for options and names that do not exist.
    """
    settings, ks, names = Settings.of(options), parse_ks(k), parse_names(metric)
    choose(undefined, UNDEFINED, "undefined")
    choose(average, AVERAGE, "average")
    if interval is not None:
        raise UsageError(f"interval is {interval!r}; only None is there so far")
    dataset = read(source, **settings.reading())
    if dataset.kind in ("scores", "triples"):
        stopped = declared_stop(dataset, settings)
        frame, by = curves_of_scores(dataset, settings, names, ks, stopped, undefined=undefined, average=average)
        facts: dict[str, object] = {"stopped": stopped}
    else:
        metrics, result = chosen(names), tallied(dataset, settings)
        rows = _pooled_rows(result, metrics, ks) if average == "samples" else _rows(result, metrics, ks, undefined)
        frame, by = framed(rows, result.frame, result.by), result.by
        facts = {"stopped": result.stopped, "tally_sha256": digest(result.frame)}
        if ks == "all":
            _tell_limits(result)
    _tell_undefined(frame, by, undefined)
    facts |= {"metric": frame["metric"].unique().sort().to_list(), "undefined": undefined, "average": average}
    return remember(frame, "curves", identity=by, options=settings.stated(), **facts)


def _groups(result: Tallied) -> Iterator[tuple[tuple[object, ...], Cells]]:
    """Yield each group of a tally and its cells."""
    n, c, problems = (result.frame[name].to_numpy() for name in ("n", "c", "problems"))
    first = 0
    for *group, size in result.frame.group_by(result.by, maintain_order=True).len(SIZE).iter_rows():
        rows = slice(first, first + size)  # the tally is sorted
        yield tuple(group), Cells(n[rows], c[rows], problems[rows], result.stopped)
        first += size


def _rows(
    result: Tallied, metrics: list[Metric], ks: list[int] | str | None, undefined: str
) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of the curves: group, metric, k, estimate, error, low, high, problems, undefined, n range."""
    for metric in metrics:
        check_metric(metric, result.stopped)
    names, groups = zip(*_groups(result), strict=True) if result.frame.height else ((), ())
    wanted = [ks_up_to(ks, int(cells.limits.min())) for cells in groups]
    for metric in metrics:
        found = points(metric, groups, wanted, available=undefined == "available")
        for name, cells, some in zip(names, groups, found, strict=True):
            total, *span = cells.coverage
            for k, mean, error, short in some:
                yield *name, metric.name, k, mean, error, None, None, total, short, *span


def _pooled_rows(result: Tallied, metrics: list[Metric], ks: list[int] | str | None) -> Iterator[tuple[Any, ...]]:
    """Yield the share of all samples that passed; at k = 1 every metric offered is that share."""
    if ks not in (None, [1]) or result.stopped is not None:
        raise UsageError("average='samples' is a rate of single samples: it takes k=1 only, and no stopping rule")
    for group, cells in _groups(result):
        total, *span = cells.coverage
        passed, drawn = (
            sum(int(a) * int(m) for a, m in zip(x, cells.problems, strict=True)) for x in (cells.c, cells.n)
        )
        for metric in metrics:
            yield *group, f"{metric.name} (samples)", 1, passed / drawn, np.nan, None, None, total, 0, *span


def _tell_undefined(frame: pl.DataFrame, by: list[str], undefined: str) -> None:
    """Say in a line each which points are null, and which leave some problems out."""
    short = frame.filter(pl.col("undefined") > 0).sort("k", *by, nulls_last=True)
    if undefined == "error" and short.height:
        name, why = _said(short, by)
        raise FastpasskError(f"{name} is undefined: {why}; ask for smaller k, or undefined='null' or 'available'")
    null = pl.col("estimate").is_null()
    for some, what, more in (
        (short.filter(null), "is null", ""),
        (short.filter(~null), PARTIAL, "; it may be lower than at a smaller k"),
    ):
        if some.height:
            name, why = _said(some, by)
            tell(f"{name} {what}: {why}{more}")


def _said(points: pl.DataFrame, by: list[str]) -> tuple[str, str]:
    """Return the name of the first point, and why it is short, with how many more there are like it."""
    row = points.row(0, named=True)
    k, n_min, undefined = row["k"], row["n_min"], row["undefined"]
    few = n_min is not None and n_min < k
    what = f"{'has' if undefined == 1 else 'have'} {f'n < {k}' if few else 'no score'}"
    group = describe({name: row[name] for name in by})
    more = points.height - 1
    others = f"; so {'is' if more == 1 else 'are'} {more} more point{'s' * (more > 1)}" if more else ""
    title = re.sub(r"(?<=[@^])k$", str(k), row["metric"])
    title = title if title != row["metric"] else f"{title} at k = {k}"
    return title, f"{undefined} of {row['problems']} problems {what} ({group}){others}"


def _tell_limits(result: Tallied) -> None:
    """Say which problem ends a curve over all k, where problems differ in n."""
    if result.counts is None:
        return
    ragged = result.frame.group_by(result.by).agg(pl.col("n").min(), n_max=pl.col("n").max())
    ragged = ragged.filter(pl.col("n") < pl.col("n_max")).drop("n_max")
    ends = result.counts.join(ragged, on=[*result.by, "n"], how="semi", nulls_equal=True)
    if ends.height:
        row = ends.sort(*result.by, "problem", nulls_last=True).row(0, named=True)
        more = f", and so on for {ragged.height - 1} more groups" if ragged.height > 1 else ""
        where = describe({name: row[name] for name in (*result.by, "problem")})
        tell(f"k=all ends at k = {row['n']}, the n of {where}{more}")
