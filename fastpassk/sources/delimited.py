"""CSV and TSV files: every value is read as text.

The scan fills a short row with empty fields and overlooks a long one, and gives a row for an empty line; so that the
rows are counted through once, with another reader, before they are scanned.
"""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

import polars as pl

from fastpassk.errors import FastpasskError
from fastpassk.sources.tables import HEAD, Table
from fastpassk.storage.detect import open_bytes, separator_of

if TYPE_CHECKING:
    from fastpassk.storage import File

SMALL = 1 << 20  # bytes that the standard library reads through faster than another package is imported
BLOCK = 1 << 24


def open_delimited(file: File) -> Table:
    """Open a CSV or TSV file.

    Raises
    ------
    FastpasskError
        Two columns of one name, or a row with more or fewer fields than the header; its line is named.
    """
    separator = separator_of(file)
    whole = pl.scan_csv(file.path, separator=separator, infer_schema=False, empty_string_is_null=False, glob=False)
    schema = dict(whole.collect_schema())
    _refuse_double_headers(file, list(schema))
    if _has_empty_lines(file, separator):
        whole = whole.filter(pl.any_horizontal(pl.all() != ""))
    head = whole.head(HEAD).select(pl.all().str.starts_with("[").any()).collect()
    lists = frozenset(name for name in head.columns if head[name][0])
    return Table(file.name, schema, whole.select, file, text=True, lists=lists)


def _refuse_double_headers(file: File, names: list[str]) -> None:
    for name in names:
        first, mark, _ = name.rpartition("_duplicated_")
        if mark and first in names:
            raise FastpasskError(f"{file.name} has two columns {first!r}; rename one")


def _has_empty_lines(file: File, separator: str) -> bool:
    """Tell whether there are empty lines, and refuse rows that do not have as many fields as the header."""
    with open_bytes(file) as stream:
        head = stream.read(SMALL + 1)
    if len(head) <= SMALL:
        return not all(_rows(file, head, separator))
    _count_fields(file, separator)
    return bool(pl.scan_lines(file.path, glob=False).select((pl.col("line") == "").any()).collect().item())


def _rows(file: File, text: bytes, separator: str) -> list[list[str]]:
    rows = csv.reader(io.StringIO(text.decode("utf-8-sig"), newline=""), delimiter=separator)
    header = next(rows, [])
    found = []
    for row in rows:
        if row and len(row) != len(header):
            raise FastpasskError(misfit(file, rows.line_num, row, header))
        found.append(row)
    return found


def misfit(file: File, line: int, row: list[str], header: list[str]) -> str:
    """Say that a row has another number of fields than the header."""
    return f"{file.name}, line {line}: {len(row)} fields, but the header has {len(header)}"


def _count_fields(file: File, separator: str) -> None:
    """Read a large file through in bounded memory; the first row that does not fit is an error of the reader."""
    import pyarrow as pa
    from pyarrow import csv as reader

    rows = reader.open_csv(
        pa.input_stream(str(file.path), compression=file.compression),
        reader.ReadOptions(block_size=BLOCK, autogenerate_column_names=True),
        reader.ParseOptions(delimiter=separator, newlines_in_values=True),
        reader.ConvertOptions(include_columns=["f0"], column_types={"f0": pa.binary()}, check_utf8=False),
    )
    for _ in rows:
        pass
