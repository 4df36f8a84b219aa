"""`score`: counts to the metric of each problem at each k; or triples, scored row by row from file to file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastpassk.errors import UsageError, tell
from fastpassk.schema.options import Options, Settings
from fastpassk.schema.policies import Ks, parse_ks, parse_names
from fastpassk.schema.provenance import provenance, remember
from fastpassk.sources import Dataset, collect, read, sink_parquet, streamed
from fastpassk.steps.scores.ordered import ordered
from fastpassk.steps.scores.problems import planned, scores_of
from fastpassk.steps.scores.triples import scored_rows
from fastpassk.steps.scores.values import chosen
from fastpassk.storage import refuse_input

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable
    from typing import Unpack

    import polars as pl

    from fastpassk.metrics.records import Metric


def score(
    source: Any,
    k: Ks = None,
    *,
    metric: str | Iterable[str] | None = None,
    sink: str | os.PathLike[str] | None = None,
    partition_by: str | Iterable[str] | None = None,
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
        A file to write instead of returning rows. Parquet is streamed: memory does not follow the number of scores.
    partition_by
        Columns of the result; `sink` is then a new or empty folder that gets one Parquet file for each of their values,
        in folders such as `model=a`.
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
    keys = parse_names(partition_by)
    if keys is not None and sink is None:
        raise UsageError("partition_by= is about files; name the folder for them with sink= (-o)")
    dataset = read(source, **settings.reading())
    if sink is not None:
        refuse_input(sink, dataset.inputs)
    if dataset.kind == "triples":
        return scored_rows(dataset, metrics, ks, settings, sink, keys)
    return _scored_problems(dataset, metrics, ks, settings, sink, keys)


def _scored_problems(
    dataset: Dataset,
    metrics: list[Metric],
    ks: list[int] | str | None,
    settings: Settings,
    sink: str | os.PathLike[str] | None,
    keys: list[str] | None,
) -> pl.DataFrame:
    streams = sink is not None and streamed(sink, keys)
    with ordered(dataset, settings, sink if streams else None) as counts:
        facts: dict[str, object] = {"metric": [one.name for one in metrics], "stopped": counts.stopped}
        facts |= {"identity": counts.by, "options": settings.stated(), "counts_sha256": counts.counts_sha256}
        plan = planned(counts, metrics, ks)
        if plan.undefined:
            tell(f"{plan.undefined} of {plan.rows} scores are null: their problem has n < k, so the value is undefined")
        lazy = scores_of(counts, plan)
        if sink is None:
            return remember(collect(dataset, lazy), "scores", **facts)
        empty = remember(lazy.collect_schema().to_frame(), "scores", **facts)
        sink_parquet(dataset, lazy, sink, provenance(empty) or {}, keys)
        return empty
