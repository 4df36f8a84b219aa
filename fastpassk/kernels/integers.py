"""Exact values from whole numbers: what the kernels fall back on when a rounding cannot be decided, and the small path.

Everything here rests on one quantity, `q(n, removed, k) = C(n - removed, k) / C(n, k)`: the share of k-subsets of n
items that avoid `removed` given ones. pass@k is `1 - q(n, c, k)` (form 0) and pass^k is `q(n, n - c, k)` (form 1).
Python divides two integers of any size with one correct rounding, subnormal results included, so one division at the
end gives the double nearest to the exact value.
"""

from __future__ import annotations

from math import comb, isqrt, perm

from fastpassk.errors import FastpasskError

PASS_AT_K = 0  # the forms: what a kernel makes of q
PASS_HAT_K = 1

MAX_TERMS = 1 << 18  # of an exact product: about a second


def share(n: int, removed: int, k: int) -> tuple[int, int]:
    """Return q(n, removed, k) as numerator and denominator, for 1 <= k <= n and 0 <= removed <= n.

    Both are products of min(removed, k) terms, because q is symmetric in `removed` and `k`.
    """
    short, long = min(removed, k), max(removed, k)
    if n - long < short:
        return 0, 1
    return perm(n - long, short), perm(n, short)


def subsets(n: int, k: int) -> list[int]:
    """Return C(f, k) for f = n, n - 1, …, 0, each from the one before (n + 1 integers)."""
    value, values = comb(n, k), []
    for f in range(n, 0, -1):
        values.append(value)
        value = value * (f - k) // f if f > k else 0
    return [*values, value]


def quotient(form: int, n: int, removed: int, k: int) -> float:
    """Return the double nearest to a form at q(n, removed, k), for 1 <= k <= n and 0 <= removed <= n.

    Raises
    ------
    FastpasskError
        the product has more than `MAX_TERMS` terms.
    """
    if min(removed, k) > MAX_TERMS:
        raise FastpasskError(
            f"the rounding at n={n}, k={k}, with {removed} samples left out, cannot be decided in double-double "
            f"arithmetic, and exact integers would need {min(removed, k)} terms (allowed: {MAX_TERMS}); lower k or n"
        )
    top, whole = share(n, removed, k)
    return (whole - top if form == PASS_AT_K else top) / whole


def square_root(top: int, whole: int) -> float:
    """Return the double nearest to sqrt(top / whole), for top >= 0 and whole > 0.

    The integer root of the scaled ratio has at least 64 bits; a set lowest bit stands for the part cut off, so that the
    one rounding of the final division sees on which side of a tie the exact root lies.
    """
    if top == 0:
        return 0.0
    shift = max(0, 130 - top.bit_length() + whole.bit_length())
    shift += shift % 2
    scaled, rest = divmod(top << shift, whole)
    root = isqrt(scaled)
    sticky = 1 if rest or root * root != scaled else 0
    return ((root << 1) | sticky) / (1 << (shift // 2 + 1))
