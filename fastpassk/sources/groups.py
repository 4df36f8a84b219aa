"""Thousands of small files as a few tables: those that are alike in what is needed of them are scanned together.

What is done once a file (resolving names, building expressions, a node of the query, a bundle) costs about a
millisecond, as much as counting ten thousand rows: 5,000 Parquet files of 20 rows took 5.8 s, and take 1.7. Files are
alike when the needed columns have the same names, types and roles; what else they hold does not matter. Only neighbours
are joined, so that the rows keep their order. Large files stay by themselves: they are counted by codes, bundle by
bundle, which is the faster way from some 100 KB a file on (67 KB: 9 ms a file by codes, 4 joined; 216 KB: 6 and 8).
Opening files in threads gained nothing: most of it holds the GIL.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

import polars as pl

from fastpassk.sources.tables import FILE
from fastpassk.sources.views import needed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fastpassk.sources.roles import Roles
    from fastpassk.sources.tables import Table

SMALL = 1 << 17  # bytes of a file, on average: of Parquet, some 50,000 samples


def joined(tables: list[Table], resolved: list[Roles], words: Iterable[str]) -> tuple[list[Table], list[Roles]]:
    """Join neighbours that are alike.

    Parameters
    ----------
    tables, resolved
        The tables, and what the columns of each are.
    words
        Columns that `where` reads.

    Returns
    -------
    Fewer tables, each with its roles; as they were where the files are large.
    """
    sizes = [file.path.stat().st_size for table in tables for file in table.files]
    if len(sizes) < 2 or sum(sizes) >= SMALL * len(sizes):
        return tables, resolved
    words = list(words)
    pairs = list(zip(tables, resolved, strict=True))
    groups = [list(group) for _, group in groupby(pairs, lambda pair: _likeness(pair[0], pair[1], words))]
    return [_one(group, words) for group in groups], [group[0][1] for group in groups]


def _likeness(table: Table, roles: Roles, words: list[str]) -> object:
    """Return what files must have in common; the table itself where it is read in a way of its own."""
    if table.together is None or table.metadata:
        return id(table)
    names = set(needed(table, roles, words))
    own = {name: kind for name, kind in table.schema.items() if name in names}
    return table.together, roles, own, _of_folders(table, roles, words), table.lists & names, table.objects & names


def _of_folders(table: Table, roles: Roles, words: list[str]) -> list[str]:
    """List the needed columns that the path gives; triples keep all but the name of the file."""
    wanted = {*roles.identity.values(), *roles.columns.values(), *words}
    every = roles.kind == "triples"
    return [name for name in table.folders if name in wanted or (every and name != FILE)]


def _one(group: list[tuple[Table, Roles]], words: list[str]) -> Table:
    """Make one table of several."""
    first, roles = group[0]
    if len(group) == 1:
        return first
    tables = [table for table, _ in group]
    given = _of_folders(first, roles, words)
    own = needed(first, roles, words)

    def scan(names: list[str]) -> pl.LazyFrame:
        chosen = [name for name in names if name not in given] or own[:1]
        return _scan(tables, chosen, [name for name in names if name in given]).select(names)

    schema = first.schema | dict.fromkeys(given, pl.String())
    files = tuple(file for table in tables for file in table.files)
    return replace(first, schema=schema, scan=scan, file=None, group=files, given=frozenset(given))


def _scan(tables: list[Table], names: list[str], given: list[str]) -> pl.LazyFrame:
    """Scan the files under one path together, one after the other what the paths tell apart."""
    parts = []
    for values, run in groupby(tables, lambda table: [table.folders[name] for name in given]):
        alike = list(run)
        scan = alike[0].together
        if scan is not None:
            paths = [file.path for table in alike for file in table.files]
            frame = scan(paths, {name: alike[0].schema[name] for name in names})
            parts.append(frame.with_columns(map(_constant, given, values)))
    return pl.concat(parts) if parts[1:] else parts[0]


def _constant(name: str, value: str) -> pl.Expr:
    return pl.lit(value, pl.String).alias(name)
