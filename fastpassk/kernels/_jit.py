"""JIT policy, in one place: how a kernel is compiled, cached and called. The only file that imports numba.

Kernels are serial and release the GIL (threads live outside, in `fastpassk.threads`), keep NumPy's error model, and
never use fast maths, which would break the error-free transformations they are built from. Nothing is compiled at
import: numba compiles a kernel on its first call for the types of that call. To keep those types few, every array that
a kernel only reads is handed over read-only, whatever it was, and callers bring inputs to native, aligned, contiguous
int32 or int64.
"""

from __future__ import annotations

from functools import cache, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numba
import numba.extending
import numpy as np

from fastpassk.kernels.integers import PASS_AT_K

if TYPE_CHECKING:
    from collections.abc import Callable

Function = TypeVar("Function", bound="Callable[..., Any]")

OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": False}


def helper(function: Function) -> Function:
    """Compile a function that only kernels call; it is compiled into them and needs no cache of its own."""
    compiled: Function = numba.njit(**OPTIONS)(function)
    return compiled


def callable_in_kernels(function: Callable[..., Any]) -> None:
    """Let kernels call a plain function, which stays plain for everyone else."""
    numba.extending.register_jitable(**OPTIONS)(function)


def kernel(writes: int) -> Callable[[Function], Function]:
    """Return a decorator for a kernel whose last `writes` arguments are arrays that it fills.

    The compiled code is cached on disk where that is possible: a read-only install with no writable home has no place
    for it, and a full disk refuses the file. Both cost the next process its compile time and nothing else.
    """

    def decorate(function: Function) -> Function:
        dispatcher = _dispatcher(function)

        @wraps(function)
        def call(*arguments: Any) -> Any:
            split = len(arguments) - writes
            ready = [_read_only(argument) for argument in arguments[:split]]
            try:
                return dispatcher(*ready, *arguments[split:])
            except OSError:  # the cache file could not be written; the compiled code is there all the same
                return dispatcher(*ready, *arguments[split:])

        call.dispatcher = dispatcher  # type: ignore[attr-defined]
        return call  # type: ignore[return-value]

    return decorate


def warmup() -> None:
    """Compile every kernel for the types it is called with, or load it from the cache; some seconds at most, once."""
    from fastpassk.kernels import columns, running

    one, value = np.ones(1, np.int64), np.ones(1)
    rows: list[Any] = [one.astype(np.int32), one]
    made = columns.with_columns(PASS_AT_K, one, one)
    for row in rows:
        if made is not None:
            columns.gather_ks(made, row, row, one, value)
            columns.gather_ks(made, row, row, np.repeat(one, 2), np.ones(2))
            columns.gather_rows(made, row, row, row, value)
    running.running(PASS_AT_K, one, one, one)
    running.running_curve(PASS_AT_K, 1, 1, 1)


def _dispatcher(function: Callable[..., Any]) -> Any:
    """Compile lazily, with a cache where numba finds a place for one."""
    try:
        dispatcher = numba.njit(cache=True, **OPTIONS)(function)
    except RuntimeError as error:
        if "no locator available" not in str(error):
            raise
        return numba.njit(**OPTIONS)(function)
    _watch_room(dispatcher)
    return dispatcher


def _watch_room(dispatcher: Any) -> None:
    """Let a cached kernel go stale when any file of this room changes.

    numba looks only at the file that holds the kernel, so a changed helper in another file would go unnoticed. The
    stamp has no public name; without it only someone who edits a helper is the worse for it.
    """
    index: Any = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if hasattr(index, "_source_stamp"):
        index._source_stamp = (index._source_stamp, _room_stamp())


@cache
def _room_stamp() -> tuple[tuple[str, int, int], ...]:
    """Name, time and size of every source file of this room (empty when they are inside an archive)."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    return tuple((file.name, file.stat().st_mtime_ns, file.stat().st_size) for file in files)


def _read_only(argument: Any) -> Any:
    """Return a read-only view of an array; anything else unchanged.

    The flag is set without being asked for: NumPy 1.26 warns on asking an array that `broadcast_arrays` made.
    """
    if isinstance(argument, np.ndarray):
        argument = argument.view()
        argument.flags.writeable = False
    return argument
