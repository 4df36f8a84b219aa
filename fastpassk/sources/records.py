"""JSON objects that remember a key which stood twice in them: a parser takes one of its values without a word."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from fastpassk.errors import FastpasskError
from fastpassk.sources.blocks import PAD
from fastpassk.storage.detect import UTF8_MARK, open_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from fastpassk.sources.marks import Marks
    from fastpassk.storage import File

MOST = 100  # lines of a block that are parsed because a key stands in them twice, as in an object within the object


class Record(dict[str, Any]):
    """A JSON object that remembers a key which stood twice in it."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        """Take the keys and values in the order in which they stand."""
        super().__init__(pairs)
        self.doubled = None
        if len(self) < len(pairs):
            names = [name for name, _ in pairs]
            self.doubled = next(name for name in names if names.count(name) > 1)


_DECODER = json.JSONDecoder(object_pairs_hook=Record)  # `json.loads` would make one a line


class DoubledError(Exception):
    """A key stands twice in some object; the line is yet to be found."""


def records(lines: Iterable[bytes]) -> Iterator[tuple[int, Record]]:
    """Give the objects among some lines, with the places of the lines from 1 on; what does not parse is left out."""
    for number, line in enumerate(lines, 1):
        try:
            record = _DECODER.decode(line.removeprefix(UTF8_MARK).decode(errors="surrogatepass"))
        except (ValueError, RecursionError):
            continue
        if isinstance(record, Record):
            yield number, record


def refuse_doubled(lines: Iterable[bytes]) -> None:
    """Raise a `DoubledError` where a key stands twice in an object."""
    if any(record.doubled for _, record in records(lines)):
        raise DoubledError


def suspects(found: Marks, text: bytes, prints: NDArray[np.uint64]) -> list[bytes]:
    """Return lines in which one of some keys stands twice, at whatever depth; `found` are the marks of the text."""
    lines = text.split(b"\n")
    stops = np.cumsum([len(line) + 1 for line in lines])
    there: set[int] = set()
    for one in prints:
        # Places in the buffer are `PAD` more than in the text.
        places = np.searchsorted(stops, found.quotes[found.keys[found.prints == one]] - PAD, "right")
        there.update(places[1:][places[1:] == places[:-1]].tolist())
    return [lines[place] for place in sorted(there)[:MOST]]


def doubled(file: File) -> FastpasskError:
    """Read a file up to the line with a key that stands twice, and say which it is."""
    with open_bytes(file) as stream:
        for number, record in records(stream):
            if record.doubled:
                return FastpasskError(f"{file.name}, line {number}: the key {record.doubled!r} stands twice")
    return FastpasskError(f"{file.name}: a key stands twice in an object")
