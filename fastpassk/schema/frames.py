"""The five frames, one spec each: it names the columns, documents them, and validates a table.

Dtypes stand as Polars class names in text, so that reading a spec loads nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fastpassk.errors import FastpasskError, UsageError, listing
from fastpassk.schema.outcomes import REASONS

if TYPE_CHECKING:
    from collections.abc import Iterable

    import polars as pl


@dataclass(frozen=True)
class Column:
    """One column of a frame: its name, its Polars dtype, what it holds."""

    name: str
    dtype: str
    meaning: str
    optional: bool = False


@dataclass(frozen=True)
class Frame:
    """The spec of a frame; the identity columns stand before the ones listed."""

    name: str
    columns: tuple[Column, ...]
    invariant: str

    def names(self) -> list[str]:
        """Return the names of the columns that must be there."""
        return [column.name for column in self.columns if not column.optional]


PROBLEM = Column("problem", "String", "the problem's name within its benchmark")
N = Column("n", "Int64", "samples of the problem")
C = Column("c", "Int64", "samples that passed")
METRIC = Column("metric", "String", "the metric's name, such as pass@k")
K = Column("k", "Int64", "draws")

SAMPLES = Frame(
    "Samples",
    (
        PROBLEM,
        Column("passed", "Boolean", "whether the sample passed; null when it has no outcome"),
        Column("attempt", "String", "which sample of the problem it is", optional=True),
        Column("reason", "String", "why it has no outcome: failed, timeout, infra, truncated, unparsed", optional=True),
    ),
    "no null outcome gets through without a named policy",
)
COUNTS = Frame("Counts", (PROBLEM, N, C), "0 <= c <= n, n >= 1, one row an identity and problem")
TALLY = Frame(
    "Tally",
    (N, C, Column("problems", "Int64", "problems with this n and c")),
    "one row an identity and (n, c)",
)
SCORES = Frame(
    "Scores",
    (PROBLEM, N, C, METRIC, K, Column("score", "Float64", "the metric's value; null when k > n")),
    "the score lies in the metric's range",
)
CURVES = Frame(
    "Curves",
    (
        METRIC,
        K,
        Column("estimate", "Float64", "mean over the problems; null where it is undefined"),
        Column("std_error", "Float64", "standard error over the problems; null for one problem"),
        Column("low", "Float64", "lower end of the interval; null without one"),
        Column("high", "Float64", "upper end of the interval; null without one"),
        Column("problems", "Int64", "problems of the group"),
        Column("undefined", "Int64", "problems with n < k"),
        Column("n_min", "Int64", "smallest n of the group"),
        Column("n_max", "Int64", "largest n of the group"),
    ),
    "low <= estimate <= high",
)
FRAMES = (SAMPLES, COUNTS, TALLY, SCORES, CURVES)

ROWS = "__rows"  # a helper column, named so that no column of a table is in its way
# The columns of a table of groups that count samples without an outcome: of no known reason, and by reason.
MISSING = ("missing", *(f"missing {reason}" for reason in REASONS))
REMEDY = "one row a key is allowed; name the column that tells them apart in by=, or add partial counts with merge"


def kind_of(roles: Iterable[str]) -> str:
    """Tell the kind of a table by the roles that its columns play.

    `score` and `k` make scores; `k` without `score` triples; `problems` with `n` and `c` a tally; `n` and `c` counts;
    everything else is samples.
    """
    found = set(roles)
    if "k" in found and ("score" in found or {"n", "c"} <= found):
        return "scores" if "score" in found else "triples"
    if {"n", "c"} <= found:
        return "tally" if "problems" in found else "counts"
    return "samples"


def check_key(frame: pl.DataFrame, key: list[str], what: str, remedy: str = REMEDY) -> None:
    """Raise a `FastpasskError` naming the first key that stands in more than one row of `frame`."""
    import polars as pl

    repeated = frame.lazy().group_by(key).len(ROWS).filter(pl.col(ROWS) > 1).sort(key, nulls_last=True).collect()
    if not repeated.height:
        return
    first = describe(repeated.select(key).row(0, named=True))
    raise FastpasskError(f"{what}: {first} stands in {repeated[ROWS][0]} rows ({repeated.height} such keys); {remedy}")


def describe(row: dict[str, object]) -> str:
    """Write a key for a message: model=a, problem=p1."""
    return ", ".join(f"{name}={value}" for name, value in row.items())


def need(roles: Iterable[str], wanted: Iterable[str], columns: Iterable[str]) -> None:
    """Raise a `UsageError` for the roles of `wanted` that no column plays, listing the columns there are."""
    found = set(roles)
    lacking = [role for role in wanted if role not in found]
    if lacking:
        options = " or ".join(f"{role}=… (--{role})" for role in lacking)
        raise UsageError(
            f"no column for {' and '.join(lacking)}; the table has {listing(columns, 12)}; name it with {options}"
        )
