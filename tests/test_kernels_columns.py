"""Points, columns and gathers: what they flag, what they finish exactly, and what they keep."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from fastpassk.kernels import columns, factorials, shares
from fastpassk.metrics import METRICS

PASS = METRICS["pass@k"]


@pytest.fixture(autouse=True)
def fresh():
    columns.forget()
    yield
    columns.forget()


def pairs(*values):
    n, k = np.array(values, np.int64).T
    return n.copy(), k.copy()


def quotients(metric, n, c, k):
    found = [metric.ratio(*row) for row in zip(n.tolist(), c.tolist(), k.tolist(), strict=True)]
    return np.array([top / whole for top, whole in found])


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
@pytest.mark.parametrize("n", [1000, 10_000, 100_000, factorials.LIMIT])
def test_points_up_to_the_end_of_the_table(metric, n):
    random = np.random.default_rng(n)
    short, long = random.integers(1, 120, 60), (n // 2) ** random.uniform(0.2, 1, 60)
    c, k = np.where(random.random(60) < 0.5, [short, long], [long, short]).astype(np.int64)
    c = c if metric.form == 0 else n - c
    rows = np.full(60, n), c, k
    np.testing.assert_array_equal(columns.points(metric.form, *rows), quotients(metric, *rows))


@pytest.mark.parametrize("ratios", [columns.ratios, shares.ratios], ids=["compiled", "arrays"])
def test_the_bound_holds_for_q(ratios):
    from fractions import Fraction
    from math import comb

    random = np.random.default_rng(1)
    n = random.integers(1, 3000, 300)
    removed, k = random.integers(0, n + 1), random.integers(1, n + 1)
    high, low, exponent = ratios(n, removed, k)
    for a, r, d, h, tail, e in zip(*(x.tolist() for x in (n, removed, k, high, low, exponent)), strict=True):
        truth = Fraction(comb(a - r, d), comb(a, d))
        found = (Fraction(h) + Fraction(tail)) * Fraction(2) ** e
        assert abs(found - truth) <= Fraction(shares.BOUND) / 2 * truth
        assert h == 0.0 or 0.125 < h < 8.0


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
def test_open_rows_are_finished_with_exact_integers(monkeypatch, metric):
    n, k = np.full(201, 200), np.full(201, 7)
    c = np.arange(201)
    values = columns.points(metric.form, n, c, k)
    asked = []

    def quotient(form, n, removed, k):
        asked.append((form, n, removed, k))
        return 0.25

    monkeypatch.setattr(shares, "BOUND", 0.5)  # nothing can be decided any more
    np.testing.assert_array_equal(columns.points(metric.form, n, c, k), values)
    monkeypatch.setattr(columns, "quotient", quotient)
    forced = columns.points(metric.form, n, c, k)
    assert len(asked) > 190
    assert (forced == 0.25).sum() >= len(asked)


@pytest.mark.parametrize("kind", [np.int32, np.int64])
@pytest.mark.parametrize(
    ("n", "c", "k"),
    [
        (0, 0, 1),
        (-1, 0, 1),
        (10, 11, 3),
        (10, -1, 3),
        (10, 2, 0),
        (10, 2, -3),
        (11, 2, 3),
        (10, 2, 4),
        (9, 2, 3),
        (2, 3, 3),
        (10, 2**31 - 1, 3),
        (2**31 - 1, 0, 3),
        (-(2**31), -(2**31), 3),
    ],
)
def test_a_row_that_has_no_value_here_marks_its_chunk(kind, n, c, k):
    made = columns.with_columns(0, *pairs((10, 3), (12, 5)))
    rows = [np.array([10, value], kind) for value in (n, c, k)]
    rows[1][0], rows[2][0] = 2, 3
    good = PASS.exact(10, 2, 3)
    out = np.empty(2)
    assert not columns.gather_rows(made, *rows, out)
    assert out[0] == float(good)
    if k > 0:
        assert not columns.gather_ks(made, rows[0], rows[1], np.array([3, k]), np.empty(4))
    if k == 3:
        assert not columns.gather_ks(made, rows[0], rows[1], np.array([3]), out)


@pytest.mark.parametrize("k", [0, -1, -3, -14, -1000, -(2**40), -(2**63)])
def test_a_k_below_one_marks_every_row_and_reads_nothing_outside(k):
    made = columns.with_columns(0, *pairs((10, 3), (12, 5)))
    n, c = np.full(3, 10), np.arange(3)
    assert not columns.gather_ks(made, n, c, np.array([k]), np.empty(3))
    assert not columns.gather_ks(made, n, c, np.array([3, k]), np.empty(6))
    assert not columns.gather_ks(columns._nothing(), n, c, np.array([k]), np.empty(3))


def test_k_beyond_n_is_nan_and_not_marked():
    made = columns.with_columns(0, *pairs((10, 3), (2, 3), (12, 5)))
    rows = [np.array(values, np.int64) for values in ([2, 10, 10, 12], [2, 10, 0, 1], [3, 11, 2**40, 13])]
    made = columns.with_columns(0, rows[0], rows[2])
    out = np.zeros(4)
    assert columns.gather_rows(made, *rows, out)
    assert np.isnan(out).all()


def test_columns_grow_and_old_ones_stay_as_they_were():
    first = columns.with_columns(1, *pairs((10, 3)))
    before = [array.copy() for array in first[1:]]
    second = columns.with_columns(1, *pairs((10, 3), (40, 3), (25, 30), (40, 25)))
    assert second.top == 40
    assert all(np.array_equal(a, b) for a, b in zip(first[1:], before, strict=True))
    assert columns.stored(1) is second
    assert columns.with_columns(1, *pairs((10, 3), (40, 25))).arena.size == second.arena.size
    n, k = pairs((10, 3), (40, 3), (40, 25))
    c = np.array([7, 30, 33])
    out = np.empty(3)
    assert columns.gather_rows(second, n, c, k, out)
    np.testing.assert_array_equal(out, quotients(METRICS["pass^k"], n, c, k))
    with pytest.raises(ValueError, match="read-only"):
        second.arena[0] = 1


def test_too_many_columns_are_not_kept_and_others_give_way(monkeypatch):
    monkeypatch.setattr(columns, "MAX_CELLS", 300)
    assert columns.with_columns(0, *pairs((400, 3))) is None
    assert columns.with_columns(0, *pairs((200, 3))) is not None
    made = columns.with_columns(0, *pairs((150, 3)))
    assert made.top == 150
    monkeypatch.setattr(columns, "MAX_STARTS", 300)
    assert columns.with_columns(0, *pairs((100, 3), (100, 4))) is None


def test_a_table_too_large_is_never_made(monkeypatch):
    """A large n beside columns of many small k: the rows of all of them would grow with it."""
    sizes = []
    widened = columns._widened
    monkeypatch.setattr(columns, "_widened", lambda *given: (sizes.append(widened(*given)[1].size), widened(*given))[1])
    monkeypatch.setattr(columns, "MAX_STARTS", 20_000)
    assert columns.with_columns(0, np.full(100, 100), np.arange(1, 101)) is not None
    made = columns.with_columns(0, *pairs((5000, 3)))
    assert made.top == 5000
    assert max(sizes) <= 20_000
    assert columns.with_columns(0, *pairs((5000, 3), (70, 3))).arena.size == made.arena.size + 72


def test_threads_that_build_at_once_agree():
    def build(seed):
        random = np.random.default_rng(seed)
        n = random.integers(50, 90, 200)
        c, k = random.integers(0, n + 1), random.integers(1, 12, 200)
        made = columns.with_columns(0, *np.unique(np.stack([n, k]), axis=1))
        out = np.empty(200)
        assert columns.gather_rows(made, n, c, k, out)
        return (out == columns.points(0, n, c, k)).all()

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(build, range(24)))
