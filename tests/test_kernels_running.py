"""Running products: large n, whole curves, long rows."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest

from fastpassk.errors import FastpasskError
from fastpassk.kernels import running
from fastpassk.metrics import METRICS


def row(*values):
    return [np.array([value], np.int64) for value in values]


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
@pytest.mark.parametrize("n", [100_000, 10**6, 10**9, 2**40, 2**53 - 1, 2**53 + 1, 2**62 + 12345, 2**63 - 1])
def test_large_n(metric, n):
    random = np.random.default_rng(n % 1000)
    short = random.integers(1, 200, 40)
    long = ((n // 2) ** random.uniform(0.1, 1, 40)).astype(np.int64)
    removed, k = np.where(random.random(40) < 0.5, [short, long], [long, short])
    c = removed if metric.form == 0 else n - removed
    values = running.running(metric.form, np.full(40, n), c, k)
    for i in range(40):
        top, whole = metric.ratio(n, int(c[i]), int(k[i]))
        assert values[i] == top / whole, (n, c[i], k[i])


@pytest.mark.parametrize(("n", "c", "k"), [(10**6, 3000, 2500), (2**40, 2**22, 2**14), (10**5, 50_000, 50_000)])
def test_many_terms(n, c, k):
    top, whole = METRICS["pass@k"].ratio(n, c, k)
    assert running.running(0, *row(n, c, k))[0] == top / whole


def test_a_row_ends_once_it_is_decided():
    assert running.running(0, *row(2**40, 2**39, 2**39))[0] == 1.0
    assert running.running(1, *row(2**40, 2**39, 2**39))[0] == 0.0


def test_a_row_beyond_all_patience_is_refused():
    with pytest.raises(FastpasskError, match=rf"n={2**63 - 1}, k={2**32}.*allowed: {running.MAX_TERMS}"):
        running.running(0, *row(2**63 - 1, 2**32, 2**32))


def test_k_beyond_n_and_the_ends():
    n = np.array([2**40] * 5)
    c, k = np.array([5, 0, 2**40, 2**40 - 5, 2**40 - 5]), np.array([2**40 + 1, 7, 7, 5, 6])
    np.testing.assert_array_equal(running.running(0, n, c, k)[[0, 1, 2, 4]], [np.nan, 0.0, 1.0, 1.0])
    assert running.running(0, n, c, k)[3] == 1.0 - 1 / comb(2**40, 5)


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
def test_a_walk_cut_into_pieces_is_the_same_walk(monkeypatch, metric):
    random = np.random.default_rng(2)
    n = random.integers(1000, 10**7, 50)
    c, k = random.integers(0, n), random.integers(1, 900, 50)
    whole = running.running(metric.form, n, c, k)
    curve = running.running_curve(metric.form, 5000, 40, 300)
    monkeypatch.setattr(running, "STRIDE", 7)
    assert running.running(metric.form, n, c, k).tobytes() == whole.tobytes()
    assert running.running_curve(metric.form, 5000, 40, 300).tobytes() == curve.tobytes()


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
@pytest.mark.parametrize(("n", "c", "last"), [(1, 0, 1), (1, 1, 1), (30, 7, 30), (30, 30, 30), (2**40, 3 * 10**9, 400)])
def test_a_curve_is_its_points(metric, n, c, last):
    values = running.running_curve(metric.form, n, c, last)
    for k in (1, 2, 3, last // 2, last - 1, last):
        if 1 <= k <= last:
            top, whole = metric.ratio(n, c, k) if min(c, k) < 1000 or metric.form else (1, 1)
            assert values[k - 1] == top / whole


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
def test_open_rows_are_finished_with_exact_integers(monkeypatch, metric):
    rows = np.full(30, 10**7), np.arange(0, 3000, 100), np.full(30, 50)
    values = running.running(metric.form, *rows)
    monkeypatch.setattr(running, "U2", 0.5)
    np.testing.assert_array_equal(running.running(metric.form, *rows), values)
    monkeypatch.setattr(running, "quotient", lambda *_: 0.25)
    assert (running.running(metric.form, *rows) == 0.25).any()
