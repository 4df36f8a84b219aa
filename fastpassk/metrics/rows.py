"""Rows of (n, c, k), broadcast together but never copied whole, and the check that they can be scored."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastpassk.errors import FastpasskError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TypeAlias

    from numpy.typing import NDArray

    Ints: TypeAlias = NDArray[np.int64]
    Flags: TypeAlias = NDArray[np.bool_]

LARGEST = 2**63 - 1
READY = (np.dtype(np.int32), np.dtype(np.int64))  # what kernels take


class Part(NamedTuple):
    """A stretch of rows as kernels take it: contiguous, all int32 or all int64 (`k` int64 when it is a list of ks)."""

    start: int
    stop: int
    n: NDArray[Any]
    c: NDArray[Any]
    k: NDArray[Any]


class Rows:
    """n, c and k, broadcast together.

    Where k is one number, or stands alone on the last axis, a row is an (n, c) scored at every k of `ks`; else `ks` is
    None and a row is an (n, c, k). `size` counts rows, `shape` is the shape of the result.
    """

    def __init__(self, n: Any, c: Any, k: Any) -> None:
        self.n, self.c, self.k = (_whole(values, name) for values, name in ((n, "n"), (c, "c"), (k, "k")))
        try:
            self.shape = np.broadcast_shapes(self.n.shape, self.c.shape, self.k.shape)
        except ValueError:
            raise FastpasskError(
                f"n, c and k have the shapes {self.n.shape}, {self.c.shape} and {self.k.shape}; allowed: shapes that "
                "broadcast together"
            ) from None
        self.ks = self._shared_ks()
        self.per_row = 1 if self.ks is None else self.ks.size
        outer = self.shape if self.ks is None or self.k.size == 1 else self.shape[:-1]
        self._n, self._c, self._k = (_flat(a, outer) for a in self._aligned(outer))
        self.size = prod(outer)

    def part(self, start: int, stop: int, *, wide: bool = False) -> Part:
        """Return rows start..stop-1; as int64 when `wide`, else in the narrowest dtype that the kernels take."""
        if self.ks is not None:
            n, c = _canonical([self._n[start:stop], self._c[start:stop]], wide)
            return Part(start, stop, n, c, self.ks)
        return Part(start, stop, *_canonical([a[start:stop] for a in (self._n, self._c, self._k)], wide))

    def expanded(self, start: int, stop: int) -> tuple[Ints, Ints, Ints]:
        """Return the (n, c, k) of rows start..stop-1, repeated for every k: int64 of shape (rows * per_row,)."""
        part = self.part(start, stop, wide=True)
        if self.ks is None:
            return part.n, part.c, part.k
        return np.repeat(part.n, self.per_row), np.repeat(part.c, self.per_row), np.tile(self.ks, part.n.size)

    def check(self, stretches: Iterable[tuple[int, int]]) -> None:
        """Raise a `FastpasskError` that names the first bad row, when any row of these stretches is bad."""
        first, bad = -1, 0
        for start, stop in stretches:
            part = self.part(start, stop, wide=True)
            if not faults(part.n, part.c, part.k if self.ks is None else part.k.min(initial=LARGEST)).any():
                continue
            wrong = np.flatnonzero(faults(*self.expanded(start, stop)))
            if wrong.size and first < 0:
                first = start * self.per_row + int(wrong[0])
            bad += wrong.size
        if bad:
            self._complain(first, bad)

    def _shared_ks(self) -> Ints | None:
        """Return the ks that every row has in common, or None."""
        if self.k.size == 1:
            return self.k.reshape(-1).astype(np.int64)
        alone = self.k.size == self.k.shape[-1] == self.shape[-1]
        if alone and all(a.ndim == 0 or a.shape[-1] == 1 for a in (self.n, self.c)):
            return self.k.reshape(-1).astype(np.int64)
        return None

    def _aligned(self, outer: tuple[int, ...]) -> list[NDArray[Any]]:
        """Return n, c, k, without the last axis where the ks have it to themselves."""
        if len(outer) == len(self.shape):
            return [self.n, self.c, self.k if self.ks is None else np.zeros((), np.int64)]
        return [a if a.ndim == 0 else a[..., 0] for a in (self.n, self.c)] + [np.zeros((), np.int64)]

    def _complain(self, first: int, bad: int) -> None:
        """Say which row is the first that cannot be scored, and how many there are."""
        index = tuple(int(i) for i in np.unravel_index(first, self.shape)) if self.shape else ()
        n, c, k = (int(np.broadcast_to(a, self.shape)[index]) for a in (self.n, self.c, self.k))
        where = f"row {index[0]}" if len(index) == 1 else f"row {index}" if index else "the row"
        raise FastpasskError(
            f"{bad} of {prod(self.shape)} rows cannot be scored; the first, {where}, has n={n}, c={c}, k={k} "
            f"(allowed: 1 <= n <= {LARGEST}, 0 <= c <= n, 1 <= k)"
        )


def faults(n: Ints, c: Ints, k: Ints | np.int64) -> Flags:
    """Return which rows cannot be scored: n < 1, c < 0, c > n or k < 1 (uint64 beyond int64 arrives negative)."""
    return (n < 1) | (c < 0) | (c > n) | (k < 1)


def _whole(values: Any, name: str) -> NDArray[Any]:
    """Return an integer array as it is; refuse every other kind."""
    array = np.asarray(values)
    if array.dtype.kind in "iu":
        return array
    if array.dtype == object and array.size and all(isinstance(value, int) for value in array.flat):
        raise FastpasskError(f"{name} holds an integer outside the 64-bit range (allowed: up to {LARGEST})")
    raise FastpasskError(f"{name} has the dtype {array.dtype}; allowed: integers")


def _flat(array: NDArray[Any], shape: tuple[int, ...]) -> Any:
    """Return something that slices like the broadcast array in one dimension, without making it."""
    if array.shape == shape and array.flags.c_contiguous:
        return array.reshape(-1)
    wide = np.broadcast_to(array, shape)
    return wide if wide.ndim == 1 else wide.flat


def _canonical(pieces: list[NDArray[Any]], wide: bool) -> list[NDArray[Any]]:
    """Bring pieces to one dtype, int32 where all of them fit, native, aligned and contiguous."""
    if all(_is_ready(piece, pieces[0].dtype) for piece in pieces) and not (wide and pieces[0].itemsize == 4):
        return pieces
    narrow = not wide and all(np.can_cast(piece.dtype, np.int32) for piece in pieces)
    dtype = np.dtype(np.int32 if narrow else np.int64)
    return [np.require(piece.astype(dtype, copy=False), requirements=["C", "A"]) for piece in pieces]


def _is_ready(piece: NDArray[Any], dtype: np.dtype[Any]) -> bool:
    """Return whether kernels take this piece as it is, in the dtype that all pieces share."""
    return piece.dtype is dtype and dtype in READY and piece.flags.c_contiguous and piece.flags.aligned
