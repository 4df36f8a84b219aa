"""Arrow arrays as NumPy arrays and Polars series, without a copy.

pyarrow's own conversions import pandas where it is installed, 0.2 s of a process that has no other use for it; Polars'
own conversion imports `pyarrow.compute`, 0.03 s.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray


def numbers_of(array: pa.Array | pa.ChunkedArray) -> NDArray[Any]:
    """Return integers or floats without nulls as a NumPy array: a read-only view, or a copy of several chunks."""
    import pyarrow as pa

    if isinstance(array, pa.ChunkedArray):
        chunks = [numbers_of(chunk) for chunk in array.chunks]
        return chunks[0] if len(chunks) == 1 else np.concatenate([_empty(array.type), *chunks])
    kind = np.dtype(array.type.to_pandas_dtype())
    buffer = array.buffers()[1]
    if not len(array) or buffer is None:
        return _empty(array.type)
    return np.frombuffer(buffer, kind, len(array), array.offset * kind.itemsize)


def array_of(numbers: NDArray[Any]) -> pa.Array:
    """Return a one-dimensional NumPy array of integers or floats as an Arrow array over the same memory."""
    import pyarrow as pa

    numbers = np.ascontiguousarray(numbers)
    return pa.Array.from_buffers(pa.from_numpy_dtype(numbers.dtype), len(numbers), [None, pa.py_buffer(numbers)])


def series_of(array: pa.Array) -> pl.Series:
    """Return an Arrow array as a Polars series."""
    return pl.Series(_Exported(array))


class _Exported:
    """An array that shows nothing but its C interface, so that Polars asks for no more."""

    def __init__(self, array: pa.Array) -> None:
        self._array = array

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]:
        exported: tuple[object, object] = self._array.__arrow_c_array__(requested_schema)
        return exported


def _empty(kind: pa.DataType) -> NDArray[Any]:
    return np.empty(0, np.dtype(kind.to_pandas_dtype()))
