"""Columns whose names meet those that the steps use themselves, and options that make no sense."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import fastpassk as fp
from fastpassk import FastpasskWarning, UsageError

SAMPLES = pl.DataFrame({"problem": ["a", "a", "b", "b"], "passed": [1, 0, 1, 1]})
STEPS = [fp.count, fp.tally, fp.score, fp.curve, fp.check]
HELPERS = (
    "rows", "row", "len", "sum", "size", "expected", "limit", "right", "groups", "group", "index", "total", "passed",
    "reason", "attempt", "count", "repeats", "literal",
)  # fmt: skip


@pytest.mark.filterwarnings("ignore::fastpassk.FastpasskWarning")
@pytest.mark.parametrize("name", HELPERS)
def test_any_column_may_make_groups(name: str) -> None:
    data = SAMPLES if name == "passed" else SAMPLES.with_columns(pl.lit("v").alias(name))
    more: dict[str, Any] = {"problems": ["a", "b", "c"], "missing": "fail", "common": True}
    for step in (fp.count, fp.tally, fp.score, fp.curve):
        assert step(data, by=[name], **more).columns[0] == name
    assert fp.curve(fp.count(data, by=[name]), 1, by=[name]).columns[0] == name
    assert fp.curve(fp.score(data, 1, by=[name]), by=[name]).columns[0] == name
    assert list(fp.check(data, by=[name])["identity"]) == [name]


@pytest.mark.parametrize("name", ["problem", "n", "c", "k", "metric", "score", "estimate", "stopped", "missing"])
@pytest.mark.parametrize("step", STEPS)
def test_columns_of_the_result_make_no_groups(step: Any, name: str) -> None:
    data = SAMPLES if name == "problem" else SAMPLES.with_columns(pl.lit(1).alias(name))
    with pytest.raises(UsageError, match=f"by names '{name}', which the result needs for a column of its own"):
        step(data, by=[name])


def test_scores_are_grouped_by_their_metric_anyway() -> None:
    with pytest.raises(UsageError, match="by names 'metric'"):
        fp.curve(fp.score(SAMPLES, 1), by=["metric"])


def test_groups_by_attempt() -> None:
    for name in ("attempt", "trial"):
        data = SAMPLES.with_columns(pl.Series(name, [0, 1, 0, 1]))
        want = [("0", "a", 1, 1), ("0", "b", 1, 1), ("1", "a", 1, 0), ("1", "b", 1, 1)]
        assert fp.count(data, by=[name]).rows() == want
        assert fp.count(data, by=["attempt"]).rows() == want
    with pytest.raises(UsageError, match="by names 'attempt', and attempt= names 'trial'"):
        fp.count(data.with_columns(attempt=1), by=["attempt"], attempt="trial")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threshold": float("nan")}, "threshold is nan"),
        ({"threshold": float("inf")}, "threshold is inf"),
        ({"threshold": "0.5"}, "threshold is '0.5'"),
        ({"threshold": True}, "threshold is True"),
        ({"expect_n": "10"}, "expect_n is '10'"),
        ({"expect_n": 2.5}, "expect_n is 2.5"),
        ({"expect_n": True}, "expect_n is True"),
        ({"missing": None}, "missing is None; it is error, fail"),
        ({"by": 5}, "5 is no name"),
        ({"pool": [None]}, "None is no name"),
        ({"assume": ["model"]}, r"assume is \['model'\]; it maps"),
        ({"assume": {1: 2}}, "it maps column names to values"),
        ({"assume": {"model": None}}, "the value set for model is None"),
        ({"common": "no"}, "common is 'no'; it is True or False"),
        ({"unique": 1}, "unique is 1; it is True or False"),
    ],
)
@pytest.mark.parametrize("step", STEPS)
def test_values_of_options_that_make_no_sense(step: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        step(SAMPLES, **options)


def test_a_metric_is_a_name() -> None:
    with pytest.raises(UsageError, match="5 is no name"):
        fp.curve(SAMPLES, 1, metric=5)  # type: ignore[arg-type]


def test_a_k_that_can_be_read_once_serves_every_metric() -> None:
    frame = fp.score(SAMPLES, (k for k in (1, 2)), metric=["pass@k", "pass^k"])
    assert frame["k"].to_list() == [1, 2, 1, 2] * 2


def test_wide_integers_in_triples() -> None:
    wide = pl.DataFrame({"n": [5, 5], "c": [1, 2], "k": [2, 2]}, schema=dict.fromkeys("nck", pl.Int128))
    assert fp.score(wide)["score"].to_list() == [0.4, 0.7]


def test_minus_zero_is_the_temperature_zero() -> None:
    assert fp.count(SAMPLES.with_columns(temperature=pl.Series([0.0, -0.0, -0.0, 0.0]))).height == 2


def test_a_frame_that_grew_in_place_has_no_provenance() -> None:
    counts = fp.count(SAMPLES)
    fp.provenance(counts)["options"]["missing"] = "fail"  # type: ignore[index]
    assert fp.provenance(counts)["options"] == {}  # type: ignore[index]
    counts.extend(counts)
    assert fp.provenance(counts) is None


def test_a_bad_outcome_in_a_list_is_placed_among_the_samples() -> None:
    data = {"problem": ["a", "b"], "passed": [["true", "false"], ["maybe"]]}
    with pytest.raises(fp.FastpasskError, match=r"passed is maybe in sample 3 \(problem b\)"):
        fp.count(data)


def test_equal_sizes_of_different_problem_sets_are_told(recwarn: pytest.WarningsRecorder) -> None:
    fp.curve({"len": ["x", "y"], "problem": ["a", "b"], "passed": [1, 0]}, 1, by="len")
    assert [note.category for note in recwarn] == [FastpasskWarning]
