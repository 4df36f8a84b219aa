"""The problems of counts, known by 64 bits each: whether a key stands in two rows, and whether groups share a set.

A row's key is the print of its problem plus a number of its group. Equal keys have equal numbers, so that no repeat is
missed; that two others collide is unlikely (20 million rows: 1 in 100,000) and costs only the time of the other way of
counting, which looks at the names. Memory: 8 bytes a row.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from fastpassk import threads
from fastpassk.kernels import counting
from fastpassk.sources import coded
from fastpassk.steps.counts.codebooks import CODE, TooManyError, coded_keys, written_keys
from fastpassk.steps.counts.expected import SETS, SUM

if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import NDArray

    from fastpassk.sources import Dataset
    from fastpassk.sources.coded import Bundle, Decoded
    from fastpassk.steps.counts.codebooks import Codebook

    Prints: TypeAlias = NDArray[np.uint64]

MOST_GROUPS = 1 << 16  # of a bundle
PARTS = 32  # ranges of keys that are looked through at a time
WORD = (1 << 64) - 1
SALT = 0x9E3779B97F4A7C15  # odd, so that its multiples are all different


class Problems:
    """What is known of the problems of each group; shared by threads."""

    def __init__(self, identity: list[str]) -> None:
        """Begin with no rows, of groups that these columns make."""
        self.identity = identity
        self._groups: dict[tuple[int, ...], list[int]] = {}  # number, problems, wrapping sum of prints
        self._keys: list[Prints] = []
        self._lock = threading.Lock()

    def add(self, part: Decoded, books: dict[str, Codebook]) -> None:
        """Take in the rows of one bundle."""
        codes = {name: part.codes[name] for name in self.identity}
        columns: counting.Columns = [(one.rows, len(one.values), one.least) for one in codes.values()]
        if part.prints is None or np.prod([many for _, many, _ in columns], dtype=float) > MOST_GROUPS:
            raise TooManyError
        cells = counting.key(columns, part.rows)
        counts, sums = _sums(cells, part.prints)
        there = np.flatnonzero(counts)
        names = coded_keys(there, codes, books)
        groups = list(zip(*(names[CODE + name].tolist() for name in self.identity), strict=True)) or [()]
        salts = np.zeros(len(counts), np.uint64)
        salts[there] = self._entered(groups, counts[there].tolist(), sums[there].tolist())
        keys = part.prints + salts[cells]
        keys.sort()
        with self._lock:
            self._keys.append(keys)

    def repeat(self) -> bool:
        """Tell whether a key may stand in two rows."""
        return any(threads.run(lambda some: bool((some[1:] == some[:-1]).any()), _ranges(self._keys)))

    def sets(self, books: dict[str, Codebook]) -> pl.DataFrame:
        """Return for each group how many problems it has and the wrapping sum of their prints."""
        groups = np.array(list(self._groups), np.int64).reshape(len(self._groups), len(self.identity))
        coded_groups = pl.DataFrame({CODE + name: column for name, column in zip(self.identity, groups.T, strict=True)})
        table = written_keys(coded_groups, self.identity, books)
        facts = {SETS: [one[1] for one in self._groups.values()], SUM: [one[2] for one in self._groups.values()]}
        return table.with_columns(pl.Series(SETS, facts[SETS], pl.Int64), pl.Series(SUM, facts[SUM], pl.UInt64))

    def _entered(self, groups: list[tuple[int, ...]], counts: list[int], sums: list[int]) -> list[int]:
        """Add to what is known of groups, and return the number that stands for each in keys."""
        with self._lock:
            for group, many, total in zip(groups, counts, sums, strict=True):
                known = self._groups.setdefault(group, [len(self._groups), 0, 0])
                known[1] += many
                known[2] = known[2] + total & WORD
            return [self._groups[group][0] * SALT & WORD for group in groups]


def in_all(dataset: Dataset, groups: int) -> int:
    """Return how many problems are in all of so many groups of counts whose keys are known to differ.

    The problems are read once more, which only those pay for whose groups differ.
    """
    found = threads.run(_read, coded.bundles(dataset))
    return sum(threads.run(lambda some: _runs(some, groups), _ranges([keys for some in found for keys in some])))


def _read(bundle: Bundle) -> list[Prints]:
    return [np.sort(part.prints) for part in coded.decode(bundle, [], problems=True) if part.prints is not None]


def _runs(some: Prints, length: int) -> int:
    """Return how many values of a sorted array stand in it so many times."""
    starts = np.flatnonzero(np.append(True, some[1:] != some[:-1])) if len(some) else np.empty(0, np.int64)
    return int((np.diff(np.append(starts, len(some))) == length).sum())


def _sums(cells: counting.Cells, prints: Prints) -> tuple[NDArray[np.int64], Prints]:
    """Return how many rows each cell has and the wrapping sum of their prints.

    Sums of 32-bit halves are exact in the doubles of bincount for fewer than 2^21 rows, which a bundle has not.
    """
    counts = np.bincount(cells)
    if len(counts) == 1:
        return counts, prints.sum(keepdims=True, dtype=np.uint64)
    low, high = (
        np.bincount(cells, half).astype(np.uint64) for half in (prints & np.uint64(0xFFFFFFFF), prints >> np.uint64(32))
    )
    return counts, low + (high << np.uint64(32))


def _ranges(keys: list[Prints]) -> list[Prints]:
    """Cut sorted arrays at the same values, and bring together and sort what lies between; in parallel threads."""
    edges = np.arange(1, PARTS, dtype=np.uint64) * np.uint64((1 << 64) // PARTS)
    cuts = [np.concatenate([[0], np.searchsorted(some, edges), [len(some)]]) for some in keys]

    def between(place: int) -> Prints:
        parts = [some[cut[place] : cut[place + 1]] for some, cut in zip(keys, cuts, strict=True)]
        whole = np.concatenate(parts) if parts else np.empty(0, np.uint64)
        whole.sort(kind="stable")  # merges what is sorted already
        return whole

    return threads.run(between, range(PARTS))
