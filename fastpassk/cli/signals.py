"""A process that is asked to end (SIGTERM) ends as after Ctrl-C: what it was writing is removed, its status is 130.

Python runs its handlers between two steps of its own, and a query in Polars is one step, however long. Polars listens
to Ctrl-C in the middle of it, and to nothing else. So a thread that hears of SIGTERM at once sends SIGINT on: a query
that writes ends within milliseconds, and not when it has written all.
"""

from __future__ import annotations

import os
import signal
import threading


def end_as_after_interrupt() -> None:
    """Turn SIGTERM into SIGINT, for the rest of the process; to be called from the main thread."""
    if os.name != "posix":
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        return
    hear, tell = os.pipe()
    os.set_blocking(tell, False)
    signal.set_wakeup_fd(tell, warn_on_full_buffer=False)
    signal.signal(signal.SIGTERM, lambda *_: None)  # without a handler of its own, the pipe would not be told
    threading.Thread(target=_pass_on, args=(hear,), name="signals", daemon=True).start()


def _pass_on(hear: int) -> None:
    while number := os.read(hear, 1):
        if number[0] == signal.SIGTERM:
            os.kill(os.getpid(), signal.SIGINT)
