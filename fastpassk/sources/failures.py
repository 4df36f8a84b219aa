"""What can go wrong while rows are read, said in one line that names the file and, for text files, the line."""

from __future__ import annotations

import csv
import io
import json
from contextlib import contextmanager
from typing import TYPE_CHECKING

import polars as pl

from fastpassk.errors import FastpasskError
from fastpassk.storage import File, fingerprint
from fastpassk.storage.detect import open_bytes, separator_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fastpassk.sources.dataset import Dataset


def collect(dataset: Dataset, lazy: pl.LazyFrame) -> pl.DataFrame:
    """Run a query over the frame of a dataset.

    Raises
    ------
    FastpasskError
        A file cannot be read; it is named, and for text files the line.
    """
    with translated(dataset.inputs):
        return lazy.collect()


def fingerprints(dataset: Dataset) -> list[str]:
    """Return one fingerprint a file, in the order of the files; [] for frames."""
    return [fingerprint(file.path) for file in dataset.inputs]


@contextmanager
def translated(files: Iterable[File]) -> Iterator[None]:
    """Turn whatever the readers raise inside the block into one `FastpasskError` that names the file."""
    try:
        yield
    except (FastpasskError, MemoryError):
        raise
    except Exception as error:
        if not _is_reading(error):
            raise
        raise FastpasskError(_explain(list(files), error)) from error
    except pl.exceptions.PanicException as error:  # derives from BaseException
        raise FastpasskError(_explain(list(files), error)) from error


def _is_reading(error: Exception) -> bool:
    root = type(error).__module__.partition(".")[0]
    return root in ("polars", "pyarrow") or isinstance(error, (OSError, EOFError, UnicodeError))


def _explain(files: list[File], error: BaseException) -> str:
    for file in files:
        fault = _fault(file)
        if fault:
            return fault
    where = files[0].name if len(files) == 1 else f"one of {len(files)} files" if files else "the frame"
    text = str(error).strip() or type(error).__name__
    return f"{where} cannot be read: {text.splitlines()[0]}"


def _fault(file: File) -> str | None:
    """Read one file again, slowly, to find what is wrong with it."""
    try:
        if file.format == "ndjson":
            return _bad_line(file)
        if file.format in ("csv", "tsv"):
            return _bad_row(file)
        if file.format == "json":
            return None
        return _bad_columns(file)
    except UnicodeDecodeError:
        return f"{file.name} is not UTF-8 text; convert it first, as with iconv"
    except (OSError, EOFError) as error:
        return f"{file.name} cannot be read: {error}"


def _bad_line(file: File) -> str | None:
    with open_bytes(file) as stream:
        for number, line in enumerate(stream, 1):
            text = line.decode().removeprefix("\ufeff").strip()
            if not text:
                continue
            try:
                value = json.loads(text)
            except ValueError as error:
                if not line.endswith(b"\n"):
                    return f"{file.name}, line {number}: the last line is cut off"
                return f"{file.name}, line {number} is not valid JSON: {error}"
            if not isinstance(value, dict):
                return f"{file.name}, line {number} is no JSON object but {text[:40]}"
    return None


def _bad_row(file: File) -> str | None:
    with open_bytes(file) as stream:
        rows = csv.reader(io.TextIOWrapper(stream, encoding="utf-8-sig", newline=""), delimiter=separator_of(file))
        header = next(rows, [])
        for row in rows:
            if row and len(row) != len(header):
                return f"{file.name}, line {rows.line_num}: {len(row)} fields, but the header has {len(header)}"
    return None


def _bad_columns(file: File) -> str | None:
    try:
        whole = pl.scan_parquet(file.path, glob=False) if file.format == "parquet" else pl.scan_ipc(file.path, glob=False)
        names = whole.collect_schema().names()
    except Exception as error:  # noqa: BLE001 - whatever it is, it is what is wrong with the file
        return f"{file.name} cannot be read as {file.format}, it is damaged or cut off: {str(error).splitlines()[0]}"
    for name in names:
        try:
            whole.select(pl.col(name).len()).collect()
        except Exception as error:  # noqa: BLE001
            return f"{file.name}: column {name!r} cannot be read: {str(error).splitlines()[0]}"
    return None
