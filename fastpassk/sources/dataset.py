"""Any source as one dataset: what kind of table it is, its frame in canonical columns, what was recognised."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import polars as pl

from fastpassk.errors import UsageError, choose
from fastpassk.schema.names import assumed as check_assumed
from fastpassk.schema.policies import parse_names
from fastpassk.sources import canonical, slices
from fastpassk.sources.failures import translated
from fastpassk.sources.frames import is_records, open_frame
from fastpassk.sources.roles import Names, Roles, resolve
from fastpassk.sources.tables import Table, open_table
from fastpassk.storage import FORMATS, File, expand

if TYPE_CHECKING:
    from collections.abc import Iterable

Source: TypeAlias = object

POSITION = "__position"


@dataclass(frozen=True)
class Dataset:
    """What a source is, with its columns under their canonical names.

    Nothing is checked row by row yet. The frame has the identity columns (text) and then, by kind:

    - samples: `problem` (text), `outcome` (Boolean, null = none), `bad` (Boolean: the value is no outcome at all), `raw`
      (the value as text), and where present `attempt`, `reason` (text), `stopped` (Boolean);
    - counts: `problem`, `n`, `c` (Int64, null where bad), `bad`, `raw`, and where present `stopped`;
    - tally: `n`, `c`, `problems` (Int64), `bad`, `raw`;
    - triples: every column of the source, and `n`, `c`, `k`;
    - scores: `k` (Int64), `score` (Float64), and where present `problem`, `n`, `c`, `metric`.
    """

    kind: str
    frame: pl.LazyFrame
    identity: tuple[str, ...]
    columns: dict[str, str]  # role or identity name -> column; "(folder)", "(set)" and "(meta)" say where else it is from
    format: str
    files: tuple[str, ...] = ()
    metadata: dict[str, object] = field(default_factory=dict)
    inputs: tuple[File, ...] = ()


@dataclass(frozen=True)
class _Wishes:
    """The options of `read`, checked."""

    names: Names
    values: dict[str, str]  # assumed name -> value
    where: pl.Expr | None
    meta: Table | None
    threshold: float | None

    @property
    def words(self) -> list[str]:
        """All names of columns that the caller wrote."""
        return [*self.names.named.values(), *self.names.by, *slices.names_in(self.where)]


def read(
    source: Source,
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
    meta: Source | None = None,
) -> Dataset:
    """Open a source and tell what it is.

    Parameters
    ----------
    source
        A path, a glob, a directory (flat or hive), `"-"`, a Polars frame, anything with `__arrow_c_stream__`, a dict of
        columns, a list of records, or a list of sources.
    format
        `"auto"`, or the format of all the files.
    by
        Columns that are identity columns whatever their names.
    problem, passed, attempt, n, c
        The columns that play these roles; by default they are found by their names.
    threshold
        A numeric outcome passes when it is at least this.
    assume
        Identity columns that the source lacks, with their value.
    where
        The rows to keep: a SQL expression as text, or a Polars expression.
    meta
        A table about the problems, joined on the problem; its columns can be used in `where` and `by`.

    Raises
    ------
    UsageError
        A name or an option that does not fit the source.
    FastpasskError
        A file that cannot be read.
    """
    choose(format, ("auto", *FORMATS), "format")
    named = {"problem": problem, "passed": passed, "attempt": attempt, "n": n, "c": c}
    about = _open_meta(meta) if meta is not None else None
    names = Names(
        {role: column for role, column in named.items() if column is not None},
        tuple(parse_names(by) or ()),
        tuple(assume or ()),
        tuple(about.schema) if about else (),
    )
    wishes = _Wishes(names, {}, slices.parse(where), about, threshold)
    tables = open_all(source, format, wishes.words)
    wishes = _Wishes(names, _assumed(assume, tables), wishes.where, about, threshold)
    return _assemble(tables, wishes)


def _open_meta(meta: Source) -> Table:
    tables = open_all(meta, "auto", [])
    if len(tables) != 1:
        raise UsageError(f"meta is {len(tables)} files; give one table about the problems")
    return tables[0]


def open_all(source: Source, format: str, wanted: list[str]) -> list[Table]:
    items = list(source) if isinstance(source, (list, tuple)) and not is_records(source) else [source]
    if not items:
        raise UsageError("the source is an empty list; give at least one file or frame")
    paths = [item for item in items if isinstance(item, (str, os.PathLike))]
    if len(paths) == len(items):
        return [_open_file(file, wanted) for file in expand(paths, format)]
    frames = [item for item in items if not isinstance(item, (str, os.PathLike))]
    named = [(f"frame {place}" if len(frames) > 1 else "the frame", frame) for place, frame in enumerate(frames, 1)]
    files = [_open_file(file, wanted) for file in expand(paths, format)] if paths else []
    with translated(()):
        return files + [open_frame(frame, name) for name, frame in named]


def _open_file(file: File, wanted: list[str]) -> Table:
    with translated((file,)):
        return open_table(file, wanted)


def _assumed(assume: Mapping[str, object] | None, tables: list[Table]) -> dict[str, str]:
    values: dict[str, str] = {}
    for table in tables:
        values = check_assumed(assume, [*table.schema, *table.folders])
    return values


def _assemble(tables: list[Table], wishes: _Wishes) -> Dataset:
    resolved = [_resolve(table, wishes) for table in tables]
    _refuse_mixture(tables, resolved)
    kind = resolved[0].kind
    if wishes.threshold is not None and kind != "samples":
        raise UsageError(f"threshold is for samples, and this is a table of {kind}")
    files = tuple(table.file for table in tables if table.file is not None)
    with translated(files):
        frames = _frames(tables, resolved, wishes)
    frame = frames[0] if len(frames) == 1 else pl.concat(frames, how="diagonal_relaxed")
    identity = tuple(dict.fromkeys(name for roles in resolved for name in roles.identity))
    formats = dict.fromkeys(table.file.format if table.file else "frame" for table in tables)
    return Dataset(
        kind,
        frame,
        identity,
        _origins(tables, resolved, wishes),
        ", ".join(formats),
        tuple(table.name for table in tables if table.file is not None),
        tables[0].metadata if all(table.metadata == tables[0].metadata for table in tables) else {},
        files,
    )


def _resolve(table: Table, wishes: _Wishes) -> Roles:
    columns = [*table.schema, *table.folders]
    listed = table.metadata.get("identity")
    try:
        return resolve([*columns, *wishes.values], wishes.names, listed if isinstance(listed, list) else None)
    except UsageError as error:
        raise UsageError(f"{table.name}: {error}") from None


def _refuse_mixture(tables: list[Table], resolved: list[Roles]) -> None:
    for table, roles in zip(tables, resolved, strict=True):
        if roles.kind != resolved[0].kind:
            raise UsageError(
                f"{tables[0].name} holds {resolved[0].kind} and {table.name} holds {roles.kind}; read them one at a time"
            )


def _origins(tables: list[Table], resolved: list[Roles], wishes: _Wishes) -> dict[str, str]:
    origins: dict[str, str] = {}
    for table, roles in zip(tables, resolved, strict=True):
        for name, column in (roles.identity | roles.columns).items():
            place = column
            if column not in table.schema:
                place = "(folder)" if column in table.folders else "(set)" if column in wishes.values else "(meta)"
            origins.setdefault(name, place)
    return origins


def _frames(tables: list[Table], resolved: list[Roles], wishes: _Wishes) -> list[pl.LazyFrame]:
    pairs = [(table, _raw(table, roles, wishes)) for table, roles in zip(tables, resolved, strict=True)]
    words = slices.names_in(wishes.where)
    kinds = slices.numeric(pairs, words)
    about = _about(resolved, wishes, words)
    return [_canonical(table, frame, roles, wishes, kinds, about) for (table, frame), roles in zip(pairs, resolved, strict=True)]


def _raw(table: Table, roles: Roles, wishes: _Wishes) -> pl.LazyFrame:
    """Scan the columns that are needed, and add those of the folders and those that the caller supplies."""
    if roles.kind == "triples":
        needed = list(table.schema)
    else:
        words = slices.names_in(wishes.where)
        needed = [name for name in dict.fromkeys([*roles.identity.values(), *roles.columns.values(), *words]) if name in table.schema]
    constants = table.folders | wishes.values
    return table.scan(needed).with_columns(pl.lit(value, pl.String).alias(name) for name, value in constants.items())


def _about(resolved: list[Roles], wishes: _Wishes, words: list[str]) -> pl.LazyFrame | None:
    if wishes.meta is None:
        return None
    used = {*words, *(column for roles in resolved for column in roles.identity.values())}
    names = [name for name in wishes.meta.schema if name in used]
    problem = wishes.names.named.get("problem")
    return slices.meta_frame(wishes.meta, problem, names)


def _canonical(
    table: Table,
    frame: pl.LazyFrame,
    roles: Roles,
    wishes: _Wishes,
    kinds: dict[str, pl.DataType],
    about: pl.LazyFrame | None,
) -> pl.LazyFrame:
    schema = dict(frame.collect_schema())
    keys = {role: _key(table, frame, schema, roles, column) for role, column in _text_columns(roles).items()}
    if about is not None:
        if "problem" not in roles.columns:
            raise UsageError(f"meta is joined on the problem, and a table of {roles.kind} has none")
        own = [name for name in about.collect_schema() if name not in schema]
        frame = frame.with_columns(keys["problem"].alias("__problem")).join(about.select("__problem", *[n for n in own if n != "__problem"]), on="__problem", how="left")
        schema |= {name: kind for name, kind in about.collect_schema().items() if name in own and name != "__problem"}
        keys = {role: _key(table, frame, schema, roles, column) for role, column in _text_columns(roles).items()}
    if wishes.where is not None:
        frame = _filtered(frame, wishes.where, keys, roles, schema, kinds, wishes)
    return _selected(table, frame, roles, schema, keys, wishes)


def _text_columns(roles: Roles) -> dict[str, str]:
    texts = ("problem", "attempt", "metric")
    return roles.identity | {role: column for role, column in roles.columns.items() if role in texts}


def _key(table: Table, frame: pl.LazyFrame, schema: dict[str, pl.DataType], roles: Roles, column: str) -> pl.Expr:
    if column not in schema:
        return pl.col(column)
    if column == roles.temperature:
        return canonical.temperature(column, schema[column])
    return canonical.key(column, schema[column], decimal=canonical.is_decimal(table, frame, column))


def _filtered(
    frame: pl.LazyFrame,
    where: pl.Expr,
    keys: dict[str, pl.Expr],
    roles: Roles,
    schema: dict[str, pl.DataType],
    kinds: dict[str, pl.DataType],
    wishes: _Wishes,
) -> pl.LazyFrame:
    """Keep the rows of `where`; it sees the raw columns, and the canonical names that are no raw columns."""
    more = dict(keys)
    for role in ("n", "c", "k", "problems"):
        if role in roles.columns:
            more[role] = canonical.whole(roles.columns[role], schema[roles.columns[role]])
    if "passed" in roles.columns and not canonical.is_list(schema[roles.columns["passed"]]):
        more["passed"] = canonical.outcome(roles.columns["passed"], schema[roles.columns["passed"]], wishes.threshold)[0]
    words = slices.names_in(where)
    view = {name: more[name] for name in words if name not in schema and name in more}
    shadow = {name: f"__raw_{name}" for name in words if name in kinds}
    frame = frame.with_columns(pl.col(name).alias(copy) for name, copy in shadow.items())
    frame = frame.with_columns(*[slices.as_type(name, kinds[name]) for name in shadow], *[e.alias(n) for n, e in view.items()])
    there = [name for name in dict.fromkeys([*schema, *more]) if not name.startswith("__")]
    slices.check(where, frame, there)
    return frame.filter(where).with_columns(pl.col(copy).alias(name) for name, copy in shadow.items())


def _selected(
    table: Table, frame: pl.LazyFrame, roles: Roles, schema: dict[str, pl.DataType], keys: dict[str, pl.Expr], wishes: _Wishes
) -> pl.LazyFrame:
    columns = roles.columns
    identity = [keys[name].alias(name) for name in roles.identity]
    kind = {role: schema[column] for role, column in columns.items()}
    if roles.kind == "samples":
        return _samples(table, frame, roles, kind, keys, identity, wishes.threshold)
    if roles.kind in ("counts", "tally"):
        return frame.select(*identity, *_counts(columns, kind, keys))
    if roles.kind == "triples":
        return frame.with_columns(canonical.strict_whole(columns[r], kind[r]).alias(r) for r in ("n", "c", "k"))
    wholes = [canonical.strict_whole(columns[r], kind[r], null=True).cast(pl.Int64).alias(r) for r in ("n", "c", "k") if r in columns]
    texts = [keys[role].alias(role) for role in ("problem", "metric") if role in columns]
    return frame.select(*identity, *texts, *wholes, canonical.real(columns["score"], kind["score"]).alias("score"))


def _samples(
    table: Table,
    frame: pl.LazyFrame,
    roles: Roles,
    kind: dict[str, pl.DataType],
    keys: dict[str, pl.Expr],
    identity: list[pl.Expr],
    threshold: float | None,
) -> pl.LazyFrame:
    column, passed = roles.columns["passed"], kind["passed"]
    text = table.text and column in table.lists
    several = text or canonical.is_list(passed)
    if several:
        frame, passed = canonical.listed(frame, column, passed, text=text)
    outcome, bad, raw = canonical.outcome(column, passed, threshold)
    chosen = [*identity, keys["problem"].alias("problem"), outcome.alias("outcome"), bad.alias("bad"), raw.alias("raw")]
    if "attempt" in roles.columns:
        position = pl.col(POSITION).fill_null(1).cast(pl.String) if several else None
        attempt = keys["attempt"] if position is None else pl.concat_str(keys["attempt"], position, separator=".")
        chosen.append(attempt.alias("attempt"))
    if "reason" in roles.columns:
        chosen.append(canonical.reason(roles.columns["reason"], kind["reason"]).alias("reason"))
    if "stopped" in roles.columns:
        chosen.append(canonical.stopped(roles.columns["stopped"], kind["stopped"]).alias("stopped"))
    return frame.select(chosen)


def _counts(columns: dict[str, str], kind: dict[str, pl.DataType], keys: dict[str, pl.Expr]) -> list[pl.Expr]:
    roles = [role for role in ("n", "c", "problems") if role in columns]
    wholes = {role: canonical.whole(columns[role], kind[role]) for role in roles}
    bad = pl.any_horizontal([value.is_null() for value in wholes.values()])
    written = [pl.format(f"{role}={{}}", pl.col(columns[role]).cast(pl.String).fill_null("null")) for role in roles]
    problem = [keys["problem"].alias("problem")] if "problem" in columns else []
    values = [value.alias(role) for role, value in wholes.items()]
    chosen = [*problem, *values, bad.alias("bad"), pl.concat_str(written, separator=", ").alias("raw")]
    if "stopped" in columns:
        chosen.append(canonical.stopped(columns["stopped"], kind["stopped"]).alias("stopped"))
    return chosen
