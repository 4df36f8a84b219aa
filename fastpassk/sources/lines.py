"""NDJSON and JSON arrays: which keys there are, and their values as text.

A key may first appear on the last line, so that all of a file is looked through for the names that matter; only then
are the needed keys scanned. Values come as text whatever their types, and are told apart by the same rules as CSV.
"""

from __future__ import annotations

import atexit
import glob
import json
import os
import re
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import polars as pl

from fastpassk.errors import FastpasskError
from fastpassk.schema.names import ALIASES, plain
from fastpassk.sources.tables import Table
from fastpassk.storage.detect import UTF8_MARK, File, open_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

SAMPLE = 1 << 20  # bytes at the head that are parsed to learn the keys
# Words that strict JSON does not know, where a value may stand; and the strings that may hold the same words.
NOT_JSON = r"[:\[,]\s*(?:NaN|-?Infinity)\b"
STRING_OR_WORD = re.compile(rb'"(?:[^"\\]|\\.)*"|\bNaN\b|-?\bInfinity\b')
LINE = pl.col("line")


def open_lines(file: File, wanted: Iterable[str]) -> Table:
    """Open an NDJSON file; `wanted` are keys that the caller names, and that may come late."""
    with open_bytes(file) as stream:
        head = stream.read(SAMPLE)
        whole = not stream.read(1)
    keys, lists, objects = _described(_records(head, file))
    names = _pattern(keys, wanted)
    strange, late = (bool(re.search(NOT_JSON.encode(), head)), False) if whole else _looked_through(file, names)
    path = _cleaned(file) if strange or head.startswith(UTF8_MARK) else file.path
    for key, is_list in _late(file, path, names, keys) if late else ():
        keys.append(key)
        lists |= {key} if is_list else set()
    return _table(file, keys, lists, objects, lambda chosen: _scan(path, chosen))


def open_array(file: File) -> Table:
    """Open a JSON array of records, or a table that `write` made with its settings; it is held in memory."""
    records, said = _array(file)
    keys, lists, objects = _described(records)

    def scan(names: list[str]) -> pl.LazyFrame:
        kept = ({name: record[name] for name in names if name in record} for record in records)
        lines = "\n".join(map(json.dumps, kept)).encode()
        return pl.scan_ndjson(lines, schema=dict.fromkeys(names, pl.String()))

    return replace(_table(file, keys, lists, objects, scan), metadata=said)


def _table(
    file: File, keys: list[str], lists: set[str], objects: set[str], scan: Callable[[list[str]], pl.LazyFrame]
) -> Table:
    if not keys:
        raise FastpasskError(f"{file.name} has no records; an object a line, or an array of objects, is read")
    schema: dict[str, pl.DataType] = dict.fromkeys(keys, pl.String())
    return Table(file.name, schema, scan, file, text=True, lists=frozenset(lists), objects=frozenset(objects))


class _Object(dict[str, Any]):
    """A JSON object that remembers a key which stood twice in it."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        names = [name for name, _ in pairs]
        self.doubled = next((name for name in names if names.count(name) > 1), None) if len(self) < len(names) else None


def _described(records: Iterable[_Object]) -> tuple[list[str], set[str], set[str]]:
    """Return all keys, those that hold a list somewhere, and those that hold a list or an object."""
    keys: dict[str, None] = {}
    lists: set[str] = set()
    objects: set[str] = set()
    for record in records:
        keys.update(dict.fromkeys(record))
        for key, value in record.items():
            if isinstance(value, (list, dict)):
                objects.add(key)
                lists |= {key} if isinstance(value, list) else set()
    return list(keys), lists, objects


def _records(block: bytes, file: File) -> Iterator[_Object]:
    """Parse the lines of a block; what does not parse is left to the scan, whose errors are told with their line."""
    for number, line in enumerate(block.removeprefix(UTF8_MARK).split(b"\n"), 1):
        try:
            record = json.loads(line, object_pairs_hook=_Object)
        except ValueError:
            continue
        if isinstance(record, _Object):
            if record.doubled:
                raise FastpasskError(f"{file.name}, line {number}: the key {record.doubled!r} stands twice")
            yield record


def _array(file: File) -> tuple[list[_Object], dict[str, object]]:
    """Return the records, and the settings that a table of ours brings along."""
    with open_bytes(file) as stream:
        text = stream.read()
    try:
        records = json.loads(text.decode("utf-8-sig"), object_pairs_hook=_Object, parse_constant=_constant)
    except UnicodeDecodeError as error:
        raise FastpasskError(f"{file.name} is not UTF-8 text; convert it first, as with iconv") from error
    except ValueError as error:
        raise FastpasskError(f"{file.name} is not valid JSON: {error}") from error
    said: dict[str, object] = {}
    if isinstance(records, dict) and isinstance(records.get("rows"), list):
        said, records = dict(records.get("provenance") or {}), records["rows"]
    for place, record in enumerate(records, 1):
        if not isinstance(record, _Object):
            raise FastpasskError(f"{file.name}: item {place} of the array is no object; an array of records is read")
        if record.doubled:
            raise FastpasskError(f"{file.name}: item {place} has the key {record.doubled!r} twice")
    return list(records), said


def _constant(word: str) -> str | None:
    return None if word == "NaN" else word


def _pattern(keys: list[str], wanted: Iterable[str]) -> str:
    """Return a regular expression of the keys that matter and are not among `keys`, in any spelling."""
    known = {plain(key) for key in keys}
    aliases = sorted({alias for names in ALIASES.values() for alias in names} - known)
    names = [alias.replace("_", '[^0-9A-Za-z"]+') for alias in aliases]
    names += [re.escape(name) for name in wanted if name not in keys]
    return f'(?i)"[^0-9A-Za-z"\\\\]*(?:{"|".join(names)})[^0-9A-Za-z"\\\\]*"\\s*:'


def _looked_through(file: File, names: str) -> tuple[bool, bool]:
    """Tell whether any line has a word that JSON does not know, and whether any has one of the names."""
    lines = pl.scan_lines(file.path, glob=False)
    rough = LINE.str.contains("NaN|Infinity").any().alias("rough")
    strange, late = lines.select(rough, LINE.str.contains(names).any().alias("late")).collect().row(0)
    return strange and lines.select(LINE.str.contains(NOT_JSON).any()).collect().item(), late


def _late(file: File, path: Path, names: str, known: list[str]) -> Iterator[tuple[str, bool]]:
    """Find the keys behind `names`; give each as it is spelled, and whether it holds lists."""
    lines = pl.scan_lines(file.path, glob=False)
    hits = lines.select(LINE.str.extract_all(names).explode().drop_nulls().unique()).collect()["line"]
    keys = sorted({json.loads(hit[: hit.rindex('"') + 1]) for hit in hits} - set(known))
    there = pl.col(keys).count().name.suffix("?"), pl.col(keys).str.starts_with("[").any()
    found = _scan(path, keys).select(*there).collect().row(0, named=True) if keys else {}
    yield from ((key, bool(found[key])) for key in keys if found[key + "?"])  # the rest stands in inner objects only


def _scan(path: Path, names: list[str]) -> pl.LazyFrame:
    """Scan keys as text; there is no option against globs, so that their signs are escaped."""
    return pl.scan_ndjson(glob.escape(str(path)), schema=dict.fromkeys(names, pl.String()))


def _cleaned(file: File) -> Path:
    """Copy a file without its byte order mark, NaN written as null and Infinity as text."""
    handle, name = tempfile.mkstemp(prefix="fastpassk-", suffix=".jsonl")
    atexit.register(Path(name).unlink, missing_ok=True)
    with os.fdopen(handle, "wb") as out, open_bytes(file) as stream:
        out.writelines(_strict_lines(stream))
    return Path(name)


def _strict_lines(stream: BinaryIO) -> Iterator[bytes]:
    for number, line in enumerate(stream):
        text = line if number else line.removeprefix(UTF8_MARK)
        yield STRING_OR_WORD.sub(_strict_word, text) if b"NaN" in text or b"Infinity" in text else text


def _strict_word(match: re.Match[bytes]) -> bytes:
    word = match[0]
    if word.startswith(b'"'):
        return word
    return b"null" if word == b"NaN" else b'"' + word + b'"'
