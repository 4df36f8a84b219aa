"""Curves: exact estimates and errors, coverage at each k, every policy, and the ways in that must agree."""

from __future__ import annotations

import math
from fractions import Fraction
from math import comb, isqrt

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fastpassk as fp
from fastpassk import FastpasskError, FastpasskWarning, UsageError
from fastpassk.steps.curves.curve import PARTIAL

TALLY = pl.DataFrame({"model": ["m"] * 3, "n": [10, 10, 10], "c": [0, 3, 10], "problems": [5, 2, 1]})


def exact(cells: list[tuple[int, int, int]], k: int, *, hat: bool = False) -> tuple[Fraction, Fraction]:
    """The exact mean and squared standard error over problems."""
    value = {
        (n, c): Fraction(comb(c, k), comb(n, k)) if hat else 1 - Fraction(comb(n - c, k), comb(n, k))
        for n, c, _ in cells
    }
    total = sum(m for _, _, m in cells)
    mean = sum((m * value[n, c] for n, c, m in cells), Fraction(0)) / total
    squares = sum((m * (value[n, c] - mean) ** 2 for n, c, m in cells), Fraction(0))
    return mean, squares / (total - 1) / total if total > 1 else Fraction(-1)


def nearest_root(square: Fraction) -> float:
    """The square root of a fraction to far more digits than a double has."""
    scale = 10**60
    return float(Fraction(isqrt(square.numerator * scale * square.denominator * scale), square.denominator * scale))


@pytest.mark.parametrize("metric", ["pass@k", "pass^k"])
def test_points_are_the_nearest_doubles(metric: str) -> None:
    frame = fp.curve(TALLY, [1, 2, 5, 10], metric=metric)
    cells = list(TALLY.select("n", "c", "problems").iter_rows())
    for k, estimate, error in frame.select("k", "estimate", "std_error").iter_rows():
        mean, square = exact(cells, k, hat=metric == "pass^k")
        assert estimate == mean.numerator / mean.denominator
        assert error == nearest_root(square)


def test_the_columns_of_a_curve() -> None:
    frame = fp.curve(TALLY, 3)
    assert frame.columns == [
        "model", "metric", "k", "estimate", "std_error", "low", "high", "problems", "undefined", "n_min", "n_max",
    ]  # fmt: skip
    row = frame.row(0, named=True)
    assert (row["problems"], row["undefined"], row["n_min"], row["n_max"], row["low"], row["high"]) == (
        8,
        0,
        10,
        10,
        None,
        None,
    )


def test_two_metrics_stand_under_their_own_names() -> None:
    frame = fp.curve(TALLY, [2], metric=["pass^k", "pass@k"])
    assert frame["metric"].to_list() == ["pass@k", "pass^k"]
    assert frame["estimate"].n_unique() == 2


def test_default_k_are_powers_of_two_and_the_smallest_n() -> None:
    assert fp.curve(TALLY)["k"].to_list() == [1, 2, 4, 8, 10]
    assert fp.curve(TALLY, "all")["k"].to_list() == list(range(1, 11))
    assert fp.curve(TALLY, "1,3:5")["k"].to_list() == [1, 3, 4, 5]
    assert fp.curve(TALLY, range(2, 4))["k"].to_list() == [2, 3]


@pytest.mark.parametrize("k", [0, -1, 1.5, "x", "3:1", [], True, "0:5", [1, None], ""])
def test_bad_k_is_refused(k: object) -> None:
    with pytest.raises(UsageError, match="k "):
        fp.curve(TALLY, k)  # type: ignore[arg-type]


RAGGED = pl.DataFrame({"problem": ["a", "b", "c"], "n": [10, 9, 10], "c": [0, 9, 10]})


def test_a_short_problem_makes_the_point_null_and_says_so() -> None:
    with pytest.warns(FastpasskWarning, match=r"pass@10 is null: 1 of 3 problems has n < 10 \(group=all\)"):
        frame = fp.curve(RAGGED, [9, 10])
    assert frame["estimate"].to_list() == [2 / 3, None]
    assert frame["std_error"].to_list()[1] is None
    assert frame["undefined"].to_list() == [0, 1]
    assert frame.select("problems", "n_min", "n_max").row(1) == (3, 9, 10)


def test_available_averages_the_others_and_says_so() -> None:
    with pytest.warns(FastpasskWarning) as notes:
        frame = fp.curve(RAGGED, [9, 10, 11], undefined="available")
    assert frame["estimate"].to_list() == [2 / 3, 0.5, None]
    assert frame["undefined"].to_list() == [0, 1, 3]
    assert [str(note.message) for note in notes] == [
        "pass@11 is null: 3 of 3 problems have n < 11 (group=all)",
        f"pass@10 {PARTIAL}: 1 of 3 problems has n < 10 (group=all); it may be lower than at a smaller k",
    ]


def test_a_group_that_is_null_does_not_speak_for_one_that_is_not() -> None:
    counts = {"model": ["a", "b", "b"], "problem": ["p", "p", "q"], "n": [5, 5, 10], "c": [1, 1, 3]}
    with pytest.warns(FastpasskWarning) as notes:
        fp.curve(counts, 8, undefined="available", common=False)
    said = [str(note.message).partition(":")[0] for note in notes if "pass@8" in str(note.message)]
    assert said == ["pass@8 is null", "pass@8 is a mean over the problems that have enough samples"]


@pytest.mark.parametrize(("metric", "name"), [("skill", "skill at k = 3"), ("rank@k", "rank@3"), ("top^k", "top^3")])
def test_a_null_point_is_named_by_its_metric(metric: str, name: str) -> None:
    scores = {"problem": ["p", "q"], "metric": [metric] * 2, "k": [3, 3], "score": [0.5, None]}
    with pytest.warns(FastpasskWarning) as notes:
        fp.curve(scores)
    assert str(notes[0].message) == f"{name} is null: 1 of 2 problems has no score (group=all)"


def test_scores_without_a_metric_are_refused() -> None:
    scores = {"problem": ["p", "q"], "metric": ["mine", None], "k": [1, 1], "score": [0.5, 1.0]}
    with pytest.raises(FastpasskError, match="the metric is null in 1 rows"):
        fp.curve(scores)
    with pytest.raises(UsageError, match="no metric is named"):
        fp.curve(scores, metric=[])


def test_undefined_error_refuses() -> None:
    with pytest.raises(FastpasskError, match="pass@10 is undefined: 1 of 3"):
        fp.curve(RAGGED, [9, 10], undefined="error")
    assert fp.curve(RAGGED, [9], undefined="error").height == 1


def test_all_ends_at_the_smallest_n_and_names_the_problem() -> None:
    with pytest.warns(FastpasskWarning, match="k=all ends at k = 9, the n of group=all, problem=b"):
        assert fp.curve(RAGGED, "all")["k"].to_list() == list(range(1, 10))


def test_one_problem_has_no_standard_error() -> None:
    frame = fp.curve(RAGGED.head(1), [1, 2])
    assert frame["std_error"].to_list() == [None, None]
    assert frame["estimate"].to_list() == [0.0, 0.0]


def test_equal_problems_have_a_standard_error_of_exactly_zero() -> None:
    data = pl.DataFrame({"n": [7], "c": [3], "problems": [1000]})
    assert fp.curve(data, "all")["std_error"].to_list() == [0.0] * 7


def test_the_rate_over_samples_has_its_own_label() -> None:
    frame = fp.curve(RAGGED, average="samples")
    assert frame.select("metric", "k", "estimate", "std_error").row(0) == ("pass@k (samples)", 1, 19 / 29, None)
    with pytest.raises(UsageError, match="takes k=1 only"):
        fp.curve(RAGGED, [2], average="samples")


@pytest.mark.parametrize(
    "option", [{"undefined": "zero"}, {"average": "macro"}, {"metric": "pass@K"}, {"interval": "wald"}, {"metric": []}]
)
def test_values_that_do_not_exist_are_usage_errors(option: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        fp.curve(TALLY, 1, **option)  # type: ignore[arg-type]


def test_a_tally_cannot_be_pooled_completed_or_shared() -> None:
    two = pl.concat([TALLY, TALLY.with_columns(model=pl.lit("other"))])
    with pytest.raises(FastpasskError, match="model differs within"):
        fp.curve(two, 1, by=[])
    for option in ({"problems": ["a"]}, {"common": True}, {"pool": ["model"]}, {"expect_n": 10}):
        with pytest.raises(UsageError, match="needs the problems' names"):
            fp.curve(two, 1, **option)  # type: ignore[arg-type]
    with pytest.raises(FastpasskError, match="stands in 2 rows"):
        fp.curve(pl.concat([TALLY, TALLY.head(1)]), 1)


def test_groups_on_different_problems_are_told() -> None:
    data = pl.DataFrame({"model": ["x", "x", "y"], "problem": ["a", "b", "a"], "n": [2, 2, 2], "c": [1, 1, 1]})
    with pytest.warns(
        FastpasskWarning, match=r"groups were run on different problems, from 1 \(model=y\) to 2 \(model=x\)"
    ):
        fp.curve(data, 1)
    other = data.with_columns(benchmark=pl.col("model"))
    assert fp.curve(other, 1).height == 2  # different benchmarks have different problems


def test_every_way_in_gives_the_same_bytes() -> None:
    samples = pl.DataFrame(
        [("m", f"p{i}", attempt, attempt < (7 * i) % 11) for i in range(30) for attempt in range(10)],
        ["model", "problem", "attempt", "passed"],
        orient="row",
    )
    ks = [1, 2, 3, 10]
    want = fp.curve(samples, ks)
    counts = fp.count(samples)
    scores = fp.score(samples, ks)
    triples = scores.drop("score", "metric")
    for source in (
        counts,
        fp.tally(samples),
        fp.tally(counts),
        scores,
        triples,
        scores.sample(fraction=1, shuffle=True, seed=1),
    ):
        assert fp.curve(source, ks).equals(want)


def test_scores_that_are_not_their_metric_are_refused() -> None:
    scores = fp.score(RAGGED, [1])
    wrong = scores.with_columns(score=pl.col("score") / 2)
    with pytest.raises(FastpasskError, match=r"a score of pass@k is .* where it must be"):
        fp.curve(wrong)
    named = wrong.with_columns(metric=pl.lit("half"))
    assert fp.curve(named)["estimate"].to_list() == [1 / 3]


def test_foreign_scores_are_averaged_exactly() -> None:
    data = pl.DataFrame(
        {"problem": [f"p{i}" for i in range(10)], "metric": ["mine"] * 10, "k": [1] * 10, "score": [0.1] * 10}
    )
    frame = fp.curve(data)
    assert frame.select("estimate", "std_error", "problems", "n_min").row(0) == (0.1, 0.0, 10, None)
    gap = data.with_columns(score=pl.when(pl.col("problem") == "p3").then(None).otherwise("score"))
    with pytest.warns(FastpasskWarning, match="mine at k = 1 is null: 1 of 10 problems has no score"):
        assert fp.curve(gap)["estimate"].to_list() == [None]


def test_scores_of_a_problem_may_not_enter_twice() -> None:
    scores = fp.score(RAGGED, [1])
    with pytest.raises(FastpasskError, match="stands in 2 rows"):
        fp.curve(pl.concat([scores, scores]))
    two = pl.concat([scores.with_columns(temperature=pl.lit(t)) for t in ("0.2", "0.8")])
    with pytest.raises(FastpasskError, match="temperature differs within"):
        fp.curve(two, by=[])


def test_stopped_sampling_is_scored_without_its_bias() -> None:
    """The expectation over all ways in which sampling can go is the truth, exactly."""
    p, cap = Fraction(1, 4), 6
    ends = [(draw, 1, p * (1 - p) ** (draw - 1)) for draw in range(1, cap + 1)] + [(cap, 0, (1 - p) ** cap)]
    for k in range(1, cap + 1):
        total = Fraction(0)
        for n, c, weight in ends:
            pair = pl.DataFrame({"problem": ["a", "cap"], "n": [n, cap], "c": [c, 0]})
            value = fp.curve(pair, [k], stopped=1)["estimate"][0] * 2
            total += weight * Fraction(value)
        assert total == 1 - (1 - p) ** k


def test_a_stopping_rule_that_the_counts_contradict_is_refused() -> None:
    with pytest.raises(FastpasskError, match="stopped=1 says that sampling ended at pass 1"):
        fp.curve(RAGGED, 1, stopped=1)
    with pytest.raises(UsageError, match=r"pass\^k"):
        fp.curve(RAGGED, 1, stopped=20, metric="pass^k")


def test_a_counts_frame_keeps_its_stopping_rule() -> None:
    data = pl.DataFrame({"problem": ["a", "b"], "n": [2, 6], "c": [1, 0]})
    counts = fp.count(data, stopped=1)
    assert fp.curve(counts, [1, 3]).equals(fp.curve(data, [1, 3], stopped=1))
    with pytest.raises(UsageError, match="stopped=1, not stopped=2"):
        fp.curve(counts, 1, stopped=2)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.integers(1, 40).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, 1000))),
        min_size=1, max_size=8, unique_by=lambda cell: cell[:2],
    ),
    st.sampled_from(["pass@k", "pass^k"]),
)  # fmt: skip
def test_any_tally_gives_the_exact_curve(cells: list[tuple[int, int, int]], metric: str) -> None:
    frame = fp.curve(pl.DataFrame(cells, ["n", "c", "problems"], orient="row"), "all", metric=metric)
    for k, estimate, error in frame.select("k", "estimate", "std_error").iter_rows():
        mean, square = exact(cells, k, hat=metric == "pass^k")
        assert estimate == mean.numerator / mean.denominator
        assert error is None if square < 0 else math.isclose(error, nearest_root(square), rel_tol=2**-53, abs_tol=0)
