"""Words that strict JSON does not know, NaN and Infinity, where a value may stand: Python writes them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fastpassk.sources.scratch import scratch
from fastpassk.storage.detect import UTF8_MARK, open_bytes

if TYPE_CHECKING:
    from collections.abc import Container
    from pathlib import Path

    from fastpassk.storage import File

NOT_JSON = re.compile(rb"[:\[,]\s*(?:NaN|-?Infinity)\b")
# Strings may hold the same words.
STRING_OR_WORD = re.compile(rb'"(?:[^"\\]|\\.)*"|\bNaN\b|-?\bInfinity\b')


def has_words(text: bytes) -> bool:
    """Tell whether a text may hold words that JSON does not know."""
    return bool(NOT_JSON.search(text))


def strict(text: bytes) -> bytes:
    """Write NaN as null, and Infinity as text."""
    return b"".join(map(_strict_line, text.splitlines(keepends=True)))


def cleaned(file: File, without: Container[int] = ()) -> Path:
    """Copy a file without its byte order mark, those words, and some of its lines, counted from 1."""
    with scratch(".jsonl") as (path, out), open_bytes(file) as stream:
        for number, line in enumerate(stream, 1):
            if number not in without:
                out.write(_strict_line(line if number > 1 else line.removeprefix(UTF8_MARK)))
    return path


def _strict_line(line: bytes) -> bytes:
    return STRING_OR_WORD.sub(_strict_word, line) if b"NaN" in line or b"Infinity" in line else line


def _strict_word(match: re.Match[bytes]) -> bytes:
    word = match[0]
    if word.startswith(b'"'):
        return word
    return b"null" if word == b"NaN" else b'"' + word + b'"'
