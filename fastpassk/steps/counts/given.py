"""Counts that come as counts: check each row, then the key."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from fastpassk.errors import FastpasskError, UsageError
from fastpassk.schema.frames import check_key
from fastpassk.sources import Dataset, collect

if TYPE_CHECKING:
    from fastpassk.schema.options import Settings


ROW = "__row"  # a helper column, in no table's way


def checked_counts(dataset: Dataset, settings: Settings) -> pl.DataFrame:
    """Return the counts of a dataset: 0 <= c <= n and n >= 1 in every row, each identity and problem once."""
    refuse_sample_options(settings, "counts")
    frame = collect(dataset, dataset.frame)
    refuse_bad_counts(frame, ["n", "c"])
    if frame["problem"].null_count():
        raise FastpasskError(f"the problem is null in {frame['problem'].null_count()} rows of the counts")
    if not settings.unique:
        check_key(frame, [*dataset.identity, "problem"], "counts")
    return frame.select(pl.exclude("bad", "raw"))


def refuse_bad_counts(frame: pl.DataFrame, names: list[str]) -> None:
    """Raise for the first row of counts or of a tally that cannot be, and say how many there are."""
    if not frame.height:
        raise FastpasskError("there are no rows: the input is empty, or `where` kept none")
    wrong = pl.col("bad") | (pl.col("n") < 1) | (pl.col("c") < 0) | (pl.col("c") > pl.col("n"))
    if "problems" in names:
        wrong |= pl.col("problems") < 1
    rows = frame.with_row_index(ROW).filter(wrong.fill_null(True))
    if rows.height:
        row, raw = rows.select(ROW, "raw").row(0)
        raise FastpasskError(
            f"row {row + 1} has {raw}, the first of {rows.height} rows that cannot be; "
            f"{', '.join(names)} are whole numbers with n >= 1 and 0 <= c <= n"
        )


def refuse_sample_options(settings: Settings, kind: str) -> None:
    """Raise when an option is given that only means something for samples."""
    for name in ("passed", "attempt", "threshold", "duplicates"):
        if getattr(settings, name) is not None:
            raise UsageError(f"{name}= is for samples; the input is a table of {kind}")
