"""Mean and standard error: integers and kernels against Fractions, for every metric."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fastpassk.errors import FastpasskError
from fastpassk.kernels import fixed, running
from fastpassk.kernels.integers import square_root
from fastpassk.metrics import METRICS, means, small
from fastpassk.metrics.means import Groups, mean_and_error, means_and_errors
from fastpassk.metrics.sums import mean_and_error_of
from strategies import cells


@pytest.fixture(params=["integers", "kernels", "open"], autouse=True)
def path(request, monkeypatch):
    """Each test in integers, in kernels, and in kernels that leave everything open."""
    monkeypatch.setattr(small._Account, "spent", -(10**9) if request.param == "integers" else small.CELLS)
    if request.param == "open":
        from fastpassk.kernels import shares

        monkeypatch.setattr(shares, "BOUND", 0.5)
        monkeypatch.setattr(running, "U2", 2.0**-20)
    return request.param


def truth(values, problems):
    """Return mean and standard error from Fractions, each rounded once."""
    total = sum(problems)
    mean = sum(m * value for m, value in zip(problems, values, strict=True)) / total
    if total < 2:
        return float(mean), math.nan
    spread = sum(m * (value - mean) ** 2 for m, value in zip(problems, values, strict=True)) / (total - 1) / total
    return float(mean), square_root(spread.numerator, spread.denominator)


def expected(metric, n, c, problems, ks):
    points = [
        truth([metric.exact(a, b, k) for a, b in zip(n.tolist(), c.tolist(), strict=True)], problems.tolist())
        for k in ks.tolist()
    ]
    return tuple(np.array(values) for values in zip(*points, strict=True))


def group(sizes, passes, problems):
    return tuple(np.array(values, np.int64) for values in (sizes, passes, problems))


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
class TestEveryMetric:
    @settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(cells())
    def test_any_cells(self, metric, path, given_cells):
        np.testing.assert_array_equal(mean_and_error(metric, *given_cells), expected(metric, *given_cells))

    @pytest.mark.parametrize("law", [(0.5, 0.5), (60, 1), (1, 60)])
    def test_ragged_groups(self, metric, path, law):
        random = np.random.default_rng(3)
        n = random.integers(60, 140, 30)
        c = random.binomial(n, random.beta(*law, n.size))
        given_cells = n, c, random.integers(1, 5, 30), np.array([60, 1, 2, 33, 59])
        np.testing.assert_array_equal(mean_and_error(metric, *given_cells), expected(metric, *given_cells))

    def test_the_order_of_cells_does_not_show(self, metric, path):
        n, c, problems = group([9, 5, 9, 7], [1, 5, 4, 0], [3, 1, 2, 8])
        turned = tuple(a[[2, 0, 3, 1]] for a in (n, c, problems))
        ks = np.array([1, 3, 5])
        for a, b in zip(mean_and_error(metric, n, c, problems, ks), mean_and_error(metric, *turned, ks), strict=True):
            assert a.tobytes() == b.tobytes()

    @pytest.mark.parametrize("passes", [[0, 0], [9, 6], [9, 0]])
    def test_groups_at_the_ends(self, metric, path, passes):
        given_cells = *group([9, 6], passes, [5, 7]), np.array([1, 3, 6])
        np.testing.assert_array_equal(mean_and_error(metric, *given_cells), expected(metric, *given_cells))

    def test_values_next_to_one_and_to_nothing(self, metric, path):
        n = np.full(6, 4000)
        c = np.array([3990, 3991, 2000, 3999, 1990, 1500])
        given_cells = n, c, np.arange(1, 7), np.array([900, 1000, 1100, 1200, 1500])
        np.testing.assert_array_equal(mean_and_error(metric, *given_cells), expected(metric, *given_cells))

    def test_n_beyond_the_table(self, metric, path):
        given_cells = *group([10**6, 200_000, 50], [3, 150_000, 9], [2, 3, 4]), np.array([1, 7, 50])
        np.testing.assert_array_equal(mean_and_error(metric, *given_cells), expected(metric, *given_cells))

    def test_one_problem_has_no_error(self, metric, path):
        estimate, error = mean_and_error(metric, *group([9], [4], [1]), np.array([1, 2]))
        assert estimate.tolist() == [float(metric.exact(9, 4, 1)), float(metric.exact(9, 4, 2))]
        assert np.isnan(error).all()


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(cells(), min_size=1, max_size=6))
def test_groups_do_not_change_each_other(metric, path, many):
    """Together or alone: each group at every k that it has, and nothing at the others."""
    starts = np.cumsum([0, *(n.size for n, *_ in many)])
    n, c, problems = (np.concatenate([one[place] for one in many]) for place in range(3))
    ks = np.unique(np.concatenate([one[3] for one in many]))
    estimate, error = means_and_errors(metric, Groups(starts, n, c, problems), ks)
    for place, (n, c, problems, _) in enumerate(many):
        there = ks <= n.min()
        alone = expected(metric, n, c, problems, ks[there]) if there.any() else ([], [])
        np.testing.assert_array_equal((estimate[place, there], error[place, there]), alone)
        assert np.isnan(estimate[place, ~there]).all()
        assert np.isnan(error[place, ~there]).all()


def test_a_group_of_next_to_nothing_beside_one_of_everything(path):
    """The values of one lie 400 binary places below the other's: no digits are left for it until it is alone."""
    n, c = np.full(5, 4000), np.array([0, 4000, 3100, 3110, 3120])
    groups = Groups(np.array([0, 2, 5]), n, c, np.array([3, 4, 5, 6, 7]))
    ks = np.array([200, 700])
    for metric in METRICS.values():
        found = means_and_errors(metric, groups, ks)
        for place, part in enumerate((slice(0, 2), slice(2, 5))):
            right = expected(metric, n[part], c[part], groups.problems[part], ks)
            np.testing.assert_array_equal([array[place] for array in found], right)


def test_blocks_of_groups_and_of_ks(monkeypatch, path):
    random = np.random.default_rng(4)
    n = random.integers(20, 40, 60)
    groups = Groups(np.arange(0, 61, 6), n, random.integers(0, n + 1), random.integers(1, 9, 60))
    ks = np.arange(1, 21)
    whole = means_and_errors(METRICS["pass@k"], groups, ks)
    monkeypatch.setattr(means, "WEIGHTS", 150)
    monkeypatch.setattr(means, "VALUES", 50)
    monkeypatch.setattr(fixed, "SERIAL", 100)
    for a, b in zip(means_and_errors(METRICS["pass@k"], groups, ks), whole, strict=True):
        assert a.tobytes() == b.tobytes()


def test_more_problems_than_an_int64_counts(path):
    for metric in METRICS.values():
        given_cells = *group([10] * 4, [1, 2, 3, 9], [2**62, 2**62, 2**62 - 1, 2**61]), np.array([1, 2, 5])
        np.testing.assert_array_equal(mean_and_error(metric, *given_cells), expected(metric, *given_cells))


def test_a_published_file(path):
    """tau-bench, gpt-4o on the airline tasks: 50 tasks, 4 trials, successes 0..4 in 14, 12, 10, 4, 10 tasks."""
    given_cells = *group([4] * 5, range(5), [14, 12, 10, 4, 10]), np.arange(1, 5)
    assert mean_and_error(METRICS["pass@k"], *given_cells)[0].tolist() == [0.42, 17 / 30, 0.66, 0.72]
    assert mean_and_error(METRICS["pass^k"], *given_cells)[0].tolist() == [0.42, 41 / 150, 0.22, 0.2]


def test_what_is_decided_is_not_done_again(monkeypatch, path):
    done = []
    exact_point = means.exact_point
    monkeypatch.setattr(means, "exact_point", lambda *a: (done.append(a[-1]), exact_point(*a))[1])
    random = np.random.default_rng(8)
    n = np.full(90, 200)
    saturated = np.repeat([199, 200, 0], 30)
    for c in (random.integers(0, 201, 90), saturated):
        mean_and_error(METRICS["pass@k"], n, c, np.full(90, 3), np.arange(1, 101))
    assert not done if path == "kernels" else len(done) >= 200


def test_a_k_that_a_problem_lacks_is_refused():
    with pytest.raises(FastpasskError, match="k goes from 1 to 6; allowed: 1 to the smallest n, 5"):
        mean_and_error(METRICS["pass@k"], *group([9, 5], [1, 1], [1, 1]), np.array([1, 6]))
    with pytest.raises(FastpasskError, match="a group without problems"):
        mean_and_error(METRICS["pass@k"], *group([], [], []), np.array([1]))


def test_no_ks_no_points():
    assert [a.size for a in mean_and_error(METRICS["pass@k"], *group([9], [4], [2]), np.empty(0, np.int64))] == [0, 0]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.floats(-1e6, 1e6), st.integers(1, 50)), min_size=1, max_size=20))
def test_given_scores(scores):
    values, problems = (list(part) for part in zip(*scores, strict=True))
    found = mean_and_error_of(np.array(values), np.array(problems))
    np.testing.assert_array_equal(found, truth([Fraction(value) for value in values], problems))


@pytest.mark.parametrize("values", [[], [0.5, math.nan], [math.inf]])
def test_given_scores_must_be_numbers(values):
    with pytest.raises(FastpasskError, match="finite numbers"):
        mean_and_error_of(np.array(values), np.ones(len(values), np.int64))
