"""What a file is: its format and compression, by suffix first and by content when the suffix says nothing.

Two suffixes never decide alone: `.arrow` may hold the file or the stream form, and `.json` an array of records, one
object a line, a table that `write` made, or a harness' own document.
"""

from __future__ import annotations

import gzip
import io
import json
import os
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from fastpassk.errors import FastpasskError

if TYPE_CHECKING:
    from collections.abc import Iterator

SUFFIXES = {
    ".parquet": "parquet", ".pq": "parquet", ".parq": "parquet",
    ".arrow": "arrow", ".feather": "arrow", ".ipc": "arrow", ".arrows": "arrow-stream",
    ".csv": "csv", ".tsv": "tsv", ".tab": "tsv",
    ".jsonl": "ndjson", ".ndjson": "ndjson", ".json": "json",
}  # fmt: skip
FORMATS = tuple(dict.fromkeys(SUFFIXES.values()))
COMPRESSIONS = {".gz": "gzip", ".zst": "zstd", ".zstd": "zstd"}
FOREIGN = (".bz2", ".xz", ".zip", ".lz4", ".7z")

GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
UTF8_MARK = b"\xef\xbb\xbf"
UTF16 = (b"\xff\xfe", b"\xfe\xff")
OURS = b'{"provenance":'  # how the JSON files begin that `write_frame` makes
HEAD = 1 << 16  # bytes that are looked at to tell a format


class DocumentError(FastpasskError):
    """A file is one JSON document, such as a configuration or the results of a harness."""


@dataclass(frozen=True)
class File:
    """One input file: where it is, how it is encoded, what its folders say."""

    path: Path
    name: str  # as the caller wrote it, for messages
    format: str  # one of FORMATS
    compression: str | None = None  # "gzip", "zstd" or None
    partition: tuple[tuple[str, str], ...] = ()  # hive keys of its folders, as text

    @cached_property
    def stem(self) -> str:
        """The name of the file, without its folders and known suffixes."""
        name = readable(_last(self.name))
        while (dot := name.rfind(".")) > 0 and name[dot:].lower() in (*SUFFIXES, *COMPRESSIONS):
            name = name[:dot]
        return name


def readable(text: str) -> str:
    r"""Write the bytes of a file name that are no UTF-8 as `\xff`; other text is returned as it is."""
    return text if text.isascii() else os.fsencode(text).decode(errors="backslashreplace")


def known(name: str) -> bool:
    """Tell whether the suffix of a file name is one that is read."""
    return _split(name)[0] is not None


def identify(path: Path, name: str, format: str = "auto", partition: tuple[tuple[str, str], ...] = ()) -> File:
    """Tell the format and compression of one file.

    Raises
    ------
    FastpasskError
        The file is empty, cannot be opened, or is of a kind that is not read.
    """
    by_suffix, packed = _split(name)
    with _refusals(name):
        magic = _start(path, None)
        packed = packed or _magic_of_packing(magic)
        head = _start(path, packed) if packed else magic
    if not head.strip():
        raise FastpasskError(f"{name} is empty")
    if head.startswith(UTF16):
        raise FastpasskError(f"{name} is UTF-16 text; convert it to UTF-8 first, as with iconv")
    kind = _settle(format if format != "auto" else by_suffix or _by_content(head, name), head, name)
    if packed and kind in ("parquet", "arrow", "arrow-stream"):
        raise FastpasskError(f"{name} is {kind} inside {packed}; decompress it first, {kind} packs its columns itself")
    return File(path, name, kind, packed, partition)


def open_bytes(file: File) -> BinaryIO:
    """Open a file for reading its decompressed bytes."""
    return _open(file.path, file.compression)


def separator_of(file: File) -> str:
    """Return the character that parts the fields of a CSV or TSV file, told by its header line."""
    if file.format == "tsv":
        return "\t"
    with open_bytes(file) as stream:
        header = stream.readline(HEAD).decode(errors="replace")
    if "," in header:
        return ","
    return next((sign for sign in ("\t", ";") if sign in header), ",")


def _split(name: str) -> tuple[str | None, str | None]:
    """Tell format and compression by the suffixes."""
    suffixes = ["." + part for part in _last(name).lstrip(".").lower().split(".")[1:]]
    packed = COMPRESSIONS.get(suffixes[-1]) if suffixes else None
    inner = suffixes[:-1] if packed else suffixes
    return (SUFFIXES.get(inner[-1]) if inner else None), packed


def _last(name: str) -> str:
    """Return the name of a file without its folders, sooner than a Path would."""
    return os.path.basename(name)  # noqa: PTH119


def _magic_of_packing(magic: bytes) -> str | None:
    if magic.startswith(GZIP):
        return "gzip"
    return "zstd" if magic.startswith(ZSTD) else None


def _start(path: Path, packed: str | None) -> bytes:
    with _open(path, packed) as stream:
        return stream.read(HEAD)


def _open(path: Path, packed: str | None) -> BinaryIO:
    if packed == "gzip":
        return cast("BinaryIO", gzip.open(path, "rb"))
    if packed == "zstd":
        import pyarrow as pa

        return cast("BinaryIO", io.BufferedReader(pa.CompressedInputStream(pa.OSFile(str(path)), "zstd")))
    return path.open("rb")


def _by_content(head: bytes, name: str) -> str:
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith((b"ARROW1", b"\xff\xff\xff\xff")):
        return "arrow"
    text = _text(head)
    if text[:1] in (b"{", b"["):
        return "ndjson" if text[:1] == b"{" and _is_object(text.partition(b"\n")[0]) else "json"
    if b"\0" in head or Path(name).suffix.lower() in FOREIGN:
        raise FastpasskError(f"{name} is of no format that is read ({', '.join(FORMATS)}; plain, gzip or zstd)")
    header = head.splitlines()[0]
    return "tsv" if b"\t" in header and b"," not in header else "csv"


def _settle(kind: str, head: bytes, name: str) -> str:
    """Let the content decide where one suffix stands for several forms."""
    if kind.startswith("arrow"):
        return "arrow" if head.startswith(b"ARROW1") else "arrow-stream"
    if kind == "parquet" and not head.startswith(b"PAR1"):
        raise FastpasskError(f"{name} is no Parquet file: it does not begin with PAR1; is it cut off or renamed?")
    text = _text(head)
    if kind in ("json", "ndjson") and text.startswith((b"[", OURS)):
        return "json"
    if kind != "json":
        return kind
    first, _, rest = text.partition(b"\n")
    if _is_object(first) and (rest.lstrip().startswith(b"{") or len(first) >= HEAD - len(UTF8_MARK)):
        return "ndjson"
    raise DocumentError(
        f"{name} is one JSON document, as evaluation harnesses write it; no importer for it is there yet. Give one"
        " object a line (NDJSON), a JSON array of records, or a table"
    )


def _text(head: bytes) -> bytes:
    return head.removeprefix(UTF8_MARK).lstrip()


def _is_object(line: bytes) -> bool:
    """Tell whether a line is a JSON object; one that runs beyond the head is taken for one."""
    if not line.startswith(b"{"):
        return False
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return len(line) >= HEAD - len(UTF8_MARK)


@contextmanager
def _refusals(name: str) -> Iterator[None]:
    """Turn what the operating system or a decompressor says into one line that names the file."""
    try:
        yield
    except PermissionError as error:
        raise FastpasskError(f"{name} may not be read: permission denied") from error
    except (OSError, EOFError) as error:
        raise FastpasskError(f"{name} cannot be read: {error}") from error
