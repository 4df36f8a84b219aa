"""Scores streamed to files: from memory, from files in order and out of order, into one file or into folders."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import fastpassk as fp
from fastpassk import FastpasskError, UsageError
from fastpassk.cli import main
from fastpassk.steps.scores import ordered, problems

pytestmark = pytest.mark.filterwarnings("ignore:.*scores are null")

KS = [1, 3, 7]
ODD = ["a/b", "a=b", "a%2Fb", "50%", "é ñ", "..", ".", " x ", "a\\b", "a:b*?", "two\nlines", "[x]", ".hid", "_u",
       "'q\"", "a#b&c", "~t", "__HIVE_DEFAULT_PARTITION__", "x__HIVE_DEFAULT_PARTITION__", "Model"]  # fmt: skip


def counts(models: tuple[str | None, ...] = ("b", "a", None), size: int = 90) -> pl.DataFrame:
    """Counts in no order, of models with other largest n."""
    rows = [
        (model, 0.5, f"p{(i * 37) % size}", 3 + i % (5 + place), (i * 7) % 4)
        for place, model in enumerate(models)
        for i in range(size)
    ]
    frame = pl.DataFrame(rows, ["model", "temperature", "problem", "n", "c"], orient="row")
    return frame.sample(fraction=1, shuffle=True, seed=3)


@pytest.fixture
def cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let small tables go the way of large ones."""
    for name, value in {"HELD": 0, "BUNDLE": 50, "BATCH": 16, "SETTLE": 10}.items():
        monkeypatch.setattr(ordered, name, value)
    monkeypatch.setattr(problems, "CELLS", 64)


@pytest.fixture
def by_stream(cut: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the way through memory an error."""

    def fail(*_: object) -> None:
        raise AssertionError("the counts were held in memory")

    monkeypatch.setattr(ordered, "_held", fail)


ORDERS = {
    "sorted": lambda frame: frame.sort("model", "temperature", "problem", nulls_last=True),
    "shuffled": lambda frame: frame,
    "by problem": lambda frame: frame.sort("problem", "model"),
}
OPTIONS: dict[str, dict[str, Any]] = {
    "some": {"k": KS},
    "default": {},
    "all": {"k": "all"},
    "both": {"k": KS, "metric": ["pass^k", "pass@k"]},
    "where": {"k": KS, "where": "n > 4"},
    "by": {"k": KS, "by": ["temperature", "model"]},
    "stopped": {"k": KS, "stopped": 3},
}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_a_stream_gives_what_memory_gives(
    tmp_path: Path, order: str, options: dict[str, Any], request: pytest.FixtureRequest
) -> None:
    frame = ORDERS[order](counts())
    frame.write_parquet(tmp_path / "in.parquet", row_group_size=20)
    want = fp.score(frame, **options)
    request.getfixturevalue("by_stream")
    empty = fp.score(tmp_path / "in.parquet", **options, sink=tmp_path / "out.parquet")
    assert pl.read_parquet(tmp_path / "out.parquet").equals(want)
    assert (empty.height, empty.schema) == (0, want.schema)
    assert fp.provenance(empty) == fp.provenance(want) == fp.provenance(tmp_path / "out.parquet")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.parquet", "out.parquet"]


@pytest.mark.usefixtures("by_stream")
def test_the_order_of_the_input_does_not_show(tmp_path: Path) -> None:
    for place, order in enumerate(ORDERS.values()):
        order(counts()).write_parquet(tmp_path / f"{place}.parquet", row_group_size=7 * (place + 1))
        fp.score(tmp_path / f"{place}.parquet", KS, sink=tmp_path / f"{place}-out.parquet")
    assert len({(tmp_path / f"{place}-out.parquet").read_bytes() for place in range(3)}) == 1


def test_several_files_and_no_identity(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    frame = counts(("a",)).drop("temperature")
    want = fp.score(frame.drop("model"), KS)
    request.getfixturevalue("by_stream")
    for part in range(3):
        (tmp_path / f"model=m{part}").mkdir()
        frame.drop("model").write_parquet(tmp_path / f"model=m{part}" / "a.parquet")
    fp.score(tmp_path, KS, sink=tmp_path / "out.parquet")
    assert pl.read_parquet(tmp_path / "out.parquet")["model"].unique().sort().to_list() == ["m0", "m1", "m2"]
    frame.drop("model").write_parquet(tmp_path / "in.parquet")
    fp.score(tmp_path / "in.parquet", KS, sink=tmp_path / "out.parquet")
    assert pl.read_parquet(tmp_path / "out.parquet").equals(want)


@pytest.mark.usefixtures("cut")
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda frame: pl.concat([frame, frame[:1]]), "stands in 2 rows"),
        (
            lambda frame: frame.with_columns(c=pl.when(pl.int_range(pl.len()) == 77).then(99).otherwise("c")),
            "row 78 has",
        ),
        (lambda frame: frame.with_columns(n=pl.when(pl.int_range(pl.len()) == 77).then(None).otherwise("n")), "row 78"),
        (lambda frame: frame.with_columns(problem=pl.lit(None, pl.String)), "problem is null in 270 rows"),
    ],
)
def test_counts_that_cannot_be_are_named_as_ever(tmp_path: Path, change: Any, message: str) -> None:
    change(counts()).write_parquet(tmp_path / "in.parquet")
    with pytest.raises(FastpasskError, match=message):
        fp.score(tmp_path / "in.parquet", KS, sink=tmp_path / "out.parquet")
    assert [path.name for path in tmp_path.iterdir()] == ["in.parquet"]


@pytest.mark.usefixtures("cut")
def test_rows_said_to_be_unique_and_columns_without_a_value(tmp_path: Path) -> None:
    frame = pl.concat([counts(), counts()[:1]]).with_columns(language=pl.lit(None, pl.String))
    frame.write_parquet(tmp_path / "in.parquet")
    fp.score(tmp_path / "in.parquet", KS, unique=True, sink=tmp_path / "out.parquet")
    found = pl.read_parquet(tmp_path / "out.parquet")
    assert found.equals(fp.score(frame, KS, unique=True))
    assert "language" not in found.columns


def test_narrow_slices_and_wide_ones_are_one_result(monkeypatch: pytest.MonkeyPatch) -> None:
    want = fp.score(counts(), "all", metric=["pass@k", "pass^k"])
    for cells in (1, 100, 1000):
        monkeypatch.setattr(problems, "CELLS", cells)
        assert fp.score(counts(), "all", metric=["pass@k", "pass^k"]).equals(want)
    assert want.equals(want.sort("model", "temperature", "problem", "metric", "k", nulls_last=True))


# folders


@pytest.mark.parametrize("kind", ["counts", "triples"])
def test_odd_names_go_around(tmp_path: Path, kind: str) -> None:
    data = pl.DataFrame({"model": ODD, "problem": ["p"] * len(ODD), "n": [9] * len(ODD), "c": range(len(ODD))})
    data = data.with_columns(pl.col("c").clip(0, 9))
    data = data.with_columns(k=pl.lit(2)) if kind == "triples" else data
    want = fp.score(data, None if kind == "triples" else [2]).select("model", "problem", "n", "c", "k", "score")
    fp.score(data, None if kind == "triples" else [2], sink=tmp_path / "out", partition_by="model")
    files = list((tmp_path / "out").rglob("*.parquet"))
    assert len(files) == len(ODD)
    dataset = fp.read(tmp_path / "out")
    found = dataset.frame.select("model", "problem", "n", "c", "k", "score").collect()
    assert found.sort("model").equals(want.sort("model").cast({"k": pl.Int64}))
    assert all(json.loads(pl.read_parquet_metadata(file)["fastpassk"])["frame"] for file in files)


def test_several_keys_and_no_value(tmp_path: Path) -> None:
    fp.score(counts(), KS, sink=tmp_path / "out", partition_by=["model", "k"])
    folders = sorted(path.relative_to(tmp_path / "out").as_posix() for path in tmp_path.rglob("k=*"))
    assert folders == [f"model={m}/k={k}" for m in ("__HIVE_DEFAULT_PARTITION__", "a", "b") for k in KS]
    want = fp.score(counts(), KS)
    found = fp.read(tmp_path / "out").frame.select("model", "problem", "metric", "k", "score").collect()
    key = ["model", "problem", "k"]
    assert found.sort(key).equals(want.select(found.columns).sort(key))
    one = pl.read_parquet(tmp_path / "out" / "model=a" / "k=3" / "part-0.parquet", hive_partitioning=False)
    assert one.equals(want.filter(model="a", k=3).drop("model", "k"))


def test_folders_that_cannot_be(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "note.txt").write_text("mine")
    (tmp_path / "file").write_text("mine")
    (tmp_path / "new").mkdir()
    for name, message in {"full": "with something in it", "file": "is a file", "no/new": "there is no folder"}.items():
        with pytest.raises(FastpasskError, match=message):
            fp.score(counts(), KS, sink=tmp_path / name, partition_by="model")
    for keys, message in {"modle": "did you mean 'model'", "score": "partition_by has 'score'"}.items():
        with pytest.raises(UsageError, match=message):
            fp.score(counts(), KS, sink=tmp_path / "new", partition_by=keys)
    with pytest.raises(UsageError, match="names no column"):
        fp.score(counts(), KS, sink=tmp_path / "new", partition_by=[])
    with pytest.raises(UsageError, match="name the folder"):
        fp.score(counts(), KS, partition_by="model")
    fp.score(counts(), KS, sink=tmp_path / "new", partition_by="model")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "full", "new"]
    counts().write_parquet(tmp_path / "in.parquet")
    words = ["score", str(tmp_path / "in.parquet"), "--k", "1", "--partition-by", "model"]
    assert main([*words, "-o", str(tmp_path / "shell.md")]) == 0
    assert len(list((tmp_path / "shell.md").iterdir())) == 3
    assert main(words) == main([*words, "-o", str(tmp_path / "full")]) == 2
    assert "name the folder" in capsys.readouterr().err


def test_a_bad_row_leaves_no_folder(tmp_path: Path) -> None:
    rows = {"model": ["a"] * 5000, "n": [5] * 5000, "c": [1] * 4999 + [6], "k": [2] * 5000}
    with pytest.raises(FastpasskError, match="row 5000 has n=5, c=6"):
        fp.score(rows, sink=tmp_path / "out", partition_by="model")
    assert not list(tmp_path.iterdir())


# threads


@pytest.mark.parametrize("kind", ["counts", "triples"])
def test_the_number_of_threads_never_shows(tmp_path: Path, kind: str) -> None:
    frame = pl.DataFrame({"n": [5 + i % 90 for i in range(250_000)]}).with_row_index("problem")
    frame = frame.with_columns(c=pl.col("problem").cast(pl.Int64) % 5)
    frame = frame.with_columns(k=1 + pl.col("n") % 7) if kind == "triples" else frame
    frame.write_parquet(tmp_path / "in.parquet", row_group_size=30_000)
    script = (
        "import sys, warnings, fastpassk as fp\nfrom fastpassk.steps.scores import ordered\nordered.HELD = 0\n"
        f"fp.score(sys.argv[1], {None if kind == 'triples' else [1, 5]}, sink=sys.argv[2])"
    )
    found = []
    for threads in ("1", "2", "5"):
        path = tmp_path / f"{threads}.parquet"
        env = os.environ | {"POLARS_MAX_THREADS": threads, "FASTPASSK_THREADS": threads}
        subprocess.run([sys.executable, "-c", script, tmp_path / "in.parquet", path], check=True, env=env)
        found.append(path.read_bytes())
    assert found[0] == found[1] == found[2]
