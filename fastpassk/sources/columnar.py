"""Parquet and Arrow files: their schemas say all; nothing else is decoded on opening."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from fastpassk.errors import FastpasskError
from fastpassk.sources.tables import Table
from fastpassk.storage import File, metadata

if TYPE_CHECKING:
    from pathlib import Path


def open_parquet(file: File) -> Table:
    """Open a Parquet file; raises a `FastpasskError` on scanning a dictionary that no reader can decode."""
    whole = pl.scan_parquet(file.path, glob=False, hive_partitioning=False)
    schema = dict(whole.collect_schema())
    ours = metadata(file.path)
    narrow = _narrow_dictionaries(file) if any(isinstance(kind, pl.Categorical) for kind in schema.values()) else set()

    def scan(names: list[str]) -> pl.LazyFrame:
        for name in sorted(narrow.intersection(names)):
            _check_dictionary(file, name)
        return whole.select(names)

    return Table(file.name, schema, scan, file, metadata=ours, together=None if narrow else _scan_several)


def open_arrow(file: File) -> Table:
    """Open an Arrow file (Feather, IPC)."""
    whole = pl.scan_ipc(file.path, glob=False, hive_partitioning=False)
    return Table(file.name, dict(whole.collect_schema()), whole.select, file, metadata=metadata(file.path))


def open_stream(file: File) -> Table:
    """Open an Arrow stream; it has no index of its batches, so that the needed columns are held in memory."""
    import pyarrow as pa

    def scan(names: list[str]) -> pl.LazyFrame:
        with pa.memory_map(str(file.path)) as source:
            batches = [batch.select(names) for batch in pa.ipc.open_stream(source)]
        return pl.DataFrame(pa.Table.from_batches(batches, schema=_only(arrow, names))).lazy()

    with pa.memory_map(str(file.path)) as source:
        arrow = pa.ipc.open_stream(source).schema
    return Table(file.name, dict(pl.DataFrame(arrow.empty_table()).schema), scan, file)


def overflow(file: File, name: str) -> str:
    """Say that a dictionary has more values than its codes."""
    fact = f"{file.name}: column {name!r} is a dictionary with 8-bit codes and more values than they can tell apart"
    return f"{fact}; no reader decodes it, so write it again with plain strings"


def _scan_several(paths: list[Path], schema: dict[str, pl.DataType]) -> pl.LazyFrame:
    return pl.scan_parquet(paths, glob=False, hive_partitioning=False, schema=schema, extra_columns="ignore")


def _only(schema: Any, names: list[str]) -> Any:
    import pyarrow as pa

    return pa.schema([schema.field(name) for name in names])


def _narrow_dictionaries(file: File) -> set[str]:
    """Name the columns whose dictionary codes are 8 bits wide: more values than codes overflow them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pq.read_schema(file.path)
    return {item.name for item in schema if pa.types.is_dictionary(item.type) and item.type.index_type.bit_width == 8}


def _check_dictionary(file: File, name: str) -> None:
    """Read one such column with pyarrow, which refuses it politely where Polars panics."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        pq.read_table(file.path, columns=[name], partitioning=None)
    except pa.ArrowException as error:
        raise FastpasskError(overflow(file, name)) from error
