"""Files opened as tables: Parquet, Arrow, CSV and TSV; NDJSON and JSON arrays stand in `lines`.

Each file is opened by itself, since files of one set differ in columns and types; nothing is decoded here but schemas.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl

from fastpassk.errors import FastpasskError, UsageError
from fastpassk.sources.lines import open_array, open_lines
from fastpassk.storage import File, metadata
from fastpassk.storage.detect import separator_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


@dataclass(frozen=True)
class Table:
    """One input: its columns, and a way to scan some of them."""

    name: str  # for messages
    schema: dict[str, pl.DataType]  # of its own columns
    scan: Callable[[list[str]], pl.LazyFrame]
    file: File | None = None
    text: bool = False  # every value arrives as text (CSV, NDJSON)
    decimal: bool = False  # a float column reads "2.0" where others read "2" (CSV)
    lists: frozenset[str] = frozenset()  # text columns that hold JSON lists
    metadata: dict[str, object] = field(default_factory=dict)

    @property
    def folders(self) -> dict[str, str]:
        """The columns that the names of folders give; a column of the file itself goes first."""
        return {key: value for key, value in (self.file.partition if self.file else ()) if key not in self.schema}


def open_table(file: File, wanted: Iterable[str]) -> Table:
    """Open one file; `wanted` are columns that the caller names, to be looked for in files without a header."""
    if file.format == "ndjson":
        found = open_lines(file, wanted)
    elif file.format == "json":
        found = open_array(file)
    else:
        return {"parquet": _open_parquet, "arrow": _open_arrow, "arrow-stream": _open_stream}.get(
            file.format, _open_csv
        )(file)
    schema = dict.fromkeys(found.keys, pl.String())
    return Table(file.name, schema, found.scan, file, text=True, lists=found.lists)


def _open_parquet(file: File) -> Table:
    whole = pl.scan_parquet(file.path, glob=False, hive_partitioning=False)
    schema = dict(whole.collect_schema())
    ours = metadata(file.path)
    narrow = _narrow_dictionaries(file) if any(isinstance(kind, pl.Categorical) for kind in schema.values()) else set()

    def scan(names: list[str]) -> pl.LazyFrame:
        for name in narrow.intersection(names):
            _check_dictionary(file, name)
        return whole.select(names)

    return Table(file.name, schema, scan, file, metadata=ours)


def _open_arrow(file: File) -> Table:
    whole = pl.scan_ipc(file.path, glob=False, hive_partitioning=False)
    return Table(file.name, dict(whole.collect_schema()), whole.select, file, metadata=metadata(file.path))


def _open_stream(file: File) -> Table:
    """A stream has no index of its batches: it is read whole."""
    with file.path.open("rb") as stream:
        frame = pl.read_ipc_stream(stream)
    return Table(file.name, dict(frame.schema), frame.lazy().select, file)


def _open_csv(file: File) -> Table:
    whole = pl.scan_csv(
        file.path, separator=separator_of(file), infer_schema=False, empty_string_is_null=False, glob=False
    )
    schema = dict(whole.collect_schema())
    names = list(schema)
    _refuse_double_headers(file, names)
    last = names[-1]
    # A short row is filled with nulls, while an empty field is an empty text: the strict cast fails on the first one.
    complete = (pl.col(last).is_null().cast(pl.Int16) * 300).cast(pl.Int8) == 0

    def scan(wanted: list[str]) -> pl.LazyFrame:
        return whole.filter(complete).select(wanted)

    lists = _list_columns(whole)
    return Table(file.name, schema, scan, file, text=True, decimal=True, lists=lists)


def _list_columns(whole: pl.LazyFrame) -> frozenset[str]:
    head = whole.head(1000).select(pl.all().str.starts_with("[").any()).collect()
    return frozenset(name for name in head.columns if head[name][0])


def _refuse_double_headers(file: File, names: list[str]) -> None:
    doubled = [name for name in names if "_duplicated_" in name and name.partition("_duplicated_")[0] in names]
    if doubled:
        raise FastpasskError(f"{file.name} has two columns {doubled[0].partition('_duplicated_')[0]!r}; rename one")


def _narrow_dictionaries(file: File) -> set[str]:
    """Name the columns whose dictionary codes are 8 bits wide: more than 127 values overflow them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pq.read_schema(file.path)
    return {item.name for item in schema if pa.types.is_dictionary(item.type) and item.type.index_type.bit_width == 8}


def _check_dictionary(file: File, name: str) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        pq.read_table(file.path, columns=[name], partitioning=None)
    except pa.ArrowException as error:
        raise FastpasskError(
            f"{file.name}: column {name!r} is a dictionary with 8-bit codes and more values than they can tell"
            " apart, so no reader can decode it; write it again as plain strings"
        ) from error


def only(schema: dict[str, pl.DataType], name: str, table: str) -> str:
    """Return `name` when it is a column of `table`, else raise a `UsageError`."""
    if name not in schema:
        raise UsageError(f"{table} has no column {name!r}")
    return name
