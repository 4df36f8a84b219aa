"""One input, opened: its columns with their types, and a way to scan some of them.

Each file is opened by itself, since the files of one set differ in columns and types.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from fastpassk.storage import File

FILE = "file"  # the column that the name of the file gives, where it is asked for
HEAD = 1000  # rows that are looked at before all of them


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
    # Scans columns of files like this one, one after the other; None where a file is not read as it stands.
    together: Callable[[list[Path], dict[str, pl.DataType]], pl.LazyFrame] | None = None
    group: tuple[File, ...] = ()  # the files of a table that was made of several; `file` is None then
    given: frozenset[str] = frozenset()  # columns of such a table that the paths give

    @property
    def files(self) -> tuple[File, ...]:
        """The files behind the table."""
        return (self.file,) if self.file else self.group

    @cached_property
    def folders(self) -> dict[str, str]:
        """The columns that the path gives: those of folders, and the name of the file; the file's own go first."""
        given = {FILE: self.file.stem, **dict(self.file.partition)} if self.file else {}
        return {key: value for key, value in given.items() if key not in self.schema}

    @property
    def columns(self) -> list[str]:
        """The names of all columns, those of the folders last."""
        return [*self.schema, *self.folders]


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
