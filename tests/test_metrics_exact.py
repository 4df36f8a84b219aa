"""Every metric on every path, against its exact twin. A new metric in METRICS is tested here with no other edit."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings

from fastpassk.kernels import columns, running
from fastpassk.metrics import METRICS, small
from fastpassk.metrics.evaluate import evaluate
from strategies import columns_of_rows


def exact(metric, n, c, k):
    """Return the double nearest to the exact value of each row, NaN where k > n."""
    rows = zip(n.tolist(), c.tolist(), k.tolist(), strict=True)
    return np.array([float(metric.exact(a, b, d)) if d <= a else np.nan for a, b, d in rows])


def by_one(metric, n, c, k):
    return np.array([small.single(metric, a, b, d) for a, b, d in zip(n.tolist(), c.tolist(), k.tolist(), strict=True)])


def by_integers(metric, n, c, k):
    small._Account.spent = -(10**9)
    return small._gathered(metric, n, c, k, k <= n)


def by_few(metric, n, c, k):
    return np.concatenate([small._few(metric, *(a[i : i + 9] for a in (n, c, k))) for i in range(0, n.size, 9)])


def by_points(metric, n, c, k):
    return columns.points(metric.form, n, c, k)


def by_gather_rows(metric, n, c, k):
    return _gathered(metric, n, c, k, np.int64, columns.gather_rows)


def by_gather_narrow(metric, n, c, k):
    return _gathered(metric, n, c, k, np.int32, columns.gather_rows)


def by_gather_ks(metric, n, c, k):
    def gather(made, n, c, k, out):
        for i in range(n.size):
            pair = np.empty(2)
            assert columns.gather_ks(made, n[i : i + 1], c[i : i + 1], k[i : i + 1].astype(np.int64), out[i : i + 1])
            assert columns.gather_ks(
                made, n[i : i + 1], c[i : i + 1], np.repeat(k[i : i + 1], 2).astype(np.int64), pair
            )
            assert pair.tobytes() == np.repeat(out[i : i + 1], 2).tobytes()
        return True

    return _gathered(metric, n, c, k, np.int32, gather)


def _gathered(metric, n, c, k, kind, gather):
    pairs = np.unique(np.stack([n, k]), axis=1)
    made = columns.with_columns(metric.form, pairs[0], pairs[1])
    out = np.empty(n.size)
    assert gather(made, n.astype(kind), c.astype(kind), k.astype(kind), out)
    return out


def by_running(metric, n, c, k):
    return running.running(metric.form, n, c, k)


def by_curve(metric, n, c, k):
    values = [
        running.running_curve(metric.form, a, b, min(a, d))[-1] if d <= a else np.nan
        for a, b, d in zip(n.tolist(), c.tolist(), k.tolist(), strict=True)
    ]
    return np.array(values)


def by_evaluate(metric, n, c, k):
    small._Account.spent = small.CELLS
    tiled = [np.tile(a, small.FEW // n.size + 1) for a in (n, c, k)]
    return evaluate(metric, *tiled)[: n.size]


PATHS = {
    path.__name__[3:]: path
    for path in (
        by_one,
        by_integers,
        by_few,
        by_points,
        by_gather_rows,
        by_gather_narrow,
        by_gather_ks,
        by_running,
        by_curve,
        by_evaluate,
    )
}

# (n, c, k), exact value where it is short, and the correctly rounded double: STATISTICS of the project's specification,
# computed there with Python fractions and compared with the estimator of Chen et al. 2021.
GOLDEN = [
    (5, 2, 2, Fraction(7, 10), 0.7),
    (6, 3, 1, Fraction(1, 2), 0.5),
    (8, 3, 5, Fraction(55, 56), 0.9821428571428571),
    (10, 3, 5, Fraction(11, 12), 0.9166666666666666),
    (20, 5, 10, Fraction(1271, 1292), 0.9837461300309598),
    (100, 5, 10, Fraction(79137, 190120), 0.4162476330738481),
    (200, 1, 1, Fraction(1, 200), 0.005),
    (200, 1, 100, Fraction(1, 2), 0.5),
    (200, 2, 3, Fraction(297, 9950), 0.029849246231155778),
    (200, 10, 10, None, 0.40854786608141713),
    (200, 50, 100, None, 1.0),
    (200, 190, 1, Fraction(19, 20), 0.95),
    (1000, 1, 7, Fraction(7, 1000), 0.007),
    (1000, 37, 50, None, 0.855403080571176),
    (10000, 1, 3, Fraction(3, 10000), 0.0003),
    (10000, 3, 17, Fraction(282795323, 55538890000), 0.005091843265142677),
    (10000, 100, 100, None, 0.6358054847604084),
    (1000000, 1, 1, None, 1e-06),
    (1000000, 2, 3, None, 5.999993999994e-06),
    (1000000, 1000, 1000, None, 0.6324884995829888),
    (1000000, 37, 123456, None, 0.9923689034226327),
]


@pytest.fixture(autouse=True)
def fresh():
    columns.forget()
    yield
    columns.forget()
    small._Account.spent = 0


def every_row(largest):
    """Return all (n, c, k) with n up to `largest` and k up to n + 1."""
    triples = [(n, c, k) for n in range(1, largest + 1) for c in range(n + 1) for k in range(1, n + 2)]
    return tuple(np.array(values, np.int64) for values in zip(*triples, strict=True))


@pytest.mark.parametrize("path", PATHS.values(), ids=PATHS)
@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
class TestEveryPath:
    def test_small_n_exhaustively(self, metric, path):
        n, c, k = every_row(9)
        np.testing.assert_array_equal(path(metric, n, c, k), exact(metric, n, c, k))

    def test_ragged_rows(self, metric, path):
        random = np.random.default_rng(5)
        n = random.integers(1, 400, 300)
        c, k = random.binomial(n, random.beta(0.5, 0.5, n.size)), random.integers(1, 300, n.size)
        np.testing.assert_array_equal(path(metric, n, c, k), exact(metric, n, c, k))

    @settings(max_examples=15, deadline=None)
    @given(columns_of_rows())
    def test_any_rows(self, metric, path, given_rows):
        np.testing.assert_array_equal(path(metric, *given_rows), exact(metric, *given_rows))

    def test_results_down_to_the_least_double_and_below(self, metric, path):
        c = np.array([0, 100, 1100, 1199, 1200, 1201, 1210, 1300, 1400, 1500, 2000, 2500, 3990, 4990, 5000])
        n, k = np.full(c.size, 5000), np.full(c.size, 1200)
        np.testing.assert_array_equal(path(metric, n, c, k), exact(metric, n, c, k))


@pytest.mark.parametrize("path", ["points", "running", "evaluate"])
def test_subnormal_results_along_a_column(path):
    metric, n, k = METRICS["pass^k"], 5000, 1200
    c = np.arange(2960, 3120)
    values = PATHS[path](metric, np.full(c.size, n), c, np.full(c.size, k))
    expected = exact(metric, np.full(c.size, n), c, np.full(c.size, k))
    assert ((expected > 0) & (expected < 2.0**-1022)).sum() > 20
    np.testing.assert_array_equal(values, expected)


@pytest.mark.parametrize(("n", "c", "k", "value", "double"), GOLDEN, ids=[f"{a}-{b}-{d}" for a, b, d, *_ in GOLDEN])
def test_golden_values(n, c, k, value, double):
    metric = METRICS["pass@k"]
    if value is not None:
        assert metric.exact(n, c, k) == value
    row = [np.array([number]) for number in (n, c, k)]
    assert small.single(metric, n, c, k) == double
    assert running.running(metric.form, *row) == double
    if n <= 10_000:
        assert columns.points(metric.form, *row) == double


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
@pytest.mark.parametrize("n", [1, 2, 13, 64])
def test_ratio_and_column_are_the_definition(metric, n):
    for k in range(1, n + 1):
        numerators = metric.column(n, k)
        for c in range(n + 1):
            expected = metric.exact(n, c, k)
            assert Fraction(*metric.ratio(n, c, k)) == expected
            assert Fraction(numerators[c], comb(n, k)) == expected


@pytest.mark.parametrize("n", [1, 7, 20, 150])
def test_the_theorems_of_correct_rounding(n):
    c, k = np.arange(n + 1)[:, None], np.arange(1, n + 1)[None]
    values = columns.points(0, *(a.ravel() for a in np.broadcast_arrays(np.array([[n]]), c, k))).reshape(n + 1, n)
    assert (np.diff(values, axis=0) >= 0).all()
    assert (np.diff(values, axis=1) >= 0).all()
    assert (values[1:] == values[1:].T).all()
    assert (values[:, 0] == np.arange(n + 1) / n).all()
