"""Files opened as tables: Parquet, Arrow, CSV and TSV; NDJSON and JSON arrays stand in `lines`.

Each file is opened by itself, since the files of one set differ in columns and types. Nothing but schemas is decoded
here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from fastpassk.errors import FastpasskError
from fastpassk.sources.lines import open_array, open_lines
from fastpassk.storage import File, metadata
from fastpassk.storage.detect import separator_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from fastpassk.sources.lines import Keys

HEAD = 1000  # rows of a CSV file that are looked at to tell what its texts are


@dataclass(frozen=True)
class Table:
    """One input: its columns, and a way to scan some of them."""

    name: str  # for messages
    schema: dict[str, pl.DataType]  # of its own columns
    scan: Callable[[list[str]], pl.LazyFrame]
    file: File | None = None
    text: bool = False  # every value arrives as text (CSV, NDJSON)
    lists: frozenset[str] = frozenset()  # text columns that hold JSON lists
    objects: frozenset[str] = frozenset()  # text columns that hold JSON lists or objects, as their types say
    metadata: dict[str, object] = field(default_factory=dict)

    @property
    def folders(self) -> dict[str, str]:
        """The columns that the names of folders give; a column of the file itself goes first."""
        return {key: value for key, value in (self.file.partition if self.file else ()) if key not in self.schema}

    @property
    def columns(self) -> list[str]:
        """The names of all columns, those of the folders last."""
        return [*self.schema, *self.folders]


def open_table(file: File, wanted: Iterable[str]) -> Table:
    """Open one file; `wanted` are columns that the caller names, to be looked for in files without a header."""
    if file.format == "ndjson":
        return _of_keys(file, open_lines(file, wanted))
    if file.format == "json":
        return _of_keys(file, open_array(file))
    return {"parquet": _open_parquet, "arrow": _open_arrow, "arrow-stream": _open_stream}.get(file.format, _open_csv)(
        file
    )


def decimals(table: Table, frame: pl.LazyFrame, names: Iterable[str]) -> set[str]:
    """Name the text columns in which every value is a whole float (`2.0`), which CSV writes for a float column.

    A glance at the head spares most columns the look at all rows.
    """
    csv = table.file is not None and table.file.format in ("csv", "tsv")
    left = [name for name in dict.fromkeys(names) if name in table.schema] if csv else []
    for rows in (frame.head(HEAD), frame):
        if not left:
            break
        texts = pl.col(left)
        tests = rows.select((texts.str.contains(r"^-?\d+\.0$") | (texts == "")).all() & (texts != "").any()).collect()
        left = [name for name in left if tests[name][0]]
    return set(left)


def _of_keys(file: File, found: Keys) -> Table:
    schema: dict[str, pl.DataType] = {key: pl.String() for key in found.keys}
    return Table(file.name, schema, found.scan, file, text=True, lists=found.lists, objects=found.objects)


def _open_parquet(file: File) -> Table:
    whole = pl.scan_parquet(file.path, glob=False, hive_partitioning=False)
    schema = dict(whole.collect_schema())
    ours = metadata(file.path)
    narrow = _narrow_dictionaries(file) if any(isinstance(kind, pl.Categorical) for kind in schema.values()) else set()

    def scan(names: list[str]) -> pl.LazyFrame:
        for name in sorted(narrow.intersection(names)):
            _check_dictionary(file, name)
        return whole.select(names)

    return Table(file.name, schema, scan, file, metadata=ours)


def _open_arrow(file: File) -> Table:
    whole = pl.scan_ipc(file.path, glob=False, hive_partitioning=False)
    return Table(file.name, dict(whole.collect_schema()), whole.select, file, metadata=metadata(file.path))


def _open_stream(file: File) -> Table:
    """Open an Arrow stream; it has no index of its batches, so that the needed columns are held in memory."""
    import pyarrow as pa

    def scan(names: list[str]) -> pl.LazyFrame:
        with pa.memory_map(str(file.path)) as source:
            batches = [batch.select(names) for batch in pa.ipc.open_stream(source)]
        return pl.DataFrame(pa.Table.from_batches(batches, schema=_only(arrow, names))).lazy()

    with pa.memory_map(str(file.path)) as source:
        arrow = pa.ipc.open_stream(source).schema
    return Table(file.name, dict(pl.DataFrame(arrow.empty_table()).schema), scan, file)


def _open_csv(file: File) -> Table:
    whole = pl.scan_csv(
        file.path, separator=separator_of(file), infer_schema=False, empty_string_is_null=False, glob=False
    )
    schema = dict(whole.collect_schema())
    _refuse_double_headers(file, list(schema))
    head = whole.head(HEAD).select(pl.all().str.starts_with("[").any()).collect()
    lists = frozenset(name for name in head.columns if head[name][0])
    # A short row is filled with nulls, while an empty field is an empty text: the cast fails on the first such row.
    complete = (pl.col(list(schema)[-1]).is_null().cast(pl.Int16) * 300).cast(pl.Int8) == 0
    return Table(file.name, schema, lambda names: whole.filter(complete).select(names), file, text=True, lists=lists)


def _refuse_double_headers(file: File, names: list[str]) -> None:
    for name in names:
        first, mark, _ = name.rpartition("_duplicated_")
        if mark and first in names:
            raise FastpasskError(f"{file.name} has two columns {first!r}; rename one")


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
        raise FastpasskError(
            f"{file.name}: column {name!r} is a dictionary with 8-bit codes and more values than they can tell"
            " apart; no reader decodes it, so write it again with plain strings"
        ) from error
