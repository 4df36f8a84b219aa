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
    _score(metric, *(a[:0] for a in rows.expanded(0, 1)))  # compile here, not in a worker

    def score(stretch: Stretch) -> bool:
        out[_cells(rows, stretch)] = _score(metric, *rows.expanded(*stretch))
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
    top = min(LIMIT, max(int(rows.part(*stretch).n.max()) for stretch in stretches))
    top = max(top, kept.top if kept else 0)
    ks = rows.ks if rows.ks is not None else _distinct_ks(rows, stretches, top)
    ks = np.unique(np.minimum(ks, top + 1))
    if ks.size * (top + 1) > columns.MAX_STARTS:
        return None
    slot = np.zeros(top + 2, np.int64)
    slot[ks] = np.arange(ks.size)
    present = np.zeros((ks.size, top + 1), np.bool_)
    for stretch in stretches:
        part = rows.part(*stretch)
        known = part.n <= top
        if rows.ks is not None:
            present[:, part.n[known]] = True
        else:
            present[slot[np.minimum(part.k[known], top + 1)], part.n[known]] = True
    which, n = np.nonzero(present)
    k = ks[which]
    cells = int((n + 1)[k <= n].sum())
    return (n, k) if cells <= sum(stop - start for start, stop in stretches) * rows.per_row else None


def _distinct_ks(rows: Rows, stretches: list[Stretch], top: int) -> Ints:
    """Return the distinct ks of these stretches, every k beyond `top` as top + 1."""
    present = np.zeros(top + 2, np.bool_)
    for stretch in stretches:
        present[np.minimum(rows.part(*stretch).k, top + 1)] = True
    return np.flatnonzero(present)


def _cells(rows: Rows, stretch: Stretch) -> slice:
    """Return where the values of a stretch stand in the flat result."""
    return slice(stretch[0] * rows.per_row, stretch[1] * rows.per_row)


def _in_turn(function: Callable[[Stretch], bool], items: list[Stretch]) -> list[bool]:
    """Do as `threads.run` does, without threads."""
    return [function(item) for item in items]
