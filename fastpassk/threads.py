"""The one owner of the thread pool.

Kernels release the GIL and know nothing of threads; whoever has many independent chunks hands them to `run`. There is
one pool a thread count, made when first needed. A worker that calls `run` again does the work itself, because a pool
whose workers wait for its own workers stands still. A forked child has none of its parent's threads, so it forgets the
pools.
"""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

from fastpassk.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

VARIABLE = "FASTPASSK_THREADS"

Item = TypeVar("Item")
Result = TypeVar("Result")

_pools: dict[int, ThreadPoolExecutor] = {}
_lock = threading.Lock()
_here = threading.local()


def thread_count() -> int:
    """Return how many threads `run` may use: FASTPASSK_THREADS, else the processors that this process may run on.

    Raises
    ------
    UsageError
        the variable is set to something that is not a whole number from 1 up.
    """
    asked = os.environ.get(VARIABLE, "").strip()
    if not asked:
        return _usable_processors()
    if not asked.isdecimal() or int(asked) < 1:
        raise UsageError(f"{VARIABLE} is {asked!r}; allowed: a whole number from 1 up, or nothing")
    return int(asked)


def run(function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """Return `[function(item) for item in items]`, in that order, computed on the pool.

    Works in the calling thread when only one thread is allowed, when there is only one item, or when the caller is
    itself a worker of the pool. The first exception of a call is raised here.
    """
    work = list(items)
    count = thread_count()
    if count == 1 or len(work) < 2 or getattr(_here, "worker", False):
        return [function(item) for item in work]
    return list(_pool(count).map(function, work))


def _usable_processors() -> int:
    """Count the processors this process is allowed on (containers and `taskset` allow fewer than there are)."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _pool(count: int) -> ThreadPoolExecutor:
    """Return the pool of `count` threads, made on first use."""
    with _lock:
        if count not in _pools:
            _pools[count] = ThreadPoolExecutor(count, thread_name_prefix="fastpassk", initializer=_mark_worker)
        return _pools[count]


def _mark_worker() -> None:
    """Remember, in a worker's own storage, that it is one."""
    _here.worker = True


def _forget_pools() -> None:
    """Start a forked child with no pool, an open lock, and its one thread no worker: the parent's are not here."""
    _pools.clear()
    _here.worker = False
    _lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_forget_pools)
