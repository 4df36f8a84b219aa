"""What the property tests draw from: good and bad rows of (n, c, k), and cells of a tally."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

LARGEST = 2**63 - 1


@st.composite
def rows(draw, largest=300, smallest=1):
    """One good row (n, c, k) with k <= n."""
    n = draw(st.integers(smallest, largest))
    return n, draw(st.integers(0, n)), draw(st.integers(1, n))


@st.composite
def columns_of_rows(draw, largest=300, size=40):
    """Good rows as three int64 arrays; some have k > n."""
    chosen = draw(st.lists(rows(largest), min_size=1, max_size=size))
    n, c, k = (np.array(values, np.int64) for values in zip(*chosen, strict=True))
    return n, c, k + draw(st.sampled_from([0, 0, 1, largest]))


@st.composite
def bad_rows(draw):
    """One row that cannot be scored."""
    n, c, k = draw(rows())
    return draw(
        st.sampled_from([(0, 0, k), (-n, c, k), (n, -1, k), (n, n + 1, k), (n, c, 0), (n, c, -k), (n, LARGEST, k)])
    )


@st.composite
def cells(draw, largest=60, size=12):
    """The cells of one group, (n, c, problems), and ks that every problem has."""
    chosen = draw(st.lists(rows(largest), min_size=1, max_size=size, unique_by=lambda row: row[:2]))
    n, c, _ = (np.array(values, np.int64) for values in zip(*chosen, strict=True))
    problems = np.array(draw(st.lists(st.integers(1, 9), min_size=n.size, max_size=n.size)), np.int64)
    ks = draw(st.lists(st.integers(1, int(n.min())), min_size=1, max_size=5))
    return n, c, problems, np.array(ks, np.int64)
