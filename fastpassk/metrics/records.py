"""What a metric is: one record that names it, places it in the kernels and holds its exact twins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction


@dataclass(frozen=True)
class Metric:
    """A metric that is a function of n samples, c passes and k, for 1 <= k <= n and 0 <= c <= n.

    Attributes
    ----------
    name
        what users write, such as "pass@k".
    function
        name of the array function.
    title
        one line for tables of docs.
    form
        what the kernels switch on (`kernels.integers`: 0 is 1 - q, 1 is q).
    exact
        the twin by definition, (n, c, k) -> Fraction; tests compare every kernel with it.
    ratio
        the same value as (numerator, denominator), not reduced, by the shortest product; fast for one row.
    column
        (n, k) -> numerators over C(n, k) for c = 0..n; fast for many rows.
    reference
        who defined it.
    """

    name: str
    function: str
    title: str
    form: int
    exact: Callable[[int, int, int], Fraction]
    ratio: Callable[[int, int, int], tuple[int, int]]
    column: Callable[[int, int], list[int]]
    reference: str
