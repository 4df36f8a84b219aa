"""The types of the array functions, for type checkers: the same kind out as in. People read the functions themselves.

A call matches the first overload that takes all its arguments, and the overloads go from narrow to wide: a float for
scalars, an array when one is a sequence or array, a Series when one is a Series, an expression when one is an
expression. Arrow and pandas, which bring no types along, come last and give Any.
"""

# Narrow before wide is the point here; mypy warns of it, because a caller may not know how narrow a value is.
# mypy: disable-error-code="overload-overlap"

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast, overload

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    Scalar: TypeAlias = float | np.integer[Any] | np.floating[Any]
    Numbers: TypeAlias = Scalar | Sequence[float] | Sequence[Sequence[float]] | NDArray[Any]
    Column: TypeAlias = Numbers | pl.Series
    Columns: TypeAlias = Column | pl.Expr
    Readable: TypeAlias = Scalar | "HasArray"
    Values: TypeAlias = NDArray[np.float64]


class HasArray(Protocol):
    """Whatever NumPy can read as an array: an Arrow array, a pandas Series, a tensor in main memory."""

    def __array__(self, dtype: Any = None, /) -> NDArray[Any]:
        """Give the array."""
        ...


class RowFunction(Protocol):
    """The type of `pass_at_k`, `pass_hat_k` and `plug_in`."""

    @overload
    def __call__(self, n: Scalar, c: Scalar, k: Scalar, *, out: None = None) -> float: ...
    @overload
    def __call__(self, n: Numbers, c: Numbers, k: Numbers, *, out: Values | None = None) -> Values: ...
    @overload
    def __call__(self, n: Column, c: Column, k: Column, *, out: None = None) -> pl.Series: ...
    @overload
    def __call__(self, n: Columns, c: Columns, k: Columns, *, out: None = None) -> pl.Expr: ...
    @overload
    def __call__(self, n: Readable, c: Readable, k: HasArray | Scalar, *, out: None = None) -> Any: ...


class CurveFunction(Protocol):
    """The type of `pass_curve`."""

    @overload
    def __call__(
        self, n: Numbers, c: Numbers, ks: Iterable[int], *, out: Values | None = None, metric: str = "pass@k"
    ) -> Values: ...
    @overload
    def __call__(
        self, n: Column, c: Column, ks: Iterable[int], *, out: None = None, metric: str = "pass@k"
    ) -> pl.Series: ...
    @overload
    def __call__(
        self, n: Columns, c: Columns, ks: Iterable[int], *, out: None = None, metric: str = "pass@k"
    ) -> pl.Expr: ...
    @overload
    def __call__(
        self, n: Readable, c: Readable, ks: Iterable[int], *, out: None = None, metric: str = "pass@k"
    ) -> Any: ...


def row_function(function: Callable[..., Any]) -> RowFunction:
    """Give a function of n, c and k its type; nothing happens at run time."""
    return cast("RowFunction", function)


def curve_function(function: Callable[..., Any]) -> CurveFunction:
    """Give a function of n, c and ks its type; nothing happens at run time."""
    return cast("CurveFunction", function)
