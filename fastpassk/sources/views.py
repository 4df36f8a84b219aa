"""One table on its way from raw to canonical columns, lazily; what comes out is described at `Dataset`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import polars as pl

from fastpassk.errors import UsageError
from fastpassk.sources import canonical
from fastpassk.sources.tables import decimals

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fastpassk.sources.roles import Roles
    from fastpassk.sources.tables import Table

POSITION = "__position"
UNQUOTED = r"""^(?:"([^"]*)"|'([^']*)')$"""
TEXT_ROLES = ("problem", "attempt", "metric")
WHOLE_ROLES = ("n", "c", "k", "problems")


@dataclass(frozen=True)
class View:
    """The raw columns of one table that are needed, their types, and how its keys are written."""

    table: Table
    roles: Roles
    frame: pl.LazyFrame
    schema: dict[str, pl.DataType]
    keys: dict[str, pl.Expr]  # identity names and text roles
    threshold: float | None = None  # of a numeric outcome

    def column(self, role: str) -> tuple[str, pl.DataType]:
        """Return the raw column of a role, and its type."""
        name = self.roles.columns[role]
        return name, self.schema[name]


def view(
    table: Table,
    roles: Roles,
    constants: dict[str, str],
    words: Iterable[str],
    more: dict[str, pl.DataType],
    threshold: float | None,
) -> View:
    """Scan what is needed of a table.

    Parameters
    ----------
    table, roles
        The table, and what its columns are.
    constants
        Columns with one value: those of the folders, and those that the caller supplies.
    words
        Columns that `where` reads.
    more
        Columns that will be joined to it, with their types.
    threshold
        A numeric outcome passes when it is at least this.
    """
    read = needed(table, roles, words)
    frame = table.scan(read).with_columns(pl.lit(value, pl.String).alias(name) for name, value in constants.items())
    schema = {name: table.schema[name] for name in read} | dict.fromkeys(constants, pl.String())
    columns = roles.identity | {role: roles.columns[role] for role in TEXT_ROLES if role in roles.columns}
    whole = decimals(table, frame, columns.values())
    keys = {name: _key(table, roles, schema | more, column, whole) for name, column in columns.items()}
    return View(table, roles, frame, schema, keys, threshold)


def needed(table: Table, roles: Roles, words: Iterable[str]) -> list[str]:
    """List the columns of a table that are read: those with a role and those of `words`; of triples, all."""
    wanted = dict.fromkeys([*roles.identity.values(), *roles.columns.values(), *words])
    return [name for name in (table.schema if roles.kind == "triples" else wanted) if name in table.schema]


def shaped(view: View) -> pl.LazyFrame:
    """Bring the columns of a view to their canonical names and types."""
    kind = view.roles.kind
    if kind == "samples":
        return _samples(view)
    if kind == "triples":
        return _triples(view)
    return _scores(view) if kind == "scores" else _counts(view)


def canonical_names(view: View) -> dict[str, pl.Expr]:
    """Return the canonical columns that `where` may name."""
    names = dict(view.keys)
    for role in WHOLE_ROLES:
        if role in view.roles.columns:
            names[role] = canonical.whole(*view.column(role))
    if "passed" in view.roles.columns and not _holds_lists(view):
        names["passed"] = canonical.outcome(*view.column("passed"), view.threshold)[0]
    return names


def _key(table: Table, roles: Roles, schema: dict[str, pl.DataType], column: str, whole: set[str]) -> pl.Expr:
    if column in table.objects:
        raise UsageError(
            f"{table.name}: column {column!r} holds lists or objects; it must be text, numbers or true/false"
        )
    if column == roles.temperature:
        return canonical.temperature(column, schema[column])
    return canonical.key(column, schema[column], decimal=column in whole)


def _holds_lists(view: View) -> bool:
    name, kind = view.column("passed")
    return (view.table.text and name in view.table.lists) or isinstance(kind, (pl.List, pl.Array))


def _samples(view: View) -> pl.LazyFrame:
    several = _holds_lists(view)
    view = _exploded(view) if several else view
    outcome, bad, raw = canonical.outcome(*view.column("passed"), view.threshold)
    chosen = {"problem": view.keys["problem"], "outcome": outcome, "bad": bad, "raw": raw}
    if "attempt" in view.roles.columns:
        position = pl.col(POSITION).fill_null(1).cast(pl.String) if several else None
        attempt = view.keys["attempt"]
        chosen["attempt"] = attempt if position is None else pl.concat_str(attempt, position, separator=".")
    if "reason" in view.roles.columns:
        chosen["reason"] = canonical.reason(*view.column("reason"))
    return _chosen(view, chosen | _stopped(view))


def _exploded(view: View) -> View:
    """Put each outcome of a list on a row of its own; an empty list is one missing outcome."""
    name, kind = view.column("passed")
    outcomes = _pieces(pl.col(name)) if view.table.text else pl.col(name).cast(pl.List(kind.inner))  # type: ignore[attr-defined]
    frame = view.frame.with_columns(outcomes.alias(name))
    frame = frame.with_columns(pl.int_ranges(1, pl.col(name).list.len() + 1).alias(POSITION))
    frame = frame.explode(name, POSITION, empty_as_null=True)
    if view.table.text:
        frame = frame.with_columns(pl.col(name).str.strip_chars().str.replace(UNQUOTED, "$1$2"))
    return replace(view, frame=frame, schema=view.schema | {name: pl.String() if view.table.text else kind.inner})  # type: ignore[attr-defined]


def _pieces(column: pl.Expr) -> pl.Expr:
    """Split the text of a JSON list; a text that is no list is a list of one.

    Commas inside quotes split too, which spoils no outcome: a piece with half a quote is none.
    """
    text = column.str.strip_chars()
    inside = text.str.strip_prefix("[").str.strip_suffix("]").str.strip_chars()
    is_list = text.str.starts_with("[") & text.str.ends_with("]")
    pieces = pl.when(inside == "").then(pl.lit([], pl.List(pl.String))).otherwise(inside.str.split(","))
    return pl.when(is_list).then(pieces).otherwise(pl.concat_list(column))


def _counts(view: View) -> pl.LazyFrame:
    roles = [role for role in WHOLE_ROLES if role in view.roles.columns]
    wholes = {role: canonical.whole(*view.column(role)) for role in roles}
    bad = pl.any_horizontal([number.is_null() for number in wholes.values()])
    texts = [
        pl.format(f"{role}={{}}", pl.col(view.column(role)[0]).cast(pl.String).fill_null("null")) for role in roles
    ]
    problem = {"problem": view.keys["problem"]} if "problem" in view.keys else {}
    raw = pl.concat_str(texts, separator=", ")
    return _chosen(view, problem | wholes | {"bad": bad, "raw": raw} | _stopped(view))


def _triples(view: View) -> pl.LazyFrame:
    """Leave all columns as they are, but n, c and k under these names; integers keep their width."""
    names = {view.roles.columns[role]: role for role in ("n", "c", "k")}
    in_the_way = [role for column, role in names.items() if column != role and role in view.schema]
    if in_the_way:
        raise UsageError(f"the table has a column {in_the_way[0]!r} besides the one named for it; drop or rename one")
    wide = (pl.Int128, pl.UInt128)  # NumPy has no such integers
    texts = {
        role: column
        for column, role in names.items()
        if not view.schema[column].is_integer() or isinstance(view.schema[column], wide)
    }
    frame = view.frame.with_columns(_strict(view, role).alias(column) for role, column in texts.items())
    return frame.rename({column: role for column, role in names.items() if column != role})


def _scores(view: View) -> pl.LazyFrame:
    columns = view.roles.columns
    texts = {role: view.keys[role] for role in ("problem", "metric") if role in columns}
    wholes = {role: _strict(view, role) for role in ("n", "c", "k") if role in columns}
    return _chosen(view, texts | wholes | {"score": canonical.real(*view.column("score"))})


def _strict(view: View, role: str) -> pl.Expr:
    return canonical.strict_whole(*view.column(role), role)


def _stopped(view: View) -> dict[str, pl.Expr]:
    return {"stopped": canonical.stopped(*view.column("stopped"))} if "stopped" in view.roles.columns else {}


def _chosen(view: View, columns: dict[str, pl.Expr]) -> pl.LazyFrame:
    identity = {name: view.keys[name] for name in view.roles.identity}
    return view.frame.select(expression.alias(name) for name, expression in (identity | columns).items())
