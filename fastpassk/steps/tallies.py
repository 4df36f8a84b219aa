"""Counts to a tally: the histogram of (n, c) in each group, which is all that a curve needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from fastpassk.errors import UsageError
from fastpassk.schema.frames import check_key
from fastpassk.schema.options import Options, Settings
from fastpassk.schema.provenance import digest, remember
from fastpassk.sources import Dataset, collect, read
from fastpassk.steps.counts import Counted, counted, declared_stop, grouped
from fastpassk.steps.counts.coded import coded_tally
from fastpassk.steps.counts.expected import problem_sets, problems_in_all, tell_problem_sets
from fastpassk.steps.counts.given import refuse_bad_counts, refuse_sample_options
from fastpassk.steps.counts.grouping import group_columns, refuse_pooling, with_group, without_empty
from fastpassk.steps.counts.problems import in_all

if TYPE_CHECKING:
    from typing import Unpack


@dataclass(frozen=True)
class Tallied:
    """A sorted tally, the columns that make its groups, the stopping rule, and the counts where there were any."""

    frame: pl.DataFrame
    by: list[str]
    stopped: int | None
    counts: pl.DataFrame | None


def tally(source: Any, **options: Unpack[Options]) -> pl.DataFrame:
    """Count the problems that share an n and a c, for each group.

    Parameters
    ----------
    source
        Samples, counts, or a tally, in any form that `read` takes.
    options
        See `fastpassk.Options`.

    Returns
    -------
    Tally: the columns of `by`, `n`, `c` and `problems` (Int64), sorted; one row a key.

    Raises
    ------
    FastpasskError
        As `count`; a `UsageError` for options and names that do not exist.
    """
    settings = Settings.of(options)
    result = tallied(read(source, **settings.reading()), settings)
    facts = {"identity": result.by, "stopped": result.stopped, "options": settings.stated()}
    return remember(result.frame, "tally", **facts, tally_sha256=digest(result.frame))


def tallied(dataset: Dataset, settings: Settings) -> Tallied:
    """Bring a dataset of samples, counts or a tally to the tally of its groups."""
    if dataset.kind == "tally":
        return _given(dataset, settings)
    direct = _direct(dataset, settings) if dataset.kind == "counts" else None
    return direct or of_counts(grouped(counted(dataset, settings), settings), settings)


def of_counts(counts: Counted, settings: Settings) -> Tallied:
    """Make the tally of counts that are keyed by their groups already, and say when their problem sets differ."""
    if not settings.unique:
        frame, by = counts.frame, counts.identity
        tell_problem_sets(problem_sets(frame, by), by, lambda groups: problems_in_all(frame, groups))
    cells = counts.frame.group_by(*counts.identity, "n", "c").agg(problems=pl.len().cast(pl.Int64))
    return Tallied(_sorted(cells, counts.identity), counts.identity, counts.stopped, counts.frame)


def _direct(dataset: Dataset, settings: Settings) -> Tallied | None:
    """Tally counts by codes, where nothing asks for the names of their problems: no counts are built."""
    refuse_sample_options(settings, "counts")
    by = group_columns(list(dataset.identity), settings)
    asked = settings.common or settings.pool or settings.problems is not None or settings.expect_n is not None
    found = None if asked or set(by) != set(dataset.identity) else coded_tally(dataset, unique=bool(settings.unique))
    if found is None:
        return None
    frame, identity = without_empty(found[0], by, settings)
    frame, by = with_group(frame, identity)
    if found[1] is not None:
        sets = with_group(found[1], identity)[0]
        tell_problem_sets(sets, by, lambda groups: in_all(dataset, groups))
    return Tallied(_sorted(frame.select(*by, "n", "c", "problems"), by), by, declared_stop(dataset, settings), None)


def _given(dataset: Dataset, settings: Settings) -> Tallied:
    """Check a tally that came as one; it has no problems left to pool over, to complete or to share."""
    refuse_sample_options(settings, "tally")
    for name in ("problems", "expect_n", "common", "pool"):
        if getattr(settings, name):
            raise UsageError(f"{name}= needs the problems' names; the input is a tally, start from counts or samples")
    frame = collect(dataset, dataset.frame)
    refuse_bad_counts(frame, ["n", "c", "problems"])
    frame, identity = without_empty(frame, list(dataset.identity), settings)
    check_key(frame, [*identity, "n", "c"], "tally")
    frame, by = with_group(frame, group_columns(identity, settings))
    for name in (column for column in identity if column not in by):
        refuse_pooling(frame, by, name)
    return Tallied(_sorted(frame.select(*by, "n", "c", "problems"), by), by, declared_stop(dataset, settings), None)


def _sorted(cells: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    return cells.sort(*by, "n", "c", nulls_last=True)
