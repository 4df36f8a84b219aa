"""The walk through an NDJSON file against Python's json module, which knows no tricks."""

from __future__ import annotations

import gzip
import json
import tempfile
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fastpassk.sources import blocks, lines, marks, survey
from fastpassk.sources.blocks import PAD, Block
from fastpassk.sources.records import Record
from fastpassk.storage.detect import File

# fmt: off
NASTY = [
    '"', "\\", '\\"', '":', '": "', '"a":', '{"model": "m"}', "\\\\", "é", "\U0001f600", "\n", "\r\n", "\t", ",",
    ":", " ",
]
# fmt: on
TEXTS = st.lists(st.one_of(st.sampled_from(NASTY), st.text(max_size=5)), max_size=12).map("".join)
LONG = st.builds(lambda text, times: text * times, TEXTS, st.integers(1, 30))
KEYS = st.one_of(
    st.sampled_from(
        ["task_id", "passed", "completion", "model", "attempt", "messages", "content", "_completion", "k\\", "über"]
    ),
    st.text(max_size=20),
)
LEAVES = st.one_of(st.none(), st.booleans(), st.integers(-5, 5), st.just(1.5), TEXTS, LONG)
VALUES = st.recursive(
    LEAVES, lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)), max_leaves=6
)
RECORDS = st.lists(st.dictionaries(KEYS, VALUES, max_size=6), min_size=1, max_size=25)
STYLES = st.fixed_dictionaries(
    {
        "ensure_ascii": st.booleans(),
        "separators": st.sampled_from([(",", ":"), (", ", ": "), (" , ", " : "), (",\t", "\t:  ")]),
    }
)
ENDS = st.sampled_from(["\n", "\r\n", "\n\n", "\n  \n"])


def written(records: list[dict[str, Any]], style: dict[str, Any], end: str, *, mark: bool, last: bool) -> bytes:
    text = end.join(json.dumps(record, **style) for record in records) + (end if last else "")
    return b"\xef\xbb\xbf" * mark + text.encode()


def surrogates(value: object) -> bool:
    return any(0xD800 <= ord(sign) < 0xE000 for sign in json.dumps(value, ensure_ascii=False))


def walked(path: Path, records: list[dict[str, Any]], matters: Any, head: int, size: int) -> survey.Survey:
    keys = list(dict.fromkeys(key for record in records[:head] for key in record))
    texts = [key for key in lines._texts([Record([*record.items()]) for record in records]) if not matters(key)]
    with mock.patch.object(survey, "SIZE", size):
        return survey.survey(
            File(path, path.name, "ndjson", "gzip" if path.suffix == ".gz" else None), keys, texts, matters
        )


def as_text(value: object) -> str | None:
    """Write a leaf as the parser does when text is asked for."""
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value)


@settings(deadline=None, max_examples=300)
@given(
    RECORDS,
    STYLES,
    ENDS,
    st.booleans(),
    st.booleans(),
    st.integers(0, 5),
    st.integers(40, 400),
    st.booleans(),
    st.sets(
        st.sampled_from(["task_id", "passed", "model", "attempt", "messages", "content", "k\\", "über"]), min_size=1
    ),
)
@example(
    [{"task_id": 1, "completion": "x\\" * 40}, {"completion": '\\"' * 40 + "\\", "model": "m"}], {}, "\n", False, True,
    1, 64, False, {"task_id", "model"},
)  # fmt: skip
def test_the_same_keys_and_values_as_json(
    records: list[dict[str, Any]],
    style: dict[str, Any],
    end: str,
    mark: bool,
    last: bool,
    head: int,
    size: int,
    packed: bool,
    wanted: set[str],
) -> None:
    records = [record for record in records if not surrogates(record)] or [{"task_id": 1}]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / ("a.jsonl.gz" if packed else "a.jsonl")
        data = written(records, style, end, mark=mark, last=last)
        path.write_bytes(gzip.compress(data) if packed else data)
        found = walked(path, records, wanted.__contains__, head, size)
    early = {key for record in records[:head] for key in record}
    late = {key for record in records for key, value in record.items() if value is not None} & wanted - early
    assert set(found.late) == late
    assert {key for key, lists in found.late.items() if lists} == {
        key for key in late if any(isinstance(record.get(key), list) for record in records)
    }
    names = sorted((early & wanted) | late)
    assert found.holds(names)
    rows = found.frame(names).collect().rows()
    assert len(rows) == len(records) or not names
    for row, record in zip(rows, records, strict=False):
        for name, text in zip(names, row, strict=True):
            value = record.get(name)
            if isinstance(value, (list, dict)):
                assert text == pl.read_ndjson(json.dumps({name: value}).encode(), schema={name: pl.String})[name][0]
            else:
                assert text == as_text(value)


@given(st.lists(st.sampled_from(["a", "\\", '"', '\\"', "\\\\"]), max_size=60).map("".join), st.integers(3, 20))
def test_quotes_are_escaped_by_an_odd_number_of_backslashes(text: str, step: int) -> None:
    with mock.patch.object(marks, "STEP", step):
        buffer = bytearray(PAD) + text.encode() + bytes(PAD)
        found = marks.find(Block(0, buffer, len(buffer) - PAD))
    expected = []
    for place, sign in enumerate(text):
        before = text[:place]
        if sign == '"' and (len(before) - len(before.rstrip("\\"))) % 2 == 0:
            expected.append(place + PAD)
    assert found.quotes.tolist() == expected


@given(st.lists(st.binary(max_size=300), max_size=20, unique=True))
def test_fingerprints_tell_keys_apart(keys: list[bytes]) -> None:
    short = [key[-marks.LONGEST :] for key in keys]
    assert len({marks.print_of(key) for key in short}) == len(set(short))


@pytest.mark.parametrize("size", [*range(18, 40), 64, 1000])
@pytest.mark.parametrize("text", [b"a\nbb\n\nccc", b"\n\n", b"x" * 500 + b"\ny\n", b"x", b"a\n" + b"y" * 20])
def test_blocks_end_where_lines_end(tmp_path: Path, text: bytes, size: int) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(text)
    parts = []
    with blocks.Blocks(File(path, "a", "ndjson")) as taken:
        buffer = bytearray(size)
        while block := taken.take(buffer):
            parts.append(block.text())
    assert b"".join(parts) == text
    assert all(part.endswith(b"\n") for part in parts[:-1])


def test_a_file_too_large_to_be_held_is_scanned_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(survey, "KEPT", 100)
    monkeypatch.setattr(survey, "SIZE", 200)
    path = tmp_path / "a.jsonl"
    rows = [{"task_id": place, "text": "long " * 50} for place in range(50)] + [{"model": "m", "passed": [True]}]
    path.write_text("\n".join(map(json.dumps, rows)))
    found = survey.survey(
        File(path, "a", "ndjson"), ["task_id", "text"], ["text"], {"task_id", "model", "passed"}.__contains__
    )
    assert found.late == {"model": False, "passed": True}
    assert not found.holds(["task_id"])


def test_lines_that_repeat_are_parsed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(survey, "SIZE", 4000)
    path = tmp_path / "a.jsonl"
    rows = [{"task_id": place % 3, "text": f"{place} " * 50, "passed": place % 2} for place in range(200)]
    path.write_text("\n".join(map(json.dumps, rows)) + "\n")
    found = survey.survey(
        File(path, "a", "ndjson"), ["task_id", "text", "passed"], ["text"], {"task_id", "passed"}.__contains__
    )
    assert found.repeats.rows().height == 6
    assert all(isinstance(part, np.ndarray) for part in found.blocks or ())
    expected = [(str(row["passed"]), str(row["task_id"])) for row in rows]
    assert found.frame(["passed", "task_id"]).collect().rows() == expected
