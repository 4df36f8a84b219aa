"""Tables of (n, c, k) triples, scored row by row: all their columns, in their order of rows, and a score.

From file to file, 20 million rows on two threads, against 0.88 s for Polars moving the same columns with a sum of them
in place of the score: 1.02 s. Moving a finished score takes 0.97 s, since its digits pack worse than those of a sum.
With the compiled gather 1.00 s when it is loaded already and 1.42 s when not, which is why `Lookup` does without.

Tried and left: zstd at level 1, 0.98 s and a file 7 % larger; lz4, 0.91 s and 48 % larger; no statistics, 0.92 s, but
readers skip row groups by them; row groups of a million rows, 1.09 s.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from fastpassk.errors import FastpasskError, UsageError
from fastpassk.schema.provenance import provenance, remember
from fastpassk.sources import Dataset, collect, sink_parquet
from fastpassk.steps.scores.values import score_of_rows

if TYPE_CHECKING:
    import os

    from fastpassk.metrics.records import Metric
    from fastpassk.schema.options import Settings

READ = {"n", "c", "where", "meta", "format", "assume"}  # the options with a meaning for triples


def scored_rows(
    dataset: Dataset,
    metrics: list[Metric],
    ks: list[int] | str | None,
    settings: Settings,
    sink: str | os.PathLike[str] | None,
    keys: list[str] | None,
) -> pl.DataFrame:
    """Score triples where they stand, in the order of their rows; streamed when there is a sink."""
    _refuse_for_triples(metrics, ks, settings)
    lazy = dataset.frame.with_columns(score_of_rows(metrics[0]))
    facts: dict[str, object] = {"metric": [metrics[0].name], "options": settings.stated()}
    empty = remember(pl.DataFrame(schema=lazy.collect_schema()), "triples", **facts)
    try:
        if sink is None:
            return remember(collect(dataset, lazy), "triples", **facts)
        sink_parquet(dataset, lazy, sink, provenance(empty) or {}, keys)
    except FastpasskError as error:
        raise _with_row(dataset, error) from None
    return empty


def _refuse_for_triples(metrics: list[Metric], ks: list[int] | str | None, settings: Settings) -> None:
    if len(metrics) > 1:
        raise UsageError("triples take one metric at a time, since they get one score column")
    if ks is not None:
        raise UsageError("the table has a k column; leave out k=, or drop the column to score its counts")
    idle = sorted(settings.changed().keys() - READ)
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
