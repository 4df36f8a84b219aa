"""What the benchmarks share: one place for the sizes, seeded rows, and their exact values.

`FASTPASSK_BENCH_ROWS` sets the number of rows of everything; the tests set it small and run the whole suite once.
"""

from __future__ import annotations

import os
import time
from math import comb, nan
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

ROWS = int(os.environ.get("FASTPASSK_BENCH_ROWS", "2000000"))
KS = (1, 2, 5, 10, 50, 100)


def rows(size: int = ROWS, dtype: str = "int32") -> dict[str, np.ndarray]:
    """Make seeded rows as leaderboards have them: n from 100 to 200, many problems never or always solved, mixed k."""
    rng = np.random.default_rng(2107)
    n = rng.integers(100, 201, size)
    columns = {"n": n, "c": (n * rng.beta(0.5, 1.5, size)).astype(int), "k": rng.choice(KS, size)}
    return {name: column.astype(dtype) for name, column in columns.items()}


def exact(metric: str, n: np.ndarray, c: np.ndarray, k: np.ndarray) -> np.ndarray:
    """Give the doubles nearest to the exact values, from integers."""
    known: dict[tuple[int, int, int], float] = {}
    cells = [tuple(map(int, cell)) for cell in np.broadcast(n, c, k)]
    for cell in set(cells):
        known[cell] = _one(metric, *cell)
    return np.array([known[cell] for cell in cells]).reshape(np.broadcast(n, c, k).shape)


def rate(work: Callable[[], object], size: int) -> float:
    """Rows a second of the faster of two calls."""
    seconds = []
    for _ in range(2):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return size / min(seconds)


def _one(metric: str, n: int, c: int, k: int) -> float:
    """Give one exact value, rounded once."""
    if k > n:
        return nan
    part = comb(c, k) if metric == "pass^k" else comb(n, k) - comb(n - c, k)
    return part / comb(n, k)
