"""Polars expressions: elementwise, streaming, null in null out, and sane inside every context."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import fastpassk as fp
from arrays_cases import pass_at, pass_hat
from fastpassk.arrays import functions


def frame(rows=12, seed=0):
    rng = np.random.default_rng(seed)
    n = rng.integers(5, 40, rows)
    return pl.DataFrame(
        {
            "model": np.array(["a", "b", "c"])[rng.integers(0, 3, rows)],
            "n": n,
            "c": rng.integers(0, n + 1),
            "k": rng.integers(1, 6, rows),
        }
    )


def test_values_and_names():
    data = frame()
    found = data.with_columns(
        fp.pass_at_k(pl.col("n"), pl.col("c"), 5),
        fp.pass_hat_k(pl.col("n"), pl.col("c"), 5),
        fp.plug_in(pl.col("n"), pl.col("c"), 5),
        fp.pass_at_k(pl.col("n"), pl.col("c"), pl.col("k")),
        fp.pass_hat_k(pl.col("n"), pl.col("c"), pl.col("k")).alias("mine"),
    )
    assert found.columns == ["model", "n", "c", "k", "pass@5", "pass^5", "plug_in@5", "pass@k", "mine"]
    assert found["pass@5"].to_list() == [pass_at(n, c, 5) for n, c in data.select("n", "c").iter_rows()]
    assert found["mine"].to_list() == [pass_hat(*row) for row in data.select("n", "c", "k").iter_rows()]
    assert found["plug_in@5"].equals(fp.plug_in(data["n"], data["c"], 5), check_names=False)
    assert found.schema["pass@5"] == pl.Float64


def test_nulls_and_short_problems():
    data = pl.DataFrame({"n": [10, None, 4], "c": [3, 3, 2]})
    found = data.select(fp.pass_at_k(pl.col("n"), pl.col("c"), 5)).to_series()
    assert found.null_count() == 1
    assert found[1] is None
    assert found.is_nan().to_list() == [False, None, True]
    assert np.isnan(found.mean())  # a mean cannot quietly drop the short problem


def test_curves_are_arrays():
    data = frame()
    found = data.select(fp.pass_curve(pl.col("n"), pl.col("c"), [1, 3], metric="pass^k"))
    assert found.schema == {"pass^k": pl.Array(pl.Float64, 2)}
    assert found["pass^k"].to_list() == [
        [pass_hat(n, c, 1), pass_hat(n, c, 3)] for n, c in data.select("n", "c").iter_rows()
    ]
    gaps = pl.DataFrame({"n": [10, None], "c": [3, 3]}).select(fp.pass_curve(pl.col("n"), pl.col("c"), [1]))
    assert gaps["pass@k"].to_list() == [[0.3], None]


def test_a_streaming_query_equals_the_eager_one():
    data = frame(1_200_000)
    data = data.with_columns(n=pl.when(pl.int_range(pl.len()) % 1000 == 7).then(None).otherwise("n"))
    expression = fp.pass_at_k(pl.col("n"), pl.col("c"), pl.col("k")), fp.pass_at_k(pl.col("n"), pl.col("c"), 5)
    lazy = data.lazy().with_row_index("row").with_columns(*expression)
    streamed = lazy.collect(engine="streaming").sort("row").drop("row")
    assert streamed.equals(data.with_columns(*expression))
    assert streamed["pass@k"].equals(fp.pass_at_k(data["n"], data["c"], data["k"]), check_names=False)
    assert streamed["pass@5"].null_count() == 1200


def test_a_query_is_handed_over_in_batches(monkeypatch):
    sizes = []

    def spy(_metric, n, *_rest, threads, **_options):
        sizes.append(len(n))
        assert not threads  # the engine's own threads are enough
        return np.zeros(len(n))

    monkeypatch.setattr(functions, "evaluate", spy)
    data = frame(600_000).lazy().select(fp.pass_at_k(pl.col("n"), pl.col("c"), 5))
    assert data.collect(engine="streaming").height == sum(sizes) == 600_000
    assert max(sizes) < 600_000


def test_group_by():
    data = frame(60).sort("model")
    scores = fp.pass_at_k(data["n"], data["c"], 5)
    expected = data.with_columns(score=scores).group_by("model").agg(pl.col("score").mean()).sort("model")
    expression = fp.pass_at_k(pl.col("n"), pl.col("c"), 5)
    assert data.group_by("model").agg(expression.mean().alias("score")).sort("model").equals(expected)
    assert data.lazy().group_by("model").agg(expression.mean().alias("score")).collect().sort("model").equals(expected)
    pooled = data.group_by("model").agg(fp.pass_at_k(pl.col("n").sum(), pl.col("c").sum(), 1)).sort("model")
    sums = data.group_by("model").agg(pl.col("n", "c").sum()).sort("model")
    assert pooled["pass@1"].to_list() == [c / n for n, c in sums.select("n", "c").iter_rows()]
    lists = data.group_by("model", maintain_order=True).agg(expression)
    assert lists.explode("pass@5")["pass@5"].equals(scores, check_names=False)


def test_over_filter_and_sort():
    data = frame(60)
    expression = fp.pass_at_k(pl.col("n"), pl.col("c"), 5)
    scores = data.with_columns(score=expression)
    assert data.select(expression.over("model").alias("x"))["x"].equals(scores["score"], check_names=False)
    assert data.select(expression.max().over("model").alias("x")).equals(
        scores.select(pl.col("score").max().over("model").alias("x"))
    )
    assert data.filter(expression > 0.5).equals(scores.filter(pl.col("score") > 0.5).drop("score"))
    assert data.sort(expression, maintain_order=True).equals(scores.sort("score", maintain_order=True).drop("score"))
    assert (
        data.lazy()
        .filter(expression > 0.5)
        .sort("n", "c", "k", "model")
        .collect()
        .equals(data.filter(expression > 0.5).sort("n", "c", "k", "model"))
    )


def test_literals_and_lists_beside_expressions():
    data = pl.DataFrame({"c": [0, 1, 2]})
    assert data.select(fp.pass_at_k(pl.lit(4), pl.col("c"), 2).alias("x"))["x"].to_list() == [0, 0.5, pass_at(4, 2, 2)]
    assert data.select(fp.pass_at_k([4, 5, 6], pl.col("c"), 1).alias("x"))["x"].to_list() == [0, 0.2, 2 / 6]
    assert data.select(fp.pass_at_k(pl.lit(4), pl.lit(1), pl.lit(1)))["pass@k"].to_list() == [0.25]
    assert data.lazy().select(fp.pass_at_k(4, pl.col("c"), np.array(1))).collect_schema() == {"pass@1": pl.Float64}


def test_an_empty_frame():
    assert frame().clear().select(fp.pass_at_k(pl.col("n"), pl.col("c"), 5)).height == 0


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
def test_errors_keep_their_class_and_say_what_a_row_is(engine):
    data = pl.LazyFrame({"n": [10, 10], "c": [3, 11]}).select(fp.pass_at_k(pl.col("n"), pl.col("c"), 2))
    with pytest.raises(fp.FastpasskError, match=r"row \d.*c=11.*counted within one batch of the query"):
        data.collect(engine=engine)


def test_dtypes_that_are_refused_in_a_query():
    data = pl.DataFrame({"n": [10], "c": [True]})
    with pytest.raises(fp.FastpasskError, match="c has dtype Boolean"):
        data.select(fp.pass_at_k(pl.col("n"), pl.col("c"), 2))


@pytest.mark.parametrize(
    "dtype", [pl.Int8, pl.UInt8, pl.Int16, pl.UInt16, pl.Int32, pl.UInt32, pl.Int64, pl.UInt64, pl.Float32, pl.Float64]
)
def test_dtypes(dtype):
    data = pl.DataFrame({"n": [100, 7], "c": [99, 0]}, schema={"n": dtype, "c": dtype})
    assert data.select(fp.pass_at_k(pl.col("n"), pl.col("c"), 2)).to_series().to_list() == [1.0, 0.0]
    assert data.select(fp.plug_in(pl.col("n"), pl.col("c"), 1)).to_series()[1] == 0


def test_lengths_of_groups_do_not_wrap():
    """pl.len() and sums of booleans are UInt32: differences of them would wrap."""
    data = pl.DataFrame({"model": ["a", "a", "a"], "passed": [True, False, False]})
    found = data.group_by("model").agg(fp.pass_at_k(pl.len(), pl.col("passed").sum(), 3).alias("x"))
    assert found["x"].to_list() == [1.0]
