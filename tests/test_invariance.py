"""The same dump gives the same bytes: any order of rows, chunks, split into files, encoding, and number of threads."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest

import fastpassk as fp

KS = [1, 2, 5, 10, 19]


def dump() -> pl.DataFrame:
    """A ragged dump of two models and temperatures, with an attempt column."""
    rows = [
        (
            f"org/m{model}",
            temperature,
            f"HumanEval/{problem:03d}",
            attempt,
            (attempt * 31 + problem * 17 + model) % 7 < problem % 6,
        )
        for model in range(2)
        for temperature in (0.2, 0.8)
        for problem in range(40)
        for attempt in range(19 + problem % 3)
    ]
    schema = {
        "model": pl.String,
        "temperature": pl.Float64,
        "problem": pl.String,
        "attempt": pl.Int64,
        "passed": pl.Boolean,
    }
    return pl.DataFrame(rows, schema, orient="row")


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return written(fp.curve(dump(), KS, metric=["pass@k", "pass^k"]), tmp_path_factory.mktemp("expected"))


def written(frame: pl.DataFrame, folder: Path) -> bytes:
    """The curve as a Parquet file with its provenance: the bytes that must not change."""
    path = folder / "curve.parquet"
    fp.write(frame, path)
    return path.read_bytes()


def curve_bytes(source: object, folder: Path) -> bytes:
    return written(fp.curve(source, KS, metric=["pass@k", "pass^k"]), folder)


def files(folder: Path, frame: pl.DataFrame) -> dict[str, object]:
    """The dump in every shape: name -> source."""
    shuffled = frame.sample(fraction=1, shuffle=True, seed=5)
    parts = [shuffled[start : start + 700] for start in range(0, shuffled.height, 700)]
    names = ["plain", "groups", "split", "hive", "arrow", "csv", "tsv", "ndjson", "gz", "zst"]
    for name in names:
        (folder / name).mkdir()
    frame.write_parquet(folder / "plain" / "a.parquet")
    shuffled.write_parquet(folder / "groups" / "a.parquet", row_group_size=37, compression="snappy")
    for place, part in enumerate(parts):
        part.write_parquet(folder / "split" / f"part-{place}.parquet")
    for (temperature,), part in frame.group_by("temperature"):
        (folder / "hive" / f"temperature={temperature}").mkdir()
        part.drop("temperature").write_parquet(folder / "hive" / f"temperature={temperature}" / "a.parquet")
    shuffled.write_ipc(folder / "arrow" / "a.arrow")
    shuffled.write_csv(folder / "csv" / "a.csv")
    shuffled.write_csv(folder / "tsv" / "a.tsv", separator="\t")
    shuffled.write_ndjson(folder / "ndjson" / "a.jsonl")
    text = (folder / "ndjson" / "a.jsonl").read_bytes()
    (folder / "gz" / "a.jsonl.gz").write_bytes(gzip.compress(text))
    with pa.CompressedOutputStream(str(folder / "zst" / "a.jsonl.zst"), "zstd") as out:
        out.write(text)
    return {name: folder / name for name in names} | {
        "frame": shuffled,
        "chunks": pl.concat(parts, rechunk=False),
        "lazy": shuffled.lazy(),
        "categorical": shuffled.with_columns(pl.col("model", "problem").cast(pl.Categorical)),
        "integers": shuffled.with_columns(pl.col("passed").cast(pl.Int8), pl.col("attempt").cast(pl.UInt16)),
        "text": shuffled.with_columns(
            pl.col("passed").replace_strict({True: "passed", False: "failed"}, return_dtype=pl.String)
        ),
        "arrow table": shuffled.to_arrow(),
        "counts": fp.count(shuffled),
        "list": [folder / "split" / f"part-{place}.parquet" for place in range(len(parts))][::-1],
        "glob": str(folder / "split" / "*.parquet"),
    }


def test_every_shape_gives_the_same_bytes(expected: bytes, tmp_path: Path) -> None:
    for name, source in files(tmp_path, dump()).items():
        assert curve_bytes(source, tmp_path) == expected, name


@pytest.mark.parametrize("threads", ["1", "2", "5"])
def test_every_number_of_threads_gives_the_same_bytes(expected: bytes, tmp_path: Path, threads: str) -> None:
    dump().write_parquet(tmp_path / "in.parquet", row_group_size=100)
    code = (
        f"import sys, fastpassk as fp\nfp.write(fp.curve(sys.argv[1], {KS}, metric=['pass@k', 'pass^k']), sys.argv[2])"
    )
    env = os.environ | {"POLARS_MAX_THREADS": threads, "FASTPASSK_THREADS": threads}
    subprocess.run([sys.executable, "-c", code, tmp_path / "in.parquet", tmp_path / "out.parquet"], check=True, env=env)
    assert (tmp_path / "out.parquet").read_bytes() == expected


def test_counts_files_of_a_dump_hold_the_same_rows(tmp_path: Path) -> None:
    want = fp.count(dump())
    for name, source in files(tmp_path, dump()).items():
        assert fp.count(source).equals(want), name
