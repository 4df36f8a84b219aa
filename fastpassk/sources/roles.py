"""Which column of one table plays which role, and which columns identify the experiment.

What the caller names goes first; the rest is found by the aliases of `schema.names`. Each table is resolved by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fastpassk.errors import UsageError, hint, listing
from fastpassk.schema.frames import MISSING, kind_of, need
from fastpassk.schema.names import IDENTITY, ROLES, candidates, find, require

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

REQUIRED = {
    "samples": ("problem", "passed"),
    "counts": ("problem", "n", "c"),
    "tally": ("n", "c", "problems"),
    "triples": ("n", "c", "k"),
    "scores": ("k", "score"),
}
OPTIONAL = {
    "samples": ("attempt", "reason", "stopped"),
    "counts": ("stopped",),
    "scores": ("problem", "n", "c", "metric"),
}
YIELDING = ("attempt", "reason")  # roles that a column gives up when `by` names it
# Names that the frames need for themselves, beyond the roles that yield.
RESERVED = frozenset(
    ("problem", "n", "c", "metric", "k", "score", "outcome", "bad", "raw", "problems", "estimate", "std_error", "low",
     "high", "undefined", "n_min", "n_max", "stopped", *MISSING)
)  # fmt: skip


@dataclass(frozen=True)
class Names:
    """What the caller says of names."""

    named: Mapping[str, str]  # role to column
    by: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    meta: tuple[str, ...] = ()


@dataclass(frozen=True)
class Roles:
    """What the columns of one table are."""

    kind: str
    columns: dict[str, str]  # role to column
    identity: dict[str, str]  # name in the result to column
    temperature: str | None = None  # the column that is written as a number

    def names(self) -> list[str]:
        """Return the identity columns as they are named in the result; triples keep the names of the source."""
        return list(self.identity.values() if self.kind == "triples" else self.identity)


def resolve(columns: Iterable[str], names: Names, fixed: list[str] | None = None) -> Roles:
    """Find the roles of one table.

    Parameters
    ----------
    columns
        The table's columns, those of its folders and the assumed ones included.
    names
        What the caller names.
    fixed
        The identity columns that a counts file of ours lists, or None.

    Raises
    ------
    UsageError
        A named column does not exist, two columns may play a role, or a needed role has no column.
    """
    columns = list(columns)
    for column in names.named.values():
        require(column, columns)
    kind = _kind(columns, names)
    _refuse_reserved(kind, names)
    found = _identity(columns, names) if fixed is None else {name: require(name, columns) for name in fixed}
    found |= {name: name for name in names.assumed if name not in found}
    roles = _roles(kind, columns, names, set(found.values()))
    extras = _extras(columns, names, found, roles)
    outputs = {(column if column in names.by else name): column for name, column in found.items()} | extras
    kept = {role: column for role, column in roles.items() if role not in YIELDING or column not in extras.values()}
    both = [name for name in outputs if name in YIELDING and name in kept]
    if both:
        raise UsageError(f"by names {both[0]!r}, and {both[0]}= names {kept[both[0]]!r} for that role; rename one")
    return Roles(kind, kept, outputs, found.get("temperature"))


def _kind(columns: list[str], names: Names) -> str:
    named = set(names.named)
    if named & {"passed", "attempt"}:
        if named & {"n", "c"}:
            raise UsageError(
                "passed= and attempt= are for samples, n= and c= are for counts; name the columns of one kind"
            )
        return "samples"
    free = [column for column in columns if column not in names.by]
    return kind_of({role for role in ROLES if candidates(role, free)} | named)


def _identity(columns: list[str], names: Names) -> dict[str, str]:
    """Map each identity role that the table has to its column; `by` settles between several."""
    found = {}
    taken = set(names.named.values())
    for role in IDENTITY:
        options = [column for column in candidates(role, columns) if column not in taken]
        settled = [column for column in options if column in names.by][:1]
        column = role if role in names.assumed else find(role, settled or options)
        if column is not None:
            found[role] = column
    return found


def _roles(kind: str, columns: list[str], names: Names, identity: set[str]) -> dict[str, str]:
    """Map each role of the kind to its column; what `by` names is taken only when there is nothing else."""
    own = [column for column in columns if column not in identity]
    free = [column for column in own if column not in names.by]
    roles = {}
    for role in (*REQUIRED[kind], *OPTIONAL.get(kind, ())):
        column = names.named.get(role) or find(role, free) or find(role, own)
        if column is not None:
            roles[role] = column
    need(roles, REQUIRED[kind], columns)
    return roles


def _extras(columns: list[str], names: Names, found: dict[str, str], roles: dict[str, str]) -> dict[str, str]:
    """Map what `by` names beyond the recognised identity to columns."""
    extras = {}
    for name in names.by:
        if name in found or name in found.values():
            continue
        if name in columns or name in names.meta:
            extras[name] = name
        elif name in YIELDING and name in roles:
            extras[name] = roles[name]
        else:
            there = list(dict.fromkeys([*columns, *found, *names.meta]))
            raise UsageError(
                f"by names {name!r}, which is no column; there are {listing(there, 12)}{hint(name, there)}"
            )
    return extras


def _refuse_reserved(kind: str, names: Names) -> None:
    """Refuse groups by a name that the result has a column of, before that name is looked for anything else."""
    for name in (*names.by, *names.assumed):
        if kind != "triples" and name in RESERVED:
            raise UsageError(
                f"by names {name!r}, which the result needs for a column of its own; rename that column or leave it out"
            )
