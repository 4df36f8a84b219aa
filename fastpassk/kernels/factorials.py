"""The table of factorials: i! = (high + low) 2^exponent with high + low in [1/2, 1), for i up to 2^17.

Built once, by need and in doubling steps, from a prefix product kept to its leading 192 bits: cutting a product loses
less than 2^-191 of it, so after 2^17 products less than 2^-174. Splitting into two doubles loses at most 2^-107 of 1/2,
that is u^2: each entry has a relative error of at most u^2 + 2^-174.

A table is never changed once made, so threads need no lock: two that grow it at the same time both do the work.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

LIMIT = 1 << 17
BITS = 192


class Table(NamedTuple):
    """Factorials 0! … (size - 1)!, never changed once made; `leading * 2**shift` is the last one, to `BITS` bits."""

    high: NDArray[np.float64]
    low: NDArray[np.float64]
    exponent: NDArray[np.int64]
    leading: int
    shift: int


_kept = [Table(np.array([0.5]), np.zeros(1), np.ones(1, np.int64), 1, 0)]


def table(top: int) -> Table:
    """Return a table that reaches top!, for top <= `LIMIT`; about 1 us for each entry not yet there."""
    known = _kept[0]
    if known.high.size <= top:
        known = _grown(known, min(LIMIT, max(top, 2 * known.high.size)))
        _kept[0] = known
    return known


def _grown(old: Table, top: int) -> Table:
    """Continue the prefix product to top!."""
    leading, shift = old.leading, old.shift
    high, low, exponent = [], [], []
    for i in range(old.high.size, top + 1):
        leading *= i
        cut = max(0, leading.bit_length() - BITS)
        leading >>= cut
        shift += cut
        size = leading.bit_length()
        first = float(leading)
        high.append(first * 2.0**-size)
        low.append(float(leading - int(first)) * 2.0**-size)
        exponent.append(size + shift)
    return Table(
        np.append(old.high, high),
        np.append(old.low, low),
        np.append(old.exponent, exponent).astype(np.int64),
        leading,
        shift,
    )
