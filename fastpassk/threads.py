"""The one owner of the thread pool.

Kernels release the GIL and know nothing of threads; whoever has many independent chunks hands them to `run`. There is
one pool a thread count, made when first needed. A worker that calls `run` again does the work itself, because a pool
whose workers wait for its own workers stands still. A forked child has none of its parent's threads, so it forgets the
pools.

When `run` ends, by an error or an interrupt too, none of its items is still being worked on: a caller who catches the
error may use the arrays again. Long loops ask `go_on` now and then, and so end within milliseconds.

Each worker gets one task, which takes items in turn: for 20 items that do nothing 150 us, against 390 with a task an
item.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from concurrent.futures import CancelledError, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from fastpassk.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from concurrent.futures import Future

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
    itself a worker of the pool. The exception of the first item that has one is raised here, once no worker is busy
    with another item; items not begun are left out.
    """
    todo = deque(enumerate(items))
    count = thread_count()
    if count == 1 or len(todo) < 2 or getattr(_here, "worker", False):
        return [function(item) for _, item in todo]
    job = _Job(function, todo)
    workers: list[Future[None]] = []
    try:
        workers.extend(_pool(count).submit(_work, job) for _ in range(min(count, len(todo))))
        wait(workers)
    finally:
        todo.clear()
        job.ended.set()
        wait(workers)
    if job.failed:
        try:
            raise job.failed[min(job.failed)]
        finally:
            job.failed.clear()  # the traceback holds this frame: else the two would keep each other
    return [job.done[place] for place in sorted(job.done)]


def go_on() -> None:
    """Return, or end the item that this worker is busy with when its `run` has ended without it.

    Raises
    ------
    CancelledError
        nobody waits for the item any more.
    """
    job = getattr(_here, "job", None)
    if job is not None and job.ended.is_set():
        raise CancelledError


class _Job(Generic[Item, Result]):
    """One `run`: what is to do, what came of it, and whether its caller has stopped waiting."""

    def __init__(self, function: Callable[[Item], Result], todo: deque[tuple[int, Item]]) -> None:
        self.function, self.todo, self.ended = function, todo, threading.Event()
        self.done: dict[int, Result] = {}
        self.failed: dict[int, BaseException] = {}


def _work(job: _Job[Any, Any]) -> None:
    """Take items of a job, in order, until none is left; after an exception none is begun."""
    _here.job = job
    while job.todo:
        try:
            place, item = job.todo.popleft()
        except IndexError:  # another worker took the last one
            break
        try:
            job.done[place] = job.function(item)
        except BaseException as error:  # noqa: BLE001 - whatever it is, it is for the caller of `run`
            job.failed[place] = error
            job.todo.clear()
    _here.job = None  # a worker at rest keeps nobody's arrays


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
    _here.worker, _here.job = False, None
    _lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_forget_pools)
