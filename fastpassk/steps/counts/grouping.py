"""From the full identity to the groups asked for, without pooling anything that was not named."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from fastpassk.errors import FastpasskError, UsageError, hint, listing
from fastpassk.schema.frames import describe

if TYPE_CHECKING:
    from fastpassk.schema.options import Settings


def without_empty(frame: pl.DataFrame, identity: list[str], settings: Settings) -> tuple[pl.DataFrame, list[str]]:
    """Drop identity columns that are null everywhere and were not asked for: they tell nothing apart."""
    asked = set(settings.by or ()) | set(settings.pool or ())
    empty = [name for name in identity if frame[name].null_count() == frame.height and name not in asked]
    return frame.drop(empty), [name for name in identity if name not in empty]


def group_columns(identity: list[str], settings: Settings) -> list[str]:
    """Return the columns that make a group: `by`, else every identity column that is not pooled."""
    pool = settings.pool or []
    for name in pool:
        if name not in identity:
            raise UsageError(
                f"no identity column {name!r} to pool; there are {listing(identity)}{hint(name, identity)}"
            )
    if settings.by is None:
        return [name for name in identity if name not in pool]
    return settings.by


def narrow(frame: pl.DataFrame, identity: list[str], by: list[str], settings: Settings) -> pl.DataFrame:
    """Add counts up to the key (by, problem), refusing to add over a column that is not in `pool`.

    Pooling two temperatures or two benchmarks into one n is the worst silent error there is, so a dropped identity
    column that varies inside a (by, problem) is an error that shows two of its values.
    """
    dropped = [name for name in identity if name not in by]
    if not dropped:
        return frame
    for name in dropped:
        if name not in (settings.pool or ()):
            refuse_pooling(frame, [*by, "problem"], name)
    return frame.group_by(*by, "problem").agg(pl.col("n", "c").sum())


def with_group(frame: pl.DataFrame, by: list[str]) -> tuple[pl.DataFrame, list[str]]:
    """Return the frame and `by`, with one group `all` where there is nothing to group by."""
    return (frame, by) if by else (frame.with_columns(group=pl.lit("all")), ["group"])


def refuse_pooling(frame: pl.DataFrame, key: list[str], name: str) -> None:
    """Raise when the dropped identity column `name` takes several values within one key."""
    mixed = frame.group_by(key).agg(pl.col(name).n_unique()).filter(pl.col(name) > 1)
    if not mixed.height:
        return
    first = mixed.select(key).sort(key, nulls_last=True).head(1)
    values = listing(frame.join(first, on=key, nulls_equal=True)[name].unique().sort().to_list())
    raise FastpasskError(
        f"{name} differs within {describe(first.row(0, named=True))} ({values}), in {mixed.height} such keys in all; "
        f"these are not repeats of one experiment. Add {name!r} to by, or name it in pool (--pool {name})"
    )
