"""The same rows by other means: the usual loop, SciPy, a Polars expression, SQL in DuckDB; and the error of each.

The loop is what most harnesses run, once a problem. `error` is the largest absolute error that each may have on these
rows (n from 100 to 200); ours has none beyond the rounding to the nearest double.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import duckdb
import numpy as np
import polars as pl
from scipy.stats import hypergeom

import fastpassk as fp
from benchmarks.common import ROWS, exact, rate, rows

if TYPE_CHECKING:
    from collections.abc import Callable

SQL = """
    SELECT CASE WHEN n - c < $k THEN 1.0
           ELSE 1.0 - exp(lgamma(n - c + 1) + lgamma(n - $k + 1) - lgamma(n + 1) - lgamma(n - c - $k + 1)) END AS score
    FROM frame
"""


def ours(frame: pl.DataFrame, k: int) -> np.ndarray:
    """Score the columns as a user of dataframes would."""
    return fp.pass_at_k(frame["n"], frame["c"], k).to_numpy()


def loop(frame: pl.DataFrame, k: int) -> np.ndarray:
    """Run the usual estimator, problem by problem."""
    return np.array(
        [
            1.0 if n - c < k else 1.0 - np.prod(1.0 - k / np.arange(n - c + 1, n + 1))
            for n, c in zip(frame["n"].to_numpy(), frame["c"].to_numpy(), strict=True)
        ]
    )


def scipy(frame: pl.DataFrame, k: int) -> np.ndarray:
    """Ask for the chance of at least one pass among k draws without replacement."""
    return hypergeom.sf(0, frame["n"].to_numpy(), frame["c"].to_numpy(), k)


def polars(frame: pl.DataFrame, k: int) -> np.ndarray:
    """Multiply the k ratios as one expression, no Python in it."""
    n, c = pl.col("n").cast(pl.Float64), pl.col("c").cast(pl.Float64)
    fails = pl.lit(1.0)
    for j in range(k):
        fails = fails * ((n - c - j).clip(lower_bound=0) / (n - j))
    return frame.select(1 - fails).to_series().to_numpy()


def sql(frame: pl.DataFrame, k: int) -> np.ndarray:
    """Take the binomials from log-gamma in SQL; much of the precision goes where the logarithms cancel."""
    with duckdb.connect() as connection:
        connection.register("frame", frame.to_arrow())
        return connection.execute(SQL, {"k": k}).fetchnumpy()["score"]


@dataclass(frozen=True)
class Peer:
    """A way to the same values: its function, its largest absolute error, and the most rows it is asked for."""

    values: Callable[[pl.DataFrame, int], np.ndarray]
    error: float
    most: int


PEERS = {
    "fastpassk": Peer(ours, 0.0, 2**62),
    "loop": Peer(loop, 1e-13, 20_000),
    "scipy": Peer(scipy, 1e-13, 200_000),
    "polars": Peer(polars, 1e-13, 2**62),
    "duckdb": Peer(sql, 1e-9, 2**62),
}


class PassAtK:
    """pass@10 of the same rows, peer by peer."""

    params = (list(PEERS), sorted({min(size, ROWS) for size in (20_000, 200_000, ROWS)}))
    param_names = ("peer", "rows")
    timeout = 300

    def setup_cache(self):
        return pl.DataFrame(rows())

    def setup(self, data, peer, size):
        if size > PEERS[peer].most:
            raise NotImplementedError  # minutes a call; the cost of a row is known from fewer
        self.frame = data.head(size)
        PEERS[peer].values(self.frame.head(1000), 10)  # loaded and compiled before anything is timed
        self.time_rows(data, peer, size)

    def time_rows(self, _data, peer, _size):
        return PEERS[peer].values(self.frame, 10)

    def track_rows_a_second(self, data, peer, size):
        return rate(lambda: self.time_rows(data, peer, size), size)

    track_rows_a_second.unit = "rows/s"

    def correct(self, found, _data, peer, _size):
        expected = exact("pass@k", self.frame["n"].to_numpy(), self.frame["c"].to_numpy(), np.array(10))
        np.testing.assert_allclose(found, expected, rtol=0, atol=PEERS[peer].error)


class PassAtKMemory:
    """Peak memory of one call on all rows, beside a call on a few of them; not for peers that are too slow for it."""

    params = tuple(PEERS)
    param_names = ("peer",)

    def setup_cache(self):
        return pl.DataFrame(rows())

    def setup(self, _data, peer):
        if PEERS[peer].most < ROWS:
            raise NotImplementedError  # as above

    def peakmem_rows(self, data, peer):
        PEERS[peer].values(data, 10)

    def peakmem_nothing(self, data, peer):
        PEERS[peer].values(data.head(10), 10)
