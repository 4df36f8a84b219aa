"""Which files a source means: a path, a glob, a directory (flat or hive), standard input, or a list of those.

The order is that of the names, so that a listing of the file system never shows in a result. Folder names such as
`model=a` are columns; their values stay text (`001` is not 1).
"""

from __future__ import annotations

import atexit
import glob
import os
import re
import select
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import unquote

from fastpassk.errors import FastpasskError, UsageError, hint, listing, tell
from fastpassk.storage.detect import SUFFIXES, File, identify, known
from fastpassk.storage.prints import fingerprint

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

STANDARD_INPUT = "-"
URL = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]+://")
BLOCK = 1 << 20
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"


def expand(source: str | os.PathLike[str] | Iterable[str | os.PathLike[str]], format: str = "auto") -> list[File]:
    """List the files that a source means, each with its format.

    Parameters
    ----------
    source
        A path, a glob, a directory, `"-"` for standard input, or a list of those. A path that exists is taken as it
        is, whatever characters it holds. In directories, names that begin with a dot or an underscore and files
        of unknown suffix are left out.
    format
        `"auto"`, or one of `FORMATS` for all the files.

    Returns
    -------
    The files, sorted within each item; the items stay in the order given.

    Raises
    ------
    FastpasskError
        Nothing is there, or a file cannot be opened or told.
    UsageError
        A URL, or the same file twice.

    Warns
    -----
    FastpasskWarning
        Two files hold the same bytes under different names.
    """
    items = [source] if isinstance(source, (str, os.PathLike)) else list(source)
    if not items:
        raise UsageError("the source is an empty list; give at least one file")
    files = [file for item in items for file in _expand_one(os.fspath(item), format)]
    _refuse_repeats(files)
    _warn_of_copies(files)
    return files


def refuse_input(path: str | os.PathLike[str], files: Iterable[File]) -> None:
    """Raise a `UsageError` when a file to be written is one of those that are read."""
    real = os.path.realpath(path)
    for file in files:
        if os.path.realpath(file.path) == real:
            raise UsageError(f"{path} is one of the inputs and would be overwritten; write to another file")


def _expand_one(text: str, format: str) -> list[File]:
    if URL.match(text):
        raise UsageError(
            f"{text}: remote sources are not read yet; download it, or open it with Polars and pass the frame"
        )
    if text == STANDARD_INPUT:
        return [identify(_spooled(sys.stdin.buffer), "standard input", format)]
    names = _names(text, told=format != "auto")
    return [identify(_readable(Path(name)), name, format, _partition(name)) for name in names]


def _names(text: str, *, told: bool) -> list[str]:
    path = Path(text)
    if path.is_dir():
        return _walk(path, told=told)
    if path.exists():
        return [str(path)]
    if not glob.has_magic(text):
        near = os.listdir(path.parent) if path.parent.is_dir() else []  # noqa: PTH208 - the names alone are wanted
        raise FastpasskError(f"there is no file {text}{hint(path.name, near)}")
    found = sorted(Path(match) for match in glob.glob(text, recursive=True))  # noqa: PTH207 - the root may be anywhere
    shown = [match for match in found if not _hidden(match.name)]
    names = [
        name for match in shown for name in (_walk(match, told=told, strict=False) if match.is_dir() else [str(match)])
    ]
    if not names:
        raise FastpasskError(f"no file matches {text}")
    return list(dict.fromkeys(names))  # `**` meets a folder and its files


def _walk(folder: Path, *, told: bool, strict: bool = True) -> list[str]:
    """List the data files of a folder; where the format is told, they may be of unknown suffix."""
    seen = list(_files_under(folder, set()))
    names = [name for name in seen if known(name)] or (seen if told else [])
    if names or not strict:
        return names
    passed_over = f"; left out: {listing(Path(name).name for name in seen)}" if seen else ""
    raise FastpasskError(f"no result files in {folder} (looked for {' '.join(SUFFIXES)}){passed_over}")


def _files_under(folder: Path, above: set[str]) -> Iterator[str]:
    real = os.path.realpath(folder)
    if real in above:  # a link back to a folder above it
        return
    try:
        entries = sorted(folder.iterdir(), key=lambda entry: entry.name)
    except PermissionError as error:
        raise FastpasskError(f"{folder} may not be read: permission denied") from error
    for entry in entries:
        if _hidden(entry.name):
            continue
        if entry.is_dir():
            yield from _files_under(entry, above | {real})
        elif entry.is_file() or (entry.is_symlink() and not entry.exists()):  # a dead link is an error, not nothing
            yield str(entry)


def _hidden(name: str) -> bool:
    return name.startswith(".") or (name.startswith("_") and "=" not in name)


def _partition(name: str) -> tuple[tuple[str, str], ...]:
    pairs = (part.partition("=") for part in Path(name).parts[:-1])
    return tuple((unquote(key), unquote(value)) for key, sign, value in pairs if key and sign and value != NO_VALUE)


def _readable(path: Path) -> Path:
    """Return a path that can be opened more than once: a named pipe is copied to a file."""
    if not path.is_fifo():
        return path
    with path.open("rb") as stream:
        return _spooled(stream)


def _spooled(stream: BinaryIO) -> Path:
    """Copy a stream to a file, since the readers need to look twice."""
    handle, name = tempfile.mkstemp(prefix="fastpassk-", suffix=".input")
    atexit.register(Path(name).unlink, missing_ok=True)
    with os.fdopen(handle, "wb") as out:
        while _ready(stream) and (block := _some(stream)):
            out.write(block)
    return Path(name)


def _some(stream: BinaryIO) -> bytes:
    """Read what is there: a full block would wait for more."""
    return stream.read1(BLOCK) if hasattr(stream, "read1") else stream.read(BLOCK)


def _ready(stream: BinaryIO) -> bool:
    """Wait until there is something to read, a moment at a time.

    Polars takes over the signal of Ctrl-C in a way that restarts a read that waits, so that Python never hears of it.
    """
    if os.name == "posix" and _is_real(stream):
        while not select.select([stream], [], [], 0.1)[0]:
            pass
    return True


def _is_real(stream: BinaryIO) -> bool:
    try:
        return stream.fileno() >= 0
    except (OSError, AttributeError):  # replaced by something in memory
        return False


def _refuse_repeats(files: list[File]) -> None:
    first: dict[str, str] = {}
    for file in files:
        real = os.path.realpath(file.path)
        if real in first:
            raise UsageError(f"{file.name} is the same file as {first[real]}; give each file once")
        first[real] = file.name


def _warn_of_copies(files: list[File]) -> None:
    """Fingerprints are taken only of files of one size under the same folder keys."""
    groups: dict[object, list[File]] = {}
    for file in files:
        groups.setdefault((file.path.stat().st_size, file.partition), []).append(file)
    for group in groups.values():
        prints: dict[str, str] = {}
        for file in group if len(group) > 1 else ():
            other = prints.setdefault(fingerprint(file.path), file.name)
            if other != file.name:
                tell(f"{file.name} holds the same bytes as {other}; if it is a copy, its samples count twice")
