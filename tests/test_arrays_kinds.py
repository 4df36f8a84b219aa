"""The same kind out as in, for every kind, with the same values."""

from __future__ import annotations

import threading
from array import array

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import fastpassk as fp
from arrays_cases import EXACT, KINDS, METRIC, C, K, N, pass_at


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("function", EXACT)
def test_columns(kind, function):
    make, result, values = KINDS[kind]
    found = getattr(fp, function)(make(N), make(C), K)
    assert isinstance(found, result)
    np.testing.assert_array_equal(values(found), [EXACT[function](n, c, K) for n, c in zip(N, C, strict=True)])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("function", EXACT)
def test_curves(kind, function):
    make, result, _ = KINDS[kind]
    ks = [1, 5, 2]
    found = fp.pass_curve(make(N), make(C), ks, metric=METRIC[function])
    assert isinstance(found, result)
    rows = (
        found.to_pylist()
        if isinstance(found, (pa.Array, pa.ChunkedArray))
        else found.to_list()
        if isinstance(found, pl.Series)
        else found
    )
    np.testing.assert_array_equal(
        np.array(list(rows)), [[EXACT[function](n, c, k) for k in ks] for n, c in zip(N, C, strict=True)]
    )


@pytest.mark.parametrize("n", [10, 10.0, np.int8(10), np.uint64(10), np.float32(10)])
def test_scalars_give_a_float(n):
    for function, exact in EXACT.items():
        found = getattr(fp, function)(n, 3, 2)
        assert type(found) is float
        assert found == exact(10, 3, 2)


def test_a_zero_dimensional_array_stays_one():
    found = fp.pass_at_k(np.array(10), 3, 2)
    assert isinstance(found, np.ndarray)
    assert found.shape == ()
    assert found == pass_at(10, 3, 2)


def test_the_curve_of_one_problem():
    found = fp.pass_curve(10, 3, range(1, 12))
    np.testing.assert_array_equal(found, [pass_at(10, 3, k) for k in range(1, 12)])
    np.testing.assert_array_equal(fp.pass_curve(10, 3, iter([2, 1])), [pass_at(10, 3, 2), 0.3])


def test_broadcasting():
    n = np.array([[10], [4]])
    k = np.array([1, 2, 4])
    np.testing.assert_array_equal(fp.pass_at_k(n, 2, k), [[pass_at(int(m), 2, int(j)) for j in k] for m in n[:, 0]])
    np.testing.assert_array_equal(fp.pass_curve(n, 2, k), fp.pass_at_k(n, 2, k)[:, None, :])
    assert fp.pass_at_k(np.ones((2, 1, 3), int), np.zeros((5, 1), int), 1).shape == (2, 5, 3)


@pytest.mark.parametrize("dtype", "bhilqBHILQefdg")
def test_dtypes(dtype):
    n, c, k = (
        np.array(values).astype(dtype)
        for values in ([200, 100, 7] if dtype != "b" else [127, 100, 7], [17, 0, 7], [5, 100, 1])
    )
    expected = [pass_at(int(a), int(b), int(d)) for a, b, d in zip(n, c, k, strict=True)]
    np.testing.assert_array_equal(fp.pass_at_k(n, c, k), expected)
    np.testing.assert_array_equal(fp.pass_at_k(n.astype(n.dtype.newbyteorder()), c, k), expected)


def test_small_dtypes_do_not_wrap():
    n, c = np.full(3, 255, np.uint8), np.array([0, 128, 255], np.uint8)
    np.testing.assert_array_equal(fp.pass_at_k(n, c, np.uint8(200)), [pass_at(255, int(x), 200) for x in c])
    np.testing.assert_array_equal(fp.plug_in(n, c, 1), [0, fp.plug_in(255, 128, 1), 1])
    with pytest.raises(fp.FastpasskError, match="c=255"):
        fp.pass_at_k(np.full(1, 100, np.int8), np.array([255], np.uint8), 1)


def test_strided_reversed_read_only_and_foreign_memory():
    n, c = np.array(N), np.array(C)
    expected = fp.pass_at_k(n, c, K)
    wide = np.repeat(np.stack([n, c], axis=1), 2, axis=0)
    np.testing.assert_array_equal(fp.pass_at_k(wide[::2, 0], wide[::2, 1], K), expected)
    np.testing.assert_array_equal(fp.pass_at_k(n[::-1], c[::-1], K), expected[::-1])
    np.testing.assert_array_equal(fp.pass_at_k(array("q", N), array("q", C), K), expected)
    n.flags.writeable = c.flags.writeable = False
    np.testing.assert_array_equal(fp.pass_at_k(n, c, K), expected)
    record = np.zeros(len(N), dtype=[("x", "u1"), ("n", "<i4"), ("c", "<i2")])  # unaligned
    record["n"], record["c"] = N, C
    np.testing.assert_array_equal(fp.pass_at_k(record["n"], record["c"], K), expected)
    np.testing.assert_array_equal(fp.pass_at_k(np.asfortranarray(np.stack([n, n])), c, K), np.stack([expected] * 2))


@pytest.mark.parametrize("kind", KINDS)
def test_empty(kind):
    make, result, values = KINDS[kind]
    empty = make([10])[:0] if "pandas" not in kind else make([10]).iloc[:0]
    for function in (fp.pass_at_k, fp.pass_hat_k, fp.plug_in):
        found = function(empty, empty, 5)
        assert isinstance(found, result)
        assert len(values(found)) == 0
    assert len(fp.pass_curve(empty, empty, [1, 2])) == 0
    if result is np.ndarray:
        assert fp.pass_curve(empty, empty, [1, 2]).shape == (0, 2)


def test_an_empty_list_of_ks():
    assert fp.pass_curve(N, C, []).shape == (len(N), 0)


@pytest.mark.parametrize("make", [pl.Series, pa.array, lambda v: pa.chunked_array([v[:1], v[1:]])])
def test_null_in_null_out(make):
    n, c, k = make([10, None, 10, 10, None]), make([3, 3, None, 3, 99]), make([2, 2, 2, None, 0])
    for function in (fp.pass_at_k, fp.pass_hat_k, fp.plug_in):
        found = function(n, c, k)
        assert type(found).__name__.removeprefix("Double") == type(n).__name__.removeprefix("Int64")
        assert list(found.to_pylist() if hasattr(found, "to_pylist") else found) == [function(10, 3, 2)] + [None] * 4
    curves = fp.pass_curve(n, c, [1, 20])
    rows = curves.to_pylist() if hasattr(curves, "to_pylist") else curves.to_list()
    assert rows[1:3] == [None, None]
    assert rows[0][0] == 0.3
    assert np.isnan(rows[0][1])
    assert rows[4] is None


def test_columns_of_nulls_only():
    assert fp.pass_at_k(pl.Series([None, None]), pl.Series([1, 1]), 1).to_list() == [None, None]
    assert fp.pass_at_k(pa.nulls(2), pa.nulls(2), 1).to_pylist() == [None, None]


def test_k_beyond_n_is_nan_and_not_null():
    assert fp.pass_at_k(pl.Series([4]), pl.Series([2]), 5).null_count() == 0
    assert fp.pass_at_k(pa.array([4, None]), pa.array([2, 2]), 5).null_count == 1
    assert np.isnan(fp.pass_at_k(4, 2, 5))
    assert fp.plug_in(4, 2, 5) == 1 - 0.5**5


def test_mixed_kinds_take_the_widest():
    n, c = np.array(N), pl.Series("passes", C)
    assert isinstance(fp.pass_at_k(n, c, pa.array([K])), pl.Series)
    assert fp.pass_at_k(n, c, K).name == "passes"
    assert isinstance(fp.pass_at_k(n, pa.array(C), K), pa.Array)
    assert isinstance(fp.pass_at_k(pa.array(N), pa.chunked_array([C]), K), pa.ChunkedArray)
    assert isinstance(fp.pass_at_k(pl.col("n"), c, pa.array([K])), pl.Expr)
    frame = pl.DataFrame({"n": N})
    found = frame.with_columns(fp.pass_at_k(pl.col("n"), c, pa.array([K])))
    assert found["pass@k"].equals(fp.pass_at_k(frame["n"], c, K), check_names=False)


def test_a_column_of_length_one_broadcasts():
    assert fp.pass_at_k(pl.Series(N), pl.Series([1]), pl.Series([1])).len() == len(N)
    assert len(fp.pass_at_k(pa.array([200]), pa.array(C), 1)) == len(C)


def test_arrow_slices_keep_their_place():
    n = pa.array([None, 10, 10, None])
    assert fp.pass_at_k(n[1:], pa.array([3, 0, 0]), 1).to_pylist() == [0.3, 0.0, None]


def test_large_columns_are_not_copied(monkeypatch):
    seen = []

    def spy(_metric, n, c, k, out=None, **_options):
        seen.append((n, c, out))
        return np.zeros(np.broadcast(n, k).shape) if out is None else out

    from fastpassk.arrays import functions

    monkeypatch.setattr(functions, "evaluate", spy)
    n, c, out = np.full(9, 9, np.int32), np.full(9, 3), np.empty(9)
    fp.pass_at_k(n, c, 2, out=out)
    assert seen[-1] == (n, c, out) or all(a is b for a, b in zip(seen[-1], (n, c, out), strict=True))
    series, arrow = pl.Series(n), pa.array(c)
    fp.pass_at_k(series, arrow, 2)
    assert np.shares_memory(seen[-1][0], series.to_numpy())
    assert np.shares_memory(seen[-1][1], arrow.to_numpy())


def test_many_python_threads_at_once():
    rng = np.random.default_rng(5)
    n = rng.integers(1, 200, 60_000)
    c = rng.integers(0, n + 1)
    expected = {k: fp.pass_at_k(n, c, k) for k in range(1, 9)}
    wrong = []

    def work(k):
        found = fp.pass_at_k(n, c, k)
        if not np.array_equal(found, expected[k], equal_nan=True):
            wrong.append(k)

    threads = [threading.Thread(target=work, args=(1 + i % 8,)) for i in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
