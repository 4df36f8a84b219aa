"""Properties that follow from correct rounding, on rows of any size."""

from __future__ import annotations

from fractions import Fraction
from math import comb, ulp

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import fastpassk as fp


@st.composite
def rows(draw, largest=400):
    """Draw (n, c, k) with 0 <= c <= n and 1 <= k <= n."""
    n = draw(st.integers(1, largest))
    return n, draw(st.integers(0, n)), draw(st.integers(1, n))


@given(rows())
def test_the_double_nearest_to_the_exact_value(row):
    n, c, k = row
    whole = comb(n, k)
    assert fp.pass_at_k(n, c, k) == (whole - comb(n - c, k)) / whole
    assert fp.pass_hat_k(n, c, k) == comb(c, k) / whole


@given(rows())
def test_symmetric_in_c_and_k(row):
    n, c, k = row
    if c:
        assert fp.pass_at_k(n, c, k) == fp.pass_at_k(n, k, c)


@settings(deadline=None)
@given(st.integers(1, 300))
def test_monotone_and_bounded(n):
    c, k = np.arange(n + 1)[:, None], np.arange(1, n + 1)
    at, hat = fp.pass_at_k(n, c, k), fp.pass_hat_k(n, c, k)
    assert (np.diff(at, axis=0) >= 0).all()
    assert (np.diff(at, axis=1) >= 0).all()
    assert (np.diff(hat, axis=0) >= 0).all()
    assert (np.diff(hat, axis=1) <= 0).all()
    for values in (at, hat):
        assert ((values >= 0) & (values <= 1)).all()
        np.testing.assert_array_equal(values[:, 0], np.arange(n + 1) / n)


@given(rows())
def test_all_pass_is_that_none_of_the_others_fails(row):
    """C(c, k) / C(n, k) is 1 - pass@k of the fails, exactly; so the two doubles enclose one rational."""
    n, c, k = row
    exact = Fraction(comb(c, k), comb(n, k))
    assert 1 - Fraction(comb(n, k) - comb(n - (n - c), k), comb(n, k)) == exact
    found = fp.pass_hat_k(n, c, k)
    assert found == float(exact)
    assert abs((1 - Fraction(fp.pass_at_k(n, n - c, k))) - exact) <= Fraction(ulp(1.0)) / 4


@given(rows(5000))
def test_the_plug_in_is_close_and_never_above_the_truth_it_estimates(row):
    n, c, k = row
    found = fp.plug_in(n, c, k)
    exact = 1 - (1 - Fraction(c, n)) ** k
    assert 0 <= found <= 1
    assert abs(Fraction(found) - exact) <= 8 * Fraction(ulp(float(exact)))
    assert found <= fp.pass_at_k(n, c, k) + 8 * ulp(1.0)  # and so below the unbiased value too


@given(st.lists(rows(), min_size=1, max_size=30), st.integers(1, 7))
def test_a_row_does_not_depend_on_its_neighbours(drawn, parts):
    n, c, k = np.array(drawn).T
    whole = fp.pass_at_k(n, c, k)
    np.testing.assert_array_equal(whole, [fp.pass_at_k(*row) for row in drawn])
    split = [fp.pass_at_k(*piece) for piece in zip(*(np.array_split(x, parts) for x in (n, c, k)), strict=True)]
    np.testing.assert_array_equal(whole, np.concatenate(split))


@given(rows(), st.lists(st.integers(1, 450), min_size=1, max_size=20))
def test_a_curve_is_its_points(row, ks):
    n, c, _ = row
    for name, function in (("pass@k", fp.pass_at_k), ("pass^k", fp.pass_hat_k)):
        found = fp.pass_curve(n, c, ks, metric=name)
        np.testing.assert_array_equal(found, [function(n, c, k) for k in ks])
        assert list(np.isnan(found)) == [k > n for k in ks]
