"""Which files a source means, and what each of them is."""

from __future__ import annotations

import gzip
import io
import os
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest

from fastpassk.errors import FastpasskError, FastpasskWarning, UsageError
from fastpassk.storage import File, expand, fingerprint
from fastpassk.storage.detect import open_bytes, separator_of
from fastpassk.storage.prints import BLOCK, BLOCKS

TEXT = b"problem,passed\np,1\n"


def put(path: Path, data: bytes = TEXT) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def names(source: object, folder: Path) -> list[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FastpasskWarning)
        return [str(file.path.relative_to(folder)) for file in expand(source)]  # type: ignore[arg-type]


def test_a_folder_is_read_in_order_without_hidden_and_foreign_files(tmp_path: Path) -> None:
    for name in (
        "b.csv",
        "a.csv.gz",
        "sub/c.jsonl",
        "_SUCCESS",
        ".x.csv",
        "_tmp/z.csv",
        ".git/z.csv",
        "read.me",
        "a/_d.csv",
    ):
        data = {"gz": gzip.compress(TEXT), "jsonl": b'{"problem": "p"}\n'}.get(name.rpartition(".")[2], TEXT)
        put(tmp_path / name, data)
    assert names(tmp_path, tmp_path) == ["a.csv.gz", "b.csv", "sub/c.jsonl"]
    assert names(f"{tmp_path}/", tmp_path) == names(tmp_path, tmp_path)
    assert names(str(tmp_path / "*.csv*"), tmp_path) == ["a.csv.gz", "b.csv"]
    assert names(str(tmp_path / "[as]*"), tmp_path) == ["a.csv.gz", "sub/c.jsonl"]


def test_folders_of_keys(tmp_path: Path) -> None:
    put(tmp_path / "model=a%20b" / "_x=1" / "level=001" / "f.csv")
    put(tmp_path / "model=__HIVE_DEFAULT_PARTITION__" / "f.csv", TEXT + b"q,1\n")
    found = expand(tmp_path)
    assert [file.partition for file in found] == [(), (("model", "a b"), ("_x", "1"), ("level", "001"))]


def test_globs(tmp_path: Path) -> None:
    for place, name in enumerate(("a1.csv", "a2.csv", "b1.csv", ".a3.csv", "deep/er/a4.csv")):
        put(tmp_path / name, TEXT + b"q,1\n" * place)
    assert names(str(tmp_path / "a?.csv"), tmp_path) == ["a1.csv", "a2.csv"]
    assert names(str(tmp_path / "**" / "*.csv"), tmp_path) == ["a1.csv", "a2.csv", "b1.csv", "deep/er/a4.csv"]
    assert names(str(tmp_path / "d*"), tmp_path) == ["deep/er/a4.csv"]
    with pytest.raises(FastpasskError, match=r"no file matches .*z\*\.csv"):
        expand(str(tmp_path / "z*.csv"))


@pytest.mark.parametrize("name", ["a[1].csv", "a*.csv", "a?.csv", "a{1,2}.csv", "a b%20.csv", "dir[x]/a.csv", "ü.csv"])
def test_signs_in_real_names(tmp_path: Path, name: str) -> None:
    put(tmp_path / name)
    put(tmp_path / "a1.csv", TEXT * 2)
    assert names(str(tmp_path / name), tmp_path) == [name]


def test_what_is_not_there(tmp_path: Path) -> None:
    put(tmp_path / "samples.csv")
    with pytest.raises(FastpasskError, match=r"there is no file .*sample\.csv \(did you mean 'samples\.csv'\?\)"):
        expand(tmp_path / "sample.csv")
    (tmp_path / "empty").mkdir()
    with pytest.raises(FastpasskError, match=r"no result files in .*empty \(looked for \.parquet"):
        expand(tmp_path / "empty")
    put(tmp_path / "empty" / "notes.txt")
    assert [file.format for file in expand(tmp_path / "empty", "csv")] == ["csv"]
    with pytest.raises(FastpasskError, match=r"no result files in .*; left out: notes\.txt"):
        expand(tmp_path / "empty")
    with pytest.raises(UsageError, match="empty list"):
        expand([])


def test_the_same_file_twice(tmp_path: Path) -> None:
    path = put(tmp_path / "a.csv")
    (tmp_path / "link.csv").symlink_to(path)
    for source in ([path, path], [path, tmp_path / "." / "a.csv"], [path, tmp_path / "link.csv"], tmp_path, ["-", "-"]):
        if source == ["-", "-"]:
            continue
        with pytest.raises(UsageError, match="is the same file as"):
            expand(source)


def test_copies_are_told_of(tmp_path: Path) -> None:
    put(tmp_path / "a.csv")
    put(tmp_path / "deep" / "b.csv")
    with pytest.warns(
        FastpasskWarning, match=r"b\.csv holds the same bytes as .*a\.csv; if it is a copy, its samples count twice"
    ):
        assert len(expand(tmp_path)) == 2


def test_like_files_of_other_folders_are_no_copies(tmp_path: Path) -> None:
    put(tmp_path / "model=a" / "x.csv")
    put(tmp_path / "model=b" / "x.csv")
    put(tmp_path / "model=b" / "y.csv", TEXT.replace(b"1", b"0"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(expand(tmp_path)) == 3


def test_links_in_circles_end(tmp_path: Path) -> None:
    put(tmp_path / "deep" / "a.csv")
    (tmp_path / "deep" / "up").symlink_to(tmp_path)
    assert names(tmp_path, tmp_path) == ["deep/a.csv"]


# formats

FRAME = pl.DataFrame({"problem": ["p", "q"], "passed": [True, False]})


def test_a_link_to_nothing_is_an_error(tmp_path: Path) -> None:
    put(tmp_path / "a.csv")
    (tmp_path / "b.csv").symlink_to(tmp_path / "gone.csv")
    with pytest.raises(FastpasskError, match=r"b\.csv cannot be read: .*No such file"):
        expand(tmp_path)


@pytest.mark.parametrize("data", [TEXT, b'{"problem": "p", "passed": true}\n'])
def test_a_pipe_is_read_once(tmp_path: Path, data: bytes) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(data,), daemon=True)
    writer.start()
    (file,) = expand(pipe)
    writer.join()
    assert (file.name, file.path.read_bytes()) == (str(pipe), data)


def _bytes(kind: str) -> bytes:
    out = io.BytesIO()
    {"parquet": FRAME.write_parquet, "arrow": FRAME.write_ipc, "stream": FRAME.write_ipc_stream}[kind](out)
    return out.getvalue()


CONTENTS = [
    ("parquet", _bytes("parquet"), "parquet"),
    ("arrow", _bytes("arrow"), "arrow"),
    ("stream", _bytes("stream"), "arrow-stream"),
    ("object a line", b'{"problem": 1}\n{"problem": 2}\n', "ndjson"),
    ("array", b' \n[{"problem": 1}]', "json"),
    ("array with mark", b'\xef\xbb\xbf[{"problem": 1}]', "json"),
    ("commas", TEXT, "csv"),
    ("tabs", b"problem\tpassed\np\t1\n", "tsv"),
]


@pytest.mark.parametrize(("data", "format"), [case[1:] for case in CONTENTS], ids=[case[0] for case in CONTENTS])
@pytest.mark.parametrize("packed", [None, "gzip", "zstd"])
@pytest.mark.parametrize("name", ["dump", "dump.2024-01-01", "dump.txt"])
def test_formats_are_told_by_content(tmp_path: Path, data: bytes, format: str, packed: str | None, name: str) -> None:
    if packed:
        data = gzip.compress(data) if packed == "gzip" else bytes(pa.compress(data, codec="zstd", asbytes=True))
    put(tmp_path / name, data)
    if packed and format in ("parquet", "arrow", "arrow-stream"):
        with pytest.raises(FastpasskError, match=f"is {format} inside {packed}; decompress it first"):
            expand(tmp_path / name)
        return
    (file,) = expand(tmp_path / name)
    assert (file.format, file.compression) == (format, packed)


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("a.PQ", "parquet"),
        ("a.feather", "arrow"),
        ("a.csv", "csv"),
        ("a.TSV", "tsv"),
        ("a.ndjson", "ndjson"),
        ("a.b.jsonl", "ndjson"),
    ],
)
def test_formats_are_told_by_suffix(tmp_path: Path, name: str, format: str) -> None:
    data = {"parquet": _bytes("parquet"), "arrow": _bytes("arrow"), "ndjson": b"{}"}.get(format, TEXT)
    assert [file.format for file in expand(put(tmp_path / name, data))] == [format]


def test_what_is_of_no_format(tmp_path: Path) -> None:
    for name, data in (("a.bin", b"\x00\x01\x02"), ("a.zip", b"PK\x03\x04")):
        with pytest.raises(FastpasskError, match="is of no format that is read"):
            expand(put(tmp_path / name, data))
    with pytest.raises(FastpasskError, match="cannot be read"):
        expand(put(tmp_path / "a.csv.gz", gzip.compress(TEXT * 99)[:-20]))
    with pytest.raises(FastpasskError, match="cannot be read"):
        expand(put(tmp_path / "b.csv.gz", b"not packed"))
    with pytest.raises(FastpasskError, match="cannot be read"):
        expand(put(tmp_path / "c.csv.zst", b"not packed"))


@pytest.mark.parametrize(
    ("header", "separator"), [("a,b", ","), ("a;b", ";"), ("a\tb", "\t"), ("a", ","), ("a;x,b", ","), ('"a;b",c', ",")]
)
def test_separators(tmp_path: Path, header: str, separator: str) -> None:
    (file,) = expand(put(tmp_path / "a.csv", f"{header}\n".encode()))
    assert separator_of(file) == separator


def test_frames_of_zstd_follow_one_another(tmp_path: Path) -> None:
    parts = [bytes(pa.compress(part, codec="zstd", asbytes=True)) for part in (TEXT, b"q,0\n")]
    (file,) = expand(put(tmp_path / "a.csv.zst", b"".join(parts)))
    with open_bytes(file) as stream:
        assert stream.read() == TEXT + b"q,0\n"


# standard input


@pytest.mark.parametrize(
    "data", [TEXT, gzip.compress(TEXT, mtime=0), _bytes("parquet"), b'{"problem": "p", "passed": true}\n']
)
def test_standard_input(data: bytes, tmp_path: Path) -> None:
    script = (
        "from fastpassk.sources import read, collect\nd = read('-')\n"
        "print(d.files, collect(d, d.frame)['problem'][0], d.inputs[0].path)"
    )
    env = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", script], input=data, capture_output=True, check=True, env=env)
    assert done.stdout.startswith(b"('standard input',) p /")
    assert list(tmp_path.iterdir()) == []


def test_an_empty_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    with pytest.raises(FastpasskError, match="standard input is empty"):
        expand("-")


# fingerprints


def test_fingerprints_tell_files_apart(tmp_path: Path) -> None:
    small = put(tmp_path / "small", b"a" * 1000)
    large = put(tmp_path / "large", bytes(BLOCK * BLOCKS * 3))
    first, whole = fingerprint(small), fingerprint(large)
    assert len(first) == 64
    assert fingerprint(put(tmp_path / "copy", b"a" * 1000)) == first
    small.write_bytes(b"a" * 999 + b"b")
    assert fingerprint(small) != first
    for place in (0, BLOCK * BLOCKS * 3 - 1):
        data = bytearray(BLOCK * BLOCKS * 3)
        data[place] = 1
        assert fingerprint(put(tmp_path / "other", bytes(data))) != whole
    assert fingerprint(put(tmp_path / "longer", bytes(BLOCK * BLOCKS * 3 + 1))) != whole


def test_a_file_is_a_plain_record(tmp_path: Path) -> None:
    path = put(tmp_path / "a.csv")
    assert expand(path) == [File(path, str(path), "csv")]
    assert expand(Path(path)) == expand(str(path))
