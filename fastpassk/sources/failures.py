"""What can go wrong while rows are read, said in one line that names the file and, for text files, the line.

The readers say neither. The file is read again, slowly, only after a failure.
"""

from __future__ import annotations

import csv
import json
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

import polars as pl

from fastpassk.errors import FastpasskError
from fastpassk.sources.columnar import overflow
from fastpassk.sources.rows import bad_row, misquoted
from fastpassk.storage import File, fingerprint
from fastpassk.storage.detect import open_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fastpassk.sources.dataset import Dataset

# Mistakes in a query, ours or that of a caller's lazy frame: they are shown as they are.
MISTAKES = (pl.exceptions.ColumnNotFoundError, pl.exceptions.DuplicateError)
NO_ROOM = re.compile("No space left|File too large|quota exceeded", re.IGNORECASE)
NOT_WHOLE = re.compile(r"to `i64` failed .*?\[\"(n|c|k)=(.*?)\"[\],]")


def collect(dataset: Dataset, lazy: pl.LazyFrame) -> pl.DataFrame:
    """Run a query over the frame of a dataset.

    Raises
    ------
    FastpasskError
        A file cannot be read; it is named, and for text files the line.
    """
    with translated(dataset.inputs):
        return lazy.collect()


def fingerprints(dataset: Dataset) -> list[str | None]:
    """Return what the tables were counted from, in their order.

    A table of counts that names its own inputs stands for those; any other file for itself, with one fingerprint; a
    frame that does not say what it was made from gives None.
    """
    files = [*dataset.inputs, *[None] * (len(dataset.said) - len(dataset.inputs))]
    return [one for file, said in zip(files, dataset.said, strict=True) for one in _origins(file, said)]


def _origins(file: File | None, said: dict[str, object]) -> list[str | None]:
    named = said.get("inputs")
    if isinstance(named, list) and named:
        return [str(one) for one in named]
    return [fingerprint(file.path) if file else None]


@contextmanager
def translated(files: Iterable[File]) -> Iterator[None]:
    """Turn whatever the readers raise inside the block into one `FastpasskError` that names the file."""
    try:
        yield
    except (FastpasskError, MemoryError, *MISTAKES):
        raise
    except (Exception, pl.exceptions.PanicException) as error:  # a panic derives from BaseException
        if not _is_reading(error):
            raise
        raise FastpasskError(_explained(list(files), error)) from error


def _is_reading(error: BaseException) -> bool:
    library = type(error).__module__.partition(".")[0]
    kinds = (OSError, EOFError, UnicodeError, pl.exceptions.PanicException)
    return library in ("polars", "pyarrow") or isinstance(error, kinds)


def _explained(files: list[File], error: BaseException) -> str:
    number = NOT_WHOLE.search(str(error))
    if number:
        return f"{number[1]} is {number[2]} in a row; n, c and k must be whole numbers"
    if NO_ROOM.search(str(error)):
        return f"the result cannot be written: {_first_line(error)}"
    if "CSV malformed" in str(error):
        return f"{_where(files)}: quotes do not pair; a field with a quote in it stands in quotes, that quote twice"
    fault = next((fault for fault in map(_fault, files) if fault), None)
    return fault or f"{_where(files)} cannot be read: {_first_line(error)}"


def _where(files: list[File]) -> str:
    return files[0].name if len(files) == 1 else f"one of {len(files)} files" if files else "the frame"


def _fault(file: File) -> str | None:
    """Find what is wrong with a file; None when it reads well."""
    try:
        if file.format == "ndjson":
            return _bad_line(file)
        if file.format in ("csv", "tsv"):
            return bad_row(file)
        return None if file.format == "json" else _bad_columns(file)
    except csv.Error:
        return misquoted(file)
    except UnicodeDecodeError:
        return f"{file.name} is not UTF-8 text; convert it first, as with iconv"
    except (OSError, EOFError) as error:
        return f"{file.name} cannot be read: {error}"


def _bad_line(file: File) -> str | None:
    with open_bytes(file) as stream:
        for number, line in enumerate(stream, 1):
            text = line.decode().removeprefix("\ufeff").strip()
            try:
                value = json.loads(text or "{}")
            except ValueError as error:
                if not line.endswith(b"\n"):
                    return f"{file.name}, line {number}: the last line is cut off"
                return f"{file.name}, line {number} is not valid JSON: {error}"
            if not isinstance(value, dict):
                return f"{file.name}, line {number} is no JSON object but {text[:40]}"
    return None


def _bad_columns(file: File) -> str | None:
    """Decode the columns one by one; older versions of pyarrow do not tell an overflow beforehand."""
    if file.format == "arrow-stream":
        return None
    scan = pl.scan_parquet if file.format == "parquet" else pl.scan_ipc
    name = None
    try:
        whole = scan(file.path, glob=False)
        for name, kind in whole.collect_schema().items():
            whole.select(name if kind.is_nested() else pl.col(name).hash().sum()).collect()
    except (Exception, pl.exceptions.PanicException) as error:  # noqa: BLE001 - whatever it is, it is the fault
        if name and "overflow" in str(error):
            return overflow(file, name)
        what = f"column {name!r}" if name else f"it as {file.format}"
        return f"{file.name} is damaged or cut off: reading {what} fails with {_first_line(error)}"
    return None


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
