"""One dump in every encoding that is read gives the same canonical rows."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from polars.testing import assert_frame_equal

from fastpassk.sources import collect, read

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ROWS = [
    {
        "model_name": f"m{model}",
        "task_id": f"HumanEval/{problem:03}",
        "temp": 0.2,
        "step": 100 * (model + 1),
        "sample_idx": attempt,
        "passed": None if (model, problem, attempt) == (1, 2, 3) else (model + problem + attempt) % 3 == 0,
        "completion": 'def f(x):\n\treturn "a, b" # é',
    }
    for model in range(2)
    for problem in range(4)
    for attempt in range(5)
]
COLUMNS = ["model", "temperature", "checkpoint", "problem", "outcome", "bad", "attempt"]
FRAME = pl.DataFrame(ROWS)


def canonical(source: Any, **options: Any) -> pl.DataFrame:
    dataset = read(source, **options)
    assert dataset.kind == "samples"
    assert dataset.identity == ("model", "temperature", "checkpoint")
    return collect(dataset, dataset.frame).select(COLUMNS).sort(COLUMNS)


EXPECTED = pl.DataFrame(
    {
        "model": [row["model_name"] for row in ROWS],
        "temperature": ["0.2" for _ in ROWS],
        "checkpoint": [str(row["step"]) for row in ROWS],
        "problem": [row["task_id"] for row in ROWS],
        "outcome": [row["passed"] for row in ROWS],
        "bad": [False for _ in ROWS],
        "attempt": [str(row["sample_idx"]) for row in ROWS],
    },
    schema_overrides={"outcome": pl.Boolean},
).sort(COLUMNS)


def test_the_expected_rows_are_what_the_dump_says() -> None:
    assert EXPECTED.height == 40
    assert EXPECTED["outcome"].null_count() == 1


def _parquet(folder: Path) -> Path:
    FRAME.write_parquet(folder / "dump.parquet")
    return folder / "dump.parquet"


def _one_row_groups(folder: Path) -> Path:
    pq.write_table(FRAME.to_arrow(), folder / "dump.parquet", row_group_size=1)
    return folder / "dump.parquet"


def _dictionary(folder: Path) -> Path:
    table = FRAME.to_arrow(compat_level=pl.CompatLevel.oldest())
    for name in ("model_name", "task_id"):
        column = table[name].cast(pa.string()).dictionary_encode()
        table = table.set_column(table.column_names.index(name), name, column)
    pq.write_table(table, folder / "dump.parquet", row_group_size=7)
    return folder / "dump.parquet"


def _arrow(folder: Path) -> Path:
    FRAME.write_ipc(folder / "dump.arrow", compression="zstd")
    return folder / "dump.arrow"


def _arrow_dictionary(folder: Path) -> Path:
    FRAME.with_columns(pl.col("model_name", "task_id").cast(pl.Categorical)).write_ipc(folder / "dump.feather")
    return folder / "dump.feather"


def _stream(folder: Path) -> Path:
    FRAME.write_ipc_stream(folder / "dump.arrow")
    return folder / "dump.arrow"


def _stream_of_dictionaries(folder: Path) -> Path:
    frame = FRAME.with_columns(pl.col("model_name", "task_id").cast(pl.Categorical))
    table = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
    with pa.ipc.new_stream(folder / "dump.arrows", table.schema) as writer:
        writer.write_table(table, max_chunksize=9)
    return folder / "dump.arrows"


def _csv(folder: Path) -> Path:
    FRAME.write_csv(folder / "dump.csv")
    return folder / "dump.csv"


def _csv_with_mark_and_crlf(folder: Path) -> Path:
    FRAME.drop("completion").write_csv(folder / "dump.csv", include_bom=True, line_terminator="\r\n")
    return folder / "dump.csv"


def _csv_of_floats(folder: Path) -> Path:
    frame = FRAME.with_columns(pl.col("passed").cast(pl.Float64), pl.col("step", "sample_idx").cast(pl.Float64))
    frame.write_csv(folder / "dump.csv")
    return folder / "dump.csv"


def _semicolons(folder: Path) -> Path:
    FRAME.write_csv(folder / "dump.csv", separator=";")
    return folder / "dump.csv"


def _tsv(folder: Path) -> Path:
    FRAME.write_csv(folder / "dump.tsv", separator="\t")
    return folder / "dump.tsv"


def _ndjson(folder: Path) -> Path:
    FRAME.write_ndjson(folder / "dump.jsonl")
    return folder / "dump.jsonl"


def _mixed_ndjson(folder: Path) -> Path:
    lines = []
    for place, row in enumerate(ROWS):
        outcome: Any = row["passed"]
        if outcome is None:
            line = {key: value for key, value in row.items() if key != "passed"}
        else:
            line = row | {"passed": [outcome, int(outcome), float(outcome), str(outcome)][place % 4]}
        line["sample_idx"] = [row["sample_idx"], str(row["sample_idx"]), float(row["sample_idx"])][place % 3]
        lines.append(json.dumps(line))
    (folder / "dump.ndjson").write_text("\r\n\n".join(lines) + "\n")
    return folder / "dump.ndjson"


def _bare_nan(folder: Path) -> Path:
    lines = [json.dumps(row | {"passed": float("nan") if row["passed"] is None else row["passed"]}) for row in ROWS]
    (folder / "dump.jsonl").write_text("\ufeff" + "\n".join(lines), encoding="utf-8")
    return folder / "dump.jsonl"


def _packed(folder: Path, plain: Callable[[Path], Path], kind: str) -> Path:
    data = plain(folder)
    packed = data.with_name(data.name + {"gzip": ".gz", "zstd": ".zst"}[kind])
    codec = gzip.compress if kind == "gzip" else lambda data: bytes(pa.compress(data, codec="zstd", asbytes=True))
    packed.write_bytes(codec(data.read_bytes()))
    data.unlink()
    return packed


def _json(folder: Path) -> Path:
    (folder / "dump.json").write_text(json.dumps(ROWS, indent=1))
    return folder / "dump.json"


def _without_suffix(folder: Path, plain: Callable[[Path], Path]) -> Path:
    return plain(folder).rename(folder / "dump")


def _hive(folder: Path) -> Path:
    for (model, step), part in FRAME.group_by("model_name", "step"):
        place = folder / "tree" / f"model_name={model}" / f"step={step}"
        place.mkdir(parents=True)
        part.drop("model_name", "step").write_parquet(place / "part.parquet")
        (place / "_SUCCESS").touch()
        (place / ".part.parquet.crc").write_text("x")
    return folder / "tree"


def _hive_of_csv(folder: Path) -> str:
    for (problem,), part in FRAME.group_by("task_id"):
        place = folder / "tree" / f"task_id={str(problem).replace('/', '%2F')}"
        place.mkdir(parents=True)
        part.drop("task_id").write_csv(place / "part.csv.gz", compression="gzip")
    return str(folder / "tree") + "/"


def _flat(folder: Path) -> Path:
    (folder / "parts").mkdir()
    for place in range(4):
        FRAME[place * 10 : place * 10 + 10].write_parquet(folder / "parts" / f"{place}.parquet")
    (folder / "parts" / "notes.txt").write_text("not data")
    return folder / "parts"


def _flat_of_formats(folder: Path) -> Path:
    (folder / "parts").mkdir()
    FRAME[:11].write_parquet(folder / "parts" / "a.parquet")
    FRAME[11:23].write_csv(folder / "parts" / "b.csv")
    FRAME[23:].write_ndjson(folder / "parts" / "c.jsonl")
    return folder / "parts"


def _glob(folder: Path) -> str:
    _flat(folder)
    return str(folder / "parts" / "[0-9].par*")


def _list(folder: Path) -> list[Path]:
    return sorted(_flat(folder).glob("*.parquet"), reverse=True)


def _signs_in_the_name(folder: Path) -> Path:
    place = folder / "run [1]"
    place.mkdir()
    return _ndjson(folder).rename(place / "du*mp(2)?.jsonl")


def _differing_files(folder: Path) -> list[Path]:
    frames = [
        FRAME[:9].with_columns(pl.col("passed").cast(pl.Int64), extra=1),
        FRAME[9:20]
        .with_columns(pl.col("sample_idx").cast(pl.Int8))
        .rename({"task_id": "Task ID", "model_name": "model"}),
        FRAME[20:].with_columns(pl.col("sample_idx").cast(pl.Float64), pl.col("task_id").cast(pl.Categorical)),
        FRAME[:0].with_columns(pl.lit(None).alias("passed")),
    ]
    paths = [folder / f"{place}.parquet" for place in range(4)]
    for frame, path in zip(frames, paths, strict=True):
        frame.write_parquet(path)
    return paths


FILES: dict[str, Callable[[Path], Any]] = {
    "parquet": _parquet,
    "row groups of one": _one_row_groups,
    "parquet dictionaries": _dictionary,
    "arrow": _arrow,
    "arrow dictionaries": _arrow_dictionary,
    "arrow stream": _stream,
    "arrow stream of dictionaries": _stream_of_dictionaries,
    "csv": _csv,
    "csv with mark": _csv_with_mark_and_crlf,
    "csv of floats": _csv_of_floats,
    "csv with semicolons": _semicolons,
    "tsv": _tsv,
    "ndjson": _ndjson,
    "ndjson of mixed types": _mixed_ndjson,
    "ndjson with NaN and mark": _bare_nan,
    "csv.gz": lambda folder: _packed(folder, _csv, "gzip"),
    "csv.zst": lambda folder: _packed(folder, _csv, "zstd"),
    "jsonl.gz": lambda folder: _packed(folder, _ndjson, "gzip"),
    "jsonl.zst": lambda folder: _packed(folder, _ndjson, "zstd"),
    "jsonl.gz with NaN": lambda folder: _packed(folder, _bare_nan, "gzip"),
    "json array": _json,
    "json.zst": lambda folder: _packed(folder, _json, "zstd"),
    "parquet without suffix": lambda folder: _without_suffix(folder, _parquet),
    "arrow without suffix": lambda folder: _without_suffix(folder, _arrow),
    "stream without suffix": lambda folder: _without_suffix(folder, _stream),
    "csv without suffix": lambda folder: _without_suffix(folder, _csv),
    "tsv without suffix": lambda folder: _without_suffix(folder, _tsv),
    "ndjson without suffix": lambda folder: _without_suffix(folder, _ndjson),
    "packed without suffix": lambda folder: _packed(folder, _ndjson, "gzip").rename(folder / "dump"),
    "hive": _hive,
    "hive of csv": _hive_of_csv,
    "flat": _flat,
    "flat of formats": _flat_of_formats,
    "glob": _glob,
    "list": _list,
    "signs of globs in the name": _signs_in_the_name,
    "files that differ": _differing_files,
}


@pytest.mark.filterwarnings("ignore:left out of the folders")
@pytest.mark.parametrize("make", FILES.values(), ids=FILES.keys())
def test_files(tmp_path: Path, make: Callable[[Path], Any]) -> None:
    assert_frame_equal(canonical(make(tmp_path)), EXPECTED)


def _pandas() -> Any:
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(ROWS)


def _pandas_of_floats() -> Any:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        [{**row, "passed": None if row["passed"] is None else float(row["passed"])} for row in ROWS]
    )
    assert frame["passed"].isna().sum() == 1
    return frame


def _duckdb() -> Any:
    duckdb = pytest.importorskip("duckdb")
    return duckdb.from_arrow(FRAME.to_arrow())


def _dictionary_table() -> pa.Table:
    table = FRAME.to_arrow(compat_level=pl.CompatLevel.oldest())
    codes = pa.array([int(name[-3:]) for name in FRAME["task_id"]], pa.int8())
    column = pa.DictionaryArray.from_arrays(codes, [f"HumanEval/{place:03}" for place in range(4)])
    return table.set_column(1, "task_id", column)


TABLES: dict[str, Callable[[], Any]] = {
    "frame": lambda: FRAME,
    "lazy": FRAME.lazy,
    "categorical": lambda: FRAME.with_columns(
        pl.col("model_name").cast(pl.Categorical), pl.col("task_id").cast(pl.Enum(sorted(set(FRAME["task_id"]))))
    ),
    "narrow": lambda: FRAME.with_columns(
        pl.col("temp").cast(pl.Float32), pl.col("sample_idx").cast(pl.UInt8), pl.col("passed").cast(pl.Int8)
    ),
    "decimal": lambda: FRAME.with_columns(
        pl.col("sample_idx").cast(pl.Decimal(10, 2)), pl.col("passed").cast(pl.Int64).cast(pl.Decimal(38, 0))
    ),
    "frames": lambda: [FRAME[:13], FRAME[13:].lazy()],
    "pyarrow": FRAME.to_arrow,
    "pyarrow dictionaries": _dictionary_table,
    "pyarrow batches": lambda: pa.RecordBatchReader.from_batches(
        FRAME.to_arrow().schema, FRAME.to_arrow().to_batches(7)
    ),
    "pandas": _pandas,
    "pandas of floats": _pandas_of_floats,
    "duckdb": _duckdb,
    "dict of lists": lambda: FRAME.to_dict(as_series=False),
    "list of records": lambda: ROWS,
}


@pytest.mark.parametrize("make", TABLES.values(), ids=TABLES.keys())
def test_tables_in_memory(make: Callable[[], Any]) -> None:
    assert_frame_equal(canonical(make()), EXPECTED)


def test_files_and_frames_mix(tmp_path: Path) -> None:
    FRAME[:17].write_csv(tmp_path / "a.csv")
    assert_frame_equal(canonical([FRAME[17:], tmp_path / "a.csv"]), EXPECTED)
