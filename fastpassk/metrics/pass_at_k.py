"""pass@k: the chance that at least one of k samples passes."""

from __future__ import annotations

from fractions import Fraction
from math import comb

from fastpassk.kernels.integers import PASS_AT_K, share, subsets
from fastpassk.metrics.records import Metric


def exact(n: int, c: int, k: int) -> Fraction:
    """Return 1 - C(n-c, k) / C(n, k), for 1 <= k <= n and 0 <= c <= n."""
    return 1 - Fraction(comb(n - c, k), comb(n, k))


def ratio(n: int, c: int, k: int) -> tuple[int, int]:
    """Return the same value as two integers, not reduced, from products of min(c, k) terms."""
    top, whole = share(n, c, k)
    return whole - top, whole


def column(n: int, k: int) -> list[int]:
    """Return the numerators over C(n, k) for c = 0..n."""
    values = subsets(n, k)
    return [values[0] - value for value in values]


PASS = Metric(
    name="pass@k",
    function="pass_at_k",
    title="chance that at least one of k samples passes: 1 - C(n-c, k) / C(n, k)",
    form=PASS_AT_K,
    exact=exact,
    ratio=ratio,
    column=column,
    reference="Chen et al. 2021, arXiv 2107.03374; Kulal et al. 2019, arXiv 1906.11908",
)
