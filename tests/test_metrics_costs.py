"""What work costs: which path is taken for it, and that no path is taken where another is far cheaper."""

from __future__ import annotations

import numpy as np
import pytest

from fastpassk.kernels import running
from fastpassk.metrics import METRICS, means, small, sums
from fastpassk.metrics.means import mean_and_error
from fastpassk.metrics.rows import Rows

PASS, HAT = METRICS["pass@k"], METRICS["pass^k"]


@pytest.fixture
def kernels(monkeypatch):
    """Nothing may be done in integers."""
    monkeypatch.setattr(small._Account, "spent", small.CELLS)
    monkeypatch.setattr(means, "exact_point", lambda *given: pytest.fail(f"k={given[-1]} was done in integers"))


def test_columns_of_long_integers_are_left_to_the_kernels(monkeypatch):
    monkeypatch.setattr(small._Account, "spent", 0)
    monkeypatch.setattr(small, "_column", lambda *given: np.zeros(given[1] + 1))
    c, out = np.arange(300), np.empty(300)
    assert not small.fill(PASS, Rows(40_000, c, 20_000), out)  # a second, and half a gigabyte of integers
    assert small.fill(PASS, Rows(40_000, c, 10), out)


def test_means_of_long_integers_are_left_to_the_kernels(monkeypatch):
    monkeypatch.setattr(small._Account, "spent", 0)
    assert not small.affordable(sums.cost(np.full(4, 10**6), np.array([500_000])))
    assert not small.affordable(sums.cost(np.arange(900, 1000), np.arange(1, 500)))
    assert small._Account.spent == 0
    assert small.affordable(sums.cost(np.full(100, 200), np.arange(1, 101)))
    assert small.affordable(sums.cost(np.full(100, 10**6), np.array([1, 2, 5, 10])))


@pytest.mark.parametrize("metric", [PASS, HAT], ids=[PASS.name, HAT.name])
def test_values_next_to_nothing_have_no_spread(kernels, metric):
    """Products cut short below 2^-1300 come out equal, their spread as 0; no reason to multiply a million factors."""
    n, removed = np.full(4, 10**6), np.arange(100_000, 100_004)
    c = removed if metric is PASS else n - removed
    estimate, error = mean_and_error(metric, n, c, np.ones(4, np.int64), np.array([500_000]))
    assert estimate.tolist() == [1.0 if metric is PASS else 0.0]
    assert error.tolist() == [0.0]


def test_kernels_take_contiguous_rows_even_for_one_k(kernels, monkeypatch):
    """Another layout would be compiled anew."""
    ratios, seen = running.ratios, []

    def watched(*rows):
        seen.extend(a.flags.c_contiguous for a in rows)
        return ratios(*rows)

    monkeypatch.setattr(running, "ratios", watched)
    for cells, ks in ((5, 1), (1, 5), (5, 5)):
        mean_and_error(PASS, np.arange(10**6, 10**6 + cells), np.arange(cells), np.full(cells, 3), np.arange(1, ks + 1))
    assert len(seen) == 18
    assert all(seen)
