"""Mean and standard error over the problems of a group, correctly rounded.

    estimate  = sum m P / N
    std_error = sqrt((sum m P^2 - (sum m P)^2 / N) / (N - 1) / N)

Both are the double nearest to the exact value, so they do not depend on the order of the cells, on the groups beside
them, or on how they were computed: in integers over one common denominator (`sums`), or from double-double values,
added exactly, with a decided rounding (`kernels.moments`). There a value is computed once for all groups that have its
(n, c); a point that stays open is done again for its group alone, whose values are scaled by their own largest, and
then in integers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fastpassk import threads
from fastpassk.errors import FastpasskError
from fastpassk.kernels.integers import PASS_AT_K
from fastpassk.metrics.small import affordable
from fastpassk.metrics.sums import cost, exact_point

if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import NDArray

    from fastpassk.metrics.records import Metric

    Floats: TypeAlias = NDArray[np.float64]
    Ints: TypeAlias = NDArray[np.int64]
    Flags: TypeAlias = NDArray[np.bool_]
    Points: TypeAlias = tuple[Floats, Floats]

VALUES = 1 << 15  # values of q of one task: 5 MB of digits
WEIGHTS = 1 << 21  # groups times cells of one block: 16 MB


class Groups(NamedTuple):
    """The cells of groups, one group after the other, int64: so many problems have n samples and c passes.

    Group g has the cells from `starts[g]` up to `starts[g + 1]`, in any order, at least one; 1 <= n, 0 <= c <= n, 1 <=
    problems.
    """

    starts: Ints
    n: Ints
    c: Ints
    problems: Ints

    def part(self, first: int, last: int) -> Groups:
        """Return the groups from first up to last."""
        cells = slice(self.starts[first], self.starts[last])
        starts = self.starts[first : last + 1] - self.starts[first]
        return Groups(starts, self.n[cells], self.c[cells], self.problems[cells])


def mean_and_error(metric: Metric, n: Ints, c: Ints, problems: Ints, ks: Ints) -> Points:
    """Return estimate and standard error of one group at every k, each the double nearest to the exact value.

    Parameters
    ----------
    metric
        what to average.
    n, c, problems
        the cells, as in `Groups`.
    ks
        int64 of shape (ks,), 1 <= k <= the smallest n.

    Returns
    -------
    Two float64 arrays of shape (ks,); standard errors are NaN for fewer than two problems.
    """
    if not n.size:
        raise FastpasskError("a group without problems has no mean; give at least one cell")
    if ks.size and (ks.min() < 1 or ks.max() > n.min()):
        raise FastpasskError(f"k goes from {ks.min()} to {ks.max()}; allowed: 1 to the smallest n, {n.min()}")
    means, errors = means_and_errors(metric, Groups(np.array([0, n.size]), n, c, problems), ks)
    return means[0], errors[0]


def means_and_errors(metric: Metric, groups: Groups, ks: Ints) -> Points:
    """Return estimate and standard error of each group at every k, each the double nearest to the exact value.

    Parameters
    ----------
    metric
        what to average.
    groups
        the groups.
    ks
        int64 of shape (ks,), 1 <= k.

    Returns
    -------
    Two float64 arrays of shape (groups, ks), NaN where k is larger than the smallest n of the group; standard errors
    are NaN for fewer than two problems.
    """
    wanted = ks <= np.minimum.reduceat(groups.n, groups.starts[:-1])[:, None]
    result = np.full(wanted.shape, np.nan), np.full(wanted.shape, np.nan)
    if affordable(_cost(groups, ks, wanted)):
        _fill_exactly(metric, groups, ks, wanted, result)
        return result
    for first, last in _blocks(groups):
        part = tuple(array[first:last] for array in result)
        _fill(metric, groups.part(first, last), ks, wanted[first:last], (part[0], part[1]))
    return result


def _cost(groups: Groups, ks: Ints, wanted: Flags) -> float:
    """Return what the groups cost in integers."""
    if wanted.size > 1 << 20:
        return float(wanted.size)
    parts = (groups.part(place, place + 1) for place in range(len(wanted)))
    return sum(cost(part.n, ks[row]) for part, row in zip(parts, wanted, strict=True))


def _blocks(groups: Groups) -> list[tuple[int, int]]:
    """Cut the groups so that a table of weights, groups by distinct cells, stays small."""
    step = max(1, WEIGHTS // groups.n.size)
    many = groups.starts.size - 1
    return [(first, min(first + step, many)) for first in range(0, many, step)]


def _fill_exactly(metric: Metric, groups: Groups, ks: Ints, wanted: Flags, result: Points) -> None:
    """Do the wanted points in integers."""
    for place, row in enumerate(wanted):
        part = groups.part(place, place + 1)
        for j in np.flatnonzero(row):
            threads.go_on()
            result[0][place, j], result[1][place, j] = exact_point(metric, part.n, part.c, part.problems, int(ks[j]))


def _fill(metric: Metric, groups: Groups, ks: Ints, wanted: Flags, result: Points) -> None:
    """Do the wanted points in double-double, and what stays open again."""
    open_ = wanted & _filled(metric, groups, ks, result)
    for array in result:
        array[~wanted] = np.nan
    alone = len(open_) == 1
    for place in np.flatnonzero(open_.any(axis=1)).tolist():
        part, which = groups.part(place, place + 1), np.flatnonzero(open_[place])
        again = np.empty((1, which.size)), np.empty((1, which.size))
        (_fill_exactly if alone else _fill)(metric, part, ks[which], np.ones((1, which.size), np.bool_), again)
        result[0][place, which], result[1][place, which] = again[0][0], again[1][0]


def _filled(metric: Metric, groups: Groups, ks: Ints, result: Points) -> Flags:
    """Do all points in double-double; return which of them are open."""
    from fastpassk.kernels import fixed

    many = np.add.reduceat(groups.problems.astype(np.float64), groups.starts[:-1])
    if many.max() > fixed.MOST_PROBLEMS:
        return np.ones(result[0].shape, np.bool_)
    n, c, weights = _weights(groups)
    removed = c if metric.form == PASS_AT_K else n - c
    _compile(n)
    step = max(1, VALUES // n.size)
    parts = [slice(first, first + step) for first in range(0, ks.size, step)]
    found = threads.run(lambda part: _moments(metric, weights, n, removed, ks[part]), parts)
    estimate, error, open_estimate, open_error = (np.concatenate(some, axis=1) for some in zip(*found, strict=True))
    result[0][:], result[1][:] = estimate, error
    _state_certain(metric, weights, removed, result, open_estimate, open_error)
    left: Flags = open_estimate | open_error
    return left


def _weights(groups: Groups) -> tuple[Ints, Ints, Floats]:
    """Return the distinct cells of all groups, and how many problems of each group stand in each."""
    order = np.lexsort((groups.c, groups.n))
    n, c = groups.n[order], groups.c[order]
    new = np.append(True, (n[1:] != n[:-1]) | (c[1:] != c[:-1]))
    place = np.empty(n.size, np.int64)
    place[order] = np.cumsum(new) - 1
    many, size = groups.starts.size - 1, int(new.sum())
    group = np.repeat(np.arange(many), np.diff(groups.starts))
    weights = np.bincount(group * size + place, groups.problems, many * size).astype(np.float64)
    return n[new], c[new], weights.reshape(many, size)


def _compile(n: Ints) -> None:
    """Compile running products in this thread, not in a worker."""
    from fastpassk.kernels.factorials import LIMIT

    if n.max() > LIMIT:
        _quotients(n[-1:], n[-1:], np.ones(1, np.int64))


def _moments(metric: Metric, weights: Floats, n: Ints, removed: Ints, ks: Ints) -> tuple[Floats, Floats, Flags, Flags]:
    """Do some ks."""
    from fastpassk.kernels.moments import moments

    high, low, exponent, bound = _quotients(n, removed, ks)
    return moments(metric.form, weights, high, low, exponent, bound)


def _quotients(n: Ints, removed: Ints, ks: Ints) -> tuple[Floats, Floats, Ints, Floats]:
    """Return q = (high + low) 2^exponent of every cell at every k, and their largest relative error at each k."""
    from fastpassk.kernels import shares
    from fastpassk.kernels.factorials import LIMIT

    if n[-1] <= LIMIT:  # n ascends
        return *shares.ratios(n[:, None], removed[:, None], ks), np.full(ks.size, shares.BOUND)
    from fastpassk.kernels import running

    shape = n.size, ks.size
    rows = [np.ascontiguousarray(np.broadcast_to(part, shape)).ravel() for part in (n[:, None], removed[:, None], ks)]
    found = running.ratios(rows[0], rows[1], rows[2])
    high, low, bound = (part.reshape(shape) for part in (found.high, found.low, found.bound))
    return high, low, found.exponent.reshape(shape), bound.max(axis=0)


def _state_certain(
    metric: Metric, weights: Floats, removed: Ints, result: Points, open_estimate: Flags, open_error: Flags
) -> None:
    """Write what is known without a sum: no spread in one cell or where q is 1 in all, and none of a single problem."""
    ones = ~(weights[:, removed > 0] > 0).any(axis=1)
    level = ones | ((weights > 0).sum(axis=1) == 1)
    result[0][ones] = 0.0 if metric.form == PASS_AT_K else 1.0
    result[1][level] = 0.0
    open_estimate[ones], open_error[level] = False, False
    single = weights.sum(axis=1) < 2
    result[1][single] = np.nan
    open_error[single] = False
