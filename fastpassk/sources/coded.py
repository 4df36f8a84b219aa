"""Parquet row groups decoded to codes: no text a row, only the distinct values of a column brought to canonical form.

A bundle is a run of row groups of one file, about a million rows. Decoding one gives for every column an int32 code a
row and the values behind the codes. The values go through the same expressions as in the lazy frame of the dataset, so
that both ways of counting agree by construction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import polars as pl

from fastpassk.kernels import counting
from fastpassk.schema.outcomes import REASONS
from fastpassk.sources import canonical
from fastpassk.sources.buffers import numbers_of, series_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pyarrow as pa
    from numpy.typing import NDArray

    from fastpassk.sources.dataset import Dataset
    from fastpassk.sources.views import View
    from fastpassk.storage import File

FEWEST_BYTES = 1 << 17  # of all files: below, loading pyarrow takes longer than the group-by
ROWS = 1 << 20  # of a bundle, where row groups are smaller
SPAN = 1 << 12  # integers that lie closer together than this are their own codes

FAILED, PASSED, BAD, MISSING = 0, 1, 2, 3  # states; from MISSING on by reason: none of the known ones, then REASONS


@dataclass(frozen=True)
class Codes:
    """One column of a bundle: the canonical values, and which of them each row has.

    Attributes
    ----------
    values
        One a code.
    rows
        The code of each row, plus `least`: any integer type, a view of the column itself where it can be. None when all
        rows have the only value.
    least
        What to take from `rows`.
    """

    values: list[str | int | None]
    rows: NDArray[Any] | None
    least: int = 0


@dataclass(frozen=True)
class Bundle:
    """Row groups of one file that are decoded together."""

    view: View
    groups: tuple[int, ...]
    metadata: Any  # the footer, read once a file


def countable(dataset: Dataset) -> bool:
    """Tell whether rows can be counted by codes: Parquet files, untouched by where and meta, one outcome a row."""
    large = sum(file.path.stat().st_size for file in dataset.inputs) >= FEWEST_BYTES
    return large and bool(dataset.views) and all(_plain(view) for view in dataset.views)


def bundles(dataset: Dataset) -> list[Bundle]:
    """Cut the files of a dataset into bundles, in order."""
    return [bundle for view in dataset.views for bundle in _cut(view)]


@dataclass(frozen=True)
class Decoded:
    """Rows of a bundle.

    Attributes
    ----------
    rows
        How many there are.
    codes
        The codes of the key columns.
    states
        uint8, shape (rows,): `FAILED`, `PASSED`, `BAD`, `MISSING` and on by reason; None for a table without outcomes.
    prints
        uint64, shape (rows,): a hash of the problem, the same in every file; None where it was not asked for, or where
        a problem has no name.
    """

    rows: int
    codes: dict[str, Codes]
    states: NDArray[np.uint8] | None
    prints: NDArray[np.uint64] | None


def decode(bundle: Bundle, keys: list[str], *, problems: bool = False) -> Iterator[Decoded]:
    """Decode a bundle.

    Parameters
    ----------
    bundle
        From `bundles`.
    keys
        Identity names, `problem`, `attempt`, `n` and `c`; one that the file lacks is null in every row.
    problems
        Whether problems are wanted as prints; see `printable`.
    """
    view = bundle.view
    more = [view.roles.columns["problem"]] if problems else []
    for table in _tables(bundle, list(dict.fromkeys([*_needed(view, keys), *more]))):
        codes = {key: _codes(view, key, table) for key in keys}
        states = _states(view, table) if "passed" in view.roles.columns else None
        yield Decoded(table.num_rows, codes, states, _prints(view, table) if problems else None)


def printable(dataset: Dataset) -> bool:
    """Tell whether problems can be known by prints: columns of integers in all files, or of text in all."""
    kinds = [view.table.schema.get(view.roles.columns["problem"]) for view in dataset.views]
    texts = [isinstance(kind, canonical.TEXTS) for kind in kinds]
    return all(texts) or all(kind is not None and kind.is_integer() for kind in kinds)


def _plain(view: View) -> bool:
    file = view.table.file
    nested = "passed" in view.roles.columns and view.column("passed")[1].is_nested()
    return file is not None and file.format == "parquet" and not nested and "stopped" not in view.roles.columns


def _cut(view: View) -> Iterator[Bundle]:
    import pyarrow.parquet as pq

    metadata = pq.read_metadata(_path(view))
    groups: list[int] = []
    rows = 0
    for group in range(metadata.num_row_groups):
        groups.append(group)
        rows += metadata.row_group(group).num_rows
        if rows >= ROWS:
            yield Bundle(view, tuple(groups), metadata)
            groups, rows = [], 0
    if groups:
        yield Bundle(view, tuple(groups), metadata)


def _path(view: View) -> Path:
    """Return the file of a view; `countable` has seen to it that there is one."""
    return cast("File", view.table.file).path


def _needed(view: View, keys: list[str]) -> list[str]:
    columns = [_column(view, key) for key in keys] + [
        view.roles.columns[r] for r in ("passed", "reason") if r in view.roles.columns
    ]
    return list(dict.fromkeys(column for column in columns if column in view.table.schema))


def _column(view: View, key: str) -> str | None:
    return view.roles.identity.get(key) or view.roles.columns.get(key)


def _tables(bundle: Bundle, columns: list[str]) -> Iterator[pa.Table]:
    """Read a bundle as one table, or a row group too large for that in batches."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = _path(bundle.view)
    texts = [name for name in columns if isinstance(bundle.view.table.schema[name], canonical.TEXTS)]
    with pq.ParquetFile(path, metadata=bundle.metadata, read_dictionary=texts, pre_buffer=False) as file:
        rows = sum(bundle.metadata.row_group(group).num_rows for group in bundle.groups)
        if rows < 2 * ROWS:
            yield file.read_row_groups(list(bundle.groups), columns=columns, use_threads=False)
            return
        for batch in file.iter_batches(ROWS, row_groups=list(bundle.groups), columns=columns, use_threads=False):
            yield pa.Table.from_batches([batch])


def _codes(view: View, key: str, table: pa.Table) -> Codes:
    column = _column(view, key)
    if column is None:
        return Codes([None], None)
    if column not in view.table.schema:
        constant = view.frame.select(view.keys[key]).head(1).collect().to_series()
        return Codes(constant.to_list(), None)
    values, rows, least = _encoded(table.column(column))
    raw = pl.DataFrame({column: values})
    written = view.keys[key] if key in view.keys else canonical.whole(*view.column(key))
    return Codes(raw.select(written).to_series().to_list(), rows, least)


def _encoded(column: pa.ChunkedArray) -> tuple[pl.Series, NDArray[Any], int]:
    """Return the distinct values of a column (null among them where it has any), and `rows` and `least` of `Codes`."""
    import pyarrow as pa

    if pa.types.is_integer(column.type) and not column.null_count:
        numbers = numbers_of(column)
        low, high = (int(numbers.min()), int(numbers.max())) if len(numbers) else (0, -1)
        if high - low < SPAN:
            return pl.Series(_span(low, high).astype(numbers.dtype)), numbers, low
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    whole = column.unify_dictionaries().combine_chunks()
    chunk = whole.chunk(0) if isinstance(whole, pa.ChunkedArray) else whole
    values, rows = series_of(chunk.dictionary), chunk.indices
    if rows.null_count:
        rows, values = rows.fill_null(len(values)), values.extend_constant(None, 1)
    return values, numbers_of(rows), 0


def _span(low: int, high: int) -> NDArray[Any]:
    """Return all integers from low to high."""
    return np.arange(low, high + 1, dtype=np.int64 if high < 1 << 62 else np.uint64)


def _prints(view: View, table: pa.Table) -> NDArray[np.uint64] | None:
    """Return the prints of the problems of a table; None when one has no name."""
    import pyarrow as pa

    name = view.roles.columns["problem"]
    column = table.column(name)
    if pa.types.is_integer(column.type):
        if column.null_count:
            return None
        return pl.Series(numbers_of(column)).cast(pl.Int64, wrap_numerical=True).hash(0).to_numpy()
    values, rows, _ = _encoded(column)
    written = pl.DataFrame({name: values}).select(view.keys["problem"]).to_series()
    return None if written.null_count() else written.hash(0).to_numpy()[rows]


def _states(view: View, table: pa.Table) -> NDArray[np.uint8]:
    """Return the state of each row."""
    name, kind = view.column("passed")
    column = table.column(name)
    if isinstance(kind, pl.Boolean):
        states = np.concatenate([_states_of_bits(chunk) for chunk in column.chunks] or [np.empty(0, np.uint8)])
    else:
        states = _states_of_values(view, column)
    if "reason" in view.roles.columns and (states == MISSING).any():
        _tell_reasons(view, table, states)
    return states


def _states_of_bits(chunk: pa.BooleanArray) -> NDArray[np.uint8]:
    valid, bits = (np.frombuffer(part or b"", np.uint8) for part in chunk.buffers())
    return counting.states_of_bits(bits, valid, chunk.offset, MISSING, len(chunk))


def _states_of_values(view: View, column: pa.ChunkedArray) -> NDArray[np.uint8]:
    """Return the states of outcomes that are numbers or texts, by their distinct values."""
    name, kind = view.column("passed")
    values, rows, least = _encoded(column)
    outcome, bad, _ = canonical.outcome(name, kind, view.threshold)
    state = pl.when(bad).then(BAD).otherwise(outcome.cast(pl.UInt8)).fill_null(MISSING).cast(pl.UInt8)
    return pl.DataFrame({name: values.cast(kind)}).select(state).to_series().to_numpy()[counting.codes_of(rows, least)]


def _tell_reasons(view: View, table: pa.Table, states: NDArray[np.uint8]) -> None:
    name, kind = view.column("reason")
    values, rows, least = _encoded(table.column(name))
    reasons = pl.DataFrame({name: values.cast(kind)}).select(canonical.reason(name, kind)).to_series().to_list()
    codes = np.array([MISSING + 1 + REASONS.index(one) if one in REASONS else MISSING for one in reasons], np.uint8)
    states[states == MISSING] = codes[counting.codes_of(rows, least)][states == MISSING]
