"""q(n, removed, k) = C(n - removed, k) / C(n, k) of whole arrays, in double-double and plain NumPy.

q = f[n-r] f[n-k] / (f[n] f[n-r-k]) from the table of factorials, r = `removed`. Its relative error, with u = 2^-53:
four table entries of u^2, two products of 7 u^2 and one quotient of 15 u^2, together 33 u^2 and terms below u^3, so
under 64 u^2 = 2^-100. About 100 ns a value; no process loads a compiler for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastpassk.kernels import factorials
from fastpassk.kernels.pairs import divide, multiply

if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import NDArray

    Ints: TypeAlias = NDArray[np.int64]
    Floats: TypeAlias = NDArray[np.float64]
    Pair: TypeAlias = tuple[Floats, Floats]

BOUND = 2.0**-100  # relative error of q; see above


def ratios(n: Ints, removed: Ints, k: Ints) -> tuple[Floats, Floats, Ints]:
    """Return q as (high + low) 2^exponent with relative error below `BOUND`.

    Parameters
    ----------
    n, removed, k
        int64 of shapes that broadcast together, 1 <= n <= 2^17, 0 <= removed <= n, 1 <= k.

    Returns
    -------
    high, in (1/4, 4), or 0 where q is exactly 0 and where k > n; low; and exponent, int64.
    """
    table = factorials.table(int(n.max(initial=0)))
    rest = n - removed
    none = rest < k
    above, below = np.maximum(n - k, 0), np.maximum(rest - k, 0)

    def product(a: Ints, b: Ints) -> Pair:
        high, low = multiply(table.high[a], table.low[a], table.high[b], table.low[b])
        return high, low

    high, low = divide(*product(rest, above), *product(n, below))
    exponent = table.exponent[rest] + table.exponent[above] - table.exponent[n] - table.exponent[below]
    whole = (removed == 0) & ~none
    for array, value in ((high, 1.0), (low, 0.0), (exponent, 0)):
        array[none] = 0
        array[whole] = value
    return high, low, exponent
