"""The one dispatch: find what carries the arguments, compute on integer arrays, give the values back in the same kind.

An expression wins over a Series, a Series over Arrow, Arrow over NumPy. In Arrow and Polars a row with a null gives
null; such a row is computed with harmless numbers and masked, so that messages keep the rows' own places.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from fastpassk.arrays.integers import Integers, column, integers, kind_of
from fastpassk.errors import FastpasskError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

_HARMLESS = {"n": 1, "c": 0, "k": 1}


@dataclass(frozen=True)
class Work:
    """What to compute, apart from the kind of its arguments.

    Attributes
    ----------
    values
        Takes the integer arguments by name, `out` and `threads`; returns float64, shaped as they broadcast, or a
        float when all of them are ints.
    label
        The name of an expression's column: "pass@k", whose k gives way to its number where that is one.
    width
        None for one value a row; else the number of values a row, along a last axis.
    """

    values: Callable[..., NDArray[np.float64] | float]
    label: str
    width: int | None = None


def send(work: Work, given: dict[str, Any], out: Any) -> Any:
    """Compute on whatever kind the arguments are.

    Parameters
    ----------
    work
        What to compute.
    given
        The arguments by name, in order, as the caller gave them.
    out
        None, or a float64 array for the values of NumPy arguments.

    Returns
    -------
    A float when every argument is a scalar (an array when the work has a width), else the kind of the arguments.

    Raises
    ------
    FastpasskError
        What is no whole number, lengths that do not fit, an `out` that does not fit or cannot be used.
    """
    kinds = {kind_of(value) for value in given.values()}
    for kind, carrier in _CARRIERS.items():
        if kind in kinds:
            if out is not None:
                raise FastpasskError(f"out is for NumPy arguments; here the result is {_RESULTS[kind]}: leave out away")
            return carrier(work, given)
    return _numpy(work, given, out)


def _numpy(work: Work, given: dict[str, Any], out: Any) -> Any:
    """Compute on scalars, sequences and NumPy arrays of any shape."""
    arrays = {name: integers(name, value) for name, value in given.items()}
    if work.width is None and all(isinstance(array, int) for array in arrays.values()):
        if out is not None:
            raise FastpasskError("out is for arrays; for scalars the result is a float: leave out away")
        return float(work.values(**arrays, out=None, threads=True))
    shape = _shape(arrays) if work.width is None else (*_shape(arrays), work.width)
    if out is not None:
        arrays = _apart(arrays, _fitting(out, shape))
    return work.values(**arrays, out=out, threads=True)


def _expression(work: Work, given: dict[str, Any]) -> Any:
    """Make a Polars expression that computes batch by batch, elementwise, in the engine's own threads."""
    import polars as pl

    known = {name: integers(name, value) for name, value in given.items() if kind_of(value) == "numpy"}
    fixed = {name: int(number) for name, number in known.items() if np.ndim(number) == 0}
    inputs = {name: _input(known.get(name, value)) for name, value in given.items() if name not in fixed}
    dtype = pl.Float64() if work.width is None else pl.Array(pl.Float64, work.width)
    batch = partial(_batch, work, list(given), fixed, list(inputs))
    label = work.label[:-1] + str(fixed["k"]) if "k" in fixed else work.label
    return pl.map_batches(list(inputs.values()), batch, return_dtype=dtype, is_elementwise=True).alias(label)


def _input(value: Any) -> Any:
    """Make an input of an expression: itself, or a literal of a column."""
    import polars as pl

    if getattr(value, "ndim", 1) != 1:
        raise FastpasskError(f"columns have one dimension; one of the arguments has shape {value.shape}")
    return value if kind_of(value) == "expression" else pl.lit(pl.Series(value))


def _batch(work: Work, order: list[str], fixed: dict[str, int], names: list[str], columns: Any) -> Any:
    """Compute one batch of an expression; no pool is entered from the engine's threads."""
    found = fixed | dict(zip(names, columns, strict=True))
    try:
        return _series(work, {name: found[name] for name in order}, threads=False)
    except FastpasskError as error:
        raise FastpasskError(f"{error} (rows are counted within one batch of the query)") from None


def _series(work: Work, given: dict[str, Any], *, threads: bool = True) -> Any:
    """Compute on Polars Series; the result bears the name of the first."""
    import polars as pl

    values, null = _columns(work, given, threads=threads)
    name = next(value.name for value in given.values() if kind_of(value) == "series")
    dtype = pl.Float64() if work.width is None else pl.Array(pl.Float64, work.width)
    series = pl.Series(name, values, dtype=dtype)
    return series if null is None else series.zip_with(pl.Series(~null), pl.Series([None], dtype=dtype))


def _arrow(work: Work, given: dict[str, Any]) -> Any:
    """Compute on Arrow arrays; the result is chunked when one of them is."""
    import pyarrow as pa

    if work.width == 0:
        raise FastpasskError("ks is empty; an Arrow list of fixed size has at least one value, so give at least one k")
    values, null = _columns(work, given)
    flat = pa.array(values.reshape(-1), mask=null if work.width is None else None, from_pandas=False)
    if work.width is not None:
        mask = None if null is None else pa.array(null)
        flat = pa.FixedSizeListArray.from_arrays(flat, work.width, mask=mask)
    return pa.chunked_array([flat]) if "chunked" in map(kind_of, given.values()) else flat


def _columns(work: Work, given: dict[str, Any], *, threads: bool = True) -> tuple[Any, NDArray[np.bool_] | None]:
    """Compute on columns; return the values and where they are null, None when nowhere."""
    read = {name: column(name, value) for name, value in given.items()}
    arrays = {name: array for name, (array, _) in read.items()}
    masks = [mask for _, mask in read.values() if mask is not None]
    shape = _shape(arrays)
    if len(shape) != 1:
        raise FastpasskError(f"columns have one dimension; {_shapes(arrays)}")
    null = np.logical_or.reduce([np.broadcast_to(mask, shape) for mask in masks]) if masks else None
    if null is not None:
        arrays = {name: np.where(null, _HARMLESS[name], array) for name, array in arrays.items()}
    return work.values(**arrays, out=None, threads=threads), null


def _shape(arrays: dict[str, Integers]) -> tuple[int, ...]:
    """Broadcast the shapes of the arguments."""
    try:
        return np.broadcast_shapes(*map(np.shape, arrays.values()))
    except ValueError:
        raise FastpasskError(f"the arguments have to be of one length, or broadcast; {_shapes(arrays)}") from None


def _shapes(arrays: dict[str, Integers]) -> str:
    """Say the shape of every argument."""
    return ", ".join(f"{name} has shape {np.shape(array)}" for name, array in arrays.items())


def _fitting(out: Any, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Return `out` when values of that shape can be written into it."""
    if not isinstance(out, np.ndarray) or out.dtype != np.float64:
        found = f"an array of {out.dtype}" if isinstance(out, np.ndarray) else f"a {type(out).__name__}"
        raise FastpasskError(f"out has to be a NumPy array of float64; it is {found}")
    if out.shape != shape:
        raise FastpasskError(f"out has shape {out.shape}, the result has {shape}; make it with np.empty({shape})")
    if not out.flags.writeable:
        raise FastpasskError("out is read-only; give a writeable array, such as out.copy()")
    return out


def _apart(arrays: dict[str, Integers], out: NDArray[np.float64]) -> dict[str, Integers]:
    """Copy the arguments that may share memory with `out`: rows are read again after their neighbours are written."""
    return {
        name: array.copy() if isinstance(array, np.ndarray) and np.may_share_memory(array, out) else array
        for name, array in arrays.items()
    }


_CARRIERS: dict[str, Callable[..., Any]] = {
    "expression": _expression,
    "series": _series,
    "chunked": _arrow,
    "arrow": _arrow,
}
_RESULTS = {
    "expression": "a Polars expression",
    "series": "a Polars Series",
    "chunked": "an Arrow chunked array",
    "arrow": "an Arrow array",
}
