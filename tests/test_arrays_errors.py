"""Every refusal says what was found, where, and what to do."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import fastpassk as fp

FUNCTIONS = [fp.pass_at_k, fp.pass_hat_k, fp.plug_in]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(
    ("n", "c", "k"),
    [(0, 0, 1), (-1, 0, 1), (10, -1, 1), (10, 11, 1), (10, 3, 0), (10, 3, -2), (3, 4, 9)],
)
def test_bad_rows_are_named(function, n, c, k):
    with pytest.raises(fp.FastpasskError) as error:
        function(n, c, k)
    assert all(f"{name}={value}" in str(error.value) for name, value in zip("nck", (n, c, k), strict=True))
    column = [np.array([good, bad, good, bad]) for good, bad in zip((10, 3, 2), (n, c, k), strict=True)]
    with pytest.raises(fp.FastpasskError) as error:
        function(*column)
    assert "row 1" in str(error.value)
    assert "2" in str(error.value)
    assert isinstance(error.value, ValueError)


@pytest.mark.parametrize("value", [2.5, np.nan, np.inf, -np.inf, 1e300, 2.0**63])
def test_fractions_and_nan(value):
    with pytest.raises(fp.FastpasskError, match=r"c\[1\] is .*; whole numbers .* 2 values of 3 are not"):
        fp.pass_at_k(10, [3.0, value, value], 1)
    with pytest.raises(fp.FastpasskError, match=r"k is .* 1 value of 1 is not"):
        fp.pass_at_k(10, 3, value)
    with pytest.raises(fp.FastpasskError, match=r"n\[1, 0\] is"):
        fp.pass_at_k(np.array([[1.0], [value]]), 0, 1)
    with pytest.raises(fp.FastpasskError, match=r"c\[0\] is"):
        fp.pass_at_k(pl.Series([1]), pl.Series([value]), 1)


REFUSED = [
    (True, "outcomes, not counts"),
    (np.True_, "outcomes, not counts"),
    ([True, False], "dtype bool; .*outcomes, not counts; add them up"),
    (pd.Series([True, False]), "outcomes, not counts"),
    (pl.Series([True, False]), "dtype Boolean; .*outcomes, not counts"),
    (pa.array([True, False]), "dtype bool; .*outcomes, not counts"),
    ("n", r"is text; give integers, or pl.col\(…\)"),
    (["5", "6"], "cast to an integer"),
    (pl.Series(["5"]), "dtype String"),
    (pa.array(["5"]), "dtype string"),
    (None, "is None"),
    ([5, None], "dtype object; .*missing values"),
    ([10**30, 1], "holds 1000.*; the largest number allowed is"),
    (10**30, "holds 1000.*; the largest number allowed is"),
    (10**5000, "holds a number of 16610 bits; the largest number allowed is"),  # more digits than Python prints
    ([-(10**5000)], "holds a number of 16610 bits; the largest number allowed is"),
    (-(2**70), "the largest number allowed"),
    (np.array([2**63], np.uint64), "9223372036854775808; the largest number allowed"),
    (pd.Series([5, None], dtype="Int64"), r"\[1\] is nan"),
    (pd.Series([5, None], dtype="int64[pyarrow]"), r"\[1\] is nan"),
    (pd.Series([5, None]), r"\[1\] is nan; .*drop or fill"),
    ([[1, 2], [3]], "cannot be read as an array"),
    (np.ma.masked_array([1, 2], [True, False]), "mask would be lost; compress or fill"),
    (np.array(["2020-01-01"], "M8[D]"), "datetime64"),
    (timedelta(1), "cast to an integer"),
    (datetime(2020, 1, 1), "cast to an integer"),  # noqa: DTZ001
    (Decimal(5), "dtype object"),
    (Fraction(5), "dtype object"),
    (5j, "complex"),
    ({1, 2}, "dtype object"),
    (object(), "dtype object"),
    (pl.DataFrame({"n": [1]}), "is a frame; give one of its columns"),
    (pl.LazyFrame({"n": [1]}), "is a lazy frame"),
    (pa.table({"n": [1]}), "is a table"),
    (pa.record_batch({"n": [1]}), "is a record batch"),
    (pa.scalar(5), "is an Arrow scalar; give its number, as in scalar.as_py"),
    (pd.DataFrame({"n": [1]}), "is a frame"),
    (pl.Series([1], dtype=pl.Int128), "dtype Int128; .*cast to Int64"),
    (pl.Series([Decimal(1)]), "dtype Decimal"),
    (pa.array([Decimal(1)]), "dtype decimal"),
    (pl.Series([[1]]), "dtype List"),
]


@pytest.mark.parametrize(
    ("value", "message"), REFUSED, ids=[f"{type(v).__name__}-{i}" for i, (v, _) in enumerate(REFUSED)]
)
def test_refused(value, message):
    for name in "nck":
        given = {"n": 10, "c": 3, "k": 2} | {name: value}
        with pytest.raises(fp.FastpasskError, match=f"^{name}.*{message}"):
            fp.pass_at_k(**given)
        given = {"n": pl.Series([10]), "c": 3, "k": 2} | {name: value}
        with pytest.raises(fp.FastpasskError, match=message):
            fp.pass_at_k(**given)


@pytest.mark.parametrize("value", [None, True, "n", [5, None], 2.5, Decimal(5), pl.DataFrame({"n": [1]})])
def test_refused_beside_an_expression_before_the_query_runs(value):
    with pytest.raises(fp.FastpasskError, match=r"^k"):
        fp.pass_at_k(pl.col("n"), pl.col("c"), value)


def test_lengths():
    for make in (list, np.array, pl.Series, pa.array):
        with pytest.raises(fp.FastpasskError, match=r"n has shape \(3,\), c has shape \(2,\)"):
            fp.pass_at_k(make([5, 5, 5]), make([1, 1]), 1)
    with pytest.raises(fp.FastpasskError, match="one dimension"):
        fp.pass_at_k(pl.Series([5]), np.array([[1]]), 1)
    with pytest.raises(fp.FastpasskError, match="one dimension"):
        fp.pass_at_k(pl.col("n"), np.array([[1]]), 1)


@pytest.mark.parametrize("ks", [5, np.int64(5), [[1, 2]]])
def test_ks_is_a_list(ks):
    with pytest.raises(fp.FastpasskError, match="ks has to be a list"):
        fp.pass_curve(10, 3, ks)


@pytest.mark.parametrize("ks", [[1, 2.5], [True], "1,2", [1, None]])
def test_ks_are_whole(ks):
    with pytest.raises(fp.FastpasskError, match=r"^ks"):
        fp.pass_curve(10, 3, ks)


def test_arrow_has_no_list_of_no_values():
    with pytest.raises(fp.FastpasskError, match=r"ks is empty; .* give at least one k"):
        fp.pass_curve(pa.array([10, None]), 3, [])


def test_ks_are_positive():
    with pytest.raises(fp.FastpasskError, match="k=0"):
        fp.pass_curve(10, 3, [1, 0])


def test_an_unknown_metric():
    with pytest.raises(fp.UsageError, match=r"did you mean 'pass\^k'"):
        fp.pass_curve(10, 3, [1], metric="pass^")


def test_out_takes_the_values():
    n, c = np.full(6, 10), np.arange(6)
    for function in FUNCTIONS:
        expected = function(n, c, 2)
        for out in (np.empty(6), np.empty(12)[::2], np.empty(6)[::-1], np.empty((6, 3))[:, 1]):
            assert function(n, c, 2, out=out) is out
            np.testing.assert_array_equal(out, expected)
    out = np.empty((6, 2), order="F")
    assert fp.pass_curve(n, c, [1, 2], out=out) is out
    np.testing.assert_array_equal(out, fp.pass_curve(n, c, [1, 2]))


def test_out_may_be_an_input():
    expected = fp.pass_at_k(np.full(6, 10), np.arange(6), 2)
    n = np.full(6, 10.0)
    np.testing.assert_array_equal(fp.pass_at_k(n, np.arange(6), 2, out=n), expected)
    counts = np.arange(6)
    np.testing.assert_array_equal(fp.pass_at_k(10, counts, 2, out=counts.view(np.float64)), expected)
    counts = np.arange(6)
    values = fp.pass_at_k(10, counts[::-1], 2, out=counts.view(np.float64))
    np.testing.assert_array_equal(values, expected[::-1])


def _read_only():
    out = np.empty(2)
    out.flags.writeable = False
    return out


@pytest.mark.parametrize(
    ("out", "message"),
    [
        ([0.0, 0.0], "it is a list"),
        (np.empty(2, np.float32), "it is an array of float32"),
        (np.empty(2, ">f8"), "it is an array of >f8"),
        (np.empty(3), r"out has shape \(3,\), the result has \(2,\)"),
        (np.empty((2, 1)), r"the result has \(2,\)"),
        (_read_only(), "out is read-only"),
    ],
)
def test_out_that_does_not_fit(out, message):
    for function in FUNCTIONS:
        with pytest.raises(fp.FastpasskError, match=message):
            function([5, 5], [1, 2], 1, out=out)


def test_out_with_other_kinds():
    for n, message in [
        (5, "for scalars the result is a float"),
        (pl.Series([5]), "a Polars Series"),
        (pl.col("n"), "a Polars expression"),
        (pa.array([5]), "an Arrow array"),
        (pa.chunked_array([[5]]), "an Arrow chunked array"),
    ]:
        for function in FUNCTIONS:
            with pytest.raises(fp.FastpasskError, match=message):
                function(n, 3, 2, out=np.empty(1))
