"""`where` and `meta`: which rows are looked at, and what another table says of the problems."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import polars as pl

from fastpassk.errors import FastpasskError, UsageError, listing, tell
from fastpassk.sources.opening import problem_key
from fastpassk.sources.views import canonical_names

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fastpassk.sources.tables import Table
    from fastpassk.sources.views import View

PROBLEM = "__problem"
SHADOW = "__raw_"


@dataclass(frozen=True)
class About:
    """What a table says of the problems: the columns in use, keyed by the problem's text."""

    name: str
    frame: pl.DataFrame

    @property
    def schema(self) -> dict[str, pl.DataType]:
        """The columns in use, with their types."""
        return {name: kind for name, kind in self.frame.schema.items() if name != PROBLEM}


def parse(where: str | pl.Expr | None) -> pl.Expr | None:
    """Read the `where` option.

    Raises
    ------
    UsageError
        It is no Polars expression, and no text of one in SQL.
    """
    if where is None or isinstance(where, pl.Expr):
        return where
    example = "write it as in: language = 'python' AND attempt < 5"
    if not isinstance(where, str):
        raise UsageError(f"where is a {type(where).__name__}; it is a SQL expression as text or a Polars expression")
    try:
        return pl.sql_expr(where)
    except pl.exceptions.PolarsError as error:
        raise UsageError(f"where {where!r} is no SQL expression ({_first_line(error)}); {example}") from error


def names_in(where: pl.Expr | None) -> list[str]:
    """Return the columns that an expression reads."""
    return [] if where is None else list(dict.fromkeys(where.meta.root_names()))


def about(table: Table, named: str | None, used: Iterable[str]) -> About:
    """Read the columns `used` of a table about problems.

    Raises
    ------
    UsageError
        It has no problem column.
    FastpasskError
        A problem stands in it twice.
    """
    column, key = problem_key(table, named)
    names = [name for name in table.schema if name in set(used) and name != column]
    frame = table.scan([column, *names]).select(key.alias(PROBLEM), *names).collect().drop_nulls(PROBLEM)
    twice = frame[PROBLEM].filter(frame[PROBLEM].is_duplicated())
    if len(twice):
        raise FastpasskError(f"{table.name}: the problem {twice[0]!r} stands in it twice")
    if table.text:
        kinds = numeric([frame.lazy()], names)
        frame = frame.with_columns(_as_type(each, kind) for each, kind in kinds.items())
    return About(table.name, frame)


def joined(view: View, about: About) -> View:
    """Add the columns of a table about problems; those of the view itself go first."""
    if "problem" not in view.keys:
        raise UsageError(f"meta is joined on the problem, and a table of {view.roles.kind} is not read by problem")
    own = [name for name in about.schema if name not in view.schema]
    frame = view.frame.with_columns(view.keys["problem"].alias(PROBLEM))
    frame = frame.join(about.frame.lazy().select(PROBLEM, *own), on=PROBLEM, how="left").drop(PROBLEM)
    return replace(view, frame=frame, schema=view.schema | {name: about.schema[name] for name in own})


def tell_unknown(views: list[View], about: About) -> None:
    """Say how many problems a table about problems leaves out."""
    problems = pl.concat([view.frame.select(view.keys["problem"].alias(PROBLEM)) for view in views]).unique().collect()
    unknown = problems.join(about.frame, on=PROBLEM, how="anti").height
    if unknown:
        tell(f"{unknown} of {problems.height} problems are not in {about.name}; its columns are null for them")


def numeric(frames: Iterable[pl.LazyFrame], names: Iterable[str]) -> dict[str, pl.DataType]:
    """Tell which columns of text hold nothing but whole numbers, numbers, or true and false, in all of the frames."""
    found: dict[str, pl.DataType] = {}
    frames = list(frames)
    for name in names:
        parts = [frame.select(name) for frame in frames if frame.collect_schema().get(name) == pl.String]
        kind = _common_type(pl.concat(parts), name) if parts else None
        if kind is not None:
            found[name] = kind
    return found


def filtered(view: View, where: pl.Expr, kinds: dict[str, pl.DataType]) -> View:
    """Keep the rows of `where`, which sees the raw columns, and the canonical names that are no raw columns.

    Columns of text named in `kinds` are compared as those types, or as texts where that fits better, and are text again
    afterwards.
    """
    more = canonical_names(view)
    words = names_in(where)
    frame = view.frame.with_columns(
        more[name].alias(name) for name in words if name in more and name not in view.schema
    )
    _check_names(where, frame, list(dict.fromkeys([*view.table.columns, *view.schema, *more])))
    shadow = [name for name in words if name in kinds and name in view.schema]
    typed = frame.with_columns(pl.col(name).alias(SHADOW + name) for name in shadow)
    typed = typed.with_columns(_as_type(name, kinds[name]) for name in shadow)
    misfit = _misfit(where, typed)
    if misfit is None:
        kept = [pl.col(SHADOW + name).alias(name) if name in shadow else pl.col(name) for name in view.schema]
        return replace(view, frame=typed.filter(where).select(kept))
    if _misfit(where, frame) is not None:
        raise UsageError(misfit)
    return replace(view, frame=frame.filter(where).select(list(view.schema)))


def _common_type(frame: pl.LazyFrame, name: str) -> pl.DataType | None:
    column = pl.col(name)
    kinds: dict[str, pl.DataType] = {"whole": pl.Int64(), "real": pl.Float64(), "truth": pl.Boolean()}
    tests = frame.filter(column != "").select(
        any=pl.len() > 0,
        whole=column.cast(pl.Int64, strict=False).is_not_null().all(),
        real=column.cast(pl.Float64, strict=False).is_not_null().all(),
        truth=column.str.to_lowercase().is_in(["true", "false"]).all(),
    )
    answers = tests.collect().row(0, named=True)
    return next((kind for test, kind in kinds.items() if answers["any"] and answers[test]), None)


def _as_type(name: str, kind: pl.DataType) -> pl.Expr:
    text = pl.col(name)
    typed = text.str.to_lowercase() == "true" if kind == pl.Boolean else text.cast(kind, strict=False)
    return pl.when(text != "").then(typed).alias(name)


def _check_names(where: pl.Expr, frame: pl.LazyFrame, columns: list[str]) -> None:
    missing = [repr(name) for name in names_in(where) if name not in frame.collect_schema()]
    if missing:
        raise UsageError(f"where reads {listing(missing)}, which is no column; there are {listing(columns, 12)}")


def _misfit(where: pl.Expr, frame: pl.LazyFrame) -> str | None:
    """Try the expression on no rows, so that a mistake in it is told at once."""
    schema = frame.collect_schema()
    try:
        pl.DataFrame(schema=schema).lazy().filter(where).collect()
    except pl.exceptions.PolarsError as error:
        types = listing((f"{name} ({schema[name]})" for name in names_in(where)), 12)
        return f"where does not fit the columns: {_first_line(error)}; it reads {types}"
    return None


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0]
