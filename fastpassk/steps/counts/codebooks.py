"""Codes that mean the same in every bundle: books of the values of key columns, and cells written in their codes."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastpassk.kernels.counting import Cells
    from fastpassk.sources.coded import Codes

CODE = "code "  # before the name of a key in a partial table, where n and c may be keys and counts


class TooManyError(Exception):
    """Counting by codes does not pay for the data at hand; the group-by does."""


class Codebook:
    """The values of one key column over all bundles, each with a code; shared by threads."""

    def __init__(self, most: int) -> None:
        """Make an empty book of at most `most` values."""
        self.codes: dict[str | int | None, int] = {}
        self.most = most
        self._lock = threading.Lock()

    def look_up(self, values: list[str | int | None]) -> NDArray[np.int32]:
        """Return the codes of values, giving new ones a code; raises `TooManyError` when the book is full."""
        with self._lock:
            codes = self.codes
            found = [codes.setdefault(value, len(codes)) for value in values]
            if len(codes) > self.most:
                raise TooManyError
        return np.array(found, np.int32)


def coded_keys(places: Cells, codes: dict[str, Codes], books: dict[str, Codebook]) -> dict[str, NDArray[np.int32]]:
    """Take cells apart into the codes of their columns, and look these up in the books."""
    keys = {}
    for key, column in reversed(codes.items()):
        places, local = np.divmod(places, len(column.values))
        keys[CODE + key] = books[key].look_up(column.values)[local]
    return keys


def written_keys(cells: pl.DataFrame, keys: list[str], books: dict[str, Codebook]) -> pl.DataFrame:
    """Write coded columns as the values that the codes stand for."""
    kinds = {key: pl.Int64 if key in ("n", "c") else pl.String for key in keys}
    return pl.DataFrame([pl.Series(key, list(books[key].codes), kinds[key]).gather(cells[CODE + key]) for key in keys])
