"""Values of raw columns brought to one spelling: keys are text, outcomes are Boolean, counts are 64-bit integers.

Everything here is an expression over one table: elementwise, lazy, and the same for every encoding of the same data.
"""

from __future__ import annotations

import polars as pl

from fastpassk.errors import UsageError
from fastpassk.schema.outcomes import FAILED, NO_OUTCOME, PASSED

LARGEST = 2.0**63
NONE, OTHER = 2, 3  # codes of a text beside 1, passed, and 0, failed: no outcome, and none of the known words
TEXTS = (pl.String, pl.Categorical, pl.Enum, pl.Null)


def key(name: str, kind: pl.DataType, *, decimal: bool = False) -> pl.Expr:
    """Write a key as text: whole floats as integers, NaN and empty text as null.

    `decimal` says that the column is text in which every value is a whole float (`2.0`).
    """
    refuse_nested(name, kind)
    text = pl.col(name).cast(pl.String)
    if kind.is_float() or kind.is_decimal():
        number = pl.col(name).cast(pl.Float64)
        return pl.when(number.is_not_nan()).then(pl.coalesce(_whole_float(number).cast(pl.String), text))
    if decimal:
        text = text.str.strip_suffix(".0")
    return pl.when(text != "").then(text) if isinstance(kind, TEXTS) else text


def temperature(name: str, kind: pl.DataType) -> pl.Expr:
    """Write numbers as the text of their Float64 value (`0.20` is `0.2`, 0 is `0.0`); other text stays."""
    refuse_nested(name, kind)
    text = pl.col(name).cast(pl.String)
    number = text.str.strip_chars().cast(pl.Float64, strict=False)
    number = pl.when(number == 0).then(0.0).otherwise(number)  # -0.0 is 0.0
    written = pl.when(number.is_not_null()).then(number.cast(pl.String)).otherwise(text)
    return pl.when((text != "") & number.is_not_nan().fill_null(value=True)).then(written)


def reason(name: str, kind: pl.DataType) -> pl.Expr:
    """Write a reason in lower case; an empty one is null."""
    text = key(name, kind).str.strip_chars().str.to_lowercase()
    return pl.when(text != "").then(text)


def stopped(name: str, kind: pl.DataType) -> pl.Expr:
    """Tell whether sampling was ended early: whatever is not false, 0 or empty says so."""
    text = key(name, kind).str.strip_chars().str.to_lowercase().fill_null("")
    return ~text.is_in([*FAILED, *NO_OUTCOME, "no"])


def outcome(name: str, kind: pl.DataType, threshold: float | None = None) -> tuple[pl.Expr, pl.Expr, pl.Expr]:
    """Return the outcome (null when there is none), whether the value is no outcome at all, and the value as text."""
    column = pl.col(name)
    if isinstance(kind, pl.Boolean):
        return column, pl.lit(value=False), column.cast(pl.String)
    if kind.is_numeric():
        return (*_number_outcome(column, kind, threshold), column.cast(pl.String))
    if isinstance(kind, TEXTS):
        return (*_text_outcome(column.cast(pl.String), threshold), column.cast(pl.String))
    raise UsageError(
        f"column {name!r} holds values of type {kind}; an outcome is true/false, 0/1, a text such as"
        " passed/failed, or a list of those"
    )


def whole(name: str, kind: pl.DataType) -> pl.Expr:
    """Return a count as Int64; null where the value is no whole number."""
    column = pl.col(name)
    refuse_nested(name, kind)
    if isinstance(kind, pl.Boolean):
        raise UsageError(f"column {name!r} holds true/false, not counts; name the column that holds them")
    if kind.is_integer():
        return column.cast(pl.Int64, strict=False)
    if kind.is_float() or kind.is_decimal():
        return _whole_float(column.cast(pl.Float64))
    text = column.cast(pl.String).str.strip_chars()
    return pl.coalesce(text.cast(pl.Int64, strict=False), _whole_float(text.cast(pl.Float64, strict=False)))


def strict_whole(name: str, kind: pl.DataType, role: str) -> pl.Expr:
    """Return a count as Int64, null for null; a value that is no whole number fails the query, naming `role`."""
    number, text = whole(name, kind), pl.col(name).cast(pl.String)
    wrong = number.is_null() & text.is_not_null() & (text != "")
    # The cast of such a text fails, and its message holds the text; `failures` reads it.
    return pl.when(wrong).then(pl.format(f"{role}={{}}", text)).cast(pl.Int64).fill_null(number)


def real(name: str, kind: pl.DataType) -> pl.Expr:
    """Return a score as Float64; NaN and empty text are null; a text that is no number fails the query."""
    refuse_nested(name, kind)
    if kind.is_numeric():
        return pl.col(name).cast(pl.Float64).fill_nan(None)
    text = pl.col(name).cast(pl.String).str.strip_chars()
    return pl.when(~text.str.to_lowercase().is_in(list(NO_OUTCOME))).then(text).cast(pl.Float64)


def refuse_nested(name: str, kind: pl.DataType) -> None:
    """Raise a `UsageError` for a column that holds lists, structs or bytes."""
    if kind.is_nested() or isinstance(kind, (pl.Binary, pl.Object)):
        raise UsageError(f"column {name!r} holds values of type {kind}; it must be text, numbers or true/false")


def _whole_float(number: pl.Expr) -> pl.Expr:
    fits = (number == number.floor()) & (number < LARGEST) & (number >= -LARGEST)
    return pl.when(fits).then(number).cast(pl.Int64, strict=False)


def _number_outcome(column: pl.Expr, kind: pl.DataType, threshold: float | None) -> tuple[pl.Expr, pl.Expr]:
    number = column if kind.is_float() else column.cast(pl.Float64)
    if threshold is None:
        allowed, passes = (number == 0) | (number == 1), number == 1
    else:
        # In the column's own width: 0.7 as Float32 reaches 0.7, as its text in a CSV file does.
        allowed, passes = number.is_finite(), number >= pl.lit(threshold, kind if kind.is_float() else pl.Float64)
    bad = (number.is_not_nan() & ~allowed).fill_null(value=False)
    return pl.when(allowed).then(passes), bad


def _text_outcome(column: pl.Expr, threshold: float | None) -> tuple[pl.Expr, pl.Expr]:
    text = column.str.strip_chars().str.to_lowercase()
    codes = dict.fromkeys(PASSED, 1) | dict.fromkeys(FAILED, 0) | dict.fromkeys(NO_OUTCOME, NONE)
    code = text.replace_strict(list(codes), list(codes.values()), default=OTHER, return_dtype=pl.Int8)
    result: pl.Expr = pl.when(code < NONE).then(code == 1)
    bad = code == OTHER
    if threshold is not None:
        number = pl.when(code != NONE).then(text.cast(pl.Float64, strict=False))
        result = pl.when(number.is_finite()).then(number >= threshold).otherwise(result)
        bad &= ~number.is_finite().fill_null(value=False)
    return result, (bad & column.is_not_null()).fill_null(value=False)
