"""Scores of problems and of triples."""

from __future__ import annotations

from math import comb
from pathlib import Path

import polars as pl
import pytest

import fastpassk as fp
from fastpassk import FastpasskError, UsageError

COUNTS = pl.DataFrame({"model": ["x", "x", "y"], "problem": ["b", "a", "a"], "n": [4, 3, 2], "c": [2, 3, 0]})
TRIPLES = pl.DataFrame({"id": [7, 8, 9, 10], "n": [4, 4, 2, 5], "c": [2, 0, 1, 5], "k": [2, 1, 3, 5]})


def test_scores_of_problems() -> None:
    with pytest.warns(fp.FastpasskWarning, match="2 of 9 scores are null: their problem has n < k"):
        frame = fp.score(COUNTS, [1, 2, 4])
    assert frame.columns == ["model", "problem", "n", "c", "metric", "k", "score"]
    assert frame.rows()[:3] == [
        ("x", "a", 3, 3, "pass@k", 1, 1.0),
        ("x", "a", 3, 3, "pass@k", 2, 1.0),
        ("x", "a", 3, 3, "pass@k", 4, None),
    ]
    assert frame.filter(pl.col("problem") == "b")["score"].to_list() == [0.5, 5 / 6, 1.0]


def test_default_k_follow_each_group() -> None:
    frame = fp.score(COUNTS)
    assert frame.filter(model="x")["k"].unique().sort().to_list() == [1, 2, 3]
    assert frame.filter(model="y")["k"].unique().sort().to_list() == [1, 2]


def test_several_metrics() -> None:
    frame = fp.score(COUNTS, 2, metric=["pass@k", "pass^k"])
    assert frame.filter(problem="b").select("metric", "score").rows() == [("pass@k", 5 / 6), ("pass^k", 1 / 6)]


def test_scores_under_a_stopping_rule() -> None:
    data = pl.DataFrame({"problem": ["a", "b"], "n": [2, 6], "c": [1, 0]})
    assert fp.score(data, [1, 2, 6], stopped=1)["score"].to_list() == [0.0, 1.0, 1.0, 0.0, 0.0, 0.0]


def test_triples_keep_their_rows_and_columns() -> None:
    frame = fp.score(TRIPLES)
    assert frame.columns == ["id", "n", "c", "k", "score"]
    assert frame["score"].to_list() == [5 / 6, 0.0, None, 1.0]
    assert fp.score(TRIPLES, metric="pass^k")["score"].to_list() == [1 / 6, 0.0, None, 1.0]


def test_null_in_a_triple_is_null_in_its_score() -> None:
    frame = fp.score(
        pl.concat([TRIPLES, pl.DataFrame({"id": [1], "n": [None], "c": [1], "k": [1]}, schema=TRIPLES.schema)])
    )
    assert frame["score"].to_list()[-1] is None


@pytest.mark.parametrize("bad", [(4, 5, 1), (4, -1, 1), (0, 0, 1), (4, 1, 0)])
def test_impossible_triples_name_the_row_of_the_table(bad: tuple[int, int, int], tmp_path: Path) -> None:
    good = pl.DataFrame({"n": [4] * 1000, "c": [1] * 1000, "k": [2] * 1000})
    data = pl.concat([good, pl.DataFrame([bad], ["n", "c", "k"], orient="row")])
    with pytest.raises(FastpasskError, match=r"row 1001 has n=.*the first of 1 rows"):
        fp.score(data)
    with pytest.raises(FastpasskError, match="row 1001"):
        fp.score(data, sink=tmp_path / "out.parquet")
    assert list(tmp_path.iterdir()) == []


def test_triples_from_file_to_file(tmp_path: Path) -> None:
    rows = [(n, c, k) for n in range(1, 30) for c in range(n + 1) for k in range(1, 31)]
    source, target = tmp_path / "in.parquet", tmp_path / "out.parquet"
    pl.DataFrame(rows, {"n": pl.Int32, "c": pl.Int16, "k": pl.UInt8}, orient="row").write_parquet(
        source, row_group_size=1000
    )
    assert fp.score(source, sink=target).height == 0
    frame = pl.read_parquet(target)
    assert frame.select("n", "c", "k").rows() == rows
    assert frame.schema["n"] == pl.Int32
    want = [(comb(n, k) - comb(n - c, k)) / comb(n, k) if k <= n else None for n, c, k in rows]
    assert frame["score"].to_list() == want


@pytest.mark.parametrize(
    "option", [{"k": 1}, {"by": ["id"]}, {"missing": "fail"}, {"stopped": 1}, {"metric": ["pass@k", "pass^k"]}]
)
def test_options_without_meaning_for_triples_are_refused(option: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        fp.score(TRIPLES, **option)  # type: ignore[arg-type]


@pytest.mark.parametrize("suffix", ["parquet", "csv", "json"])
def test_scores_into_a_file(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"scores.{suffix}"
    assert fp.score(COUNTS, [1], sink=path).height == 0
    assert path.stat().st_size > 0
    if suffix == "parquet":
        assert pl.read_parquet(path).equals(fp.score(COUNTS, [1]))


def test_the_source_is_not_overwritten(tmp_path: Path) -> None:
    source = tmp_path / "in.parquet"
    TRIPLES.write_parquet(source)
    before = source.read_bytes()
    (tmp_path / "link.parquet").symlink_to(source)
    for target in (source, tmp_path / "link.parquet", tmp_path / "." / "in.parquet"):
        with pytest.raises(UsageError, match="is one of the inputs and would be overwritten"):
            fp.score(source, sink=target)
    assert source.read_bytes() == before
