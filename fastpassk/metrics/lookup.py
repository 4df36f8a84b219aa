"""Batches of (n, c, k) rows scored by NumPy from columns of exact values, so that a stream of them needs no kernel.

A dump has few distinct n and k, and with them few cells (n, c, k), however many its rows. The columns of a batch's
(n, k) are made once, by exact integers, and every row is then two small gathers and one of its value: 4 to 5 ns a row
on one thread, where the compiled gather takes 2.6 but 0.4 s to load. Where the columns are too many for exact integers
the rows go to `evaluate`. Both give the double nearest to the exact value, so which one ran never shows.

The arena begins with cells of -1 for whatever is not there, then has top + 1 cells of NaN that all k > n share, then
the columns; each stretch ends in a -1. A batch that reads a negative value is looked at again.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastpassk.metrics import small
from fastpassk.metrics.evaluate import evaluate
from fastpassk.metrics.rows import Rows

if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import NDArray

    from fastpassk.metrics.records import Metric

    Ints: TypeAlias = NDArray[np.int64]
    Floats: TypeAlias = NDArray[np.float64]

TOP = 1 << 14  # largest n and k of the table
STARTS = 1 << 20  # cells of the table of starts: 8 MB


class _Table(NamedTuple):
    """Where each column begins: `arena[starts[slots[k] + n] + c]`; never changed once made."""

    top: int
    slots: Ints  # of top + 2 cells: the row of each k, the last one that of all k > top
    starts: Ints  # in rows of top + 2 cells, the last of them for all n > top; the first row is that of no k
    arena: Floats


class Lookup:
    """Scores of batches under one metric; several threads may ask one object."""

    def __init__(self, metric: Metric) -> None:
        """Begin without columns."""
        self._metric = metric
        self._columns: dict[tuple[int, int], Floats] = {}
        self._table: _Table | None = None
        self._pays = True
        self._lock = threading.Lock()

    def __call__(self, n: Any, c: Any, k: Any, out: Floats | None = None, *, threads: bool = False) -> Floats:
        """Score rows.

        Parameters
        ----------
        n, c, k
            Integers, or arrays of them of any integer dtype, that broadcast together.
        out
            Where to write; returned when given.
        threads
            Whether large work may use the thread pool.

        Returns
        -------
        The values that `evaluate` gives, NaN where k > n.

        Raises
        ------
        FastpasskError
            As `evaluate` does: a row that cannot be scored.
        """
        found = self._found(n, c, k) if out is None and self._pays else None
        return evaluate(self._metric, n, c, k, out, threads=threads) if found is None else found

    def _found(self, n: Any, c: Any, k: Any) -> Floats | None:
        """Gather the rows, with more columns where they lack some; None when the columns do not pay or a row is bad."""
        rows = Rows(n, c, k)
        if rows.ks is not None or len(rows.shape) != 1:
            return None
        part = rows.part(0, rows.size)
        table = self._table
        values = _gathered(table, part.n, part.c, part.k) if table else None
        if values is None:
            table = self._extended(part.n, part.k)
            values = _gathered(table, part.n, part.c, part.k) if table else None
        return values

    def _extended(self, n: NDArray[Any], k: NDArray[Any]) -> _Table | None:
        """Return a table with the columns of these rows; None where they do not pay, now or ever after."""
        if not n.size or min(n.min(), k.min()) < 1:
            return None
        self._pays &= max(n.max(), k.max()) <= TOP
        if not self._pays:
            return None
        pairs = [divmod(pair, TOP + 1) for pair in np.unique(n.astype(np.int64) * (TOP + 1) + k).tolist()]
        with self._lock:
            lacking = [pair for pair in pairs if pair not in self._columns]
            self._pays = not lacking or self._add(lacking)
            return self._table if self._pays else None

    def _add(self, pairs: list[tuple[int, int]]) -> bool:
        """Make the columns of pairs (n, k) and a new table; return False where that is too much."""
        known = [*self._columns, *pairs]
        top = max(max(pair) for pair in known)
        if (1 + len({k for _, k in known})) * (top + 2) > STARTS:
            return False
        made = small.columns(self._metric, [(n, k) for n, k in pairs if k <= n])
        if made is None:
            return False
        values = iter(made)
        self._columns |= {(n, k): next(values) if k <= n else np.empty(0) for n, k in pairs}
        self._table = _tabled(self._columns, top)
        return True


def _tabled(columns: dict[tuple[int, int], Floats], top: int) -> _Table:
    """Lay columns out in one table; one without values is that of a k > n."""
    width = top + 2
    slot = {k: place * width for place, k in enumerate(sorted({k for _, k in columns}), 1)}
    slots, starts = np.zeros(width, np.int64), np.zeros((len(slot) + 1) * width, np.int64)
    slots[list(slot)] = list(slot.values())
    gap = np.array([-1.0])
    pieces = [np.full(top + 3, -1.0), np.full(top + 1, np.nan), gap]
    end = 2 * top + 5
    for (n, k), values in columns.items():
        starts[slot[k] + n] = end if values.size else 2 * top + 3 - n
        if values.size:
            pieces += [values, gap]
            end += values.size + 1
    return _Table(top, slots, starts, np.concatenate(pieces))


def _gathered(table: _Table, n: NDArray[Any], c: NDArray[Any], k: NDArray[Any]) -> Floats | None:
    """Return the values of rows; None when one is not there. Negative numbers are large ones here."""
    unsigned = np.dtype(f"u{n.itemsize}").type
    limit = unsigned(table.top + 1)
    n = np.minimum(n.view(unsigned), limit)
    c = np.minimum(c.view(unsigned), n + unsigned(1))
    place = table.slots.take(np.minimum(k.view(unsigned), limit))
    place += n.astype(np.int64)
    place = table.starts.take(place)
    place += c.astype(np.int64)
    values = table.arena.take(place)
    return None if (values.view(np.int64) < 0).any() else values
