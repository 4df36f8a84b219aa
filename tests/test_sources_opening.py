"""Folders of files: keys as text, files that differ, strays, odd names, thousands of small files, one file twice."""

from __future__ import annotations

import os
import sys
import warnings
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import fastpassk
from fastpassk.errors import FastpasskError, FastpasskWarning, UsageError
from fastpassk.sources import collect, groups, read

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FRAME = pl.DataFrame({"problem": ["p", "p", "q"], "passed": [True, False, True]})


def put(path: Path, frame: pl.DataFrame = FRAME) -> Path:
    """Write a frame in the format of the suffix."""
    path.parent.mkdir(parents=True, exist_ok=True)
    writers: dict[str, Callable[..., Any]] = {
        ".parquet": frame.write_parquet,
        ".jsonl": frame.write_ndjson,
        ".csv": frame.write_csv,
        ".arrow": frame.write_ipc,
    }
    with path.open("wb") as out:
        writers[path.suffix](out)
    return path


def quietly(source: Any, **options: Any) -> pl.DataFrame:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FastpasskWarning)
        return fastpassk.count(source, **options)


# hive

VALUES = ["007", "1e5", "1.10", "true", "2024-01-02", "", "a=b", "a%2Fb", "100%", "ü", "x y", "[1]", "null", "-0"]


@pytest.mark.parametrize("suffix", [".parquet", ".jsonl", ".csv", ".arrow"])
def test_keys_of_folders_are_text(tmp_path: Path, suffix: str) -> None:
    for place, value in enumerate(VALUES):
        put(tmp_path / f"model={value}" / f"part{suffix}", FRAME.with_columns(problem=pl.lit(str(place))))
    counts = quietly(tmp_path)
    found = dict(counts.select("problem", "model").rows())
    expected = dict(enumerate(VALUES)) | {5: None, 7: "a/b"}
    assert found == {str(place): value for place, value in expected.items()}
    assert_frame_equal(counts, quietly([str(path) for path in tmp_path.rglob(f"*{suffix}")]))


def test_keys_at_several_depths(tmp_path: Path) -> None:
    put(tmp_path / "model=007" / "temperature=0.20" / "a.parquet")
    put(tmp_path / "model=007" / "temperature=1" / "a.parquet")
    put(tmp_path / "model=07" / "a.parquet")
    counts = quietly(tmp_path)
    assert sorted(set(counts.select("model", "temperature").rows()), key=str) == [
        ("007", "0.2"), ("007", "1.0"), ("07", None),
    ]  # fmt: skip
    dataset = read(tmp_path)
    assert (dataset.columns["model"], dataset.columns["problem"]) == ("(folder)", "problem")


@pytest.mark.skipif(sys.platform != "linux", reason="names of any bytes are a matter of Linux")
def test_keys_that_are_no_text_stay_apart(tmp_path: Path) -> None:
    for raw in (b"model=\xff", b"model=\xfe", b"model=%FD", b"model=ok"):
        put(tmp_path / os.fsdecode(raw) / "x.parquet")
    assert sorted(set(quietly(tmp_path)["model"])) == ["\\xfd", "\\xfe", "\\xff", "ok"]


# files that differ


@pytest.mark.parametrize("suffix", [".parquet", ".jsonl"])
@pytest.mark.parametrize("small", [True, False], ids=["joined", "each by itself"])
def test_files_that_differ(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str, *, small: bool) -> None:
    """In the types of a column, in which columns there are, in their names and their order."""
    if not small:
        monkeypatch.setattr(groups, "SMALL", 0)
    outcome = pl.col("passed")
    frames = [
        FRAME,
        FRAME.with_columns(outcome.cast(pl.Int8), extra=1),
        FRAME.with_columns(outcome.cast(pl.Float64), extra=pl.lit("text")).select("extra", "passed", "problem"),
        FRAME.with_columns(outcome.cast(pl.String), error=pl.lit(None)).rename({"problem": "task_id"}),
        FRAME.with_columns(model=pl.lit("m")),
        FRAME.with_columns(temperature=0.5),
        FRAME.clear(),
        FRAME,
    ]
    for place, frame in enumerate(frames):
        if frame.height or suffix == ".parquet":
            put(tmp_path / f"{place}{suffix}", frame)
    rows = [(None, None, "p", 10, 5), (None, None, "q", 5, 5)]
    rows += [(None, "0.5", "p", 2, 1), (None, "0.5", "q", 1, 1), ("m", None, "p", 2, 1), ("m", None, "q", 1, 1)]
    assert sorted(quietly(tmp_path).rows(), key=str) == sorted(rows, key=str)


def test_rows_keep_the_order_of_the_files(tmp_path: Path) -> None:
    """Also where files that are alike stand between others."""
    parts = [pl.DataFrame({"n": [9, 8], "c": [1, 2], "k": [1, place]}) for place in range(1, 7)]
    parts[2] = parts[2].with_columns(pl.col("k").cast(pl.Int8))
    parts[4] = parts[4].select("k", "n", "c")
    for place, part in enumerate(parts):
        put(tmp_path / f"run={place % 2}" / f"{place}.parquet", part)
        put(tmp_path / f"flat{place}.parquet", part)
    names = [tmp_path / f"flat{place}.parquet" for place in range(6)]
    assert fastpassk.score(names)["k"].to_list() == [k for place in range(1, 7) for k in (1, place)]
    scores = quietly_scored(tmp_path / "run=0", tmp_path / "run=1")
    assert scores["run"].to_list() == ["0"] * 6 + ["1"] * 6
    assert scores["k"].to_list() == [1, 1, 1, 3, 1, 5, 1, 2, 1, 4, 1, 6]


def quietly_scored(*source: Path) -> pl.DataFrame:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FastpasskWarning)
        return fastpassk.score(list(source))


# strays

STRAYS = {
    "README": b"hello\n",
    "README.md": b"# hello\n",
    ".DS_Store": b"\0\0\0\1Bud1",
    "_SUCCESS": b"",
    "a.parquet.crc": b"crc\0",
    ".a.parquet.part": b"PAR1",
    "config.json": b'{\n  "temperature": 0.2\n}\n',
    "meta.json": b'{"temperature": 0.2}',
    "log.txt": b"problem,passed\nz,1\n",
}


@pytest.mark.parametrize("suffix", [".parquet", ".jsonl", ".csv"])
def test_strays_are_left_out_and_told_of(tmp_path: Path, suffix: str) -> None:
    put(tmp_path / f"a{suffix}")
    expected = fastpassk.count(tmp_path / f"a{suffix}")
    for name, data in STRAYS.items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / "_temporary").mkdir()
    put(tmp_path / "_temporary" / f"b{suffix}")
    with pytest.warns(FastpasskWarning, match=r"left out of the folders as no data: .*\.DS_Store and 9 more$"):
        assert_frame_equal(fastpassk.count(tmp_path), expected)


def test_a_folder_of_documents_alone_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_bytes(STRAYS["config.json"])
    with pytest.raises(FastpasskError, match=r"config\.json is one JSON document"):
        fastpassk.count(tmp_path)
    put(tmp_path / "a.csv")
    with pytest.raises(FastpasskError, match=r"config\.json is one JSON document"):
        fastpassk.count([tmp_path / "a.csv", tmp_path / "config.json"])


# odd names

NAMES = [
    "a b", "100%", "%41", "[a]", "*", "?", "{a,b}", "#1", "a&b;c", "ü 模型 🙂", "line\nbreak", "tab\t", "'quote\"",
    "back\\slash", "$HOME", "~", "-", "--help", "a=b=c", "file:x", "c:", "..x", "ends ", "x" * 200,
]  # fmt: skip


@pytest.mark.skipif(os.name != "posix", reason="Windows refuses such names itself")
@pytest.mark.parametrize("suffix", [".parquet", ".jsonl", ".csv", ".arrow"])
@pytest.mark.parametrize("small", [True, False], ids=["joined", "each by itself"])
def test_odd_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str, *, small: bool) -> None:
    """As a file alone, in a folder of them, and as folders."""
    if not small:
        monkeypatch.setattr(groups, "SMALL", 0)
    visible = [name for name in NAMES if not name.startswith(".")]
    for place, name in enumerate(visible):
        frame = FRAME.with_columns(problem=pl.lit(str(place)))
        counts = quietly(put(tmp_path / "files" / f"{name}{suffix}", frame))
        assert counts.select("problem", "n", "c").rows() == [(str(place), 3, 2)]
        put(tmp_path / "folders" / name / f"a{suffix}", frame)
    expected = [(str(place), 3, 2) for place in range(len(visible))]
    for folder in ("files", "folders"):
        counts = quietly(tmp_path / folder).select("problem", "n", "c")
        assert sorted(counts.rows(), key=lambda row: int(row[0])) == expected


@pytest.mark.skipif(sys.platform != "linux", reason="names of any bytes are a matter of Linux")
@pytest.mark.parametrize("suffix", [".parquet", ".jsonl", ".csv", ".arrow"])
def test_names_that_are_no_text(tmp_path: Path, suffix: str) -> None:
    paths = [put(tmp_path / (os.fsdecode(b"\xff" * place) + suffix)) for place in (1, 2)]
    for source in (paths[0], tmp_path):
        assert quietly(source).height == 2
    assert sorted(set(quietly(tmp_path, by="file")["file"])) == ["\\xff", "\\xff\\xff"]


def test_the_name_of_a_file_is_a_column_for_joined_files_too(tmp_path: Path) -> None:
    for name in ("a", "b.1", "c d"):
        put(tmp_path / f"{name}.parquet")
    assert quietly(tmp_path, by="file")["file"].unique().sort().to_list() == ["a", "b.1", "c d"]
    assert quietly(tmp_path, where="file = 'c d'")["n"].sum() == 3


# thousands of small files


@pytest.mark.parametrize("suffix", [".parquet", ".jsonl"])
@pytest.mark.parametrize("folder", ["", "model={}"], ids=["flat", "hive"])
def test_many_small_files_become_one_table(tmp_path: Path, suffix: str, folder: str) -> None:
    for place in range(300):
        problems = pl.lit(str(place % 7))
        put(tmp_path / folder.format(place % 3) / f"{place}{suffix}", FRAME.with_columns(problem=problems))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FastpasskWarning)
        dataset = read(tmp_path)
    assert len(dataset.views) == 1
    assert len(dataset.files) == len(dataset.inputs) == len(dataset.said) == 300
    counts = quietly(tmp_path)
    assert counts["n"].sum() == 900
    assert counts.height == (21 if folder else 7)


def test_settings_of_counts_files_are_kept_apart(tmp_path: Path) -> None:
    for place in range(3):
        samples = FRAME.with_columns(problem=pl.lit(str(place)), model=pl.lit("m"))
        fastpassk.write(fastpassk.count(samples), tmp_path / f"{place}.parquet")
    dataset = read(tmp_path)
    assert [bool(said) for said in dataset.said] == [True] * 3
    assert collect(dataset, dataset.frame).height == 3


def test_an_error_names_the_file_among_many(tmp_path: Path) -> None:
    for place in range(20):
        put(tmp_path / f"{place:02}.parquet")
    whole = (tmp_path / "13.parquet").read_bytes()
    (tmp_path / "13.parquet").write_bytes(whole[:40] + b"\xff" * 60 + whole[100:])
    with pytest.raises(FastpasskError, match=r"13\.parquet"):
        quietly(tmp_path)
    put(tmp_path / "13.parquet", FRAME.rename({"passed": "verdict"}))
    with pytest.raises(UsageError, match=r"13\.parquet: .*no column for passed"):
        quietly(tmp_path)


def test_files_without_rows(tmp_path: Path) -> None:
    for place in range(3):
        put(tmp_path / f"{place}.parquet", FRAME.clear())
    with pytest.raises(FastpasskError, match=r"0\.parquet, .*1\.parquet, .*2\.parquet have no rows"):
        quietly(tmp_path)


# the same file twice


def _twice(tmp_path: Path, how: str) -> list[Path]:
    path, folder = put(tmp_path / "one" / "a.parquet"), tmp_path / "two"
    folder.mkdir()
    link = folder / "b.parquet"
    if how == "folder and file":
        return [tmp_path / "one", path]
    if how == "link to its folder":
        (folder / "in").symlink_to(tmp_path / "one")
        return [path, folder]
    if how in ("link", "link in a folder"):
        link.symlink_to(path)
    elif how == "hard link":
        os.link(path, link)
    return {"same path": [path, path], "other spelling": [path, tmp_path / "one" / ".." / "one" / "a.parquet"]}.get(
        how, [path, folder if how == "link in a folder" else link]
    )


@pytest.mark.parametrize(
    "how",
    ["same path", "other spelling", "folder and file", "link", "link in a folder", "link to its folder", "hard link"],
)
def test_the_same_file_twice_is_refused(tmp_path: Path, how: str) -> None:
    with pytest.raises(UsageError, match="is the same file as"):
        fastpassk.count(_twice(tmp_path, how))


def test_links_under_other_keys_are_other_data(tmp_path: Path) -> None:
    """Programs that save room on a disk make links of equal files."""
    path = put(tmp_path / "model=a" / "x.parquet")
    (tmp_path / "model=b").mkdir()
    os.link(path, tmp_path / "model=b" / "x.parquet")
    assert fastpassk.count(tmp_path)["model"].to_list() == ["a", "a", "b", "b"]
    os.link(path, tmp_path / "x.parquet")
    with pytest.raises(UsageError, match="is the same file as"):
        fastpassk.count(tmp_path)


def test_a_copy_is_told_of(tmp_path: Path) -> None:
    put(tmp_path / "a.parquet")
    put(tmp_path / "b.parquet")
    with pytest.warns(FastpasskWarning, match=r"b\.parquet holds the same bytes as .*a\.parquet"):
        fastpassk.count(tmp_path, by="file")
