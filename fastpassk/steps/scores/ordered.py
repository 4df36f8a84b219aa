"""Counts in the order of their keys, in slices: from memory, or from files whose counts are too many to hold.

A table of counts is walked through once. If its keys go up all the way, as in every file that this library writes, it
is sorted already and has each key once, and is read again when it is scored. Else its rows are dealt out to hidden
files beside the output, `BUNDLE` rows of whole groups each, and sorted one file after the other. Either way memory
follows the number of cells (group, n, c) and the largest group, not the number of rows. Whatever is out of the
ordinary (a row that cannot be, a key twice, a policy that needs the whole table) is left to the way through memory.

20 million counts of 50 groups, one k, two threads, to the file: see the figures at `BUNDLE`.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl

from fastpassk.schema.provenance import digest_of
from fastpassk.sources import translated
from fastpassk.steps.counts import Counted, counted, declared_stop, grouped
from fastpassk.steps.counts.given import refuse_sample_options
from fastpassk.steps.counts.grouping import group_columns
from fastpassk.storage import scratch_folder

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from fastpassk.schema.options import Settings
    from fastpassk.sources import Dataset

HELD = 1 << 20  # counts that are held in memory without a thought
BUNDLE = 1 << 20  # rows that are sorted at a time
BATCH = 1 << 17  # rows that are read at a time
SETTLE = 1 << 20  # rows of cells that are left alone
PROBLEMS, NUMBER = "__problems", "__bundle"  # helper columns, in no table's way


@dataclass(frozen=True)
class Ordered:
    """Counts sorted by their keys, each key once.

    Attributes
    ----------
    by
        The columns that make a group.
    stopped
        The stopping rule.
    cells
        How many problems (`PROBLEMS`) each group has of each n and c.
    counts_sha256
        The digest of the counts.
    slices
        From a number of rows to the counts in slices of at most so many: `by`, `problem`, `n`, `c`.
    """

    by: list[str]
    stopped: int | None
    cells: pl.DataFrame
    counts_sha256: str
    slices: Callable[[int], Iterator[pl.DataFrame]]


@contextmanager
def ordered(dataset: Dataset, settings: Settings, sink: str | os.PathLike[str] | None) -> Iterator[Ordered]:
    """Bring a dataset of samples or counts to ordered counts, which can be read while the block lasts.

    Parameters
    ----------
    dataset, settings
        What is counted, and how.
    sink
        Where the result will be written in a stream; counts need not be in memory then, and what is not is kept beside
        it. None when the result is held anyway.
    """
    if sink is None or not _many(dataset) or not _as_they_are(dataset, settings):
        yield _held(grouped(counted(dataset, settings), settings))
        return
    refuse_sample_options(settings, "counts")
    with scratch_folder(sink) as folder:
        yield _streamed(dataset, settings, folder) or _held(grouped(counted(dataset, settings), settings))


def _held(counts: Counted) -> Ordered:
    """Sort counts in memory."""
    frame = counts.frame.sort(*counts.identity, "problem", nulls_last=True)
    sha = digest_of(frame.iter_slices(BATCH))
    return Ordered(counts.identity, counts.stopped, _cells(frame, counts.identity), sha, frame.iter_slices)


def _many(dataset: Dataset) -> bool:
    """Tell whether these are counts in files that can be read again cheaply, and many of them."""
    files = dataset.inputs
    cheap = bool(files) and len(files) == len(dataset.said) and all(f.format in ("parquet", "arrow") for f in files)
    if dataset.kind != "counts" or not cheap:
        return False
    with translated(files):
        return int(dataset.frame.select(pl.len()).collect().item()) > HELD


def _as_they_are(dataset: Dataset, settings: Settings) -> bool:
    """Tell whether the counts of a dataset are those that will be scored, none added, dropped or filled in."""
    asked = settings.common or settings.pool or settings.problems is not None or settings.expect_n is not None
    by = group_columns(list(dataset.identity), settings)
    return not asked and not dataset.has("stopped") and set(by) == set(dataset.identity)


def _streamed(dataset: Dataset, settings: Settings, folder: Path) -> Ordered | None:
    """Walk through the counts, and sort those not in order by bundles; None for the way through memory."""
    by = group_columns(list(dataset.identity), settings)
    frame = dataset.frame if by else dataset.frame.with_columns(group=pl.lit("all"))
    by = by or ["group"]
    walk = _Walk(by)
    with translated(dataset.inputs):
        sha = digest_of(walk.through(_batches(frame.select(*by, "problem", "n", "c", "bad"))))
        if not walk.fine or _empty(walk.cells, by) - set(settings.by or ()):
            return None
        counts = frame.select(*by, "problem", "n", "c")
        slices = partial(_slices, lambda: _batches(counts))
        if not walk.rising:
            files = _dealt(counts, walk.cells, by, folder)
            sorter = _Walk(by, equal=settings.unique)
            sha = digest_of(sorter.through(_sorted(files, [*by, "problem"])))
            slices = partial(_slices, lambda: map(pl.read_parquet, files))
            if not sorter.rising:
                return None
    return Ordered(by, declared_stop(dataset, settings), walk.cells, sha, slices)


class _Walk:
    """What is learned of counts on the way through them."""

    def __init__(self, by: list[str], *, equal: bool = False) -> None:
        """Begin; `equal` allows a key to stand there twice."""
        self.by, self.key, self.equal = by, [*by, "problem"], equal
        self.fine = self.rising = True
        self.cells = pl.DataFrame()
        self._parts: list[pl.DataFrame] = []
        self._last: pl.DataFrame | None = None

    def through(self, batches: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
        """Yield the counts as long as their keys go up, and find what they are; ends early when they are not fine."""
        for batch in batches:
            self.fine = not _wrong(batch)
            self.rising = self.rising and self._goes_up(batch)
            if not self.fine:
                return
            self._parts.append(_cells(batch, self.by))
            if sum(part.height for part in self._parts[1:]) > SETTLE:
                self._parts = [_added(self._parts, self.by)]
            if self.rising:
                yield batch.select(*self.key, "n", "c")
        self.fine = bool(self._parts)
        self.cells = _added(self._parts, self.by) if self.fine else self.cells

    def _goes_up(self, batch: pl.DataFrame) -> bool:
        """Tell whether every key is larger than the one before it, nulls last; the last one is kept for the next."""
        rows = batch.select(self.key)
        if self._last is not None:
            rows = pl.concat([self._last, rows])
        self._last = rows.tail(1)
        later = pl.lit(value=self.equal)
        for name in reversed(self.key):
            value, before = pl.col(name), pl.col(name).shift()
            larger = (value > before).fill_null(value=False) | (value.is_null() & before.is_not_null())
            later = larger | (value.eq_missing(before) & later)
        return bool(rows.select(later.slice(1).all()).item())


def _wrong(batch: pl.DataFrame) -> bool:
    """Tell whether a row cannot be."""
    bad = pl.col("bad") if "bad" in batch.columns else pl.lit(value=False)
    wrong = bad | (pl.col("n") < 1) | (pl.col("c") < 0) | (pl.col("c") > pl.col("n")) | pl.col("problem").is_null()
    return bool(batch.select(wrong.fill_null(value=True).any()).item())


def _cells(frame: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    return frame.group_by(*by, "n", "c").agg(pl.len().cast(pl.Int64).alias(PROBLEMS))


def _added(parts: list[pl.DataFrame], by: list[str]) -> pl.DataFrame:
    return pl.concat(parts).group_by(*by, "n", "c").agg(pl.col(PROBLEMS).sum())


def _empty(cells: pl.DataFrame, by: list[str]) -> set[str]:
    """Name the columns that are null in every row."""
    return {name for name in by if cells[name].null_count() == cells.height}


def _batches(lazy: pl.LazyFrame) -> Iterator[pl.DataFrame]:
    """Run a query batch by batch, in the order of its rows."""
    return iter(lazy.collect_batches(chunk_size=BATCH, maintain_order=True, lazy=True))


def _slices(parts: Callable[[], Iterable[pl.DataFrame]], step: int) -> Iterator[pl.DataFrame]:
    """Cut parts anew, so that where they were cut does not show in the row groups of the output."""
    left = None
    for part in parts():
        joined = part if left is None else pl.concat([left, part])
        whole = joined.height - joined.height % step
        yield from joined[:whole].iter_slices(step)
        left = joined[whole:]
    if left is not None and left.height:
        yield left


def _dealt(counts: pl.LazyFrame, cells: pl.DataFrame, by: list[str], folder: Path) -> list[Path]:
    """Write the counts to files of about `BUNDLE` rows of whole groups, the files in the order of the groups."""
    groups = cells.group_by(by).agg(pl.col(PROBLEMS).sum()).sort(by, nulls_last=True)
    number = (pl.col(PROBLEMS).cum_sum() - pl.col(PROBLEMS)) // BUNDLE
    groups = groups.select(*by, number.alias(NUMBER))

    def place(given: Any) -> str:
        return f"{given.partition_keys.item()}.parquet"

    target = pl.PartitionBy(
        folder, key=NUMBER, include_key=False, file_path_provider=place, approximate_bytes_per_file=None
    )
    dealt = counts.join(groups.lazy(), on=by, how="left", nulls_equal=True)
    dealt.sink_parquet(target, maintain_order=False, statistics=False, compression="lz4")
    return [folder / f"{one}.parquet" for one in groups[NUMBER].unique().sort()]


def _sorted(files: list[Path], key: list[str]) -> Iterator[pl.DataFrame]:
    """Sort each file, and yield its rows in slices."""
    for file in files:
        frame = pl.read_parquet(file, hive_partitioning=False, glob=False).sort(key, nulls_last=True)
        frame.write_parquet(file, statistics=False, compression="lz4")
        yield from frame.iter_slices(BATCH)
