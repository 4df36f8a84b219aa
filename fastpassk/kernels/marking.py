"""Sets of attempts as bits, compiled: ten times the speed of `counting.mark`, its twin in NumPy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastpassk.kernels._jit import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastpassk.kernels.counting import Cells


def mark(cells: Cells, attempts: NDArray[np.int32], sets: NDArray[np.uint64]) -> None:
    """Put each row's attempt into the set of its cell.

    Parameters
    ----------
    cells
        Integers, shape (rows,).
    attempts
        int32, shape (rows,), each in [0, 64 * words).
    sets
        uint64, shape (cells, words), C-contiguous; bits are set in it.
    """
    _mark(cells.astype(np.int64, copy=False), attempts, sets.shape[1], sets.reshape(-1))


@kernel(writes=1)
def _mark(cells: NDArray[np.int64], attempts: NDArray[np.int32], words: int, sets: NDArray[np.uint64]) -> None:
    one = np.uint64(1)
    for i in range(cells.size):
        sets[cells[i] * words + (attempts[i] >> 6)] |= one << np.uint64(attempts[i] & 63)
