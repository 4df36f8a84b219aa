"""One walk through an NDJSON file: which keys come late, and the needed keys of each block as text.

The head of a file tells most keys. The rest of the file is looked through for the others that matter, and in the same
walk each block is parsed: without the long texts that nobody asked for, and, where lines repeat in what is left of
them, each distinct line once. What that gives is kept while it is small, so that a file is read once.

340 MB with long completions on two cores, against Polars' scan of two keys at 100: this walk 60, of which the quotes
and keys are 40 and the parsing 10 (35 when every line is parsed). What was done before and left: a regular expression
of all names over all lines 70, `NaN` looked for in all lines 30 (the parser refuses it, and is asked first now), and
then Polars' scan. A Boolean schema instead of text gains nothing: the parser goes through the whole line anyway.
"""

from __future__ import annotations

import itertools
import json
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import polars as pl

from fastpassk import threads
from fastpassk.sources import marks
from fastpassk.sources.blocks import PAD, SIZE, Block, Blocks
from fastpassk.sources.records import refuse_doubled, suspects
from fastpassk.sources.repeats import Repeats, cut, parse
from fastpassk.sources.skipping import REFUSALS, sift
from fastpassk.sources.strict import has_words, strict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from fastpassk.sources.marks import Marks
    from fastpassk.storage import File

KEPT = 1 << 28  # bytes of parsed columns that are held; a larger file is scanned again when it is counted
NO_KEY = "\0"  # is parsed where no key of a block matters, so that its rows are there
FEW = 1 << 12  # other keys that are remembered, so that they are looked at once


Rows: TypeAlias = "NDArray[np.int32] | pl.DataFrame"  # of a block: numbers of distinct lines, or the rows themselves


@dataclass
class Survey:
    """What is known of a file after the walk."""

    late: dict[str, bool]  # keys that the head does not have, and whether they hold lists
    strange: bool  # whether a plain parser refuses the file: a byte order mark, or words that JSON does not know
    names: frozenset[str]  # the keys that were parsed
    blocks: list[Rows] | None  # None when they are too large to be held
    repeats: Repeats
    skipped: list[int]  # the lines that were left out, counted from 1
    cut: bool  # whether the last line is one of them and has no end

    def holds(self, names: Iterable[str]) -> bool:
        """Tell whether these keys are held for all of the file."""
        return self.blocks is not None and self.names.issuperset(names)

    def frame(self, names: list[str]) -> pl.LazyFrame:
        """Return columns of all blocks; a key that a block does not have is null there."""
        return self._whole.lazy().select(names)

    @cached_property
    def _whole(self) -> pl.DataFrame:
        names = sorted(self.names)
        distinct = _columns(self.repeats.rows(), names)
        parts = []
        for numbered, run in itertools.groupby(self.blocks or (), lambda rows: isinstance(rows, np.ndarray)):
            rows: list[Any] = list(run)
            parts += [distinct[np.concatenate(rows)]] if numbered else [_columns(each, names) for each in rows]
        return pl.concat(parts)


def survey(
    file: File, keys: Iterable[str], texts: Iterable[str], matters: Callable[[str], bool], *, skip: bool = False
) -> Survey:
    """Walk through a file.

    Parameters
    ----------
    file
        An NDJSON file.
    keys
        The keys that its head has.
    texts
        Keys of long strings, at any depth, that nobody needs.
    matters
        Whether a key of some name is needed.
    skip
        Whether bad lines are left out; otherwise they are an error.
    """
    size = 0 if file.compression else file.path.stat().st_size
    with Blocks(file) as blocks, threads.task(size, "bytes") as shown:
        walk = _Walk(blocks, shown, [*keys], [*texts], matters)
        walk.skip = skip
        threads.run(walk.work, range(threads.thread_count()))
        return walk.result(marked=blocks.marked)


@dataclass
class _Sight:
    """What is known of the keys so far; shared by threads."""

    names: list[str]  # what is parsed
    known: NDArray[np.uint64]  # sorted fingerprints of keys that have been looked at
    lock: threading.Lock = field(default_factory=threading.Lock)


class _Walk:
    """The work of the threads, and what they have found."""

    def __init__(
        self, blocks: Blocks, shown: threads.Task, keys: list[str], texts: list[str], matters: Callable[[str], bool]
    ) -> None:
        self.blocks, self.shown, self.matters, self.head = blocks, shown, matters, set(keys)
        self.texts = _prints(texts)
        self.first = _sorted([*_prints(keys).tolist(), *self.texts.tolist()])
        # The first key too, since a table is asked for its first column to tell whether it has rows.
        kept = [key for key in keys if matters(key) or (key == keys[0] and key not in texts)]
        self.sight = _Sight(kept, self.first)
        self.repeats = Repeats()
        self.rows: dict[int, Rows] | None = {}
        self.size = 0
        self.late: dict[str, bool | None] = {}
        self.strange = False
        self.skip = self.cut = False
        self.lines: dict[int, int] = {}  # how many stand in each block, where lines are skipped
        self.bad: dict[int, list[int]] = {}  # which of them are bad, counted from 0

    def work(self, _: int) -> None:
        """Take blocks until none is left."""
        buffer = bytearray(SIZE)
        while block := self.blocks.take(buffer):
            threads.go_on()
            self._look(block)
            self.shown.done += block.stop - PAD
            buffer = block.buffer

    def result(self, *, marked: bool) -> Survey:
        """Return what the threads have found."""
        late = {name: bool(lists) for name, lists in self.late.items() if lists is not None}
        blocks = None if self.rows is None else [self.rows[number] for number in sorted(self.rows)]
        names = frozenset(self.sight.names)
        return Survey(late, self.strange or marked, names, blocks, self.repeats, self._skipped(), self.cut)

    def _skipped(self) -> list[int]:
        """Return the numbers that the bad lines have in the file."""
        before, numbers = 1, []
        for block in sorted(self.lines):
            numbers += [before + place for place in self.bad.get(block, ())]
            before += self.lines[block]
        return numbers

    def _look(self, block: Block) -> None:
        found = marks.find(block)
        self._learn(found)
        names = list(self.sight.names) or [NO_KEY]  # every key of this block that matters was learned just now
        if self.rows is None and not self.late and not self.skip:
            return
        if self.skip:
            self.lines[block.number] = block.buffer.count(b"\n", PAD, block.stop)
        rows, new = self._parsed(block, found, names)
        if new is not None:
            self._note_late(new)
        self._keep(block.number, rows)

    def _learn(self, found: Marks) -> None:
        """Look at the keys whose fingerprints are new."""
        known = self.sight.known
        new = _others(found.prints, known)
        if not len(new):
            return
        places = dict(zip(found.prints[new].tolist(), new.tolist(), strict=True))  # one of each
        names = {_name(found.key(place)) for place in places.values()}
        with self.sight.lock:
            for name in sorted(names - self.head):
                if self.matters(name) and name not in self.late:
                    self.late[name] = None
                    self.sight.names.append(name)
            # Only now: another thread that takes a key for known has to find its name.
            known = self.sight.known if len(self.sight.known) < FEW else self.first
            self.sight.known = _sorted([*known.tolist(), *places])

    def _parsed(self, block: Block, found: Marks, names: list[str]) -> tuple[Rows, pl.DataFrame | None]:
        """Parse a block; return its rows, and those among them that no block had before."""
        short = marks.without(block, found, self.texts) if len(self.texts) else None
        with suppress(*REFUSALS):  # the whole text will say why
            numbers, new = self.repeats.take(short, names) if short and self.repeats.worthwhile else (None, None)
            if numbers is not None:
                return numbers, new
            frame = parse(short, names) if short else None
            if short and frame is not None and not cut(frame):
                self._refuse_doubled(short, None, names)
                return frame, frame
        frame = self._whole(block, names)
        self._refuse_doubled(block.text(), found, names)
        return frame, frame

    def _refuse_doubled(self, text: bytes, found: Marks | None, names: list[str]) -> None:
        """Look for keys that stand twice, in the lines where the marks say so."""
        if found is None:
            buffer = bytearray(PAD) + text + bytes(PAD)
            found = marks.find(Block(0, buffer, len(buffer) - PAD))
        refuse_doubled(suspects(found, text, _prints(names)))

    def _whole(self, block: Block, names: list[str]) -> pl.DataFrame:
        """Parse a block as it is, else without the words that JSON does not know, else without its bad lines."""
        text = block.text()
        try:
            return parse(text, names)
        except REFUSALS:
            if not has_words(text) and not self.skip:
                raise
        self.strange |= has_words(text)
        text = strict(text)
        if not self.skip:
            return parse(text, names)
        rows, self.bad[block.number] = sift(text, names)
        self.cut |= not text.endswith(b"\n") and text.count(b"\n") in self.bad[block.number]
        return rows

    def _note_late(self, frame: pl.DataFrame) -> None:
        """Note which of the late keys have a value at the top, and whether it is a list."""
        for name in [name for name in frame.columns if name in self.late]:
            if frame[name].count():
                lists = bool(frame[name].str.starts_with("[").any())
                with self.sight.lock:
                    self.late[name] = lists or bool(self.late[name])

    def _keep(self, number: int, rows: Rows) -> None:
        with self.sight.lock:
            self.size += _size(rows)
            if self.size > KEPT:
                self.rows = None
            if self.rows is not None:
                self.rows[number] = rows


def _size(rows: Rows) -> int:
    """Return the bytes of some rows; Polars' own estimate leaves out the 16 that point to each text."""
    if isinstance(rows, np.ndarray):
        return rows.nbytes
    return 16 * rows.height * rows.width + int(rows.estimated_size())


def _columns(rows: pl.DataFrame, names: list[str]) -> pl.DataFrame:
    none = {name: pl.lit(None, pl.String) for name in names if name not in rows.columns}
    return rows.with_columns(**none).select(names)


def _prints(keys: list[str]) -> NDArray[np.uint64]:
    return np.array([marks.print_of(key.encode()) for key in keys], np.uint64)


def _sorted(prints: list[int]) -> NDArray[np.uint64]:
    """Sort distinct fingerprints; `np.unique` would import more of NumPy than a small file takes to read."""
    return np.array(sorted(set(prints)), np.uint64)


def _others(prints: NDArray[np.uint64], known: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Say which fingerprints are not known."""
    if not len(known):
        return np.arange(len(prints))
    places = np.minimum(np.searchsorted(known, prints), len(known) - 1)
    return np.flatnonzero(known[places] != prints)


def _name(key: bytes) -> str:
    """Return the name of a key as it is written; what is no JSON string is no key either, and stays as it is."""
    text = key.decode(errors="replace")
    try:
        return str(json.loads(f'"{text}"'))
    except ValueError:
        return text
