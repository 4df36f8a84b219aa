"""Raw columns brought to one spelling: keys are text, outcomes are Boolean, counts are 64-bit integers.

Everything here is an expression over one table: elementwise, lazy, the same for every encoding of the same data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from fastpassk.errors import UsageError
from fastpassk.schema.outcomes import FAILED, NO_OUTCOME, PASSED

if TYPE_CHECKING:
    from fastpassk.sources.tables import Table

LARGEST = 2.0**63


def key(name: str, kind: pl.DataType, *, decimal: bool = False) -> pl.Expr:
    """Write a key column as text: whole floats as integers, NaN and empty text as null.

    `decimal` says that the column is text and every value of it is a whole float (`2.0`).
    """
    column = pl.col(name)
    _refuse_nested(name, kind)
    if kind.is_float() or kind.is_decimal():
        return _number_text(column, kind)
    text = column.cast(pl.String)
    if decimal:
        text = text.str.strip_suffix(".0")
    return pl.when(text != "").then(text)


def temperature(name: str, kind: pl.DataType) -> pl.Expr:
    """Write numbers as the text of their Float64 value (`0.20` is `0.2`, 0 is `0.0`); other text stays."""
    _refuse_nested(name, kind)
    text = pl.col(name).cast(pl.String)
    number = text.cast(pl.Float64, strict=False)
    number = pl.when(number.is_nan()).then(None).otherwise(number)
    missing = text.str.to_lowercase().is_in(["", "nan"])
    return pl.when(missing).then(None).otherwise(pl.coalesce(number.cast(pl.String), text))


def reason(name: str, kind: pl.DataType) -> pl.Expr:
    """Write a reason in lower case; nothing written is null."""
    text = key(name, kind).str.strip_chars().str.to_lowercase()
    return pl.when(text != "").then(text)


def stopped(name: str, kind: pl.DataType) -> pl.Expr:
    """Tell whether sampling was ended early: whatever is not false, 0 or empty says so."""
    text = key(name, kind).str.strip_chars().str.to_lowercase()
    return ~text.fill_null("").is_in([*FAILED, *NO_OUTCOME, "no"])


def outcome(name: str, kind: pl.DataType, threshold: float | None) -> tuple[pl.Expr, pl.Expr, pl.Expr]:
    """Return the outcome (null when there is none), whether the value is no outcome at all, and the value as text."""
    column = pl.col(name)
    if kind == pl.Boolean:
        return column, pl.lit(value=False), column.cast(pl.String)
    if kind.is_integer() or kind.is_float() or kind.is_decimal():
        number = column.cast(pl.Float64)
        return (*_number_outcome(number, threshold), column.cast(pl.String))
    if kind == pl.Null or isinstance(kind, (pl.String, pl.Categorical, pl.Enum)):
        return _text_outcome(column.cast(pl.String), threshold)
    _refuse_nested(name, kind)
    raise UsageError(f"column {name!r} is of type {kind}; outcomes are true/false, 0/1 or a text such as passed/failed")


def listed(frame: pl.LazyFrame, name: str, kind: pl.DataType, *, text: bool) -> tuple[pl.LazyFrame, pl.DataType]:
    """Put each outcome of a list on a row of its own; `__position` tells which of the list it was."""
    column = pl.col(name)
    if text:
        whole = column.str.strip_chars()
        inside = whole.str.slice(1, whole.str.len_chars() - 2).str.strip_chars()
        is_list = whole.str.starts_with("[") & whole.str.ends_with("]")
        pieces = pl.when(inside == "").then(pl.lit([], dtype=pl.List(pl.String))).otherwise(inside.str.split(","))
        column = pl.when(is_list).then(pieces).otherwise(pl.concat_list(column))
        inner: pl.DataType = pl.String()
    else:
        inner = kind.inner  # type: ignore[attr-defined]
        column = column.cast(pl.List(inner))
    frame = frame.with_columns(column.alias(name), pl.int_ranges(1, column.list.len() + 1).alias("__position"))
    frame = frame.explode(name, "__position", empty_as_null=True)
    if text:
        frame = frame.with_columns(pl.col(name).str.strip_chars().str.replace(r"""^(?:"([^"]*)"|'([^']*)')$""", "$1$2"))
    return frame, inner


def is_list(kind: pl.DataType) -> bool:
    """Tell whether a column holds lists."""
    return isinstance(kind, (pl.List, pl.Array))


def whole(name: str, kind: pl.DataType) -> pl.Expr:
    """Return a count as Int64; null where the value is no whole number."""
    column = pl.col(name)
    _refuse_nested(name, kind)
    if kind == pl.Boolean:
        raise UsageError(f"column {name!r} holds true/false, not counts; name another column for it")
    if kind.is_integer():
        return column.cast(pl.Int64, strict=False)
    if kind.is_float() or kind.is_decimal():
        return _whole_float(column.cast(pl.Float64))
    text = column.cast(pl.String).str.strip_chars()
    return pl.coalesce(text.cast(pl.Int64, strict=False), _whole_float(text.cast(pl.Float64, strict=False)))


def strict_whole(name: str, kind: pl.DataType, *, null: bool = False) -> pl.Expr:
    """Return a count as Int64; a value that is no whole number fails the query (null passes where `null` says so)."""
    if kind.is_integer():
        return pl.col(name) if null or kind == pl.Int64 else pl.col(name)
    number = whole(name, kind)
    text = pl.col(name).cast(pl.String)
    empty = text.is_null() | (text == "") if null else text.is_null()
    return pl.when(number.is_null() & ~empty).then(text).cast(pl.Int64).fill_null(number)


def real(name: str, kind: pl.DataType) -> pl.Expr:
    """Return a score as Float64; empty text and NaN are null."""
    _refuse_nested(name, kind)
    text = pl.col(name).cast(pl.String).str.strip_chars() if not kind.is_numeric() else None
    number = pl.col(name) if text is None else pl.when(~text.str.to_lowercase().is_in([*NO_OUTCOME])).then(text)
    return number.cast(pl.Float64).fill_nan(None)


def is_decimal(table: Table, frame: pl.LazyFrame, name: str) -> bool:
    """Tell whether all values of a text column are whole floats such as `2.0`."""
    if not table.decimal or table.schema.get(name) != pl.String:
        return False
    matching = pl.col(name).str.contains(r"^-?\d+\.0$")
    query = pl.col(name).filter(pl.col(name) != "").pipe(lambda _: (matching | (pl.col(name) == "")).all() & matching.any())
    return bool(frame.head(1000).select(query).collect().item()) and bool(frame.select(query).collect().item())


def _number_text(column: pl.Expr, kind: pl.DataType) -> pl.Expr:
    number = column.cast(pl.Float64)
    text = pl.coalesce(_whole_float(number).cast(pl.String), column.cast(pl.String if kind.is_float() else pl.String))
    return pl.when(number.is_not_nan()).then(text)


def _whole_float(number: pl.Expr) -> pl.Expr:
    fits = (number == number.floor()) & (number < LARGEST) & (number >= -LARGEST)
    return pl.when(fits).then(number).cast(pl.Int64, strict=False)


def _number_outcome(number: pl.Expr, threshold: float | None) -> tuple[pl.Expr, pl.Expr]:
    there = number.is_not_null() & number.is_not_nan()
    if threshold is None:
        allowed = number.is_in([0.0, 1.0])
        return pl.when(allowed).then(number == 1), (there & ~allowed).fill_null(value=False)
    finite = number.is_finite()
    return pl.when(finite).then(number >= threshold), (there & ~finite).fill_null(value=False)


def _text_outcome(column: pl.Expr, threshold: float | None) -> tuple[pl.Expr, pl.Expr, pl.Expr]:
    text = column.str.strip_chars().str.to_lowercase()
    passed, failed, missing = (text.is_in(list(words)) for words in (PASSED, FAILED, NO_OUTCOME))
    result = pl.when(passed).then(value_true()).when(failed).then(pl.lit(value=False))
    if threshold is not None:
        number = pl.when(~missing).then(text.cast(pl.Float64, strict=False))
        result = pl.when(number.is_finite()).then(number >= threshold).when(passed).then(value_true()).when(failed).then(pl.lit(value=False))
    bad = (result.is_null() & ~missing).fill_null(value=False)
    return result, bad, column


def value_true() -> pl.Expr:
    """Return the literal true."""
    return pl.lit(value=True)


def _refuse_nested(name: str, kind: pl.DataType) -> None:
    if kind.is_nested() or isinstance(kind, (pl.Binary, pl.Object)):
        raise UsageError(f"column {name!r} holds values of type {kind}; a plain column is needed (text, number, true/false)")
