"""What is accepted as whole numbers: every kind of argument becomes an int or an integer NumPy array, or is refused.

Nothing is copied that is an integer array in native byte order already, and nothing is guessed: a boolean is not a
count, a mask is not dropped, a fraction is not rounded. Polars and pyarrow are told by the names of their classes, so
that neither is loaded for someone who does not use it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from fastpassk.errors import FastpasskError

if TYPE_CHECKING:
    from numpy.typing import NDArray

Integers: TypeAlias = "int | NDArray[np.integer[Any]]"

_LARGEST = 2**63 - 1
_KINDS = {
    "polars.Expr": "expression",
    "polars.Series": "series",
    "pyarrow.ChunkedArray": "chunked",
    "pyarrow.Array": "arrow",
}
_REFUSED = {
    "builtins.str": "is text; give integers, or pl.col(…) for a column of a Polars frame",
    "builtins.NoneType": "is None; give whole numbers",
    "numpy.MaskedArray": "is a masked array, and its mask would be lost; compress or fill it, or use Arrow or Polars",
    "polars.DataFrame": "is a frame; give one of its columns, as in frame['n']",
    "polars.LazyFrame": "is a lazy frame; use pl.col(…) inside its with_columns or select",
    "pyarrow.Table": "is a table; give one of its columns, as in table['n']",
    "pyarrow.RecordBatch": "is a record batch; give one of its columns, as in batch['n']",
    "pyarrow.Scalar": "is an Arrow scalar; give its number, as in scalar.as_py()",
    "pandas.DataFrame": "is a frame; give one of its columns, as in frame['n']",
}
_ADVICE = {
    "bool": "these are outcomes, not counts; add them up, as in c = passed.sum()",
    "object": "cast to an integer dtype, missing values dropped or filled before (Arrow and Polars may keep theirs)",
    "int128": "cast to Int64",
    "uint128": "cast to Int64",
}


def kind_of(value: Any) -> str:
    """Tell an argument's kind by its class: "expression", "series", "chunked", "arrow", or "numpy" for all else."""
    return _kind_of_class(value.__class__)


def integers(name: str, value: Any) -> Integers:
    """Read a scalar, a sequence or anything that NumPy reads as whole numbers.

    Parameters
    ----------
    name
        What the argument is called, for messages.
    value
        A number, a sequence, an array of any integer dtype, or of floats with whole values.

    Returns
    -------
    An int for a scalar; else an integer array in native byte order, the one given when it is such an array.

    Raises
    ------
    FastpasskError
        Fractions, NaN and infinities, with the place of the first and their number; booleans, text, objects, times,
        masked arrays and frames, with what to do instead.
    """
    if type(value) is int:
        if abs(value) > _LARGEST:
            raise _too_large(name, value)
        return value
    array = _as_array(name, value)
    if array.dtype.kind == "f":
        array = _whole(name, array)
    elif array.dtype == object and (beyond := [v for v in array.flat if type(v) is int and abs(v) > _LARGEST]):
        raise _too_large(name, beyond[0])
    elif array.dtype.kind not in "iu":
        raise _wrong_type(name, array.dtype.name)
    elif array.dtype.kind == "u" and array.itemsize == 8 and array.size and array.max() > _LARGEST:
        raise _too_large(name, int(array.max()))
    elif not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    return int(array) if isinstance(value, (int, float, np.generic)) else array


def column(name: str, value: Any) -> tuple[Integers, NDArray[np.bool_] | None]:
    """Read one column of whole numbers, and where it is null; a null's own number means nothing.

    Parameters
    ----------
    name
        What the argument is called, for messages.
    value
        A Polars Series, an Arrow array or chunked array, or what `integers` reads.

    Returns
    -------
    The numbers as `integers` gives them, and a boolean array that is true at nulls, or None when there are none.

    Raises
    ------
    FastpasskError
        As `integers` does.
    """
    kind = kind_of(value)
    if kind == "series":
        return _from_series(name, value)
    if kind in ("arrow", "chunked"):
        return _from_arrow(name, value)
    return integers(name, value), None


@lru_cache(maxsize=256)
def _kind_of_class(kind: type) -> str:
    """Tell the kind of a class; kept, because scalars come by the million."""
    return next((_KINDS[name] for name in _class_names(kind) if name in _KINDS), "numpy")


def _class_names(kind: type) -> list[str]:
    """Name a class and those it stands on as package.Class, its own first."""
    return [f"{base.__module__.partition('.')[0]}.{base.__name__}" for base in kind.__mro__]


def _as_array(name: str, value: Any) -> NDArray[Any]:
    """Read a value with NumPy, unless NumPy would read something else than it says."""
    for known in _class_names(type(value)):
        if known in _REFUSED:
            raise FastpasskError(f"{name} {_REFUSED[known]}")
    try:
        return np.asarray(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise FastpasskError(f"{name} cannot be read as an array of whole numbers: {error}") from error


def _whole(name: str, array: NDArray[Any]) -> NDArray[np.int64]:
    """Turn floats with whole values into integers; pandas writes 5.0 where it once had a missing value."""
    with np.errstate(invalid="ignore", over="ignore"):
        numbers = array.astype(np.int64)
        bad = np.atleast_1d((numbers != array) | ~(np.abs(array) < np.float64(2**63)))
    if bad.any():
        first = tuple(int(i) for i in np.argwhere(bad)[0])
        place = f"{name} is" if array.ndim == 0 else f"{name}[{', '.join(map(str, first))}] is"
        text = f"{place} {float(np.atleast_1d(array)[first])}; whole numbers are wanted, and {_count(bad)} not"
        raise FastpasskError(f"{text}; drop or fill what is missing, round on purpose")
    return numbers


def _count(bad: NDArray[np.bool_]) -> str:
    """Say how many values are bad: '1 value of 10 is'."""
    number = int(np.count_nonzero(bad))
    return f"{number} value{'s' * (number > 1)} of {bad.size} {'are' if number > 1 else 'is'}"


def _too_large(name: str, number: int) -> FastpasskError:
    """Say the number and what is allowed; one too long to print in full is cut."""
    size = number.bit_length()
    text = str(number) if size < 256 else f"a number of {size} bits"
    return FastpasskError(f"{name} holds {text}; the largest number allowed is {_LARGEST}")


def _wrong_type(name: str, dtype: str) -> FastpasskError:
    """Say what the dtype is, what is allowed and what to do."""
    advice = _ADVICE.get(dtype.lower().removesuffix("ean"), "cast to an integer dtype")
    return FastpasskError(f"{name} has dtype {dtype}; allowed: integers, and floats with whole values; {advice}")


def _from_series(name: str, series: Any) -> tuple[Integers, NDArray[np.bool_] | None]:
    """Read a Polars Series; without nulls and in one chunk nothing is copied."""
    import polars as pl

    if series.dtype == pl.Null:
        series = series.cast(pl.Int64)
    if not (series.dtype.is_integer() or series.dtype.is_float()) or series.dtype in (pl.Int128, pl.UInt128):
        raise _wrong_type(name, str(series.dtype))
    null = series.is_null().to_numpy() if series.null_count() else None
    return integers(name, (series if null is None else series.fill_null(1)).to_numpy()), null


def _from_arrow(name: str, array: Any) -> tuple[Integers, NDArray[np.bool_] | None]:
    """Read an Arrow array or chunked array; without nulls and in one chunk nothing is copied."""
    import pyarrow as pa

    if pa.types.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    if pa.types.is_null(array.type):
        array = array.cast(pa.int64())
    if not (pa.types.is_integer(array.type) or pa.types.is_floating(array.type)):
        raise _wrong_type(name, str(array.type))
    null = _plain(array.is_null()) if array.null_count else None
    return integers(name, _plain(array if null is None else array.fill_null(1))), null


def _plain(array: Any) -> NDArray[Any]:
    """Give an Arrow array or chunked array without nulls as a NumPy array, as a view where there is one chunk."""
    if chunks := getattr(array, "chunks", None):
        array = chunks[0] if len(chunks) == 1 else array
    return np.asarray(array.to_numpy(zero_copy_only=False))
