"""Sums in digits against Python's integers and Fractions: nothing is lost, and what is cut off is bounded."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fastpassk.kernels import fixed, moments
from fastpassk.kernels.pairs import U2

WIDTHS = [8, 11, 21, 24, fixed.WIDEST]


def value(found, bits, place=...):
    """The number that digits stand for."""
    return sum(Fraction(int(digit[place])) / 2 ** (bits * (j + 1)) for j, digit in enumerate(found))


@st.composite
def pairs(draw):
    """A double-double in [0, 4) and a power of two to scale it by."""
    high = draw(st.floats(0.25, 3.99))
    return high, draw(st.floats(-1, 1)) * np.spacing(high) / 2, draw(st.integers(-150, 0))


@pytest.mark.parametrize("bits", WIDTHS)
@settings(max_examples=60, deadline=None)
@given(st.lists(pairs(), min_size=1, max_size=5))
def test_digits_and_their_squares(bits, given_pairs):
    high, low, power = (np.array(part) for part in zip(*given_pairs, strict=True))
    found = fixed.digits(high, low, power.astype(np.int64), bits)
    squared = fixed.squares(found, bits)
    for digits, many in ((found, bits + 2), (squared, bits + 4)):
        assert (digits >= 0).all()
        assert (digits[0] < 1 << many).all()
        assert (digits[1:] < 1 << bits).all()
    for place, (h, rest, p) in enumerate(given_pairs):
        x, kept = (Fraction(h) + Fraction(float(rest))) * Fraction(2) ** p, value(found, bits, place)
        assert abs(x - kept) <= Fraction(2) ** (1 - fixed.BITS)
        assert value(squared, bits, place) == kept * kept


@pytest.mark.parametrize("problems", [1, 164, 20_000_000, fixed.MOST_PROBLEMS])
def test_sums_are_exact_up_to_the_last_problem(problems):
    """All the weight on the largest digits that can be."""
    bits = fixed.width(problems)
    most = np.array([4.0 - 2.0**-50]), np.array([2.0**-52]), np.zeros(1, np.int64)
    for digits in (found := fixed.digits(*most, bits), fixed.squares(found, bits)):
        weights = np.array([[problems - 3, 2, 1]], np.float64)
        whole = np.repeat(digits[:, :, None], 3, axis=1)
        high, low = fixed.weighted(weights, whole, bits)
        right = problems * value(digits, bits, 0)
        assert abs(Fraction(high[0, 0]) + Fraction(low[0, 0]) - right) <= 3 * len(digits) * Fraction(U2) * right


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 6), st.integers(1, 9), st.integers(1, 5), st.integers(0, 2**32))
def test_products_in_blocks_are_products(groups, cells, ks, seed):
    random = np.random.default_rng(seed)
    weights = random.integers(0, 1000, (groups, cells))
    found = random.integers(0, 1 << 28, (3, cells, ks))
    for serial in (1, cells * ks * 2, 1 << 18):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(fixed, "SERIAL", serial)
            assert (fixed._product(weights.astype(float), found.astype(float)) == np.matmul(weights, found)).all()


@settings(max_examples=200, deadline=None)
@given(st.integers(-1100, 30), st.floats(0.25, 4), st.floats(-1, 1), st.floats(0, 1e-14))
def test_what_is_settled_is_so_wherever_the_value_lies(exponent, high, rest, bound):
    low = rest * np.spacing(high) / 2
    found, open_ = moments._settled(*(np.array([x]) for x in (high, low, exponent, bound)))
    scale = Fraction(2) ** exponent
    ends = [float((Fraction(high) + Fraction(float(low)) + side * Fraction(bound)) * scale) for side in (-1, 1)]
    if not open_[0]:
        assert ends == [found[0], found[0]]
    elif exponent > -1000 and bound == 0.0 and abs(rest) < 0.45:
        raise AssertionError("a plain double was left open")
