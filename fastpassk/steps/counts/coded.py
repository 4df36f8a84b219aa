"""Counting by codes: row groups in parallel threads, a histogram each, and integer tables added at the end.

Each bundle of row groups becomes a small table of its distinct cells (global codes, counts by state, sets of attempts).
Tables are added up whenever they have grown past what they add up to, so that memory follows the number of groups. The
result is what the group-by of `samples` gives, which stays the reference and takes over where this way would not pay:
when a column has more than `MOST_VALUES` values, when attempts are too many for sets of bits, and when attempts repeat.
"""

from __future__ import annotations

import math
import threading
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from fastpassk import threads
from fastpassk.kernels import counting
from fastpassk.schema.frames import MISSING
from fastpassk.sources import coded, translated
from fastpassk.sources.buffers import array_of, numbers_of
from fastpassk.steps.counts.codebooks import CODE, Codebook, TooManyError, coded_keys, written_keys
from fastpassk.steps.counts.problems import Problems

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from fastpassk.kernels.counting import Cells, Columns
    from fastpassk.sources import Dataset
    from fastpassk.sources.coded import Bundle, Codes, Decoded

MOST_VALUES = 1 << 20  # of a key column: beyond, a dictionary of texts costs more than it saves
MOST_ATTEMPTS = 1 << 10  # 128 bytes a group
DENSE = 4  # cells of a dense histogram, in rows of the bundle
LOADED = 1 << 19  # rows of a bundle from which the compiled sets of attempts are worth loading
SETTLE = 1 << 21  # rows of partial tables that are left alone

STATE_NAMES = ("failed", "c", "bad", *MISSING)


class Ledger:
    """The counts so far: partial tables of coded keys, added up when they have grown."""

    def __init__(self, keys: list[str]) -> None:
        """Make an empty ledger of tables with these key columns."""
        self.keys = keys
        self._parts: list[pl.DataFrame] = []
        self._rows = self._settled = 0
        self._lock = threading.Lock()

    def add(self, part: pl.DataFrame) -> None:
        """Take in one partial table."""
        with self._lock:
            self._parts.append(part)
            self._rows += part.height
            if self._rows > max(SETTLE, 4 * self._settled):
                self._parts = [self.total()]
                self._rows = self._settled = self._parts[0].height

    def total(self) -> pl.DataFrame:
        """Return one row a key: counts added, sets of attempts joined."""
        whole = pl.concat(self._parts, how="diagonal")
        sets = [name for name in whole.columns if name.startswith("set ")]
        counts = [name for name in whole.columns if name not in self.keys and name not in sets]
        sizes = [int(str(whole[key].max())) + 1 for key in self.keys]
        if not sets and math.prod(sizes) <= max(DENSE * whole.height, 4096):
            return _added(whole, self.keys, sizes, counts)
        return whole.group_by(self.keys).agg(
            pl.col(counts).sum(), *(pl.col(name).fill_null(0).bitwise_or() for name in sets)
        )


def _added(whole: pl.DataFrame, keys: list[str], sizes: list[int], counts: list[str]) -> pl.DataFrame:
    """Add rows of equal keys up in dense tables; sums of integers below 2^53 are exact in the doubles of bincount."""
    size = math.prod(sizes)
    cells = counting.key(
        [(whole[key].to_numpy(), many, 0) for key, many in zip(keys, sizes, strict=True)], whole.height
    )
    sums = {name: np.bincount(cells, whole[name].fill_null(0).to_numpy(), size).astype(np.int64) for name in counts}
    there = np.flatnonzero(sums["n"])
    places, codes = there, {}
    for key, many in zip(reversed(keys), reversed(sizes), strict=True):
        places, codes[key] = np.divmod(places, many)
    return pl.DataFrame({key: codes[key].astype(np.int32) for key in keys} | {n: s[there] for n, s in sums.items()})


def coded_cells(dataset: Dataset, *, attempts: bool) -> pl.DataFrame | None:
    """Count the samples of a dataset by codes.

    Parameters
    ----------
    dataset
        Samples.
    attempts
        Whether repeated attempts are to be found.

    Returns
    -------
    The identity columns, `problem`, `n`, `c`, `bad`, `missing` and `missing …` by reason (Int64), one row a key; or
    None when the group-by has to do it.
    """
    keys = [*dataset.identity, "problem"]
    books = {key: Codebook(MOST_VALUES) for key in keys}
    if attempts:
        books["attempt"] = Codebook(MOST_ATTEMPTS)
    cells = _counted(dataset, keys, books)
    if cells is None or (attempts and (None in books["attempt"].codes or _repeats(cells))):
        return None
    return _written(cells, keys, books)


def coded_tally(dataset: Dataset, *, unique: bool) -> tuple[pl.DataFrame, pl.DataFrame | None] | None:
    """Count the problems of a table of counts by identity, n and c; their names are only hashed.

    Parameters
    ----------
    dataset
        Counts.
    unique
        Whether each key is known to stand in one row: then problems are not read at all.

    Returns
    -------
    A tally, and the sets of problems of its groups (`Problems.sets`) where they were read; or None when this way does
    not pay, a row is no count or a key may stand in two, which the other way will name.
    """
    keys = [*dataset.identity, "n", "c"]
    books = {key: Codebook(MOST_VALUES) for key in keys}
    problems = None if unique else Problems(list(dataset.identity))
    cells = _counted(dataset, keys, books, problems)
    if cells is None or None in books["n"].codes or None in books["c"].codes:
        return None
    table = written_keys(cells, keys, books).with_columns(cells["n"].alias("problems"))
    wrong = (pl.col("n") < 1) | (pl.col("c") < 0) | (pl.col("c") > pl.col("n"))
    if table.filter(wrong).height or (problems is not None and problems.repeat()):
        return None
    return table, None if problems is None else problems.sets(books)


def _counted(
    dataset: Dataset, keys: list[str], books: dict[str, Codebook], problems: Problems | None = None
) -> pl.DataFrame | None:
    """Count the rows of a dataset by its coded keys; None when this way does not pay."""
    if not coded.countable(dataset) or (problems is not None and not coded.printable(dataset)):
        return None
    ledger = Ledger([CODE + key for key in keys])
    attempts = "attempt" in books and "attempt" not in keys
    try:
        with translated(dataset.inputs):
            threads.run(
                lambda bundle: _count(bundle, books, ledger, problems, attempts=attempts), coded.bundles(dataset)
            )
    except TooManyError:
        return None
    return ledger.total()


def _count(
    bundle: Bundle, books: dict[str, Codebook], ledger: Ledger, problems: Problems | None, *, attempts: bool
) -> None:
    for part in coded.decode(bundle, list(books), problems=problems is not None):
        threads.go_on()
        if problems is not None:
            problems.add(part, books)
        attempt = part.codes.pop("attempt") if attempts else None
        ledger.add(_partial(part, attempt, books))


def _partial(part: Decoded, attempt: Codes | None, books: dict[str, Codebook]) -> pl.DataFrame:
    """Return the distinct cells of one bundle, in global codes."""
    rows, codes, states = part.rows, part.codes, part.states
    columns: Columns = [(column.rows, len(column.values), column.least) for column in codes.values()]
    places, size = None, math.prod(many for _, many, _ in columns)
    if size > counting.LARGEST:
        raise TooManyError
    if size > DENSE * rows + 4096:
        columns, places = _renumbered(columns, rows)
    counts = counting.histogram(columns, states, rows, 1 if states is None else int(states.max(initial=1)) + 1)
    sums = counts.sum(axis=1)
    there = np.flatnonzero(sums)
    keys = coded_keys(there if places is None else places[there], codes, books)
    sets = {} if attempt is None else _sets(counting.key(columns, rows), attempt, books["attempt"], len(sums), there)
    return pl.DataFrame({**keys, "n": sums[there], **_sums(counts[there]), **sets})


def _renumbered(columns: Columns, rows: int) -> tuple[Columns, Cells]:
    """Give the cells that occur numbers of their own, where all possible ones would be too many for a table."""
    encoded = array_of(counting.key(columns, rows)).dictionary_encode()
    places: Cells = numbers_of(encoded.dictionary)
    return [(numbers_of(encoded.indices), len(places), 0)], places


def _sums(counts: NDArray[np.int64]) -> dict[str, NDArray[np.int64]]:
    sums = {name: np.ascontiguousarray(column) for name, column in zip(STATE_NAMES, counts.T, strict=False)}
    del sums["failed"]
    return sums


def _sets(
    cells: Cells, attempt: Codes, book: Codebook, size: int, there: NDArray[np.int64]
) -> dict[str, NDArray[np.uint64]]:
    """Return the sets of attempts of the cells that occur, a word a column."""
    codes = book.look_up(attempt.values)
    if attempt.rows is None:
        rows = np.broadcast_to(codes, len(cells))
    else:
        rows = codes[counting.codes_of(attempt.rows, attempt.least)]
    sets = np.zeros((size, int(codes.max(initial=0)) // counting.WORD + 1), np.uint64)
    _marker(len(cells))(cells, np.ascontiguousarray(rows), sets)
    return {f"set {place}": np.ascontiguousarray(word) for place, word in enumerate(sets[there].T)}


def _marker(rows: int) -> Callable[[Cells, NDArray[np.int32], NDArray[np.uint64]], None]:
    """Return the compiled function where there is work for it."""
    if rows < LOADED:
        return counting.mark
    from fastpassk.kernels import marking

    return marking.mark


def _repeats(cells: pl.DataFrame) -> bool:
    """Tell whether a cell has more rows than attempts."""
    bits = pl.sum_horizontal(pl.col("^set .*$").bitwise_count_ones().cast(pl.Int64))
    return bool(cells.select((bits != pl.col("n")).any()).item())


def _written(cells: pl.DataFrame, keys: list[str], books: dict[str, Codebook]) -> pl.DataFrame:
    """Write the codes of the keys as the values they stand for."""
    table = written_keys(cells, keys, books)
    names = [name for name in ("n", *STATE_NAMES[1:]) if name in cells.columns]
    sums = cells.select(pl.col(names).fill_null(0)).with_columns(
        pl.lit(0, pl.Int64).alias(name) for name in ("c", "bad", "missing") if name not in names
    )
    return table.with_columns(sums.get_columns())
