"""Sampling that ended at the r-th pass: score it as if the last draw had not been made.

A problem whose sampling stopped at its r-th pass, on draw N, is scored as (N - 1, r - 1) for k <= N - 1 and as 1
beyond; one that reached the cap is scored as it is. This is the path-counting estimator of Girshick, Mosteller and
Savage (1946; r = 2) and Haldane (1945): unbiased for every k up to the cap, where (N, r) is badly biased upwards.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastpassk.errors import FastpasskError, UsageError

if TYPE_CHECKING:
    from fastpassk.metrics.records import Metric

    Integers = np.ndarray[tuple[int], np.dtype[np.int64]]


def limits(n: Integers, c: Integers, stopped: int | None) -> Integers:
    """Return the largest k for which each cell of one group is defined.

    Parameters
    ----------
    n, c
        The cells of one group, int64, shape (cells,).
    stopped
        The number of passes at which sampling ended, or None when it never ended early.

    Raises
    ------
    FastpasskError
        A cell has more passes than the rule allows, so the rule cannot be the one that was used.
    """
    if stopped is None:
        return n
    if (c > stopped).any():
        at = int(np.argmax(c > stopped))
        raise FastpasskError(
            f"a problem has c={c[at]} of n={n[at]}, but stopped={stopped} says that sampling ended at pass {stopped}"
        )
    return np.where(c == stopped, n.max(initial=0), n)


def effective(n: Integers, c: Integers, k: int, stopped: int | None) -> tuple[Integers, Integers]:
    """Return the (n, c) whose pass@k is the unbiased value of cells sampled under the rule; k at most their limit."""
    if stopped is None:
        return n, c
    ended = c == stopped
    solved = ended & (k > n - 1)  # no path of k draws misses the last pass: pass@k is 1, as for (k, k)
    return np.where(solved, k, n - ended), np.where(solved, k, c - ended)


def check_metric(metric: Metric, stopped: int | None) -> None:
    """Raise when the rule has no unbiased form here for the metric."""
    if stopped is not None and metric.name != "pass@k":
        raise UsageError(f"stopped= is defined for pass@k; {metric.name} of samples that stopped early is not offered")
