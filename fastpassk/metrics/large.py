"""The kernel paths for large work: gather from columns, points, running products. Imported only when they are needed.

Every stretch of rows is first gathered from the columns at hand. A stretch that the gather marks is looked at again:
bad rows are an error; else the columns it lacks are built when their cells are no more than the rows, and it is
gathered again; what is still marked is scored row by row, n up to the table by `points` and beyond by `running`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastpassk import threads as pool
from fastpassk.kernels import columns, running
from fastpassk.kernels.factorials import LIMIT
from fastpassk.kernels.integers import PASS_AT_K

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from numpy.typing import NDArray

    from fastpassk.metrics.records import Metric
    from fastpassk.metrics.rows import Part, Rows

    Stretch = tuple[int, int]
    Spread = Callable[[Callable[[Stretch], bool], list[Stretch]], list[bool]]

    Floats: TypeAlias = NDArray[np.float64]
    Ints: TypeAlias = NDArray[np.int64]

CELLS = 1 << 19  # values of a stretch
STEPS = 8  # terms of a product that take as long as one k of a curve
LONGEST = 1 << 19  # ks of a curve


def fill(metric: Metric, rows: Rows, out: Floats, *, threads: bool) -> None:
    """Write the values of all rows into `out`.

    Raises
    ------
    FastpasskError
        a row cannot be scored.
    """
    spread: Spread = pool.run if threads else _in_turn
    flat = out.reshape(-1) if out.flags.c_contiguous else np.empty(out.size)
    step = max(1, CELLS // rows.per_row)
    stretches = [(start, min(start + step, rows.size)) for start in range(0, rows.size, step)]
    kept = columns.stored(metric.form)
    marked = _gather(kept, rows, flat, stretches, spread) if kept else stretches
    if marked:
        rows.check(marked)
        _fill_marked(metric, rows, flat, marked, spread)
    if not out.flags.c_contiguous:
        out[...] = flat.reshape(out.shape)


def _fill_marked(metric: Metric, rows: Rows, out: Floats, marked: list[Stretch], spread: Spread) -> None:
    """Score stretches whose columns are not at hand, all rows known to be good."""
    pairs = _pairs(columns.stored(metric.form), rows, marked)
    made = columns.with_columns(metric.form, *pairs) if pairs else None
    if made:
        marked = _gather(made, rows, out, marked, spread)
    if not marked:
        return
    beyond = _largest(rows, marked) > LIMIT
    _compile(metric, beyond=beyond)

    def score(stretch: Stretch) -> bool:
        curves = beyond and rows.per_row > 1
        out[_cells(rows, stretch)] = (
            _curves(metric, rows, stretch) if curves else _score(metric, *rows.expanded(*stretch))
        )
        return True

    spread(score, marked)


def _gather(kept: columns.Columns, rows: Rows, out: Floats, stretches: list[Stretch], spread: Spread) -> list[Stretch]:
    """Gather stretches; return those that were marked."""

    def gather(part: Part, target: Floats) -> bool:
        if rows.ks is not None:
            return columns.gather_ks(kept, part.n, part.c, part.k, target)
        return columns.gather_rows(kept, part.n, part.c, part.k, target)

    gather(rows.part(0, 0), out[:0])  # compile here, not in a worker
    good = spread(lambda stretch: gather(rows.part(*stretch), out[_cells(rows, stretch)]), stretches)
    return [stretch for stretch, fine in zip(stretches, good, strict=True) if not fine]


def _compile(metric: Metric, *, beyond: bool) -> None:
    """Compile the kernels that score row by row in this thread, not in a worker."""
    one = np.ones(1, np.int64)
    columns.points(metric.form, one[:0], one[:0], one[:0])
    if beyond:
        running.running(metric.form, one, one, one)
        running.running_curve(metric.form, 1, 1, 1)


def _curves(metric: Metric, rows: Rows, stretch: Stretch) -> Floats:
    """Score rows at every k; one beyond the table by a walk along its curve, where that is shorter than its points."""
    n, c, ks = rows.part(*stretch, wide=True)[2:]
    last = np.minimum(n, ks.max())
    removed = c if metric.form == PASS_AT_K else n - c
    terms = np.minimum(removed[:, None], ks).sum(axis=1, dtype=np.float64)
    walked = (n > LIMIT) & (last <= LONGEST) & (last * STEPS < terms)
    values = np.full((n.size, ks.size), np.nan)
    for i in np.flatnonzero(walked):
        curve = running.running_curve(metric.form, int(n[i]), int(c[i]), int(last[i]))
        values[i, ks <= n[i]] = curve[ks[ks <= n[i]] - 1]
    n, c = n[~walked], c[~walked]
    points = _score(metric, np.repeat(n, ks.size), np.repeat(c, ks.size), np.tile(ks, n.size))
    values[~walked] = points.reshape(n.size, ks.size)
    return values.reshape(-1)


def _score(metric: Metric, n: Ints, c: Ints, k: Ints) -> Floats:
    """Score rows one by one."""
    beyond = n > LIMIT
    if not beyond.any():
        return columns.points(metric.form, n, c, k)
    values = np.empty(n.size)
    values[beyond] = running.running(metric.form, n[beyond], c[beyond], k[beyond])
    values[~beyond] = columns.points(metric.form, n[~beyond], c[~beyond], k[~beyond])
    return values


def _pairs(kept: columns.Columns | None, rows: Rows, stretches: list[Stretch]) -> tuple[Ints, Ints] | None:
    """Return the distinct (n, k) of these stretches, n within the table; None when they have more cells than rows."""
    top = min(LIMIT, _largest(rows, stretches))
    last = 1 + max(top, kept.top if kept else 0)  # stands for every k beyond it, here and in the columns kept
    ks = np.unique(np.minimum(rows.ks, last)) if rows.ks is not None else _distinct_ks(rows, stretches, last)
    if ks.size * (top + 1) > columns.MAX_STARTS:
        return None
    slot = np.zeros(last + 1, np.int64)
    slot[ks] = np.arange(ks.size)
    present = np.zeros((ks.size, top + 1), np.bool_)
    for stretch in stretches:
        part = rows.part(*stretch)
        known = part.n <= top
        if rows.ks is not None:
            present[:, part.n[known]] = True
        else:
            present[slot[np.minimum(part.k[known], last)], part.n[known]] = True
    which, n = np.nonzero(present)
    k = ks[which]
    cells = int((n + 1)[k <= n].sum())
    return (n, k) if cells <= sum(stop - start for start, stop in stretches) * rows.per_row else None


def _largest(rows: Rows, stretches: list[Stretch]) -> int:
    """Return the largest n of these stretches."""
    return max(int(rows.part(*stretch).n.max()) for stretch in stretches)


def _distinct_ks(rows: Rows, stretches: list[Stretch], last: int) -> Ints:
    """Return the distinct ks of these stretches, every k beyond `last` as `last`."""
    present = np.zeros(last + 1, np.bool_)
    for stretch in stretches:
        present[np.minimum(rows.part(*stretch).k, last)] = True
    return np.flatnonzero(present)


def _cells(rows: Rows, stretch: Stretch) -> slice:
    """Return where the values of a stretch stand in the flat result."""
    return slice(stretch[0] * rows.per_row, stretch[1] * rows.per_row)


def _in_turn(function: Callable[[Stretch], bool], items: list[Stretch]) -> list[bool]:
    """Do as `threads.run` does, without threads."""
    return [function(item) for item in items]
