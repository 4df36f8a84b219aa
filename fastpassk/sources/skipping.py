"""Bad lines of NDJSON, told from good ones and left out; how many there were is said, and which was the first."""

from __future__ import annotations

import json

import polars as pl

from fastpassk.errors import tell
from fastpassk.sources.repeats import parse

REFUSALS = (pl.exceptions.PolarsError, pl.exceptions.PanicException)  # a panic derives from BaseException


def sift(text: bytes, names: list[str]) -> tuple[pl.DataFrame, list[int]]:
    """Parse the lines that can be parsed.

    Parameters
    ----------
    text
        Lines, in which words that JSON does not know have been replaced.
    names
        The keys to take, as text.

    Returns
    -------
    Their rows, and the places of the other lines, counted from 0.
    """
    lines = dict(enumerate(text.split(b"\n")))
    good = [(place, line) for place, line in lines.items() if _is_record(line)]
    refused = set(_refused(good, names))
    kept = {place: line for place, line in good if place not in refused}
    return parse(b"\n".join(kept.values()), names), [place for place in lines if place not in kept]


def tell_skipped(name: str, lines: list[int], *, cut: bool) -> None:
    """Say how many lines of a file were left out."""
    if lines:
        many = f"{len(lines)} bad lines were" if lines[1:] else "1 bad line was"
        first = f"the first is line {lines[0]}" if lines[1:] else f"line {lines[0]}"
        tell(f"bad_lines=skip: {name}: {many} skipped, {first}{'; the last line is cut off' if cut else ''}")


def _is_record(line: bytes) -> bool:
    """Tell whether a line is an object, or empty."""
    try:
        return isinstance(json.loads(line.decode().strip() or "{}"), dict)
    except ValueError:
        return False
    except RecursionError:
        return True  # the parser is asked, which goes deeper


def _refused(lines: list[tuple[int, bytes]], names: list[str]) -> list[int]:
    """Find the lines that the parser refuses although they are JSON, such as a number of 1e400, by halving."""
    try:
        parse(b"\n".join(line for _, line in lines), names)
    except REFUSALS:
        half = len(lines) // 2
        if not half:
            return [place for place, _ in lines]
        return _refused(lines[:half], names) + _refused(lines[half:], names)
    return []
