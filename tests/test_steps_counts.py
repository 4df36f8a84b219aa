"""Samples to counts: every policy both ways, identity, and what must be refused."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import fastpassk as fp
from fastpassk import FastpasskError, FastpasskWarning, UsageError


def samples(**columns: list[object]) -> pl.DataFrame:
    return pl.DataFrame(columns)


def rows(frame: pl.DataFrame) -> list[tuple[object, ...]]:
    return frame.rows()


PLAIN = samples(problem=["a", "a", "b", "a", "b"], passed=[True, False, True, True, False])


def test_counts_are_keyed_and_sorted() -> None:
    frame = fp.count(PLAIN)
    assert rows(frame) == [("all", "a", 3, 2), ("all", "b", 2, 1)]
    assert frame.schema == {"group": pl.String, "problem": pl.String, "n": pl.Int64, "c": pl.Int64}


def test_every_identity_column_is_in_the_key() -> None:
    data = PLAIN.with_columns(temperature=pl.Series([0.2, 0.8, 0.2, 0.2, 0.8]), model_name=pl.lit("m"))
    frame = fp.count(data)
    assert frame.columns == ["model", "temperature", "problem", "n", "c"]
    assert rows(frame)[0] == ("m", "0.2", "a", 2, 2)


@pytest.mark.parametrize(
    "column", ["temperature", "benchmark", "subset", "language", "checkpoint", "scorer", "model", "agent"]
)
def test_a_dropped_identity_column_that_varies_is_never_pooled_silently(column: str) -> None:
    data = PLAIN.with_columns(pl.Series(column, ["x", "y", "x", "y", "x"]), other=pl.lit("o"))
    with pytest.raises(FastpasskError, match=rf"{column} differs within .*problem=a \(x, y\).*pool"):
        fp.count(data, by=["other"])
    pooled = fp.count(data, by=["other"], pool=[column])
    assert rows(pooled) == [("o", "a", 3, 2), ("o", "b", 2, 1)]
    by_default = fp.count(data, pool=column)
    assert by_default.select("n", "c").rows() == [(3, 2), (2, 1)]


def test_a_dropped_column_that_is_constant_within_each_problem_may_go() -> None:
    data = PLAIN.with_columns(subset=pl.col("problem").replace_strict({"a": "easy", "b": "hard"}), model=pl.lit("m"))
    assert fp.count(data, by=["model"])["n"].to_list() == [3, 2]


def test_pooling_is_checked_for_nulls_too() -> None:
    data = PLAIN.with_columns(temperature=pl.Series([0.2, None, 0.2, 0.2, None]), model=pl.lit("m"))
    with pytest.raises(FastpasskError, match="temperature differs"):
        fp.count(data, by="model")


def test_a_column_asked_for_and_absent_lists_what_exists() -> None:
    with pytest.raises(UsageError, match=r"'modle'.*problem, passed"):
        fp.count(PLAIN, by=["modle"])
    assert fp.count(PLAIN, assume={"model": "m"})["model"].to_list() == ["m", "m"]
    with pytest.raises(UsageError, match="already has a model"):
        fp.count(PLAIN.with_columns(model=pl.lit("x")), assume={"model": "m"})


def test_an_unknown_option_is_a_type_error_with_a_guess() -> None:
    with pytest.raises(TypeError, match="did you mean 'missing'"):
        fp.count(PLAIN, mising="fail")  # type: ignore[call-arg]


@pytest.mark.parametrize("column", ["attempt", "trial", "epoch"])
def test_repeated_attempts(column: str) -> None:
    data = samples(problem=["a", "a", "a"], passed=[1, 1, 0], **{column: [0, 0, 1]})
    with pytest.raises(FastpasskError, match=r"1 rows repeat an attempt, first problem=a, attempt=0"):
        fp.count(data)
    with pytest.warns(FastpasskWarning, match="1 repeated rows were joined"):
        same = fp.count(data, duplicates="same")
    assert rows(same) == [("all", "a", 2, 1)]
    assert rows(fp.count(data, duplicates="keep")) == [("all", "a", 3, 2)]


@pytest.mark.parametrize("outcomes", [[1, 0], [1, None], [0, None]])
def test_conflicting_repeats_are_refused(outcomes: list[int | None]) -> None:
    data = samples(problem=["a", "a"], passed=outcomes, attempt=[0, 0])
    with pytest.raises(FastpasskError, match="conflicting outcomes, first problem=a, attempt=0"):
        fp.count(data, duplicates="same", missing="fail")


def test_duplicates_need_an_attempt_column_and_null_attempts_are_refused() -> None:
    with pytest.raises(UsageError, match="needs an attempt column"):
        fp.count(PLAIN, duplicates="same")
    data = samples(problem=["a", "a"], passed=[1, 0], attempt=[0, None])
    with pytest.raises(FastpasskError, match="the attempt is null in 1 rows"):
        fp.count(data)
    assert rows(fp.count(data, duplicates="keep")) == [("all", "a", 2, 1)]


def test_rows_without_an_attempt_column_are_never_removed_by_content() -> None:
    assert rows(fp.count(samples(problem=["a"] * 3, passed=[1, 1, 1]))) == [("all", "a", 3, 3)]


GAPS = samples(problem=["a", "a", "b", "c"], passed=[True, None, False, None])


def test_missing_outcomes_are_an_error_by_default() -> None:
    with pytest.raises(FastpasskError, match=r"2 of 4 samples have no outcome, first at problem=a"):
        fp.count(GAPS)


def test_missing_outcomes_fail_or_drop_by_name() -> None:
    with pytest.warns(FastpasskWarning, match="missing=fail: 2 of 4 samples have no outcome and count as failures"):
        failed = fp.count(GAPS, missing="fail")
    assert rows(failed) == [("all", "a", 2, 1), ("all", "b", 1, 0), ("all", "c", 1, 0)]
    with pytest.warns(FastpasskWarning) as told:
        dropped = fp.count(GAPS, missing="drop")
    assert rows(dropped) == [("all", "a", 1, 1), ("all", "b", 1, 0)]
    assert any("1 problems have no outcome left" in str(one.message) for one in told)


def test_a_generic_table_has_no_harness_rule() -> None:
    with pytest.raises(UsageError, match="needs a format with a rule of its own"):
        fp.count(GAPS, missing="harness")


def test_missing_by_reason() -> None:
    data = GAPS.with_columns(reason=pl.Series([None, "timeout", None, "infra"]))
    with pytest.raises(FastpasskError, match=r"\(infra\), first at problem=c"):
        fp.count(data, missing="timeout=fail")
    with pytest.warns(FastpasskWarning) as told:
        frame = fp.count(data, missing={"timeout": "fail", "infra": "drop"})
    assert rows(frame) == [("all", "a", 2, 1), ("all", "b", 1, 0)]
    texts = [str(one.message) for one in told]
    assert any("1 timeout" in text and "failures" in text for text in texts)
    assert any("1 infra" in text and "left out" in text for text in texts)


def test_a_reason_outside_the_list_follows_the_rule_of_no_reason() -> None:
    data = GAPS.with_columns(reason=pl.Series([None, "cosmic ray", None, "infra"]))
    with pytest.raises(FastpasskError, match="1 of 4 samples have no outcome, first at problem=a"):
        fp.count(data, missing="infra=drop")


@pytest.mark.parametrize(
    ("outcomes", "raw"),
    [([True, 2], "2"), ([1, -1], "-1"), (["pass", "maybe"], "maybe"), ([1.0, 0.5], "0.5"), (["yes", "true"], "yes")],
)
def test_values_that_are_no_outcome_are_named(outcomes: list[object], raw: str) -> None:
    data = pl.DataFrame({"problem": ["a", "b"], "passed": pl.Series(outcomes, strict=False)})
    with pytest.raises(FastpasskError, match=rf"passed is {raw} in sample \d \(problem [ab]\)"):
        fp.count(data)


def test_threshold_makes_a_score_an_outcome() -> None:
    data = samples(problem=["a"] * 4, passed=[0.4, 0.5, 1.0, -2.0])
    assert rows(fp.count(data, threshold=0.5)) == [("all", "a", 4, 2)]


@pytest.mark.parametrize("problem", [None, float("nan")])
def test_a_null_problem_is_refused(problem: object) -> None:
    with pytest.raises(FastpasskError, match="the problem is null in 1 rows"):
        fp.count(pl.DataFrame({"problem": [1.0, problem], "passed": [1, 1]}, strict=False))


def test_no_rows_and_a_where_that_keeps_none() -> None:
    with pytest.raises(FastpasskError, match="no samples"):
        fp.count(PLAIN.clear())
    with pytest.raises(FastpasskError, match="no samples"):
        fp.count(PLAIN, where="problem = 'z'")


def test_lists_of_outcomes_are_that_many_samples_and_an_empty_list_is_missing() -> None:
    data = samples(problem=["a", "b"], passed=[[True, False], []])
    with pytest.raises(FastpasskError, match="1 of 3 samples have no outcome, first at problem=b"):
        fp.count(data)
    with pytest.warns(FastpasskWarning):
        assert rows(fp.count(data, missing="fail")) == [("all", "a", 2, 1), ("all", "b", 1, 0)]


COUNTS = pl.DataFrame({"model": ["x", "x", "y"], "problem": ["a", "b", "a"], "n": [4, 3, 4], "c": [2, 3, 0]})


def test_counts_pass_through() -> None:
    assert rows(fp.count(COUNTS)) == COUNTS.rows()
    floats = COUNTS.with_columns(pl.col("n", "c").cast(pl.Float64))
    assert fp.count(floats).equals(fp.count(COUNTS))
    small = COUNTS.with_columns(pl.col("n").cast(pl.UInt8), pl.col("c").cast(pl.Int8))
    assert fp.count(small).equals(fp.count(COUNTS))


@pytest.mark.parametrize(("n", "c"), [(0, 0), (4, 5), (4, -1), (4.5, 1), (None, 1), (4, None), (float("nan"), 0)])
def test_impossible_counts_name_the_row(n: float | None, c: float | None) -> None:
    data = pl.DataFrame({"problem": ["a", "b"], "n": [3.0, n], "c": [1.0, c]}, strict=False)
    with pytest.raises(FastpasskError, match=r"row 2 has .*the first of 1 rows"):
        fp.count(data)


def test_a_repeated_key_of_counts_is_refused() -> None:
    with pytest.raises(FastpasskError, match="model=x, problem=a stands in 2 rows"):
        fp.count(pl.concat([COUNTS, COUNTS.head(1)]))


@pytest.mark.parametrize("option", [{"threshold": 1}, {"duplicates": "keep"}])
def test_options_of_samples_are_refused_for_counts(option: dict[str, object]) -> None:
    with pytest.raises(UsageError, match="for samples"):
        fp.count(COUNTS, **option)  # type: ignore[arg-type]


def test_expected_problems_and_samples() -> None:
    with pytest.raises(
        FastpasskError,
        match=r"8 expected samples are absent in 3 problems, 1 of them absent as a whole, first model=x, problem=a",
    ):
        fp.count(COUNTS.filter(pl.col("model") == "x"), problems=["a", "b", "c"], expect_n=5)


def test_absent_samples_fail_or_drop_by_name() -> None:
    one = COUNTS.filter(pl.col("model") == "x")
    with pytest.warns(FastpasskWarning, match="count as failures"):
        filled = fp.count(one, problems=["a", "b", "c"], expect_n=5, missing="fail")
    assert filled.select("problem", "n", "c").rows() == [("a", 5, 2), ("b", 5, 3), ("c", 5, 0)]
    with pytest.warns(FastpasskWarning, match="left out"):
        dropped = fp.count(one, problems=["a", "b", "c"], expect_n=5, missing="drop")
    assert dropped.select("problem", "n", "c").rows() == [("a", 4, 2), ("b", 3, 3)]


def test_the_usual_n_is_expected_when_problems_are_listed() -> None:
    one = pl.DataFrame({"problem": ["a", "b", "c"], "n": [4, 4, 3], "c": [1, 1, 1]})
    with pytest.warns(FastpasskWarning, match="5 expected samples are absent in 2 problems, 1 of them"):
        frame = fp.count(one, problems=["a", "b", "c", "d"], missing="fail")
    assert frame["n"].to_list() == [4, 4, 4, 4]


def test_more_than_expected_and_unlisted_problems_are_refused() -> None:
    with pytest.raises(FastpasskError, match="2 problems have more than expect_n=3"):
        fp.count(COUNTS, expect_n=3)
    with pytest.raises(FastpasskError, match=r"1 problems are not in the list of problems \(b\)"):
        fp.count(COUNTS, problems=["a"])


def test_common_keeps_the_shared_problems() -> None:
    with pytest.warns(FastpasskWarning, match="1 of 2 problems are in all 2 groups"):
        frame = fp.count(COUNTS, common=True)
    assert frame["problem"].to_list() == ["a", "a"]
    apart = pl.DataFrame({"model": ["x", "y"], "problem": ["a", "b"], "n": [1, 1], "c": [1, 1]})
    with pytest.raises(FastpasskError, match="leaves nothing"):
        fp.count(apart, common=True)


def test_stopped_early_is_refused_without_its_rule() -> None:
    data = samples(problem=["a", "a", "b"], passed=[0, 1, 1], stopped=[True, True, False])
    with pytest.raises(FastpasskError, match="1 problems are marked as stopped early"):
        fp.count(data)
    assert rows(fp.count(data, stopped=1)) == [("all", "a", 2, 1), ("all", "b", 1, 1)]


def test_an_identity_column_that_is_null_everywhere_tells_nothing_apart() -> None:
    data = PLAIN.with_columns(subset=pl.lit(None, pl.String))
    assert fp.count(data).columns == ["group", "problem", "n", "c"]


def test_provenance_goes_with_the_frame_and_not_with_its_copies() -> None:
    frame = fp.count(PLAIN, missing="fail")
    facts = fp.provenance(frame)
    assert facts is not None
    assert facts["options"] == {"missing": "fail"}
    assert facts["identity"] == ["group"]
    assert fp.provenance(frame.filter(pl.col("n") > 0)) is None


def test_files_without_identity_are_counted_together_with_a_note_or_kept_apart(tmp_path: Path) -> None:
    for name in ("a-7b_results.jsonl", "b.7.results.jsonl"):
        (tmp_path / name).write_text(f'{{"task_id": "p", "passed": true, "note": "{name}"}}\n')
    with pytest.warns(FastpasskWarning, match=r"the 2 files have no column .* by='file'"):
        assert rows(fp.count(tmp_path)) == [("all", "p", 2, 2)]
    assert rows(fp.count(tmp_path, by="file")) == [("a-7b_results", "p", 1, 1), ("b.7.results", "p", 1, 1)]
    with pytest.warns(FastpasskWarning, match="the 2 files"):
        assert rows(fp.count(tmp_path, where="file = 'b.7.results'")) == [("all", "p", 1, 1)]


def test_files_that_number_their_attempts_need_no_note(tmp_path: Path) -> None:
    for attempt in range(2):
        (tmp_path / f"{attempt}.csv").write_text(f"problem,passed,attempt\np,1,{attempt}\n")
    assert rows(fp.count(tmp_path)) == [("all", "p", 2, 2)]
