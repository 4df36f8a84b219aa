"""A source, whatever it is, as a list of opened tables: its files, then its frames."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from fastpassk import threads
from fastpassk.errors import UsageError
from fastpassk.schema.frames import need
from fastpassk.schema.names import find
from fastpassk.sources import canonical
from fastpassk.sources.columnar import open_arrow, open_parquet, open_stream
from fastpassk.sources.delimited import open_delimited
from fastpassk.sources.failures import translated
from fastpassk.sources.frames import is_records, open_frame
from fastpassk.sources.lines import open_array, open_lines
from fastpassk.sources.tables import Table, decimals
from fastpassk.storage import File, expand

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import polars as pl


OPENERS: dict[str, Callable[[File], Table]] = {
    "parquet": open_parquet,
    "arrow": open_arrow,
    "arrow-stream": open_stream,
    "json": open_array,
}


def open_all(source: object, format: str = "auto", words: Iterable[str] = (), *, skip: bool = False) -> list[Table]:
    """Open the files and then the frames of a source.

    Parameters
    ----------
    source
        Whatever `read` takes.
    format
        `"auto"`, or the format of all the files.
    words
        Columns that the caller names, to be looked for in files without a header.
    skip
        Whether lines of text files that cannot be read are left out, which is told.
    """
    items = list(source) if isinstance(source, (list, tuple)) and not is_records(source) else [source]
    paths = [item for item in items if isinstance(item, (str, os.PathLike))]
    frames = [item for item in items if not isinstance(item, (str, os.PathLike))]
    names = [f"frame {place}" for place in range(1, len(frames) + 1)] if len(frames) > 1 else ["the frame"]
    files = expand(paths, format) if paths or not frames else []
    wanted = list(words)
    with threads.task(len(files), "files") as task:
        tables = [_opened(file, wanted, skip=skip) for file in task.over(files)]
    with translated(()):
        return tables + [open_frame(frame, name) for frame, name in zip(frames, names, strict=False)]


def open_one(source: object, what: str) -> Table:
    """Open a source that must be one table; `what` is its name for the error."""
    tables = open_all(source)
    if len(tables) != 1:
        raise UsageError(f"{what} is {len(tables)} tables; give one")
    return tables[0]


def problem_key(table: Table, named: str | None = None) -> tuple[str, pl.Expr]:
    """Return the problem column of a table about problems, and the expression of its names.

    Raises
    ------
    UsageError
        It has no such column, or several.
    """
    column = named if named in table.schema else find("problem", table.schema)
    need({"problem"} if column else (), ["problem"], table.schema)
    name = str(column)
    decimal = name in decimals(table, table.scan([name]), [name])
    return name, canonical.key(name, table.schema[name], decimal=decimal)


def _opened(file: File, words: list[str], *, skip: bool) -> Table:
    with translated((file,)):
        if file.format == "ndjson":
            return open_lines(file, words, skip=skip)
        if file.format in ("csv", "tsv"):
            return open_delimited(file, skip=skip)
        return OPENERS[file.format](file)
