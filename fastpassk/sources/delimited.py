"""CSV and TSV files: every value is read as text.

The scan fills a short row with empty fields and overlooks a long one, gives a row for an empty line, and swallows whole
rows where a quote is not closed properly; so that the rows are counted through once, with another reader, before they
are scanned.
"""

from __future__ import annotations

import csv
import io
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from fastpassk.errors import FastpasskError
from fastpassk.sources.rows import Lines, is_cut, misfit, misquoted, sifted
from fastpassk.sources.skipping import tell_skipped
from fastpassk.sources.tables import HEAD, Table
from fastpassk.storage.detect import open_bytes, separator_of

if TYPE_CHECKING:
    import pyarrow as pa

    from fastpassk.storage import File

SMALL = 1 << 20  # bytes that the standard library reads through faster than another package is imported
BLOCK = 1 << 24


def open_delimited(file: File, *, skip: bool = False) -> Table:
    """Open a CSV or TSV file.

    Parameters
    ----------
    file
        The file.
    skip
        Whether rows that are bad are left out, which is told; the good ones are then copied.

    Raises
    ------
    FastpasskError
        Two columns of one name, a row with more or fewer fields than the header, or quotes that do not pair; the line
        is named.
    """
    if not skip:
        return _opened(file)
    try:
        table = _opened(file)
        table.scan(list(table.schema)).select(pl.all().count()).collect()  # not all of it is text, it may be
    except (ValueError, pl.exceptions.PolarsError):
        path, bad, cut = sifted(file)
        if not bad:
            raise
        tell_skipped(file.name, bad, cut=cut)
        table = replace(_opened(replace(file, path=path, compression=None)), file=file)
    return table


def _opened(file: File) -> Table:
    separator = separator_of(file)
    whole = pl.scan_csv(file.path, separator=separator, infer_schema=False, empty_string_is_null=False, glob=False)
    schema = dict(whole.collect_schema())
    _refuse_double_headers(file, list(schema))
    counted = _count_rows(file, separator, len(schema))
    if counted != _scanned(whole):
        whole = whole.filter(pl.any_horizontal(pl.all() != ""))  # empty lines
        if counted != _scanned(whole):
            raise FastpasskError(misquoted(file) or f"{file.name}: {counted} rows stand in it, but not all can be read")
    head = whole.head(HEAD).select(pl.all().str.starts_with("[").any()).collect()
    lists = frozenset(name for name in head.columns if head[name][0])
    return Table(file.name, schema, whole.select, file, text=True, lists=lists)


def _refuse_double_headers(file: File, names: list[str]) -> None:
    for name in names:
        first, mark, _ = name.rpartition("_duplicated_")
        if mark and first in names:
            raise FastpasskError(f"{file.name} has two columns {first!r}; rename one")


def _scanned(scan: pl.LazyFrame) -> int:
    """Count the rows of a scan by parsing one column, since a bare count of rows is taken without parsing."""
    return int(scan.select(pl.nth(0).count()).collect().item())


def _count_rows(file: File, separator: str, width: int) -> int:
    """Count the rows that are not empty; refuse those that do not have as many fields as the header."""
    with open_bytes(file) as stream:
        head = stream.read(SMALL + 1)
    if len(head) <= SMALL:
        with suppress(csv.Error):  # a field is longer than the standard library takes
            return _count_small(file, head, separator)
    return _count_large(file, separator, width)


def _count_small(file: File, text: bytes, separator: str) -> int:
    lines = Lines(io.StringIO(text.decode("utf-8-sig"), newline=""))
    rows = csv.reader(lines, delimiter=separator)
    header = next(rows, [])
    found = 0
    for row in rows:
        if row and len(row) != len(header):
            raise FastpasskError(misfit(file, rows.line_num, row, header, cut=is_cut(rows, lines)))
        found += any(row)
    return found


def _count_large(file: File, separator: str, width: int) -> int:
    """Count a large file in bounded memory; the first row that does not fit is an error of the reader."""
    import pyarrow as pa
    from pyarrow import csv as reader

    rows = reader.open_csv(
        pa.input_stream(str(file.path), compression=file.compression),
        reader.ReadOptions(block_size=BLOCK, autogenerate_column_names=True),
        reader.ParseOptions(delimiter=separator, newlines_in_values=True),
        reader.ConvertOptions(column_types={f"f{place}": pa.binary() for place in range(width)}, check_utf8=False),
    )
    return sum(map(_filled, rows)) - 1  # the header


def _filled(rows: pa.RecordBatch) -> int:
    """Count the rows in which some field is not empty."""
    import pyarrow.compute as pc

    empty = pc.equal(pc.binary_length(rows.column(0)), 0)
    for column in rows.columns[1:]:
        if not empty.true_count:
            break
        empty = pc.and_(empty, pc.equal(pc.binary_length(column), 0))
    return int(rows.num_rows - empty.true_count)
