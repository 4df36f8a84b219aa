"""What cannot be read is told in one line that names the file and, for text, the line."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fastpassk.errors import FastpasskError, UsageError
from fastpassk.sources import collect, delimited, fingerprints, read

if TYPE_CHECKING:
    from pathlib import Path

FRAME = pl.DataFrame({"problem": [f"p{i}" for i in range(500)], "passed": [i % 3 == 0 for i in range(500)]})
GOOD = b'{"problem": "p", "passed": true}\n'


def rows(source: Any, **options: Any) -> list[Any]:
    dataset = read(source, **options)
    return collect(dataset, dataset.frame).select("problem", "outcome").rows()


def refused(source: Any, message: str) -> None:
    with pytest.raises(FastpasskError, match=message) as caught:
        rows(source)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


# NDJSON


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (GOOD * 3 + b"oops\n" + GOOD, r"a\.jsonl, line 4 is not valid JSON"),
        (GOOD * 3 + b"\n" + b'{"problem": "p", "passed": tr', r"a\.jsonl, line 5: the last line is cut off"),
        (GOOD + b"[1, 2]\n", r"a\.jsonl, line 2 is no JSON object but \[1, 2\]"),
        (GOOD + b'{"problem": "\xff", "passed": true}\n', r"a\.jsonl is not UTF-8 text"),
        (
            GOOD + b'{"problem": "p", "passed": true, "problem": "q"}\n',
            r"a\.jsonl, line 2: the key 'problem' stands twice",
        ),
        (GOOD.decode().encode("utf-16"), r"a\.jsonl is UTF-16 text; convert it to UTF-8"),
        (b"", r"a\.jsonl is empty"),
        (b" \n\n", r"a\.jsonl is empty"),
    ],
)
def test_bad_ndjson(tmp_path: Path, text: bytes, message: str) -> None:
    (tmp_path / "a.jsonl").write_bytes(text)
    refused(tmp_path / "a.jsonl", message)


def test_a_bad_line_of_a_large_file(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(GOOD * 60_000 + b"oops\n" + GOOD)
    refused(tmp_path / "a.jsonl", r"a\.jsonl, line 60001 is not valid JSON")


def test_the_bad_file_of_several_is_named(tmp_path: Path) -> None:
    for name, text in (("a", GOOD), ("b", GOOD * 2 + b"{\n"), ("c", GOOD * 3)):
        (tmp_path / f"{name}.jsonl").write_bytes(text)
    refused(tmp_path, r"b\.jsonl, line 3 is not valid JSON")


# JSON arrays


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[{"problem": "p", "passed": true}', r"a\.json is not valid JSON"),
        ("[1, 2]", r"a\.json: item 1 of the array is no object"),
        ("[]", r"a\.json has no records"),
        ('[{"problem": "p", "problem": "q", "passed": true}]', r"a\.json: item 1 has the key 'problem' twice"),
        ('{"eval": {"HumanEval/0": []}}', r"a\.json is one JSON document, as evaluation harnesses write it"),
        (json.dumps({"eval": {"HumanEval/0": []}}, indent=1), r"a\.json is one JSON document"),
        ("[\xff", r"a\.json is not UTF-8 text"),
        ("", r"a\.json is empty"),
    ],
)
def test_bad_json(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "a.json").write_bytes(text.encode("latin-1"))
    refused(tmp_path / "a.json", message)


def test_one_object_a_line_may_be_called_json(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(GOOD * 2)
    assert rows(tmp_path / "a.json") == [("p", True)] * 2


# CSV


@pytest.fixture(params=["read at once", "read through"])
def _size(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the rows be counted by the standard library, or by the reader of large files."""
    if request.param == "read through":
        monkeypatch.setattr(delimited, "SMALL", 5)


@pytest.mark.usefixtures("_size")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("problem,note,passed\np,x,1\nq,1\n", r"a\.csv, line 3: 2 fields, but the header has 3"),
        ("problem,passed\np,1\nq,1,2\n", r"a\.csv, line 3: 3 fields, but the header has 2"),
        ("problem,passed,problem\np,1,q\n", r"a\.csv has two columns 'problem'"),
        ("problem,passed\np\xff,1\n", r"a\.csv is not UTF-8 text"),
        ("problem,passed\n", r"a\.csv has no rows"),
        ("", r"a\.csv is empty"),
    ],
)
def test_bad_csv(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "a.csv").write_bytes(text.encode("latin-1"))
    refused(tmp_path / "a.csv", message)


@pytest.mark.usefixtures("_size")
def test_lines_of_quoted_fields_are_counted_as_lines(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('problem,note,passed\np,"two\nlines",1\nq,1\n')
    refused(tmp_path / "a.csv", r"a\.csv, line 4: 2 fields")


@pytest.mark.usefixtures("_size")
def test_empty_fields_and_lines_are_no_short_rows(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('problem,passed,note\np,1,\n\nq,,""\nr,0,"x\n\ny"\n\n')
    assert rows(tmp_path / "a.csv") == [("p", True), ("q", None), ("r", False)]


@pytest.mark.usefixtures("_size")
@pytest.mark.parametrize("kind", ["gzip", "zstd"])
def test_rows_of_packed_files_are_counted(tmp_path: Path, kind: str) -> None:
    text = b"problem,passed\np,1\nq\n"
    data = gzip.compress(text) if kind == "gzip" else bytes(pa.compress(text, codec="zstd", asbytes=True))
    name = f"a.csv.{'gz' if kind == 'gzip' else 'zst'}"
    (tmp_path / name).write_bytes(data)
    refused(tmp_path / name, rf"{name}, line 3: 1 fields, but the header has 2")


# Parquet and Arrow


def test_cut_parquet(tmp_path: Path) -> None:
    FRAME.write_parquet(tmp_path / "whole.parquet")
    data = (tmp_path / "whole.parquet").read_bytes()
    (tmp_path / "a.parquet").write_bytes(data[: len(data) // 2])
    refused(tmp_path / "a.parquet", r"a\.parquet is damaged or cut off")


def test_damaged_parquet(tmp_path: Path) -> None:
    FRAME.write_parquet(tmp_path / "a.parquet", compression="zstd")
    data = bytearray((tmp_path / "a.parquet").read_bytes())
    data[60:200] = bytes(140)
    (tmp_path / "a.parquet").write_bytes(data)
    refused(tmp_path / "a.parquet", r"a\.parquet")


def test_what_is_only_called_parquet(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_text("problem,passed\n")
    refused(tmp_path / "a.parquet", r"a\.parquet is no Parquet file: it does not begin with PAR1")


@pytest.mark.parametrize("suffix", ["arrow", "arrows"])
def test_cut_arrow(tmp_path: Path, suffix: str) -> None:
    if suffix == "arrow":
        FRAME.write_ipc(tmp_path / "whole")
    else:
        FRAME.write_ipc_stream(tmp_path / "whole")
    data = (tmp_path / "whole").read_bytes()
    (tmp_path / f"a.{suffix}").write_bytes(data[: len(data) // 2])
    refused(tmp_path / f"a.{suffix}", rf"a\.{suffix}")


def test_no_rows(tmp_path: Path) -> None:
    for name, write in (("a.parquet", FRAME[:0].write_parquet), ("a.arrow", FRAME[:0].write_ipc)):
        write(tmp_path / name)
        refused(tmp_path / name, f"{name} has no rows")
    refused(tmp_path, r"a\.arrow, .*a\.parquet have no rows")


def test_an_empty_part_beside_others_is_fine(tmp_path: Path) -> None:
    FRAME[:0].write_parquet(tmp_path / "a.parquet")
    FRAME[:3].write_parquet(tmp_path / "b.parquet")
    assert len(rows(tmp_path)) == 3


def test_narrow_dictionaries(tmp_path: Path) -> None:
    chunks = [pa.DictionaryArray.from_arrays(pa.array([0], pa.int8()), [f"m{i}"]) for i in range(200)]
    table = pa.table({"model": pa.chunked_array(chunks), "problem": ["p"] * 200, "passed": [True] * 200})
    assert len(set(frame := collect(read(table), read(table).frame)["model"])) == 200, frame
    pq.write_table(table, tmp_path / "a.parquet")
    refused(tmp_path / "a.parquet", r"a\.parquet: column 'model' is a dictionary with 8-bit codes")


def test_narrow_dictionaries_that_suffice(tmp_path: Path) -> None:
    codes = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), ["a", "b"])
    pq.write_table(pa.table({"model": codes, "problem": ["p", "p"], "passed": [True, False]}), tmp_path / "a.parquet")
    assert read(tmp_path / "a.parquet").identity == ("model",)
    assert rows(tmp_path / "a.parquet") == [("p", True), ("p", False)]


# the rest


def test_permission_denied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.csv").write_text("problem,passed\np,1\n")

    def deny(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("fastpassk.storage.detect._open", deny)
    refused(tmp_path / "a.csv", r"a\.csv may not be read: permission denied")


def test_frames_that_fail_say_so() -> None:
    ragged = {"problem": ["p", "q"], "passed": [1, 0, 1]}
    refused(ragged, "the frame cannot be read")
    lazy = FRAME.lazy().with_columns(pl.col("problem").cast(pl.Int64))
    refused(lazy, "the frame cannot be read: conversion from `str` to `i64` failed")


def test_mistakes_in_a_query_are_shown_as_they_are() -> None:
    dataset = read(FRAME)
    with pytest.raises(pl.exceptions.ColumnNotFoundError):
        collect(dataset, dataset.frame.select("nothing"))


def test_urls() -> None:
    for url in ("s3://bucket/a.parquet", "https://host/a.csv"):
        with pytest.raises(UsageError, match="remote sources are not read yet; download it"):
            read(url)


LONG = b"problem,passed,text\np,true," + b"x" * 200_000 + b"\nq,false,y\n"


def test_a_long_field_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(LONG)
    assert rows(tmp_path / "a.csv") == [("p", True), ("q", False)]


@pytest.mark.parametrize("size", [1, 3000])
@pytest.mark.parametrize("field", ['"a"b"', r'"a\"b"', '"ab" c', '"abc'])
def test_quotes_that_do_not_pair_lose_no_row(tmp_path: Path, field: str, size: int) -> None:
    lines = [f"p{i},true,{'t' * size}" for i in range(600)]
    for place in (200, 400):
        lines[place] = f"p,true,{field}"
    (tmp_path / "a.csv").write_text("problem,passed,text\n" + "\n".join(lines) + "\n")
    refused(tmp_path / "a.csv", r"a\.csv, line \d+: quotes do not pair")


@pytest.mark.parametrize("size", [1, 1 << 20])
@pytest.mark.parametrize("empty", ["\n", ",,\n", "\n,,\n\n"])
def test_rows_with_nothing_in_them_are_no_samples(tmp_path: Path, empty: str, size: int) -> None:
    (tmp_path / "a.csv").write_text(f"problem,passed,text\np,true,{'x' * size}\n{empty}q,false,\n{empty}")
    assert rows(tmp_path / "a.csv") == [("p", True), ("q", False)]


def test_an_array_under_the_name_of_lines_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('[{"problem": "p", "passed": true}]')
    assert rows(tmp_path / "a.jsonl") == [("p", True)]


def test_fingerprints(tmp_path: Path) -> None:
    FRAME.write_csv(tmp_path / "a.csv")
    FRAME[:9].write_csv(tmp_path / "b.csv")
    prints = fingerprints(read(tmp_path))
    assert len(set(prints)) == 2
    assert fingerprints(read(tmp_path / "b.csv")) == prints[1:]
    assert fingerprints(read(FRAME)) == [None]
