"""Lines that repeat, parsed once.

Without the long texts the lines of a dump are few: a problem and an outcome each. Every distinct line is parsed when it
is first met, and a block is held as the numbers of its lines. Parsing 300,000 short lines takes 160 ms of processor
time, and this, where 328 of them are distinct, 25.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from fastpassk.sources.records import refuse_doubled

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST = 1 << 17  # distinct lines that are held


class Repeats:
    """The distinct lines of a file and the rows that they are; shared by threads."""

    def __init__(self) -> None:
        """Begin with no lines."""
        self.worthwhile = True  # until lines are found that hardly repeat
        self._numbers: dict[bytes, int] = {}
        self._rows: list[pl.DataFrame] = []
        self._lock = threading.Lock()

    def take(self, text: bytes, names: list[str]) -> tuple[NDArray[np.int32] | None, pl.DataFrame | None]:
        """Return the numbers of the rows of a block, and the rows that were new in it.

        Both are None where this does not pay, or lines and rows are not the same in number, as where some are empty.
        """
        lines = text.removesuffix(b"\n").split(b"\n")
        with self._lock:
            rows = None
            new = dict.fromkeys(line for line in lines if line not in self._numbers)
            if not self._pays(len(new), len(lines)):
                return None, None
            if new:
                rows = parse(b"\n".join(new), names)
                if rows.height != len(new) or cut(rows):
                    return None, None
                refuse_doubled(new)
                self._rows.append(rows)
                self._numbers.update(zip(new, range(len(self._numbers), len(self._numbers) + len(new)), strict=True))
            return np.fromiter(map(self._numbers.__getitem__, lines), np.int32, len(lines)), rows

    def rows(self) -> pl.DataFrame:
        """Return the rows of all distinct lines, by number; a key that a line does not have is null."""
        return pl.concat(self._rows, how="diagonal") if self._rows else pl.DataFrame()

    def _pays(self, new: int, lines: int) -> bool:
        self.worthwhile &= 2 * new <= lines and len(self._numbers) + new <= MOST
        return self.worthwhile


def parse(lines: bytes, names: list[str]) -> pl.DataFrame:
    """Parse lines, taking some keys as text."""
    return pl.read_ndjson(lines, schema=dict.fromkeys(names, pl.String()))


def cut(rows: pl.DataFrame) -> bool:
    """Tell whether some value is a list or an object with an empty string in it: it may have been a long one."""
    test = pl.all().str.contains(r"^[\[{]") & pl.all().str.contains('""', literal=True)
    return any(rows.select(test.any()).row(0))
