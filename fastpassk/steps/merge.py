"""`merge`: partial counts to whole counts, by addition, and only when no sample can be in two parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from fastpassk.errors import FastpasskError, UsageError, listing
from fastpassk.schema.frames import check_key
from fastpassk.schema.options import Settings
from fastpassk.schema.provenance import digest, remember
from fastpassk.sources import read
from fastpassk.steps.counts import counted

if TYPE_CHECKING:
    from collections.abc import Iterable


NAMING = ("by", "problem", "passed", "attempt", "n", "c", "assume")


@dataclass(frozen=True)
class Part:
    """One part: its name for messages, its counts, and the inputs that went into them (none when unknown)."""

    name: str
    frame: pl.DataFrame
    identity: list[str]
    stopped: int | None
    options: object
    inputs: tuple[str, ...]


def merge(parts: Iterable[Any]) -> pl.DataFrame:
    """Add partial counts up to whole counts; any order and any tree of merges gives the same bytes.

    Parameters
    ----------
    parts
        Counts: files that `fastpassk count` wrote, or frames from `count` or `merge`.

    Returns
    -------
    Counts: the identity columns, `problem`, `n`, `c`, sorted.

    Raises
    ------
    FastpasskError
        Two parts share an input, differ in identity or options, or hold the same key with inputs that are not known
        to be different, so that adding might count a sample twice.
    """
    loaded = [_load(place, part) for place, part in enumerate(parts)]
    if not loaded:
        raise UsageError("there is nothing to merge; give at least one table of counts")
    _refuse_strangers(loaded)
    _refuse_shared_inputs(loaded)
    first = loaded[0]
    key = [*first.identity, "problem"]
    rows = pl.concat([part.frame.select(*key, "n", "c") for part in loaded])
    if not all(part.inputs for part in loaded):
        what = "some parts do not say what they were counted from (CSV has no place for it), and equal keys might count"
        check_key(rows, key, f"{what} a sample twice", "merge Parquet or Arrow files that count has written")
    frame = rows.group_by(key).agg(pl.col("n", "c").sum()).sort(key, nulls_last=True)
    return remember(
        frame,
        "counts",
        identity=first.identity,
        stopped=first.stopped,
        options=first.options,
        counts_sha256=digest(frame),
        inputs=sorted(one for part in loaded for one in part.inputs),
    )


def _load(place: int, source: Any) -> Part:
    """Read one part; its inputs are those that its own metadata names."""
    dataset = read(source)
    if dataset.kind != "counts":
        raise UsageError(f"part {place + 1} is a table of {dataset.kind}; merge adds counts, made by count")
    counts = counted(dataset, Settings(unique=True))  # the key is checked below, by the name of the part
    check_key(counts.frame, [*counts.identity, "problem"], f"part {place + 1}")
    name, options = listing(dataset.files) or f"part {place + 1}", [_policies(said) for said in dataset.said]
    if any(other != options[0] for other in options):
        raise FastpasskError(f"{name} were counted in different ways; count all of them the same way")
    inputs = tuple(map(str, counts.inputs)) if all(said.get("inputs") for said in dataset.said) else ()
    return Part(name, counts.frame, counts.identity, counts.stopped, options[0], inputs)


def _policies(said: dict[str, object]) -> dict[str, object] | None:
    """Return the options that change what was counted: names of columns may differ from part to part."""
    options = said.get("options")
    return {name: options[name] for name in options if name not in NAMING} if isinstance(options, dict) else None


def _refuse_strangers(parts: list[Part]) -> None:
    """Raise when a part was keyed or counted in another way than the first."""
    first = parts[0]
    for part in parts[1:]:
        for what in ("identity", "stopped", "options"):
            mine, other = getattr(first, what), getattr(part, what)
            if mine != other:
                raise FastpasskError(
                    f"{part.name} was counted with {what} {other}, {first.name} with {mine}; count both the same way"
                )


def _refuse_shared_inputs(parts: list[Part]) -> None:
    seen: dict[str, str] = {}
    for part in parts:
        for one in part.inputs:
            if one in seen:
                raise FastpasskError(
                    f"{part.name} and {seen[one]} were counted from the same input ({one[:19]}…), so its samples would "
                    f"count twice; leave one of them out"
                )
            seen[one] = part.name
