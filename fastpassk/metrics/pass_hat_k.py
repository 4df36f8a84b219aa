"""pass^k: the chance that all of k samples pass."""

from __future__ import annotations

from fractions import Fraction
from math import comb

from fastpassk.kernels.integers import PASS_HAT_K, share, subsets
from fastpassk.metrics.records import Metric


def exact(n: int, c: int, k: int) -> Fraction:
    """Return C(c, k) / C(n, k), for 1 <= k <= n and 0 <= c <= n."""
    return Fraction(comb(c, k), comb(n, k))


def ratio(n: int, c: int, k: int) -> tuple[int, int]:
    """Return the same value as two integers, not reduced, from products of min(n - c, k) terms."""
    return share(n, n - c, k)


def column(n: int, k: int) -> list[int]:
    """Return the numerators over C(n, k) for c = 0..n."""
    return subsets(n, k)[::-1]


PASS = Metric(
    name="pass^k",
    function="pass_hat_k",
    title="chance that all of k samples pass: C(c, k) / C(n, k)",
    form=PASS_HAT_K,
    exact=exact,
    ratio=ratio,
    column=column,
    reference="Yao et al. 2024, arXiv 2406.12045",
)
