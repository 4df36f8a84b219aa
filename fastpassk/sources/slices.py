"""`where` and `meta`: which rows are looked at, and what another table says of the problems."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from fastpassk.errors import FastpasskError, UsageError, listing
from fastpassk.schema.frames import need
from fastpassk.schema.names import find
from fastpassk.sources import canonical

if TYPE_CHECKING:
    from fastpassk.sources.tables import Table


def parse(where: str | pl.Expr | None) -> pl.Expr | None:
    """Read the `where` option.

    Raises
    ------
    UsageError
        The text is no SQL expression.
    """
    if where is None or isinstance(where, pl.Expr):
        return where
    try:
        return pl.sql_expr(where)
    except pl.exceptions.PolarsError as error:
        raise UsageError(
            f"where {where!r} is no SQL expression ({_first_line(error)}); write it as in: temperature = '0.2' AND n > 5"
        ) from error


def names_in(where: pl.Expr | None) -> list[str]:
    """Return the columns that an expression reads."""
    return [] if where is None else list(dict.fromkeys(where.meta.root_names()))


def check(where: pl.Expr, frame: pl.LazyFrame, columns: list[str]) -> None:
    """Raise a `UsageError` when an expression does not fit the columns of a frame."""
    try:
        pl.DataFrame(schema=frame.collect_schema()).lazy().filter(where).collect()
    except pl.exceptions.ColumnNotFoundError as error:
        missing = [name for name in names_in(where) if name not in columns]
        raise UsageError(f"where reads {listing(map(repr, missing))}, which is no column; there are {listing(columns, 12)}") from error
    except pl.exceptions.PolarsError as error:
        raise UsageError(f"where does not fit the columns: {_first_line(error)}; there are {listing(columns, 12)}") from error


def numeric(tables: list[tuple[Table, pl.LazyFrame]], names: list[str]) -> dict[str, pl.DataType]:
    """Tell which text columns hold nothing but whole numbers, numbers, or true and false, over all the tables."""
    found: dict[str, pl.DataType] = {}
    for name in names:
        frames = [frame.select(pl.col(name)) for table, frame in tables if table.text and name in table.schema]
        if not frames:
            continue
        values = pl.concat(frames).filter(pl.col(name) != "")
        column = pl.col(name)
        tests = {
            "i": column.cast(pl.Int64, strict=False).is_not_null().all(),
            "f": column.cast(pl.Float64, strict=False).is_not_null().all(),
            "b": column.str.to_lowercase().is_in(["true", "false"]).all(),
            "any": column.count() > 0,
        }
        answer = values.select(**tests).collect().row(0, named=True)
        kinds = {"i": pl.Int64(), "f": pl.Float64(), "b": pl.Boolean()}
        kind = next((kinds[test] for test in kinds if answer[test] and answer["any"]), None)
        if kind is not None:
            found[name] = kind
    return found


def as_type(name: str, kind: pl.DataType) -> pl.Expr:
    """Read a text column as the type that all its values have."""
    column = pl.col(name)
    if kind == pl.Boolean:
        return pl.when(column != "").then(column.str.to_lowercase() == "true").alias(name)
    return column.cast(kind, strict=False).alias(name)


def meta_frame(table: Table, problem: str | None, names: list[str]) -> pl.LazyFrame:
    """Return the columns `names` of a table about problems, keyed by `__problem` (text).

    Raises
    ------
    FastpasskError
        A problem stands in it twice.
    """
    column = problem if problem in table.schema else find("problem", table.schema)
    need({"problem"} if column else (), ["problem"], table.schema)
    assert column is not None
    raw = table.scan(list(dict.fromkeys([column, *names])))
    decimal = canonical.is_decimal(table, raw, column)
    frame = raw.select(canonical.key(column, table.schema[column], decimal=decimal).alias("__problem"), *names).collect()
    twice = frame.filter(pl.col("__problem").is_duplicated())
    if twice.height:
        raise FastpasskError(f"{table.name}: problem {twice['__problem'][0]!r} stands in it twice")
    return frame.lazy()


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0]
