"""Tables that are in memory already: Polars, Arrow, pandas, DuckDB, dicts of columns, lists of records."""

from __future__ import annotations

from typing import Any

import polars as pl

from fastpassk.errors import UsageError
from fastpassk.schema.provenance import provenance
from fastpassk.sources.tables import Table

WHAT = (
    "a path, a glob, a folder, a list of those, a Polars DataFrame or LazyFrame, anything with __arrow_c_stream__"
    " (pyarrow, pandas, DuckDB), a dict of columns or a list of records"
)


def is_records(source: object) -> bool:
    """Tell whether a list is one table, a record an item, and not a list of sources."""
    return isinstance(source, (list, tuple)) and bool(source) and all(isinstance(item, dict) for item in source)


def open_frame(source: object, name: str = "the frame") -> Table:
    """Wrap a table in memory.

    Raises
    ------
    UsageError
        It is of no kind that is read.
    """
    frame = _as_lazy(source)
    made = provenance(source) if isinstance(source, pl.DataFrame) else None
    return Table(name, dict(frame.collect_schema()), frame.select, metadata=made or {})


def _as_lazy(source: Any) -> pl.LazyFrame:
    if isinstance(source, pl.LazyFrame):
        return source
    if isinstance(source, pl.DataFrame):
        return source.lazy()
    if hasattr(source, "__arrow_c_stream__"):
        return pl.DataFrame(source).lazy()
    if isinstance(source, dict) or is_records(source):
        return _from_values(source).lazy()
    raise UsageError(f"a {type(source).__name__} is no source; allowed: {WHAT}")


def _from_values(source: Any) -> pl.DataFrame:
    """Build a frame; values of several types in one column become text, and are told apart as those of a CSV file."""
    if isinstance(source, dict):
        return pl.DataFrame(source, strict=False)
    return pl.DataFrame(source, strict=False, infer_schema_length=None)
