"""The rows of CSV and TSV files read slowly and strictly: to say what is wrong with one, and to leave bad ones out."""

from __future__ import annotations

import csv
import io
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from fastpassk.errors import FastpasskError
from fastpassk.sources.scratch import scratch
from fastpassk.storage.detect import open_bytes, separator_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from fastpassk.storage import File

UNCLOSED = "unexpected end of data"  # what the standard library says of a quote that is not closed


class Lines:
    """Lines that remember whether the last one given ended as a line does."""

    def __init__(self, lines: Iterable[str]) -> None:
        """Give these lines."""
        self._lines = lines
        self.ended = True

    def __iter__(self) -> Iterator[str]:
        """Give the lines."""
        for line in self._lines:
            self.ended = line.endswith(("\n", "\r"))
            yield line


def bad_row(file: File) -> str | None:
    """Say which row is the first that does not fit the header, or where quotes do not pair; None when all is well."""
    with _text(file) as text:
        lines = Lines(text)
        rows = csv.reader(lines, delimiter=separator_of(file))
        header = next(rows, [])
        for row in rows:
            if row and len(row) != len(header):
                return misfit(file, rows.line_num, row, header, cut=is_cut(rows, lines))
    return misquoted(file)


def is_cut(rows: Iterator[list[str]], lines: Lines) -> bool:
    """Tell whether the row just read is the last, and is cut off: nothing follows, not even the end of its line."""
    return not lines.ended and next(rows, None) is None


def misfit(file: File, line: int, row: list[str], header: list[str], *, cut: bool) -> str:
    """Say that a row has another number of fields than the header."""
    what = "the last line is cut off: " if cut and len(row) < len(header) else ""
    return f"{file.name}, line {line}: {what}{len(row)} fields, but the header has {len(header)}"


def misquoted(file: File) -> str | None:
    """Say where the quotes of a file do not pair; None where none is found. The file is read slowly, up to there."""
    with _text(file) as text:
        rows = csv.reader(text, delimiter=separator_of(file), strict=True)
        try:
            for _ in rows:
                pass
        except csv.Error as error:
            return _unpaired(file, rows.line_num, error)
    return None


def sifted(file: File) -> tuple[Path, list[int], bool]:
    """Copy a file without the rows that are bad.

    Returns
    -------
    The copy, the lines on which the bad rows end, and whether the last line is cut off.

    Raises
    ------
    FastpasskError
        A quote is not closed: all that follows may be inside it.
    """
    bad: list[int] = []
    with _text(file, errors="surrogateescape") as text, scratch(".csv") as (path, out):
        lines = Lines(text)
        rows = csv.reader(lines, delimiter=separator_of(file), strict=True)
        writer = csv.writer(
            io.TextIOWrapper(out, "utf-8", newline="", write_through=True), delimiter=separator_of(file)
        )
        width = None
        for row in _kept(file, rows, bad):
            width = len(row) if width is None else width
            if row and (len(row) != width or not _is_text(row)):
                bad.append(rows.line_num)
            else:
                writer.writerow(row)
    return path, bad, not lines.ended and bad[-1:] == [rows.line_num]


def _kept(file: File, rows: Iterator[list[str]], bad: list[int]) -> Iterator[list[str]]:
    """Give the rows that can be read; the reader goes on behind one that cannot."""
    while True:
        try:
            yield next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            line: int = rows.line_num  # type: ignore[attr-defined]
            if UNCLOSED in str(error):
                raise FastpasskError(f"{_unpaired(file, line, error)}; what stands behind it cannot be told") from error
            bad.append(line)


def _unpaired(file: File, line: int, error: csv.Error) -> str:
    return f"{file.name}, line {line}: quotes do not pair ({error}); a quote within quotes is written twice"


def _is_text(row: list[str]) -> bool:
    """Tell whether all bytes of a row were valid UTF-8."""
    try:
        return all(field.isascii() or field.encode() is not None for field in row)
    except UnicodeEncodeError:
        return False


@contextmanager
def _text(file: File, errors: str = "strict") -> Iterator[io.TextIOWrapper]:
    """Open a file as text, for fields of any length; the standard library has one limit for all its readers."""
    limit = csv.field_size_limit(sys.maxsize)
    try:
        with open_bytes(file) as stream:
            yield io.TextIOWrapper(stream, encoding="utf-8-sig", newline="", errors=errors)
    finally:
        csv.field_size_limit(limit)
