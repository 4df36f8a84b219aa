"""NDJSON and JSON arrays: which keys there are, and their values as text.

A key may first appear on the last line, so all of a file is looked through for the names that matter; only then
are the needed keys scanned. Values come as text, whatever their types, and are told apart by the same rules as CSV.
"""

from __future__ import annotations

import atexit
import glob
import json
import os
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import polars as pl

from fastpassk.errors import FastpasskError
from fastpassk.schema.names import ALIASES, plain
from fastpassk.storage.detect import File, open_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

SAMPLE = 1 << 20  # bytes at the head that are parsed to learn the keys
BLOCK, BLOCKS = 1 << 16, 8  # and blocks further on
BOM = b"\xef\xbb\xbf"
# A token that strict JSON does not know, where a value may stand.
TOKEN = r"[:\[,]\s*(?:NaN|-?Infinity)\b"
STRING_OR_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|\bNaN\b|-?\bInfinity\b')


@dataclass(frozen=True)
class Keys:
    """The top-level keys of a file, those that hold lists, and a way to scan some of them."""

    keys: list[str]
    lists: frozenset[str]
    scan: Callable[[list[str]], pl.LazyFrame]


def open_lines(file: File, wanted: Iterable[str]) -> Keys:
    """Find the keys of an NDJSON file."""
    keys, lists, whole = _sampled(file)
    path, strange = file.path, _has_mark(file)
    if not whole:
        late, token = _late_keys(file, keys, wanted)
        keys = list(dict.fromkeys([*keys, *late]))
    else:
        token = _has_token(file)
    if strange or token:
        path = _cleaned(file)

    def scan(names: list[str]) -> pl.LazyFrame:
        return _scan(path, names)

    return Keys(keys, lists, scan)


def open_array(file: File) -> Keys:
    """Read a JSON array of records, and find its keys."""
    with open_bytes(file) as stream:
        text = stream.read()
    try:
        records = json.loads(text.decode("utf-8-sig"), object_pairs_hook=_Object, parse_constant=_constant)
    except UnicodeDecodeError as error:
        raise FastpasskError(f"{file.name} is not UTF-8 text") from error
    except ValueError as error:
        raise FastpasskError(f"{file.name} is not valid JSON: {error}") from error
    odd = next((place for place, record in enumerate(records, 1) if not isinstance(record, dict)), None)
    if odd is not None or not records:
        fact = "an empty list" if not records else f"a list whose item {odd} is no object"
        raise FastpasskError(f"{file.name} is {fact}; an array of records is read")
    keys = list(dict.fromkeys(key for record in records for key in record))
    lists = frozenset(key for record in records for key, value in record.items() if isinstance(value, list))

    def scan(names: list[str]) -> pl.LazyFrame:
        kept = [{name: record[name] for name in names if name in record} for record in records]
        lines = "\n".join(map(json.dumps, kept)).encode()
        return pl.scan_ndjson(lines, schema=dict.fromkeys(names, pl.String()))

    for place, record in enumerate(records, 1):
        if record.doubled:
            raise FastpasskError(f"{file.name}: item {place} has the key {record.doubled!r} twice")
    return Keys(keys, lists, scan)


class _Object(dict):  # type: ignore[type-arg]
    """A JSON object that remembers a key which stood twice in it."""

    def __init__(self, pairs: list[tuple[str, object]]) -> None:
        super().__init__(pairs)
        self.doubled: str | None = None
        if len(self) < len(pairs):
            names = [name for name, _ in pairs]
            self.doubled = next(name for name in names if names.count(name) > 1)


def _constant(token: str) -> str | None:
    return None if token == "NaN" else token


def _has_mark(file: File) -> bool:
    with open_bytes(file) as stream:
        return stream.read(3) == BOM


def _sampled(file: File) -> tuple[list[str], frozenset[str], bool]:
    """Parse the head of a file and some blocks further on: keys, keys that hold lists, whether that was all."""
    keys: dict[str, None] = {}
    lists: set[str] = set()
    with open_bytes(file) as stream:
        head = stream.read(SAMPLE)
        whole = not stream.read(1)
    for record in _records(head, file):
        keys.update(dict.fromkeys(record))
        lists.update(key for key, value in record.items() if isinstance(value, list))
    return list(keys), frozenset(lists), whole


def _records(block: bytes, file: File) -> Iterator[_Object]:
    """Parse the lines of a block; what does not parse is left to the scan, whose errors are told with their line."""
    for number, line in enumerate(block.removeprefix(BOM).split(b"\n"), 1):
        try:
            record = json.loads(line, object_pairs_hook=_Object)
        except ValueError:
            continue
        if isinstance(record, _Object):
            if record.doubled:
                raise FastpasskError(f"{file.name}, line {number}: the key {record.doubled!r} stands twice")
            yield record


def _late_keys(file: File, known: list[str], wanted: Iterable[str]) -> tuple[list[str], bool]:
    """Look through all lines for names that matter and are not known yet, and for tokens like NaN."""
    found = {plain(name) for name in known}
    aliases = {alias for names in ALIASES.values() for alias in names} - found
    parts = [re.escape(name) for name in wanted if name not in known]
    parts += [alias.replace("_", "[^0-9A-Za-z\"]+") for alias in sorted(aliases)]
    pattern = f'(?i)"[^0-9A-Za-z"\\\\]*(?:{"|".join(parts)})[^0-9A-Za-z"\\\\]*"\\s*:'
    lines = pl.scan_lines(file.path, glob=False)
    seen, token = (
        lines.select(pl.col("line").str.contains(pattern).any(), pl.col("line").str.contains(TOKEN).any().alias("token"))
        .collect()
        .row(0)
    )
    if not seen:
        return [], token
    hits = lines.select(pl.col("line").str.extract_all(pattern).list.explode().drop_nulls().unique()).collect()
    names = sorted({json.loads(hit[: hit.rindex('"') + 1]) for hit in hits["line"]} - set(known))
    return _top_level(file, names, token), token


def _top_level(file: File, names: list[str], token: bool) -> list[str]:
    path = _cleaned(file) if token or _has_mark(file) else file.path
    counts = _scan(path, names).select(pl.all().count()).collect()
    return [name for name in names if counts[name][0]]


def _scan(path: Path, names: list[str]) -> pl.LazyFrame:
    """Scan keys as text; there is no option against globs, so that their signs are escaped."""
    return pl.scan_ndjson(glob.escape(str(path)), schema=dict.fromkeys(names, pl.String()))


def _has_token(file: File) -> bool:
    pattern = re.compile(TOKEN.encode())
    with open_bytes(file) as stream:
        return bool(pattern.search(stream.read()))


def _cleaned(file: File) -> Path:
    """Copy a file without a byte order mark, NaN written as null and Infinity as a text."""
    handle, name = tempfile.mkstemp(prefix="fastpassk-", suffix=".jsonl")
    atexit.register(Path(name).unlink, missing_ok=True)
    with os.fdopen(handle, "wb") as out, open_bytes(file) as stream:
        out.writelines(_strict_lines(stream))
    return Path(name)


def _strict_lines(stream: BinaryIO) -> Iterator[bytes]:
    for number, line in enumerate(stream):
        text = line.removeprefix(BOM) if number == 0 else line
        yield STRING_OR_TOKEN.sub(_strict_token, text) if b"NaN" in text or b"Infinity" in text else text


def _strict_token(match: re.Match[bytes]) -> bytes:
    token = match[0]
    if token.startswith(b'"'):
        return token
    return b"null" if token == b"NaN" else b'"' + token + b'"'
