"""`main`: read the words, call the library function, show the result, turn whatever goes wrong into a status.

Statuses: 0 done, 1 an error in the data, 2 usage, 130 interrupted (3 is kept for a gate that failed). Errors are one
or two lines on standard error. With FASTPASSK_DEBUG=1 the traceback stands before them.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, cast

from fastpassk import threads
from fastpassk.cli.parser import Call, parse
from fastpassk.cli.signals import end_as_after_interrupt
from fastpassk.errors import FastpasskError, FastpasskWarning, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fastpassk.cli.output import Output

DONE, DATA_ERROR, USAGE_ERROR, GATE_FAILED, INTERRUPTED = 0, 1, 2, 3, 130
DEBUG = "FASTPASSK_DEBUG"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status.

    Parameters
    ----------
    argv
        The words after the program's name; those of the process by default.
    """
    alone = argv is None  # a process of its own
    if alone:  # asked to end, it cleans up as after Ctrl-C
        end_as_after_interrupt()
    try:
        status = _run(sys.argv[1:] if argv is None else argv)
        _flush()
    except BrokenPipeError:
        _close_output()  # the reader has seen enough, as in `fastpassk curve … | head`
        status = DONE
    except BaseException as error:  # noqa: BLE001 - the one edge; a panic in Rust derives from BaseException
        status = _failed(error, alone=alone)
    if alone:
        _end(status)
    return status


def _run(words: Sequence[str]) -> int:
    try:
        call = parse(words)
    except SystemExit:  # --help and --version have been answered
        return DONE
    with threads.held_to(cast("int | None", call.running.get("threads"))):
        return _answer(call)


def _answer(call: Call) -> int:
    """Call the library function and show what it returns."""
    from fastpassk.cli.output import Output, show
    from fastpassk.cli.progress import progress

    output = Output.of(call.output, folder="partition_by" in call.keywords)
    with _notes(quiet=output.quiet):
        output.refuse_input(call.sources)
        with progress(_doing(call), quiet=output.quiet or "no_progress" in call.running):
            result = _call(call, output)
        if not _writes_itself(call, output):
            show(result, call.command.result, output)
        _flush()  # the result stands before the notes where both go to one place
    return DONE


def _call(call: Call, output: Output) -> object:
    """Call the library function with what the command line says."""
    command = call.command
    sources: list[object] = [call.sources] if command.listed or len(call.sources) > 1 else [*call.sources]
    sink = {command.sink: output.data_path} if _writes_itself(call, output) else {}
    return command.load()(*sources, **call.keywords, **sink)


def _writes_itself(call: Call, output: Output) -> bool:
    """Whether the library function streams its rows to the file."""
    return bool(call.command.sink) and output.data_path is not None


def _doing(call: Call) -> str:
    """Write what the progress line says; a file's name stays on that line."""
    from fastpassk.present.tables import cell

    first = "standard input" if call.sources[:1] == ["-"] else "".join(call.sources[:1])
    rest = f" and {len(call.sources) - 1} more" if len(call.sources) > 1 else ""
    return f"{call.command.doing}: {cell(first)}{rest}"


@contextmanager
def _notes(*, quiet: bool) -> Iterator[None]:
    """Print each note of the library once, in the order it was first given; other warnings go their usual way."""
    notes: dict[str, None] = {}
    with warnings.catch_warnings():
        usual = warnings.showwarning

        def keep(message: Warning | str, category: type[Warning], *place: object) -> None:
            if issubclass(category, FastpasskWarning):
                notes[str(message)] = None
            else:
                usual(message, category, *place)  # type: ignore[arg-type]

        warnings.simplefilter("always", FastpasskWarning)
        warnings.showwarning = keep  # type: ignore[assignment]
        try:
            yield
        finally:
            for note in notes if not quiet else ():
                _tell(f"note: {note}")


def _end(status: int) -> None:
    """Let nothing disturb the end of the process.

    After an interrupt, threads of Polars may still be busy, and would abort a Python that takes itself apart under
    them; so the process ends at once, after what is registered for its end (temporary files go).
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the output is written: a Ctrl-C comes too late
    if status == INTERRUPTED:
        atexit._run_exitfuncs()
        os._exit(status)


def _failed(error: BaseException, *, alone: bool) -> int:
    """Say what went wrong and return the status."""
    if alone:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C finds it ending already
    if isinstance(error, KeyboardInterrupt):
        _tell("interrupted")
        return INTERRUPTED
    if os.environ.get(DEBUG, "0") not in ("", "0"):
        import traceback

        traceback.print_exception(error)
    _tell("error: " + "\n".join(_explanation(error)))
    return USAGE_ERROR if isinstance(error, UsageError) else DATA_ERROR


def _explanation(error: BaseException) -> list[str]:
    """Write an error in one or two lines."""
    lines = str(error).splitlines() or [""]
    if isinstance(error, FastpasskError):
        return lines[:2]
    if isinstance(error, MemoryError):
        return ["out of memory"]
    if isinstance(error, OSError):
        place = "" if error.filename is None else f": {error.filename}"
        return [(error.strerror or lines[0]) + place]
    return [f"unexpected {type(error).__name__}: {lines[0]}", f"run with {DEBUG}=1 for the traceback"]


def _tell(text: str) -> None:
    """Write lines to standard error, control characters as escapes: names from a file cannot steer the terminal."""
    from fastpassk.present.tables import cell

    if sys.stderr is not None:
        sys.stderr.write("fastpassk: " + "\n".join(map(cell, text.splitlines())) + "\n")
        sys.stderr.flush()


def _flush() -> None:
    """Hand over what was written, so that a full disk or a closed pipe is noticed here and not when Python ends."""
    if sys.stdout is not None:
        sys.stdout.flush()


def _close_output() -> None:
    """Point standard output at nothing, so that Python does not fail on it again when it ends."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, sys.stdout.fileno())
