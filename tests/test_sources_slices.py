"""`where` and `meta`: which rows are kept, what they may name, and what is refused."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from fastpassk.errors import FastpasskError, FastpasskWarning, UsageError
from fastpassk.sources import collect, read

if TYPE_CHECKING:
    from pathlib import Path

DUMP = pl.DataFrame(
    {
        "model_name": ["a", "a", "b", "b"],
        "task_id": [1, 2, 1, 3],
        "trial": [0, 1, 10, 2],
        "hard": [True, False, None, True],
        "passed": [True, False, True, None],
    }
)


def kept(source: Any, *names: str, **options: Any) -> list[Any]:
    dataset = read(source, **options)
    rows = collect(dataset, dataset.frame).select(names or ["problem"])
    return sorted(rows.rows()) if len(names) > 1 else sorted(rows.to_series(), key=str)


@pytest.fixture(params=["frame", "parquet", "csv", "jsonl", "arrow"])
def dump(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    path = tmp_path / f"dump.{request.param}"
    if request.param == "frame":
        return DUMP
    {"parquet": DUMP.write_parquet, "csv": DUMP.write_csv, "jsonl": DUMP.write_ndjson, "arrow": DUMP.write_ipc}[
        request.param
    ](path)
    return path


@pytest.mark.parametrize(
    ("where", "problems"),
    [
        ("trial > 1", ["1", "3"]),
        ("trial = 10", ["1"]),
        ("task_id >= 2 AND model_name = 'a'", ["2"]),
        ("problem = '1'", ["1", "1"]),
        ("model = 'b'", ["1", "3"]),
        ("attempt = '1'", ["2"]),
        ("passed", ["1", "1"]),
        ("hard", ["1", "3"]),
        ("NOT hard", ["2"]),
        ("hard IS NULL", ["1"]),
        ("CAST(trial AS VARCHAR) = '10'", ["1"]),
        ("trial > 100", []),
        (pl.col("trial").is_between(1, 5), ["2", "3"]),
        ((pl.col("model_name") == "a") & pl.col("hard"), ["1"]),
    ],
    ids=str,
)
def test_where(dump: Any, where: Any, problems: list[str]) -> None:
    assert kept(dump, where=where) == problems


def test_where_leaves_the_values_as_they_are(dump: Any) -> None:
    assert kept(dump, "problem", "attempt", "outcome", where="task_id = 1 AND trial >= 0") == [
        ("1", "0", True),
        ("1", "10", True),
    ]


def test_a_raw_name_goes_before_a_canonical_one() -> None:
    table = {"model": ["x"], "model_name": ["a"], "task_id": ["p"], "problem": ["q"], "passed": [1]}
    assert kept(table, by="model", problem="task_id", where="problem = 'q'") == ["p"]


def test_where_on_folders_and_assumed_columns(tmp_path: Path) -> None:
    for lang in ("go", "c"):
        (tmp_path / f"lang={lang}").mkdir()
        pl.DataFrame({"problem": [lang], "passed": [1]}).write_csv(tmp_path / f"lang={lang}" / "x.csv")
    assert kept(tmp_path, where="lang = 'go'") == ["go"]
    assert kept(tmp_path, where="language = 'go'") == ["go"]
    assert kept(tmp_path, where="model = 'm'", assume={"model": "m"}) == ["c", "go"]


def test_numbers_of_text_files_agree_over_all_files(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("problem,level,passed\np,9,1\nq,10,1\n")
    (tmp_path / "b.csv").write_text("problem,level,passed\nr,10.5,1\ns,,1\n")
    assert kept(tmp_path, where="level > 9") == ["q", "r"]
    (tmp_path / "c.csv").write_text("problem,level,passed\nt,high,1\n")
    assert kept(tmp_path, where="level > '9'") == ["t"]
    with pytest.raises(UsageError, match=r"where does not fit the columns: .*; it reads level \(String\)"):
        read(tmp_path, where="level > 9")


def test_numbers_of_text_files_may_be_compared_as_texts(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("problem,level,passed\n1,9,1\n10,10,1\n")
    assert kept(tmp_path / "a.csv", where="problem = '10'") == ["10"]
    assert kept(tmp_path / "a.csv", where="problem > 9") == ["10"]
    with pytest.raises(UsageError, match=r"it reads problem \(Int64\), level \(Int64\)"):
        read(tmp_path / "a.csv", where="problem = '10' AND level > 9")


def test_where_on_counts_and_triples() -> None:
    assert kept({"problem": ["p", "q"], "n": ["5", "10"], "c": [1, 1]}, where="c = 1 AND n = '10'") == ["q"]
    counts = {"task_id": ["p", "q"], "num_samples": [5.0, 10.0], "num_correct": [1, 1]}
    assert kept(counts, where="n > 5") == ["q"]
    dataset = read({"n": [5, 6], "c": [1, 1], "k": [1, 1], "x": ["a", "b"]}, where="x = 'b'")
    assert collect(dataset, dataset.frame).rows() == [(6, 1, 1, "b")]


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("trail > 1", r"where reads 'trail', which is no column; there are model_name, task_id"),
        ("trial >", r"where 'trial >' is no SQL expression .*; write it as in"),
        ("trial > 'x'", r"where does not fit the columns"),
        ("trial", r"where does not fit the columns: filter predicate must be of type `Boolean`"),
        (3, r"where is a int; it is a SQL expression"),
    ],
)
def test_bad_wheres(where: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read(DUMP, where=where)


# meta

META = pl.DataFrame({"problem_id": ["1", "2", "3"], "level": [1, 2, 3], "site": ["x", "y", "x"]})


@pytest.fixture(params=["frame", "parquet", "csv", "jsonl"])
def meta(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    path = tmp_path / f"meta.{request.param}"
    if request.param == "frame":
        return META
    {"parquet": META.write_parquet, "csv": META.write_csv, "jsonl": META.write_ndjson}[request.param](path)
    return path


def test_meta_in_where_and_by(dump: Any, meta: Any) -> None:
    assert kept(dump, meta=meta, where="level >= 2") == ["2", "3"]
    dataset = read(dump, meta=meta, by=["site", "model"])
    assert dataset.identity == ("model", "site")
    assert dataset.columns["site"] == "(meta)"
    assert sorted(collect(dataset, dataset.frame).select("model", "site").rows()) == [
        ("a", "x"),
        ("a", "y"),
        ("b", "x"),
        ("b", "x"),
    ]


def test_meta_that_is_not_used_changes_nothing(dump: Any) -> None:
    assert kept(dump, meta=META) == ["1", "1", "2", "3"]


def test_float_names_of_problems_meet(tmp_path: Path) -> None:
    (tmp_path / "meta.csv").write_text("task_id,level\n1.0,1\n2.0,2\n3.0,3\n")
    assert kept(DUMP, meta=tmp_path / "meta.csv", where="level > 2") == ["3"]


def test_problems_without_meta_are_told_of() -> None:
    with pytest.warns(FastpasskWarning, match="1 of 3 problems are not in the frame"):
        dataset = read(DUMP, meta=META[:2], by="level")
    assert collect(dataset, dataset.frame).filter(problem="3")["level"].to_list() == [None]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read(DUMP, meta=META, by="level")


def test_bad_meta() -> None:
    with pytest.raises(FastpasskError, match="the problem '2' stands in it twice"):
        read(DUMP, meta=pl.concat([META, META[1:2]]), by="level")
    with pytest.raises(UsageError, match="no column for problem"):
        read(DUMP, meta=META.drop("problem_id"))
    with pytest.raises(UsageError, match="meta is 2 tables; give one"):
        read(DUMP, meta=[META, META])
    with pytest.raises(UsageError, match="meta is joined on the problem, and a table of tally"):
        read({"n": [1], "c": [1], "problems": [1]}, meta=META)


def test_own_columns_go_before_those_of_meta() -> None:
    assert kept(DUMP, meta=META.with_columns(trial=99), where="trial = 10") == ["1"]
