"""NDJSON and JSON arrays: which keys there are, and their values as text.

A key may first appear on the last line, so that all of a file is looked through for the names that matter, and the
needed keys are parsed in the same walk (`survey`). Values come as text whatever their types, and are told apart by the
same rules as CSV.
"""

from __future__ import annotations

import glob
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from fastpassk.errors import FastpasskError
from fastpassk.schema.names import ALIASES, plain
from fastpassk.sources.records import DoubledError, Record, doubled, records
from fastpassk.sources.skipping import tell_skipped
from fastpassk.sources.strict import cleaned, has_words
from fastpassk.sources.survey import survey
from fastpassk.sources.tables import Table
from fastpassk.storage.detect import UTF8_MARK, File, open_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

SAMPLE = 1 << 20  # bytes at the head that are parsed to learn the keys
LONG = 64  # characters that the strings under a key have on average, from which they are worth leaving out
KNOWN = frozenset(alias for names in ALIASES.values() for alias in names)


def open_lines(file: File, wanted: Iterable[str], *, skip: bool = False) -> Table:
    """Open an NDJSON file.

    Parameters
    ----------
    file
        The file.
    wanted
        Keys that the caller names, and that may come late.
    skip
        Whether bad lines are left out, which is told; otherwise they are an error when they are read.
    """
    with open_bytes(file) as stream:
        head = stream.read(SAMPLE)
        whole = not stream.read(1)
    parsed = _records(head, file)
    keys, lists, objects = _described(parsed)
    if whole and not skip:
        plain_json = not has_words(head) and not head.startswith(UTF8_MARK)
        path = file.path if plain_json else cleaned(file)
        table = _table(file, keys, lists, objects, lambda chosen: _scan([path], chosen))
        return replace(table, together=_scan if plain_json else None)
    return _surveyed(file, parsed, (keys, lists, objects), frozenset(wanted), skip=skip)


def _surveyed(
    file: File, parsed: list[Record], head: tuple[list[str], set[str], set[str]], wanted: frozenset[str], *, skip: bool
) -> Table:
    """Open a file that goes on beyond its head, or that has lines to be left out."""

    def matters(key: str) -> bool:
        return key in wanted or plain(key) in KNOWN

    keys, lists, objects = head
    texts = [key for key in _texts(parsed) if not matters(key)]
    try:
        found = survey(file, keys, texts, matters, skip=skip)
    except DoubledError:
        raise doubled(file) from None
    tell_skipped(file.name, found.skipped, cut=found.cut)
    keys = keys + list(found.late)
    lists = lists | {key for key, is_list in found.late.items() if is_list}

    def scan(names: list[str]) -> pl.LazyFrame:
        if found.holds(names):
            return found.frame(names)
        plain_enough = not found.strange and not found.skipped
        return _scan([file.path if plain_enough else cleaned(file, frozenset(found.skipped))], names)

    return _table(file, keys, lists, objects, scan)


def open_array(file: File) -> Table:
    """Open a JSON array of records, or a table that `write` made with its settings; it is held in memory."""
    parsed, said = _array(file)
    keys, lists, objects = _described(parsed)

    def scan(names: list[str]) -> pl.LazyFrame:
        kept = ({name: record[name] for name in names if name in record} for record in parsed)
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


def _described(parsed: Iterable[Record]) -> tuple[list[str], set[str], set[str]]:
    """Return all keys, those that hold a list somewhere, and those that hold a list or an object."""
    keys: dict[str, None] = {}
    lists: set[str] = set()
    objects: set[str] = set()
    for record in parsed:
        keys.update(dict.fromkeys(record))
        for key, value in record.items():
            if isinstance(value, (list, dict)):
                objects.add(key)
                lists |= {key} if isinstance(value, list) else set()
    return list(keys), lists, objects


def _texts(parsed: list[Record]) -> list[str]:
    """Return the keys, at any depth, that hold long strings."""
    sizes: dict[str, int] = {}
    left: list[Any] = list(parsed)
    while left:
        value = left.pop()
        for key, inner in value.items() if isinstance(value, dict) else ((None, inner) for inner in value):
            if isinstance(inner, str) and key is not None:
                sizes[key] = sizes.get(key, 0) + len(inner)
            elif isinstance(inner, (dict, list)):
                left.append(inner)
    return [key for key, size in sizes.items() if size > LONG * len(parsed) and json.dumps(key) == f'"{key}"']


def _records(block: bytes, file: File) -> list[Record]:
    """Parse the lines of a block; what does not parse is left to the scan, whose errors are told with their line."""
    found = list(records(block.split(b"\n")))
    for number, record in found:
        if record.doubled:
            raise FastpasskError(f"{file.name}, line {number}: the key {record.doubled!r} stands twice")
    return [record for _, record in found]


def _array(file: File) -> tuple[list[Record], dict[str, object]]:
    """Return the records, and the settings that a table of ours brings along."""
    with open_bytes(file) as stream:
        text = stream.read()
    try:
        parsed = json.loads(text.decode("utf-8-sig"), object_pairs_hook=Record, parse_constant=_constant)
    except UnicodeDecodeError as error:
        raise FastpasskError(f"{file.name} is not UTF-8 text; convert it first, as with iconv") from error
    except ValueError as error:
        raise FastpasskError(f"{file.name} is not valid JSON: {error}") from error
    said: dict[str, object] = {}
    if isinstance(parsed, dict) and isinstance(parsed.get("rows"), list):
        said, parsed = dict(parsed.get("provenance") or {}), parsed["rows"]
    for place, record in enumerate(parsed, 1):
        if not isinstance(record, Record):
            raise FastpasskError(f"{file.name}: item {place} of the array is no object; an array of records is read")
        if record.doubled:
            raise FastpasskError(f"{file.name}: item {place} has the key {record.doubled!r} twice")
    return list(parsed), said


def _constant(word: str) -> str | None:
    return None if word == "NaN" else word


def _scan(paths: list[Path], names: Iterable[str]) -> pl.LazyFrame:
    """Scan keys of files as text; there is no option against globs, so that their signs are escaped."""
    return pl.scan_ndjson([glob.escape(str(path)) for path in paths], schema=dict.fromkeys(names, pl.String()))
