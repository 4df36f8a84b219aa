"""Correctly rounded values for n up to 2^17: one at a time (`points`), or from stored columns by a gather a row.

Point: q from the table of factorials, by the formula and with the bound of `shares`, r = `removed` (c for pass@k, n - c
for pass^k). `rounding` decides with that bound; a row that it leaves open is finished with exact integers.

Column: points for c = 0..n at one (n, k), and one cell of -1 behind them. Columns stand one after the other in one
array, the arena; a small table of starts says where the column of (n, k) begins. A gather clamps n and c, reads start,
then arena, and collects the sign bits of what it read. No value is negative: whatever should not be there (c > n, n <
1, n or k beyond the tables, a column not built yet) leads to a cell of -1, so one pass clamps, gathers and checks, and
no row branches. Only a chunk with the bit set is looked at again, in NumPy. Columns of k > n share one block of NaN,
which ends in a -1 too; a negative k, which looks like a large one, adds its own sign bit.

Tried and left, on the 10 million rows of a leaderboard (n 100 to 200), one thread, against 1.0 ns a row for this gather
of one k and 2.6 for (n, c, k) rows: comparing n and c and testing for a missing column in the loop 4.8 and 7.8; a pass
for the places and a second for the values 2.0; the loop over ks outside the rows 3.3 a value (inside 1.6), and that
loop for a single k 2.2; four rows at a time written out 4.4; the row of k in a table of its own, one more
pointer than there are registers, 3.0; signed n and c for a single k 1.2. Without any clamp a single k takes 0.93, so
there is little left to win: n and c clamped in 32 bits 1.19; a minimum in place of collected bits 1.26; n and c of
4,096 rows compared first, eight at a time, then gathered without clamps 1.27 to 1.34; places of 1,024 rows clamped into
a buffer first 1.7; columns all top + 2 cells long, so that c is clamped by a constant, 1.04, for an arena too large.

A `Columns` is never changed once made: a thread that reads one keeps it, whoever makes the next. There is no lock: two
threads that build at the same time lose the work of one of them, and a lock held while waiting for the pool could stop
it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastpassk import threads
from fastpassk.kernels import factorials, rounding, shares
from fastpassk.kernels._jit import helper, kernel
from fastpassk.kernels.integers import PASS_AT_K, quotient
from fastpassk.kernels.pairs import divide, multiply

if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import NDArray

    Ints: TypeAlias = NDArray[np.int64]
    Floats: TypeAlias = NDArray[np.float64]
    Whole: TypeAlias = NDArray[np.int32] | NDArray[np.int64]

MAX_CELLS = 1 << 22  # of an arena: 32 MB a form
MAX_STARTS = 1 << 22  # of a table of starts: 16 MB a form
STEP = 1 << 16  # rows of a chunk of points


class Columns(NamedTuple):
    """Stored columns of one form.

    The value of (n, c, k) is `arena[table[table[k] + n] + c]`. `table` is flat, in rows of top + 2: the first row
    says for every k, its last entry for every k > top, where the row of that k begins; a row says for every n, its
    last entry for every n > top, where the column begins. The second row is for k > top, the third for a k without
    columns. The arena holds the bits of float64 values and begins with top + 1 NaN and top + 3 cells of -1.
    """

    top: int
    table: NDArray[np.uint32]
    arena: Ints


_stored: dict[int, Columns] = {}


def points(form: int, n: Ints, c: Ints, k: Ints) -> Floats:
    """Return correctly rounded values of valid rows with n <= 2^17; NaN where k > n. int64 arrays of shape (rows,)."""
    removed = c if form == PASS_AT_K else n - c
    high, low, exponent = ratios(n, removed, k)
    values, open_ = rounding.rounded(form, high, low, exponent, np.full(n.size, shares.BOUND))
    for i in np.flatnonzero(open_):
        threads.go_on()
        values[i] = quotient(form, int(n[i]), int(removed[i]), int(k[i]))
    values[k > n] = np.nan
    return values


def ratios(n: Ints, removed: Ints, k: Ints) -> tuple[Floats, Floats, Ints]:
    """Return q as (high + low) 2^exponent with relative error below `BOUND`; arrays of shape (rows,), n <= 2^17.

    high is in (1/4, 4), or 0 where q is exactly 0 (and where k > n).
    """
    table = factorials.table(int(n.max(initial=0)))
    high, low, exponent = np.empty(n.size), np.empty(n.size), np.empty(n.size, np.int64)
    _ratios(n, removed, k, table.high, table.low, table.exponent, high, low, exponent)
    return high, low, exponent


def stored(form: int) -> Columns | None:
    """Return the columns kept for a form, or None."""
    return _stored.get(form)


def with_columns(form: int, n: Ints, k: Ints) -> Columns | None:
    """Return columns that hold every pair (n, k), building what is missing; None when they are too many to keep.

    Parameters
    ----------
    form
        0 for pass@k, 1 for pass^k.
    n, k
        distinct pairs, int64 of shape (pairs,), 1 <= n <= 2^17, k >= 1 (pairs with k > n are answered NaN).
    """
    old = _stored.get(form)
    made = (_extended(form, old, n, k) if old else None) or _extended(form, _nothing(), n, k)
    if made is not None:
        _stored[form] = made
    return made


def forget() -> None:
    """Drop every stored column."""
    _stored.clear()


def gather_ks(columns: Columns, n: Whole, c: Whole, ks: Ints, out: Floats) -> bool:
    """Write the values of rows (n, c) at every k into `out`; return whether all rows were good and all columns there.

    Parameters
    ----------
    columns
        as `with_columns` made them.
    n, c
        contiguous, of shape (rows,), both int32 or both int64; any values.
    ks
        int64 of shape (ks,); any values.
    out
        float64 of shape (rows * ks,), filled row by row.
    """
    rows = columns.table[np.maximum(np.minimum(ks, columns.top + 1), 0)]  # k = 0 has no columns and marks every row
    unsigned = np.dtype(f"u{n.itemsize}")  # a negative number becomes a large one
    n, c, limit = n.view(unsigned), c.view(unsigned), unsigned.type(columns.top + 1)
    if ks.size == 1:
        starts = columns.table[rows[0] : rows[0] + columns.top + 2]
        return bool(_gather_column(n, c, limit, starts, columns.arena, out.view(np.int64)) >= 0)
    return bool(_gather_ks(n, c, limit, rows, columns.table, columns.arena, out.view(np.int64)) >= 0)


def gather_rows(columns: Columns, n: Whole, c: Whole, k: Whole, out: Floats) -> bool:
    """Write the values of rows (n, c, k) into `out`; as `gather_ks`, all of shape (rows,), n, c, k of one dtype."""
    limit = np.uint64(columns.top + 1)
    return bool(_gather_rows(n, c, k, limit, columns.table, columns.arena, out.view(np.int64)) >= 0)


@kernel(writes=3)
def _ratios(
    n: Ints,
    removed: Ints,
    k: Ints,
    f_high: Floats,
    f_low: Floats,
    f_exponent: Ints,
    high: Floats,
    low: Floats,
    exponent: Ints,
) -> None:
    for i in range(n.size):
        high[i], low[i], exponent[i] = _ratio(n[i], removed[i], k[i], f_high, f_low, f_exponent)


@helper
def _ratio(n: int, removed: int, k: int, f_high: Floats, f_low: Floats, f_exponent: Ints) -> tuple[float, float, int]:
    """Return q at one row, as `shares.ratios` does for arrays."""
    rest = n - removed
    if rest < k:
        return 0.0, 0.0, 0
    if removed == 0:
        return 1.0, 0.0, 0
    over_high, over_low = multiply(f_high[rest], f_low[rest], f_high[n - k], f_low[n - k])
    under_high, under_low = multiply(f_high[n], f_low[n], f_high[rest - k], f_low[rest - k])
    high, low = divide(over_high, over_low, under_high, under_low)
    return high, low, f_exponent[rest] + f_exponent[n - k] - f_exponent[n] - f_exponent[rest - k]


@kernel(writes=1)
def _gather_column(n: Any, c: Any, limit: Any, starts: Any, arena: Ints, out: Ints) -> np.int64:
    seen = np.int64(0)
    for i in range(n.size):
        a = np.uint64(min(n[i], limit))
        b = min(np.uint64(c[i]), a + np.uint64(1))
        value = arena[starts[a] + b]
        seen |= value
        out[i] = value
    return seen


@kernel(writes=1)
def _gather_ks(n: Any, c: Any, limit: Any, rows: Any, table: Any, arena: Ints, out: Ints) -> np.int64:
    seen = np.int64(0)
    width = rows.size
    for i in range(n.size):
        a = np.uint64(min(n[i], limit))
        b = min(np.uint64(c[i]), a + np.uint64(1))
        for j in range(width):
            value = arena[table[rows[j] + a] + b]
            seen |= value
            out[i * width + j] = value
    return seen


@kernel(writes=1)
def _gather_rows(n: Whole, c: Whole, k: Whole, limit: Any, table: Any, arena: Ints, out: Ints) -> np.int64:
    seen = np.int64(0)
    for i in range(n.size):
        a = min(np.uint64(n[i]), limit)
        b = min(np.uint64(c[i]), a + np.uint64(1))
        d = np.int64(k[i])
        value = arena[table[table[min(np.uint64(d), limit)] + a] + b]
        seen |= value | d
        out[i] = value
    return seen


def _nothing() -> Columns:
    """Return columns that hold none."""
    return _columns(0, np.array([4, 2]), np.ones((2, 2), np.int64), _head(0))


def _columns(top: int, slots: Ints, starts: Ints, arena: Ints) -> Columns:
    """Return columns that nothing can change any more."""
    made = Columns(top, np.append(slots, starts).astype(np.uint32), arena)
    made.table.flags.writeable = made.arena.flags.writeable = False
    return made


def _head(top: int) -> Ints:
    """Return how an arena begins: NaN that the columns of k > n share, then -1 for whatever is not there."""
    return np.repeat([np.nan, -1.0], [top + 1, top + 3]).view(np.int64)


def _extended(form: int, old: Columns, n: Ints, k: Ints) -> Columns | None:
    """Return `old` with the columns of pairs (n, k) that it lacks, or None when that is more than may be kept."""
    top = max(old.top, int(n.max(initial=0)))
    fresh = _without_row(old, np.unique(np.minimum(k, top + 1)), top)
    if (old.table.size // (old.top + 2) - 1 + fresh.size) * (top + 2) > MAX_STARTS:
        return None
    slots, starts = _widened(old, top, fresh)
    which = slots[np.minimum(k, top + 1)] // (top + 2) - 1
    new = np.flatnonzero(starts[which, n] == top + 1)
    sizes = n[new] + 2
    ends = np.cumsum(sizes)
    head, kept = _head(top), old.arena[2 * old.top + 4 :]
    before = head.size + kept.size
    if before + sizes.sum() > MAX_CELLS + head.size:
        return None
    starts[which[new], n[new]] = before + ends - sizes
    cells = _built(form, n[new], k[new])
    return _columns(top, slots, starts, np.concatenate([head, kept, cells.view(np.int64)]))


def _without_row(old: Columns, ks: Ints, top: int) -> Ints:
    """Return the ks up to `top` that have no row in the table of `old`."""
    lacking = (ks > old.top) | (old.table[np.minimum(ks, old.top)] == 2 * (old.top + 2))
    fresh: Ints = ks[lacking & (ks <= top)]
    return fresh


def _widened(old: Columns, top: int, fresh: Ints) -> tuple[Ints, Ints]:
    """Return the first row of a table, and the others, of `old` for a new top and a row more for every k of `fresh`."""
    stride, missing = top + 2, top + 1
    known = old.table.reshape(-1, old.top + 2).astype(np.int64)[:, : old.top + 1]
    slots = np.full(stride, 2 * stride, np.int64)
    slots[: old.top + 1] = known[0] // (old.top + 2) * stride
    slots[missing] = stride
    rows = known.shape[0]
    slots[fresh] = np.arange(rows, rows + fresh.size) * stride
    starts = np.full((rows + fresh.size - 1, stride), missing, np.int64)
    moved = known[1:] + 2 * (top - old.top)  # what stands before the columns in the arena grows with top
    starts[: rows - 1, : old.top + 1] = np.where(known[1:] >= 2 * old.top + 4, moved, missing)
    n = np.arange(1, top + 1)
    starts[0, n] = top - n
    held = np.flatnonzero(slots[:missing] > 2 * stride)
    of_held = slots[held] // stride - 1
    starts[of_held, 1:missing] = np.where(n < held[:, None], top - n, starts[of_held, 1:missing])
    return slots, starts


def _built(form: int, n: Ints, k: Ints) -> Floats:
    """Return the columns of pairs (n, k), one after the other, each with its last cell of -1."""
    ends = np.cumsum(n + 2)
    cells = np.full(int(ends[-1]) if n.size else 0, -1.0)
    factorials.table(int(n.max(initial=0)))
    points(form, n[:0], n[:0], n[:0])  # compile here, not in a worker

    def fill(first: int) -> None:
        place = np.arange(first, min(first + STEP, cells.size))
        pair = np.searchsorted(ends, place, side="right")
        c = place - (ends[pair] - n[pair] - 2)
        inside = c <= n[pair]
        cells[place[inside]] = points(form, n[pair][inside], c[inside], k[pair][inside])

    threads.run(fill, range(0, cells.size, STEP))
    return cells
