"""Tables that are in memory already: Polars, Arrow, pandas, DuckDB, dicts of columns, lists of records."""

from __future__ import annotations

import sys

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
        It is none of the kinds that are read, or its columns do not fit Arrow.
    """
    frame = _as_lazy(source)
    schema = dict(frame.collect_schema())
    return Table(name, schema, frame.select, metadata=_provenance(source))


def _provenance(source: object) -> dict[str, object]:
    """Return how a frame of ours was made: its identity columns, its stopping rule, its inputs."""
    return (provenance(source) or {}) if isinstance(source, pl.DataFrame) else {}


def _as_lazy(source: object) -> pl.LazyFrame:
    if isinstance(source, pl.LazyFrame):
        return source
    if isinstance(source, pl.DataFrame):
        return source.lazy()
    if hasattr(source, "__arrow_c_stream__"):
        return _from_arrow(source).lazy()
    if isinstance(source, dict) or is_records(source):
        return _from_values(source).lazy()
    raise UsageError(f"a {type(source).__name__} is no source; allowed: {WHAT}")


def _from_arrow(source: object) -> pl.DataFrame:
    arrow = sys.modules.get("pyarrow")
    if arrow is not None and isinstance(source, arrow.Table):
        frame = pl.from_arrow(source)
        assert isinstance(frame, pl.DataFrame)
        return frame
    return pl.DataFrame(source)


def _from_values(source: object) -> pl.DataFrame:
    if isinstance(source, dict):
        return pl.DataFrame(source, strict=False)
    return pl.DataFrame(source, strict=False, infer_schema_length=None)
