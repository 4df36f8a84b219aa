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
import shutil
import sys
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import quote, unquote

from fastpassk.errors import FastpasskError, UsageError, hint, listing, tell
from fastpassk.storage.detect import SUFFIXES, DocumentError, File, identify, known, readable
from fastpassk.storage.prints import fingerprint

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

STANDARD_INPUT = "-"
URL = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]+://")
BLOCK = 1 << 20
SAFE = " @+,:;()!~"  # characters of folder names beside letters, digits and _ . -
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"


def expand(source: str | os.PathLike[str] | Iterable[str | os.PathLike[str]], format: str = "auto") -> list[File]:
    """List the files that a source means, each with its format.

    Parameters
    ----------
    source
        A path, a glob, a directory, `"-"` for standard input, or a list of those. A path that exists is taken as it
        is, whatever characters it holds. In directories, names that begin with a dot or an underscore, files of unknown
        suffix, and single JSON documents beside other files are left out.
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
        Two files hold the same bytes under different names, or something in a directory was left out.
    """
    items = [source] if isinstance(source, (str, os.PathLike)) else list(source)
    if not items:
        raise UsageError("the source is an empty list; give at least one file")
    left: list[str] = []
    files = [file for item in items for file in _expand_one(os.fsdecode(item), format, left)]
    if left:
        tell(f"left out of the folders as no data: {listing(left, 1)}")
    _refuse_repeats(files)
    _warn_of_copies(files)
    return files


def refuse_input(path: str | os.PathLike[str], files: Iterable[File]) -> None:
    """Raise a `UsageError` when a file to be written is one of those that are read."""
    real = os.path.realpath(path)
    for file in files:
        if os.path.realpath(file.path) == real:
            raise UsageError(f"{path} is one of the inputs and would be overwritten; write to another file")


def partition_name(key: str, value: object) -> str:
    """Return the name of the folder that holds the rows of one value, which `expand` reads back as text.

    Whatever could be taken for something else is written as `%2F`: separators, a leading dot, the name of no value.
    """
    text = NO_VALUE if value is None else quote(str(value), safe=SAFE).replace(NO_VALUE, "%5F" + NO_VALUE[1:])
    name = quote(key, safe=SAFE)
    return f"{'%2E' + name[1:] if name.startswith('.') else name}={text}"


def _expand_one(text: str, format: str, left: list[str]) -> list[File]:
    """List the files of one item; what is passed over in folders goes into `left`."""
    if URL.match(text):
        raise UsageError(
            f"{text}: remote sources are not read yet; download it, or open it with Polars and pass the frame"
        )
    if text == STANDARD_INPUT:
        return [identify(_spooled(sys.stdin.buffer), "standard input", format)]
    if Path(text).is_dir():
        return _identified(_walk(Path(text), left, told=format != "auto"), format, left)
    names = _names(text, left, told=format != "auto")
    return [identify(_readable(name), name, format, partition_of(name)) for name in names]


def _identified(names: list[str], format: str, left: list[str]) -> list[File]:
    """Tell the formats of the files of a folder, leaving out JSON documents where there is anything else."""
    files, documents = [], []
    for name in names:
        try:
            files.append(identify(_readable(name), name, format, partition_of(name)))
        except DocumentError as error:
            documents.append(error)
            left.append(name)
    if documents and not files:
        raise documents[0]
    return files


def _names(text: str, left: list[str], *, told: bool) -> list[str]:
    path = Path(text)
    if path.exists():
        return [str(path)]
    if not glob.has_magic(text):
        near = os.listdir(path.parent) if path.parent.is_dir() else []  # noqa: PTH208 - the names alone are wanted
        raise FastpasskError(f"there is no file {text}{hint(path.name, near)}")
    found = sorted(Path(match) for match in glob.glob(text, recursive=True))  # noqa: PTH207 - the root may be anywhere
    shown = [match for match in found if not _hidden(match.name)]
    names = [
        name
        for match in shown
        for name in (_walk(match, left, told=told, strict=False) if match.is_dir() else [str(match)])
    ]
    if not names:
        raise FastpasskError(f"no file matches {text}")
    return list(dict.fromkeys(names))  # `**` meets a folder and its files


def _walk(folder: Path, left: list[str], *, told: bool, strict: bool = True) -> list[str]:
    """List the data files of a folder; where the format is told, they may be of unknown suffix."""
    hidden: list[str] = []
    seen = list(_files_under(str(folder), set(), hidden))
    names = [name for name in seen if known(name)] or (seen if told else [])
    if names or not strict:
        kept = set(names)
        left.extend(sorted([name for name in seen if name not in kept] + hidden))
        return names
    passed_over = f"; left out: {listing(Path(name).name for name in seen)}" if seen else ""
    raise FastpasskError(f"no result files in {folder} (looked for {' '.join(SUFFIXES)}){passed_over}")


def _files_under(folder: str, above: set[str], hidden: list[str]) -> Iterator[str]:
    real = os.path.realpath(folder)
    if real in above:  # a link back to a folder above it
        return
    try:
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except PermissionError as error:
        raise FastpasskError(f"{folder} may not be read: permission denied") from error
    for entry in entries:
        path = entry.name if folder == os.curdir else entry.path
        if _hidden(entry.name):
            hidden.append(path)
        elif entry.is_dir():
            yield from _files_under(path, above | {real}, hidden)
        elif entry.is_file() or (entry.is_symlink() and not Path(path).exists()):  # a dead link is an error
            yield path


def _hidden(name: str) -> bool:
    return name.startswith(".") or (name.startswith("_") and "=" not in name)


def partition_of(name: str) -> tuple[tuple[str, str], ...]:
    """Return the keys that the folders of a file give it, with their values as text."""
    return _keys_of(os.path.dirname(name))  # noqa: PTH120 - a Path a file is slow


@lru_cache(1024)
def _keys_of(folder: str) -> tuple[tuple[str, str], ...]:
    pairs = (part.partition("=") for part in Path(folder).parts)
    return tuple((_plain(key), _plain(value)) for key, sign, value in pairs if key and sign and value != NO_VALUE)


def _plain(text: str) -> str:
    r"""Undo percent signs; bytes that are no UTF-8 are written as `\xff`, so that different ones stay different."""
    return readable(unquote(text, errors="backslashreplace"))


def _readable(name: str) -> Path:
    """Return a path that can be opened, more than once, by every reader.

    A named pipe is copied to a file, and a name that is no valid text gets a link of another name.
    """
    path = Path(name)
    if readable(name) != name:
        return _linked(path)
    if not path.is_fifo():
        return path
    with path.open("rb") as stream:
        return _spooled(stream)


def _linked(path: Path) -> Path:
    folder = tempfile.mkdtemp(prefix="fastpassk-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    link = Path(folder, "input")
    link.symlink_to(path.resolve())
    return link


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
    """Refuse a file that is there twice, by the same name, by a link, or as a hard link.

    Folders of the same keys may tell two names of one file apart, as they do for copies.
    """
    first: dict[object, File] = {}
    for file in files:
        other = first.setdefault(_identity(file.path), file)
        if other is not file and not _told_apart(file, other):
            raise UsageError(f"{file.name} is the same file as {other.name}; give each file once")


def _identity(path: Path) -> object:
    """Return what two names of one file have in common; some file systems do not number their files."""
    status = path.stat()
    return (status.st_dev, status.st_ino) if status.st_ino else os.path.realpath(path)


def _told_apart(file: File, other: File) -> bool:
    return file.partition != other.partition and dict(file.partition).keys() == dict(other.partition).keys()


def _warn_of_copies(files: list[File]) -> None:
    """Compare the fingerprints of files of one size, unless folders of the same keys tell them apart."""
    groups: dict[int, list[File]] = {}
    for file in files:
        groups.setdefault(file.path.stat().st_size, []).append(file)
    for group in groups.values():
        prints: dict[object, File] = {}
        for file in group if len({file.partition for file in group}) < len(group) else ():
            other = prints.setdefault((file.partition, fingerprint(file.path)), file)
            if other is not file:
                tell(f"{file.name} holds the same bytes as {other.name}; if it is a copy, its samples count twice")
