"""Any source as one dataset: what kind of table it is, its frame in canonical columns, what was recognised."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from fastpassk.errors import FastpasskError, UsageError, choose, listing
from fastpassk.schema.names import assumed
from fastpassk.schema.policies import BAD_LINES, parse_names
from fastpassk.sources import slices
from fastpassk.sources.failures import translated
from fastpassk.sources.groups import joined
from fastpassk.sources.opening import open_all, open_one
from fastpassk.sources.roles import Names, Roles, resolve
from fastpassk.sources.tables import FILE
from fastpassk.sources.views import View, shaped, view
from fastpassk.storage import FORMATS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from fastpassk.sources.tables import Table
    from fastpassk.storage import File


@dataclass(frozen=True)
class Dataset:
    """What a source is, with its columns under their canonical names.

    Nothing is checked row by row yet. The frame has the identity columns (text) and then, by kind:

    - samples: `problem` (text), `outcome` (Boolean, null = none), `bad` (Boolean: the value is no outcome at all),
      `raw` (the value as text), and where present `attempt`, `reason` (text), `stopped` (Boolean);
    - counts: `problem`, `n`, `c` (Int64, null where bad), `bad`, `raw`, and where present `stopped`;
    - tally: `n`, `c`, `problems` (Int64, null where bad), `bad`, `raw`;
    - triples: every column of the source, and `n`, `c`, `k` (integers);
    - scores: where present `problem`, `metric`, `n`, `c`; `k` (Int64), `score` (Float64).
    """

    kind: str
    frame: pl.LazyFrame
    identity: tuple[str, ...]
    columns: dict[str, str]  # role or identity name to column; "(folder)", "(set)" and "(meta)" tell other origins
    format: str
    files: tuple[str, ...] = ()
    said: tuple[dict[str, object], ...] = ()  # what each table says of how it was made; {} of a foreign one
    inputs: tuple[File, ...] = ()
    views: tuple[View, ...] = ()  # the tables behind the frame, where neither `where` nor `meta` has touched them

    def has(self, role: str) -> bool:
        """Tell whether the frame has a column of this role, and not just an identity column of that name."""
        return role not in self.identity and role in self.frame.collect_schema()


@dataclass(frozen=True)
class _Wishes:
    """The options of `read`."""

    names: Names
    assume: Mapping[str, object]
    where: pl.Expr | None
    threshold: float | None
    meta: Table | None

    def words(self) -> list[str]:
        """Return all names of columns that the caller wrote."""
        return [*self.names.named.values(), *self.names.by, *slices.names_in(self.where)]

    def values(self) -> dict[str, str]:
        """Return the values of the assumed columns."""
        return {name: str(value) for name, value in self.assume.items()}


def read(
    source: object,
    *,
    format: str = "auto",
    by: str | Iterable[str] | None = None,
    problem: str | None = None,
    passed: str | None = None,
    attempt: str | None = None,
    n: str | None = None,
    c: str | None = None,
    threshold: float | None = None,
    assume: Mapping[str, object] | None = None,
    where: str | pl.Expr | None = None,
    meta: object = None,
    bad_lines: str = "error",
) -> Dataset:
    """Open a source and tell what it is.

    Parameters
    ----------
    source
        A path, a glob, a directory (flat or hive), `"-"` for standard input, a Polars DataFrame or LazyFrame, anything
        with `__arrow_c_stream__` (pyarrow, pandas, DuckDB), a dict of columns, a list of records, or a list of sources.
    format
        `"auto"`, or the format of all the files.
    by
        Columns that identify the experiment whatever their names.
    problem, passed, attempt, n, c
        The columns that play these roles; by default they are found by their usual names.
    threshold
        A numeric outcome passes when it is at least this.
    assume
        Identity columns that the source lacks, with their value.
    where
        The rows to keep: a SQL expression as text, or a Polars expression.
    meta
        A table about the problems, joined on the problem; its columns can be named in `where` and `by`.
    bad_lines
        What a line of NDJSON or a row of CSV that cannot be read is: `"error"`, or `"skip"`: left out and counted.

    Returns
    -------
    The dataset; its frame is lazy, and is to be run with `collect`.

    Raises
    ------
    UsageError
        A name or an option that does not fit the source.
    FastpasskError
        A file that cannot be read, or a source without rows.
    """
    choose(format, ("auto", *FORMATS), "format")
    choose(bad_lines, BAD_LINES, "bad_lines")
    named = {"problem": problem, "passed": passed, "attempt": attempt, "n": n, "c": c}
    about = open_one(meta, "meta") if meta is not None else None
    names = Names(
        {role: column for role, column in named.items() if column is not None},
        tuple(parse_names(by) or ()),
        tuple(assume or ()),
        tuple(about.schema) if about else (),
    )
    wishes = _Wishes(names, assume or {}, slices.parse(where), threshold, about)
    tables = open_all(source, format, wishes.words(), skip=bad_lines == "skip")
    resolved = _resolved(tables, wishes)
    _refuse_mixture(tables, resolved)
    return _assembled(*joined(tables, resolved, slices.names_in(wishes.where)), wishes)


def _resolved(tables: list[Table], wishes: _Wishes) -> list[Roles]:
    """Find the roles of each table, once for those with the same columns."""
    known: dict[object, Roles] = {}
    found = []
    for table in tables:
        key = (*table.columns, str(table.metadata.get("identity")))
        if key not in known:
            known[key] = _roles(table, wishes)
        found.append(known[key])
    return found


def _roles(table: Table, wishes: _Wishes) -> Roles:
    listed = table.metadata.get("identity")
    try:
        values = assumed(wishes.assume, table.columns)
        columns = [*table.columns, *values]  # a file in the folder of no value lacks that column, which is null then
        known = [name for name in listed if name in columns] if isinstance(listed, list) else None
        return resolve(columns, wishes.names, known)
    except UsageError as error:
        raise UsageError(f"{table.name}: {error}") from None


def _assembled(tables: list[Table], resolved: list[Roles], wishes: _Wishes) -> Dataset:
    kind = resolved[0].kind
    if wishes.threshold is not None and kind != "samples":
        raise UsageError(f"threshold is for samples, and this is a table of {kind}")
    files = tuple(file for table in tables for file in table.files)
    formats = dict.fromkeys(table.files[0].format if table.files else "frame" for table in tables)
    with translated(files):
        _refuse_no_rows(tables)
        views = _views(tables, resolved, wishes)
        frames = [shaped(each) for each in views]
    return Dataset(
        kind=kind,
        frame=frames[0] if len(frames) == 1 else pl.concat(frames, how="diagonal_relaxed"),
        identity=tuple(dict.fromkeys(name for roles in resolved for name in roles.names())),
        columns=_origins(tables, resolved, wishes),
        format=", ".join(formats),
        files=tuple(file.name for file in files),
        said=tuple(table.metadata for table in tables for _ in table.files or ("frame",)),
        inputs=files,
        views=tuple(views) if wishes.where is None and wishes.meta is None else (),
    )


def _refuse_mixture(tables: list[Table], resolved: list[Roles]) -> None:
    first = resolved[0].kind
    for table, roles in zip(tables, resolved, strict=True):
        if roles.kind != first:
            names = f"{tables[0].name} holds {first} and {table.name} holds {roles.kind}"
            raise UsageError(f"{names}; read them one at a time")


def _refuse_no_rows(tables: list[Table]) -> None:
    """Look for a first row in the files; a lazy frame may be dear, and is left alone."""
    if any(not table.files or _has_rows(table) for table in tables):
        return
    names = [file.name for table in tables for file in table.files]
    raise FastpasskError(f"{listing(names)} {'have' if names[1:] else 'has'} no rows")


def _has_rows(table: Table) -> bool:
    return table.scan(list(table.schema)[:1]).head(1).collect().height > 0


def _views(tables: list[Table], resolved: list[Roles], wishes: _Wishes) -> list[View]:
    words = slices.names_in(wishes.where)
    used = {*words, *(column for roles in resolved for column in roles.identity.values())}
    named = wishes.names.named.get("problem")
    about = slices.about(wishes.meta, named, used) if wishes.meta else None
    more = about.schema if about else {}
    given = [table.folders | wishes.values() for table in tables]
    constants = [{name: one[name] for name in one if name != FILE or FILE in used} for one in given]
    views = [
        view(table, roles, values, words, more, wishes.threshold)
        for table, roles, values in zip(tables, resolved, constants, strict=True)
    ]
    if about:
        views, raw = [slices.joined(each, about) for each in views], views
        slices.tell_unknown(raw, about)
    if wishes.where is None:
        return views
    texts = [each.frame for each in views if each.table.text]
    kinds = slices.numeric(texts, words)
    return [slices.filtered(each, wishes.where, kinds) for each in views]


def _origins(tables: list[Table], resolved: list[Roles], wishes: _Wishes) -> dict[str, str]:
    origins: dict[str, str] = {}
    for table, roles in zip(tables, resolved, strict=True):
        for name, column in (roles.identity | roles.columns).items():
            elsewhere = "(folder)" if column in {*table.folders, *table.given} else None
            elsewhere = elsewhere or ("(set)" if column in wishes.assume else "(meta)")
            own = column in table.schema and column not in table.given
            origins.setdefault(name, column if own else elsewhere)
    return origins
