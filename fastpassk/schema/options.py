"""The options that `count`, `tally`, `score` and `curve` share: how rows become counts.

`Options` types the keyword arguments, `Settings` holds them once they are read and checked. A test keeps the two
lists the same.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, TypedDict, cast

from fastpassk.errors import UsageError, choose, hint
from fastpassk.schema import policies

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping

    import polars as pl


class Options(TypedDict, total=False):
    """Keyword arguments that every step from samples to curves takes.

    Parameters
    ----------
    by
        Columns that make a group; by default every identity column that is present, else one group `all`.
    pool
        Identity columns whose values may be added together within a problem; without it that is an error.
    problem, passed, attempt, n, c
        Names of the columns that play these roles, where the usual names do not find them.
    assume
        Values for identity columns that the table lacks, as in `{"model": "a"}`.
    threshold
        A numeric outcome passes when it is at least this; without it numbers other than 0 and 1 are an error.
    missing
        What a sample without an outcome is: `error` (default), `fail`, `drop`, `harness`, or one of these per reason.
    duplicates
        What a repeated (identity, problem, attempt) is: `error` (default with an attempt column), `same`, `keep`.
    problems
        All problems that must be there: names, a text file with one a line, or a table with a problem column.
    expect_n
        How many samples each problem must have; by default the group's most frequent n when `problems` is given.
    common
        Keep only the problems that every group has.
    where
        Rows to keep: a Polars expression, or SQL text such as `"difficulty = 'hard'"`.
    meta
        A table joined on problem, whose columns `where` and `by` may use.
    stopped
        Sampling of a problem ended at this many passes (or at a cap): score it without that bias.
    unique
        The rows of a counts table are known to be unique and on one problem set: skip reading the problem column.
    format
        The format of the input, where its name and content do not tell it.
    bad_lines
        What a line of NDJSON or a row of CSV that cannot be read is: `error` (default), or `skip`: it is counted and
        left out.
    """

    by: str | Iterable[str] | None
    pool: str | Iterable[str] | None
    problem: str | None
    passed: str | None
    attempt: str | None
    n: str | None
    c: str | None
    assume: Mapping[str, object] | None
    threshold: float | None
    missing: policies.Missing
    duplicates: str | None
    problems: Any
    expect_n: int | None
    common: bool
    where: str | pl.Expr | None
    meta: str | os.PathLike[str] | pl.DataFrame | None
    stopped: int | None
    unique: bool
    format: str
    bad_lines: str


# fmt: off
READING = (
    "by", "problem", "passed", "attempt", "n", "c", "assume", "threshold", "where", "meta", "format", "bad_lines",
)
# fmt: on


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The shared options, read and checked; see `Options` for their meaning."""

    by: list[str] | None = None
    pool: list[str] | None = None
    problem: str | None = None
    passed: str | None = None
    attempt: str | None = None
    n: str | None = None
    c: str | None = None
    assume: Mapping[str, object] | None = None
    threshold: float | None = None
    missing: policies.Missing = "error"
    duplicates: str | None = None
    problems: Any = None
    expect_n: int | None = None
    common: bool = False
    where: Any = None
    meta: Any = None
    stopped: int | None = None
    unique: bool = False
    format: str = "auto"
    bad_lines: str = "error"

    @classmethod
    def of(cls, options: Mapping[str, object]) -> Settings:
        """Read keyword arguments; raises a `TypeError` for unknown names and a `UsageError` for bad values."""
        names = [field.name for field in fields(cls)]
        for name in options:
            if name not in names:
                raise TypeError(f"no option {name!r}{hint(name, names)}; there are {', '.join(names)}")
        given = cast("dict[str, Any]", dict(options))
        for name in ("by", "pool"):
            given[name] = policies.parse_names(given.get(name))
        settings = cls(**given)
        settings._check()
        return settings

    def _check(self) -> None:
        policies.parse_missing(self.missing)
        policies.parse_stopped(self.stopped)
        if self.duplicates is not None:
            choose(self.duplicates, policies.DUPLICATES, "duplicates")
        choose(self.bad_lines, policies.BAD_LINES, "bad_lines")
        policies.parse_threshold(self.threshold)
        policies.parse_expected(self.expect_n)
        for name in ("common", "unique"):
            policies.parse_switch(getattr(self, name), name)
        both = sorted(set(self.by or ()) & set(self.pool or ()))
        if both:
            raise UsageError(f"{both[0]!r} stands in by and in pool; a column either makes groups or is pooled")

    def reading(self) -> dict[str, Any]:
        """Return the options that `read` takes."""
        return {name: getattr(self, name) for name in READING}

    def changed(self) -> dict[str, Any]:
        """Return the options that differ from their defaults."""
        values = {field.name: (getattr(self, field.name), field.default) for field in fields(self)}
        return {name: value for name, (value, default) in values.items() if not _same(value, default)}

    def stated(self) -> dict[str, object]:
        """Return what provenance says of the options: no path and no table, which the hash of the counts covers."""
        stated = {name: value for name, value in self.changed().items() if name not in ("format", "unique")}
        for name in ("meta", "problems"):
            if name in stated:
                stated[name] = True
        if "missing" in stated:
            stated["missing"] = policies.plain_missing(self.missing)
        if "where" in stated:
            stated["where"] = str(stated["where"])
        return stated


def _same(value: object, default: object) -> bool:
    """Compare without asking an expression or a table for equality, which would not give a bool."""
    return value is default or (isinstance(value, (str, int, float)) and value == default)
