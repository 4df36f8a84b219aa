"""Double-double arithmetic against Fractions, and the decision of a rounding."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fastpassk.kernels import factorials, rounding
from fastpassk.kernels.integers import MAX_TERMS, quotient, square_root, subsets
from fastpassk.kernels.rounding import U2

high_parts = st.floats(0.5, 1.0)
low_parts = st.floats(-1.0, 1.0)


def exactly(pair):
    return Fraction(pair[0]) + Fraction(pair[1])


@st.composite
def doubles(draw):
    """A double-double near 1: high + low with high = RN(high + low)."""
    high = draw(high_parts)
    return high, draw(low_parts) * math.ulp(high) / 2.1


@settings(max_examples=300, deadline=None)
@given(doubles(), doubles())
def test_arithmetic_stays_within_its_published_bounds(a, b):
    results = {
        rounding.add: (exactly(a) + exactly(b), 3.1),
        rounding.multiply: (exactly(a) * exactly(b), 7),
        rounding.divide: (exactly(a) / exactly(b), 15.1),
    }
    for function, (truth, bound) in results.items():
        assert abs(exactly(function(*a, *b)) - truth) <= Fraction(bound * U2) * truth


@pytest.mark.parametrize("i", [0, 1, 2, 20, 170, 171, 1000, 4000])
def test_factorials_are_within_their_bound(i):
    table = factorials.table(i)
    found = exactly((table.high[i], table.low[i])) * Fraction(2) ** int(table.exponent[i])
    truth = math.factorial(i)
    assert 0.5 <= table.high[i] <= 1.0
    assert abs(found - truth) <= Fraction(U2) * truth


def test_a_grown_table_is_the_table_made_at_once():
    piece = factorials._grown(factorials._grown(factorials._kept[0]._replace(**start()), 10), 3000)
    whole = factorials._grown(factorials._kept[0]._replace(**start()), 3000)
    assert all(np.array_equal(a, b) for a, b in zip(piece, whole, strict=True))


def start():
    one = factorials.Table(np.array([0.5]), np.zeros(1), np.ones(1, np.int64), 1, 0)
    return one._asdict()


def settled(high, low, exponent, bound, form=1):
    values, open_ = rounding.rounded(
        form, np.array([high]), np.array([low]), np.array([exponent]), np.array([bound / high])
    )
    return values[0], not open_[0]


def test_a_value_far_from_a_tie_is_decided():
    assert settled(0.75, 2.0**-60, 3, 2.0**-100) == (6.0, True)


@pytest.mark.parametrize("low", [2.0**-54, 2.0**-54 - 2.0**-101, -(2.0**-54) + 2.0**-102])
def test_a_value_next_to_a_tie_is_left_open(low):
    assert not settled(0.75, low, 0, 2.0**-100)[1]


@pytest.mark.parametrize("exponent", [-1030, -1050, -1073, -1074, -1075, -1079])
def test_subnormal_results_round_once(exponent):
    high, low = 1.0 + 3 * 2.0**-40, 2.0**-80
    truth = exactly((high, low)) * Fraction(2) ** exponent
    assert settled(high, low, exponent, 2.0**-100) == (float(truth), True)


def test_subnormal_ties_are_left_open():
    assert not settled(1.5, 0.0, -1074, 2.0**-100)[1]
    assert settled(1.5 + 2.0**-40, 0.0, -1074, 2.0**-100) == (2.0**-1073, True)


def test_values_below_everything_are_zero_and_their_complement_is_one():
    assert settled(0.75, 0.0, -5000, 2.0**-100) == (0.0, True)
    assert settled(0.75, 0.0, -5000, 2.0**-100, form=0) == (1.0, True)
    assert settled(0.75, 0.0, -58, 2.0**-100, form=0) == (1.0, True)
    assert settled(0.75, 0.0, -50, 2.0**-100, form=0) == (1.0 - 0.75 * 2.0**-50, True)


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 10**40), st.integers(1, 10**40), st.integers(0, 700), st.integers(0, 700))
def test_square_root_is_correctly_rounded(top, whole, up, down):
    top, whole = top << up, whole << down
    root = square_root(top, whole)
    below, above = (Fraction(root) + Fraction(math.nextafter(root, way)) for way in (0.0, math.inf))
    assert (below / 2) ** 2 <= Fraction(top, whole) <= (above / 2) ** 2


def test_square_root_of_the_smallest():
    assert square_root(1, 1 << 2148) == 2.0**-1074
    assert square_root(9, 4 << 2148) == 2.0**-1073  # 1.5 units: a tie, to even
    assert square_root(0, 7) == 0.0


def test_subsets_counts_down():
    assert subsets(5, 2) == [10, 6, 3, 1, 0, 0]


def test_quotient_is_one_division():
    assert quotient(0, 7, 2, 3) == 5 / 7
    assert quotient(1, 7, 2, 3) == 2 / 7
    assert quotient(1, 2000, 1000, 900) == 0.0


def test_quotient_refuses_endless_products():
    with pytest.raises(ValueError, match=f"allowed: {MAX_TERMS}"):
        quotient(0, 2**40, 2**30, 2**30)
