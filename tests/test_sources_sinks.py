"""Queries streamed into files, and lists of problems."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from fastpassk.errors import FastpasskError, UsageError
from fastpassk.sources import problem_names, read, sink_parquet
from fastpassk.storage import metadata

if TYPE_CHECKING:
    from pathlib import Path

TABLE = pl.DataFrame(
    {"n": range(1, 20_001), "c": [1] * 20_000, "k": [1] * 20_000, "note": [f"x{i}" for i in range(20_000)]}
)
FACTS: dict[str, object] = {"frame": "triples"}


def test_rows_stay_in_order(tmp_path: Path) -> None:
    TABLE.write_parquet(tmp_path / "in.parquet", row_group_size=777)
    dataset = read(tmp_path / "in.parquet")
    for name in ("out.parquet", "out.arrow"):
        sink_parquet(dataset, dataset.frame, tmp_path / name, FACTS)
        assert metadata(tmp_path / name) == FACTS
    assert pl.read_parquet(tmp_path / "out.parquet").equals(TABLE)
    assert pl.read_ipc(tmp_path / "out.arrow").equals(TABLE)


def test_a_failure_leaves_nothing(tmp_path: Path) -> None:
    table = TABLE.with_columns(k=pl.when(pl.col("n") == 19_999).then(1.5).otherwise(1.0))
    dataset = read(table)
    with pytest.raises(FastpasskError, match=r"k is 1\.5 in a row"):
        sink_parquet(dataset, dataset.frame, tmp_path / "out.parquet", FACTS)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "problems",
    [
        ["b", "a", "b"],
        ("b", "a"),
        {"a", "b"},
        pl.Series(["b", "a"]),
        pl.DataFrame({"task_id": ["b", "a", "a"], "level": [1, 2, 3]}),
        {"problem": ["a", "b"]},
        [{"problem": "a"}, {"problem": "b"}],
    ],
    ids=lambda problems: type(problems).__name__,
)
def test_lists_of_problems(problems: Any) -> None:
    assert problem_names(problems).to_list() == ["a", "b"]


def test_files_of_problems(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("2\n\n 1 \n2\n")
    (tmp_path / "a.csv").write_text("level,task_id\nx,2.0\ny,1.0\n")
    (tmp_path / "a.jsonl").write_text('{"task_id": 2}\n{"task_id": "1"}\n')
    for name in ("a.txt", "a.csv", "a.jsonl"):
        assert problem_names(tmp_path / name).to_list() == ["1", "2"]


def test_bad_lists_of_problems(tmp_path: Path) -> None:
    for problems in ([], ["a", None], {"problem": ["a", None]}):
        with pytest.raises(FastpasskError, match="empty or has a null name"):
            problem_names(problems)
    with pytest.raises(UsageError, match="no column for problem"):
        problem_names({"name": ["a"]})
    with pytest.raises(UsageError, match="cannot be read"):
        problem_names(tmp_path / "none.txt")
    for name in ("a", "b"):
        (tmp_path / f"{name}.csv").write_text(f"problem\n{name}\n")
    with pytest.raises(UsageError, match="the list of problems is 2 tables; give one"):
        problem_names(tmp_path / "*.csv")
