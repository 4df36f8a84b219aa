"""A line on standard error while long work goes on: what is being done, how far it is, and for how many seconds.

It appears after a second, only on a terminal, without colour or cursor codes, and is wiped at the end. How far it is
comes from the tasks that `fastpassk.threads` knows: parts of Parquet files (row groups, some together), bytes of a text
file, files opened. Other work is one call into compiled code that reports nothing, and of that the line does not
pretend to know.
"""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from fastpassk import threads

if TYPE_CHECKING:
    from collections.abc import Iterator

DELAY = 1.0  # seconds before the line appears
PERIOD = 0.2  # seconds between two drawings
FRAMES = "|/-\\"


@contextmanager
def progress(doing: str, *, quiet: bool = False) -> Iterator[None]:
    """Show `doing` while the block runs, when standard error is a terminal that can rewrite a line.

    Parameters
    ----------
    doing
        What is being done.
    quiet
        Show nothing.
    """
    stream = sys.stderr
    if quiet or stream is None or not stream.isatty() or os.environ.get("TERM") == "dumb":
        yield
        return
    done = threading.Event()
    thread = threading.Thread(target=_draw, args=(stream, doing, done), daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _draw(stream: TextIO, doing: str, done: threading.Event) -> None:
    """Draw the line until `done`, then wipe it."""
    start = time.monotonic()
    longest = 0
    wait = DELAY
    while not done.wait(wait):
        wait = PERIOD
        seconds = int(time.monotonic() - start)
        sign = FRAMES[int((time.monotonic() - start) / PERIOD) % len(FRAMES)]
        line = f"{sign} {doing} … {_share(threads.progress())}{seconds} s"[: shutil.get_terminal_size().columns - 1]
        stream.write("\r" + line.ljust(longest))
        stream.flush()
        longest = max(longest, len(line))
    if longest:
        stream.write("\r" + " " * longest + "\r")
        stream.flush()


def _share(task: threads.Task | None) -> str:
    """Write how much of a task is done, where that is known."""
    if task is None or not task.total:
        return ""
    whole = f"{task.total / 1e6:,.0f} MB" if task.of == "bytes" else f"{task.total:,} {task.of}"
    return f"{100 * min(task.done, task.total) // task.total} % of {whole}, "
