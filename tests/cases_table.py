"""Known mistakes of evaluation tools, restated as numbers: cells of one group, a k, and the exact value.

Each was seen in the wild; the id is the one used by the tests. A value of None means that the point is undefined.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Point:
    """What one group's tally must give: cells (n, c, problems), k, metric, the exact value as a fraction's text."""

    cells: tuple[tuple[int, int, int], ...]
    k: int
    value: str | None
    metric: str = "pass@k"


POINTS: dict[str, list[Point]] = {
    # k > n is undefined: not 1, not a clamped k.
    "A01": [Point(((2, 0, 1),), 5, None)],
    "A02": [Point(((99, 0, 1),), 100, None), Point(((20, 3, 161),), 100, None)],
    # One greedy sample a problem is not one problem with 164 samples.
    "A03": [Point(((1, 1, 50), (1, 0, 114)), k, value) for k, value in ((1, "25/82"), (10, None), (100, None))],
    # The value is a chance, not a flag.
    "A04": [Point(((200, 1, 1),), 1, "1/200")],
    # At k = n every problem scores 0 or 1; drawing with replacement does not.
    "A05": [Point(((4, 1, 1),), 4, "1"), Point(((4, 0, 1),), 4, "0")],
    "A06": [Point(((4, 1, 1),), 1, "1/4"), Point(((4, 1, 1),), 2, "1/2")],
    "A08": [
        Point(((32, 3, 1),), 1, "3/32"),
        Point(((32, 3, 1),), 8, "367/620"),
        Point(((32, 3, 1),), 16, "55/62"),
        Point(((32, 3, 1),), 32, "1"),
        Point(((2, 1, 1),), 2, "1"),
    ],
    # Binomials overflow a float beyond n of about 1,000.
    "A09": [Point(((10_000, 1, 1),), 5_000, "1/2"), Point(((100_000, 50_000, 1),), 50_000, "1")],
    # pass^k draws without replacement: not (c/n)^k.
    "B01": [Point(((10, 9, 1),), 2, "4/5", "pass^k"), Point(((10, 9, 1),), 10, "0", "pass^k")],
    "B02": [Point(((1, 1, 1),), 2, None, "pass^k")],
    "B03": [Point(((8, 6, 1),), k, value, "pass^k") for k, value in ((1, "3/4"), (2, "15/28"), (8, "0"))],
    # What has no outcome stays in the denominator.
    "C01": [Point(((4, 1, 1), (4, 0, 49)), 1, "1/200")],
    "C04": [Point(((1, 1, 144), (1, 0, 356)), 1, "36/125")],
    # Short problems fall out of one k and not of another.
    "C06": [Point(((10, 0, 1), (9, 9, 1)), 5, "1/2"), Point(((10, 0, 1), (9, 9, 1)), 10, None)],
    "C07": [Point(((1, 1, 1),), 5, None)],
    "D01": [Point(((1, 1, 1), (1, 0, 25)), 1, "1/26"), Point(((1, 1, 1), (1, 0, 25)), 26, None)],
    "E03": [Point(((2, 1, 1),), 1, "1/2"), Point(((2, 1, 1),), 2, "1")],
    "E04": [Point(((4, 3, 1),), 1, "3/4"), Point(((4, 3, 1),), 2, "1")],
    "F02": [Point(((1, 1, 82), (1, 0, 82)), 2, None)],
    "G01": [Point(((100, 100, 1), (100, 0, 1)), 1, "1/2")],
    "S01": [Point(((2, 1, 1),), 5, None)],
}

# Cases that belong to parts of the package which do not exist yet.
LATER: dict[str, str] = {
    "G02": "compare: paired differences between models",
    "G03": "compare: the paired bootstrap",
}

# What of a case is left for a later part, though the rest of it is tested now.
LATER_IN_PART: dict[str, str] = {
    "C09": "maj@k",
    "D03": "a threshold on the worst problem (gate)",
    "E01": "the harness importer that reads lists of test results",
    "E04": "the harness importer that reads lists of responses",
    "F01": "the mean over suites",
    "F02": "maj@k and its ties",
    "G05": "seeds of the bootstrap",
}
