"""Keys, outcomes and counts: every accepted spelling, and what is bad."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

from fastpassk.errors import FastpasskError, UsageError
from fastpassk.schema.outcomes import FAILED, NO_OUTCOME, PASSED
from fastpassk.sources import collect, read

if TYPE_CHECKING:
    from pathlib import Path

Series = pl.Series


def frame_of(source: Any, **options: Any) -> pl.DataFrame:
    dataset = read(source, **options)
    return collect(dataset, dataset.frame)


def outcomes(values: Any, **options: Any) -> list[tuple[bool | None, bool]]:
    """Read one column of outcomes; give outcome and bad of each row."""
    column = values if isinstance(values, pl.Series) else pl.Series(values, strict=False)
    table = pl.DataFrame({"problem": ["p"] * len(column), "passed": column})
    return frame_of(table, **options).select("outcome", "bad").rows()


def as_json(folder: Path, lines: list[dict[str, Any]]) -> Path:
    (folder / "dump.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder / "dump.jsonl"


GOOD, FAIL, NONE, BAD = (True, False), (False, False), (None, False), (None, True)


# outcomes


def test_booleans() -> None:
    assert outcomes([True, False, None]) == [GOOD, FAIL, NONE]


@pytest.mark.parametrize("kind", [pl.Int8, pl.UInt8, pl.Int32, pl.Int64, pl.UInt64, pl.Int128])
def test_integers(kind: Any) -> None:
    assert outcomes(Series([1, 0, 2, None], dtype=kind)) == [GOOD, FAIL, BAD, NONE]


def test_codes_are_not_truthy() -> None:
    assert outcomes([1, -1, -2, 2]) == [GOOD, BAD, BAD, BAD]


@pytest.mark.parametrize("kind", [pl.Float32, pl.Float64])
def test_floats(kind: Any) -> None:
    values = Series([1.0, 0.0, -0.0, math.nan, None, 0.5, math.inf], dtype=kind)
    assert outcomes(values) == [GOOD, FAIL, FAIL, NONE, NONE, BAD, BAD]


def test_decimals() -> None:
    assert outcomes(Series([1.0, 0.0, 0.5]).cast(pl.Decimal(5, 2))) == [GOOD, FAIL, BAD]


@pytest.mark.parametrize("kind", [pl.Float32, pl.Float64, pl.Decimal(10, 1)])
def test_thresholds_of_numbers(kind: Any) -> None:
    values = Series([0.7, 0.6, 1.0, None]).cast(kind)
    assert outcomes(values, threshold=0.7) == [GOOD, FAIL, GOOD, NONE]


def test_thresholds_of_what_is_not_finite() -> None:
    assert outcomes([math.nan, math.inf, -math.inf], threshold=0.5) == [NONE, BAD, BAD]
    assert outcomes([3, 2], threshold=3) == [GOOD, FAIL]


def test_texts() -> None:
    for words, expected in ((PASSED, GOOD), (FAILED, FAIL), (NO_OUTCOME, NONE), (["yes", "maybe", "2", "0.5"], BAD)):
        spelled = [form for word in words for form in (word, word.upper(), f" {word.title()}\t")]
        assert outcomes(spelled) == [expected] * len(spelled)


def test_texts_with_a_threshold() -> None:
    values = ["0.7", " 0.69", "1e0", "true", "fail", "nan", "", "x", "inf", None]
    assert outcomes(values, threshold=0.7) == [GOOD, FAIL, GOOD, GOOD, FAIL, NONE, NONE, BAD, BAD, NONE]


def test_categories_and_nothing_at_all() -> None:
    assert outcomes(Series(["pass", "fail", None]).cast(pl.Categorical)) == [GOOD, FAIL, NONE]
    assert outcomes(Series([None, None], dtype=pl.Null)) == [NONE, NONE]


def test_raw_is_the_value_as_text() -> None:
    for values, texts in (([2, None], ["2", None]), ([0.5], ["0.5"]), ([" Maybe "], [" Maybe "])):
        table = {"problem": ["p"] * len(values), "passed": values}
        assert frame_of(table)["raw"].to_list() == texts


@pytest.mark.parametrize("values", [[{"a": 1}], [b"x"], [[[1]]]])
def test_what_is_no_outcome_by_its_type(values: list[Any]) -> None:
    with pytest.raises(UsageError, match="column 'passed' holds values of type"):
        read({"problem": ["p"], "passed": values})


def test_lists_are_that_many_samples() -> None:
    table = {"problem": ["p", "q", "r", "s"], "passed": [[True, False], [], None, [None, True]]}
    assert frame_of(table).select("problem", "outcome", "bad").rows() == [
        ("p", True, False),
        ("p", False, False),
        ("q", None, False),
        ("r", None, False),
        ("s", None, False),
        ("s", True, False),
    ]


@pytest.mark.parametrize(
    "column",
    [
        Series([[1, 0, 2]]),
        Series([[1, 0, 2]], dtype=pl.Array(pl.Int8, 3)),
        Series([[1.0, 0.0, 2.0]]),
        Series([["pass", "Fail", "?"]]),
        Series([["pass", "fail", "?"]], dtype=pl.List(pl.Categorical)),
    ],
)
def test_lists_of_every_kind(column: pl.Series) -> None:
    assert outcomes(column) == [GOOD, FAIL, BAD]


def test_lists_and_thresholds() -> None:
    assert outcomes([[0.4, 0.5], [0.6]], threshold=0.5) == [FAIL, GOOD, GOOD]


def test_attempts_of_lists() -> None:
    table = {"problem": ["p", "p", "q"], "trial": [0, 1, 0], "passed": [[True, False], [True], []]}
    assert frame_of(table)["attempt"].to_list() == ["0.1", "0.2", "1.1", "0.1"]


def test_lists_as_text(tmp_path: Path) -> None:
    lists: list[Any] = [
        [True, False],
        [],
        None,
        ["pass", " Fail ", "null"],
        [1, 0.0, None],
        True,
        "failed",
        ["a, b", 2],
    ]
    path = as_json(tmp_path, [{"problem": f"p{place}", "passed": value} for place, value in enumerate(lists)])
    found = frame_of(path).group_by("problem", maintain_order=True).agg("outcome", "bad")
    assert [list(zip(*row[1:], strict=True)) for row in found.rows()] == [
        [GOOD, FAIL], [NONE], [NONE], [GOOD, FAIL, NONE], [GOOD, FAIL, NONE], [GOOD], [FAIL], [BAD, BAD, BAD],
    ]  # fmt: skip


def test_lists_as_text_in_csv(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("problem,passed\np,\"[True, False]\"\nq,\"['passed', 'failed']\"\nr,[]\ns,1\n")
    assert frame_of(tmp_path / "a.csv").select("problem", "outcome").rows() == [
        ("p", True), ("p", False), ("q", True), ("q", False), ("r", None), ("s", True),
    ]  # fmt: skip


def test_half_a_quote_is_no_outcome(tmp_path: Path) -> None:
    path = as_json(tmp_path, [{"problem": "p", "passed": ["pass, fail"]}, {"problem": "q", "passed": [[True]]}])
    assert frame_of(path)["bad"].to_list() == [True, True, True]


# keys


def keys(column: pl.Series) -> list[str | None]:
    table = pl.DataFrame({"problem": column, "passed": [True] * len(column)})
    return frame_of(table)["problem"].to_list()


@pytest.mark.parametrize(
    ("column", "texts"),
    [
        (Series([1, 2], dtype=pl.Int8), ["1", "2"]),
        (Series([2.0, 2.5, math.nan, None, 1e15, -3.0]), ["2", "2.5", None, None, "1000000000000000", "-3"]),
        (Series([2.0, 0.1], dtype=pl.Float32), ["2", "0.1"]),
        (Series([2.0, 2.5]).cast(pl.Decimal(5, 2)), ["2", "2.50"]),
        (Series([True, False, None]), ["true", "false", None]),
        (Series(["a", "", None, " "]), ["a", None, None, " "]),
        (Series(["2.0", "3.0"]), ["2.0", "3.0"]),
        (Series(["b", "a", "b"], dtype=pl.Categorical), ["b", "a", "b"]),
        (Series(["b", "a"], dtype=pl.Enum(["b", "a"])), ["b", "a"]),
        (Series([None], dtype=pl.Null), [None]),
        (Series(["2024-01-02"]).str.to_date(), ["2024-01-02"]),
    ],
)
def test_keys_are_text(column: pl.Series, texts: list[str | None]) -> None:
    assert keys(column) == texts


@pytest.mark.parametrize("column", [Series([b"x"]), Series([{"a": 1}]), Series([[1]])])
def test_keys_that_are_no_text(column: pl.Series) -> None:
    with pytest.raises(UsageError, match=r"column 'problem' holds values of type .*; it must be text"):
        keys(column)


def test_objects_as_keys_in_json(tmp_path: Path) -> None:
    path = as_json(tmp_path, [{"problem": {"id": 1}, "passed": True}])
    with pytest.raises(UsageError, match=r"dump\.jsonl: column 'problem' holds lists or objects"):
        read(path)


def test_float_columns_of_csv(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("problem,model,trial,passed\n1.0,v1.0,2.0,1\n2.0,v2.0,,0\n")
    (tmp_path / "b.csv").write_text("problem,model,trial,passed\n1.0,x,1.5,1\n2_a,y,2.0,0\n")
    assert frame_of(tmp_path / "a.csv").select("problem", "model", "attempt").rows() == [
        ("1", "v1.0", "2"),
        ("2", "v2.0", None),
    ]
    assert frame_of(tmp_path / "b.csv").select("problem", "attempt").rows() == [("1.0", "1.5"), ("2_a", "2.0")]


def test_one_late_text_keeps_a_column_of_csv_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("problem,passed\n" + "1.0,1\n" * 3000 + "x,1\n")
    assert set(frame_of(tmp_path / "a.csv")["problem"]) == {"1.0", "x"}


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        (["0.20", "0", "1e0", "high", "", None], ["0.2", "0.0", "1.0", "high", None, None]),
        ([0, 1], ["0.0", "1.0"]),
        ([0.2, 1.0, math.nan], ["0.2", "1.0", None]),
        (Series([0.2], dtype=pl.Float32), ["0.2"]),
        (Series([0.2]).cast(pl.Decimal(4, 2)), ["0.2"]),
        (Series(["0.20", "nan"]).cast(pl.Categorical), ["0.2", None]),
    ],
)
def test_temperatures(values: Any, texts: list[str | None]) -> None:
    column = values if isinstance(values, pl.Series) else Series(values)
    table = pl.DataFrame({"problem": ["p"] * len(column), "passed": [1] * len(column), "temp": column})
    assert frame_of(table)["temperature"].to_list() == texts
    assert frame_of(table, by="temp")["temp"].to_list() == texts


def test_temperatures_of_csv_are_not_cut(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("problem,temperature,passed\np,1.0,1\np,0.0,1\n")
    assert frame_of(tmp_path / "a.csv")["temperature"].to_list() == ["1.0", "0.0"]


# reason, stopped


def test_reasons_and_stopped() -> None:
    table = {
        "problem": ["p"] * 4,
        "passed": [None] * 4,
        "reason": ["Timeout", " infra ", "", None],
        "stopped": ["yes", "0", "", "True"],
    }
    found = frame_of(table)
    assert found["reason"].to_list() == ["timeout", "infra", None, None]
    assert found["stopped"].to_list() == [True, False, False, True]
    counts = frame_of({"problem": ["p", "q"], "n": [1, 1], "c": [1, 1], "stopped": [True, None]})
    assert counts["stopped"].to_list() == [True, False]


# counts


@pytest.mark.parametrize(
    "column",
    [Series([5, 3], dtype=kind) for kind in (pl.Int8, pl.UInt8, pl.Int16, pl.UInt32, pl.Int64, pl.UInt64, pl.Int128)]
    + [Series([5.0, 3.0]), Series([5.0, 3.0], dtype=pl.Float32), Series([5, 3]).cast(pl.Decimal(38, 0))]
    + [Series(["5", " 3.0"]), Series(["5", "3"]).cast(pl.Categorical)],
)
def test_whole_counts(column: pl.Series) -> None:
    found = frame_of(pl.DataFrame({"problem": ["p", "q"], "n": column, "c": [1, 1]}))
    assert (found["n"].to_list(), found["n"].dtype, found["bad"].to_list()) == ([5, 3], pl.Int64, [False, False])


@pytest.mark.parametrize(
    ("column", "raw"),
    [
        (Series([5.5]), "n=5.5, c=2"),
        (Series([math.nan]), "n=NaN, c=2"),
        (Series([math.inf]), "n=inf, c=2"),
        (Series([1e19]), "n=1e+19, c=2"),
        (Series([None], dtype=pl.Int64), "n=null, c=2"),
        (Series(["five"]), "n=five, c=2"),
        (Series([""]), "n=, c=2"),
        (Series([2**64 - 1], dtype=pl.UInt64), "n=18446744073709551615, c=2"),
    ],
)
def test_bad_counts(column: pl.Series, raw: str) -> None:
    found = frame_of(pl.DataFrame({"problem": ["p"], "n": column, "c": [2]}))
    assert found.select("n", "c", "bad", "raw").rows() == [(None, 2, True, raw)]


def test_truth_is_no_count() -> None:
    with pytest.raises(UsageError, match="column 'c' holds true/false, not counts"):
        read({"problem": ["p"], "n": [1], "c": [True]})


def test_tallies() -> None:
    found = frame_of({"model": ["a"], "n": [5], "c": [2.0], "problems": ["7"]})
    assert found.rows() == [("a", 5, 2, 7, False, "n=5, c=2.0, problems=7")]


def test_triples_are_left_as_they_are() -> None:
    table = pl.DataFrame(
        {
            "x": [[1], [2]],
            "num_samples": Series([5, 6], dtype=pl.Int16),
            "c": [1.0, 2.0],
            "k": ["1", "2"],
            "model": ["a", "b"],
        }
    )
    dataset = read(table)
    found = collect(dataset, dataset.frame)
    assert dataset.identity == ("model",)
    assert found.schema == pl.Schema(
        {"x": pl.List(pl.Int64), "n": pl.Int16, "c": pl.Int64, "k": pl.Int64, "model": pl.String}
    )
    assert found.select("n", "c", "k").rows() == [(5, 1, 1), (6, 2, 2)]


@pytest.mark.parametrize("value", [1.5, math.nan, "x"])
def test_triples_that_are_no_numbers(value: Any) -> None:
    dataset = read({"n": [5, 5], "c": [1, 1], "k": [None, value]})
    with pytest.raises(FastpasskError, match=r"k is (1\.5|NaN|x) in a row; n, c and k must be whole numbers"):
        collect(dataset, dataset.frame)


def test_two_columns_for_one_number_of_triples() -> None:
    with pytest.raises(UsageError, match="the table has a column 'n' besides the one named for it"):
        read({"n": [1], "size": [2], "c": [1], "k": [1]}, n="size")


def test_null_stays_null_in_triples() -> None:
    dataset = read({"n": [5, None], "c": [1.0, None], "k": [1, 1]})
    assert collect(dataset, dataset.frame)["c"].to_list() == [1, None]


def test_scores() -> None:
    table = {
        "model": ["a"] * 3,
        "task_id": [1, 2, 3],
        "k": [1.0, 2.0, 2.0],
        "metric": ["pass@k"] * 3,
        "score": [0.5, math.nan, None],
        "n": [2, None, 3],
    }
    found = frame_of(table)
    assert found.columns == ["model", "problem", "metric", "n", "k", "score"]
    assert found.rows()[1:] == [("a", "2", "pass@k", None, 2, None), ("a", "3", "pass@k", 3, 2, None)]


def test_scores_of_csv(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("problem,k,score\np,1,0.25\nq,1,\nr,1,NaN\n")
    assert frame_of(tmp_path / "a.csv").rows() == [("p", 1, 0.25), ("q", 1, None), ("r", 1, None)]
    (tmp_path / "a.csv").write_text("problem,k,score\np,1,high\n")
    with pytest.raises(FastpasskError, match="high"):
        frame_of(tmp_path / "a.csv")


def test_sums_are_safe() -> None:
    found = frame_of(
        {"problem": ["p"] * 3, "n": Series([2**30] * 3, dtype=pl.Int32), "c": Series([1] * 3, dtype=pl.Int8)}
    )
    assert found["n"].sum() == 3 * 2**30


def test_numpy_columns() -> None:
    assert outcomes(Series(np.array([1, 0, 1], dtype=np.int8))) == [GOOD, FAIL, GOOD]
    assert frame_of({"problem": np.array(["a", "b"]), "passed": np.array([True, False])})["outcome"].to_list() == [
        True,
        False,
    ]
