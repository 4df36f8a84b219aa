"""evaluate: broadcasting, dtypes, `out`, errors, and the choice between paths, which must never show."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from fastpassk.errors import FastpasskError, UsageError
from fastpassk.kernels import columns, running
from fastpassk.metrics import METRICS, large, metric, small
from fastpassk.metrics.evaluate import evaluate
from fastpassk.metrics.rows import Rows
from strategies import bad_rows

PASS, HAT = METRICS["pass@k"], METRICS["pass^k"]
ROOT = Path(__file__).parent.parent


@pytest.fixture(params=["small", "large", "pieces"])
def path(request, monkeypatch):
    """Small work in integers, the same in kernels, and in kernels with stretches of a few rows."""
    columns.forget()
    monkeypatch.setattr(small._Account, "spent", 0)
    if request.param != "small":
        monkeypatch.setattr(small, "fill", lambda *_: False)
        monkeypatch.setattr(small, "single", lambda *_: None)
    if request.param == "pieces":
        monkeypatch.setattr(large, "CELLS", 7)
    yield request.param
    columns.forget()


def truth(record, n, c, k):
    def one(a, b, d):
        if d > a:
            return np.nan
        top, whole = record.ratio(int(a), int(b), int(d))
        return top / whole

    return np.vectorize(one, otypes=[float])(n, c, k)


def some_rows(size=300, seed=0):
    random = np.random.default_rng(seed)
    n = random.integers(1, 120, size)
    return n, random.integers(0, n + 1), random.integers(1, 60, size)


@pytest.mark.parametrize("record", METRICS.values(), ids=METRICS)
@pytest.mark.parametrize(
    "kind",
    [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64, ">i4", ">i8", np.longlong],
)
def test_every_integer_dtype(path, record, kind):
    rows = some_rows()
    np.testing.assert_array_equal(evaluate(record, *(a.astype(kind) for a in rows)), truth(record, *rows))


@pytest.mark.parametrize("record", METRICS.values(), ids=METRICS)
@pytest.mark.parametrize(
    ("n", "c", "k"),
    [
        ((), (), ()),
        ((1,), (), ()),
        ((30,), (30,), ()),
        ((30,), (), (30,)),
        ((), (), (30,)),
        ((6, 1), (6, 1), (5,)),
        ((6, 1), (1, 1), (1, 5)),
        ((2, 3, 1), (3, 1), (4,)),
        ((4, 1, 1), (5, 1), (3,)),
        ((3, 4), (4,), (3, 1)),
        ((3, 4), (3, 4), (1, 1)),
        ((0,), (0,), ()),
        ((3, 0), (1,), (1,)),
    ],
)
def test_broadcasting(path, record, n, c, k):
    random = np.random.default_rng(7)
    rows = random.integers(20, 41, n), random.integers(0, 21, c), random.integers(1, 30, k)
    values = evaluate(record, *rows)
    assert values.shape == np.broadcast_shapes(n, c, k)
    np.testing.assert_array_equal(values, truth(record, *np.broadcast_arrays(*rows)).reshape(values.shape))


def test_strided_read_only_and_unaligned_arrays(path):
    n, c, k = some_rows()
    expected = truth(PASS, n, c, k)
    wide = np.zeros((300, 3), np.int32)
    wide[:, 0], wide[:, 1], wide[:, 2] = n, c, k
    np.testing.assert_array_equal(evaluate(PASS, *wide.T), expected)
    np.testing.assert_array_equal(evaluate(PASS, n[::-1], c[::-1], k[::-1])[::-1], expected)
    packed = np.zeros(300, np.dtype([("pad", np.int8), ("n", np.int64), ("c", np.int64)], align=False))
    packed["n"], packed["c"] = n, c
    for array in (n, c, k):
        array.flags.writeable = False
    np.testing.assert_array_equal(evaluate(PASS, packed["n"], packed["c"], k), expected)
    np.testing.assert_array_equal(evaluate(PASS, n, c, k), expected)


def test_out_is_written_in_place(path):
    n, c, k = some_rows(12)
    out = np.full((12, 2), -7.0)
    assert evaluate(PASS, n, c, k, out[:, 1]).base is out
    np.testing.assert_array_equal(out[:, 1], truth(PASS, n, c, k))
    assert (out[:, 0] == -7).all()
    flat = np.empty(12)
    assert evaluate(PASS, n, c, k, out=flat) is flat
    square = np.empty((3, 12), order="F")
    assert evaluate(PASS, n, c, np.array([[1], [2], [3]]), square) is square
    np.testing.assert_array_equal(square, truth(PASS, n, c, np.array([[1], [2], [3]])))


@pytest.mark.parametrize("out", [np.empty(4), np.empty(3, np.float32), [0.0] * 3, np.broadcast_to(0.0, 3)])
def test_an_out_that_cannot_hold_the_result(out):
    with pytest.raises(FastpasskError, match=r"out is .*writeable float64 array of shape \(3,\)"):
        evaluate(PASS, np.full(3, 9), 2, 1, out)


@settings(max_examples=40, deadline=None)
@given(bad_rows())
def test_a_bad_row_is_named_with_its_values_and_how_many_there_are(row):
    for fill in (small.fill, lambda *_: False):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(small, "fill", fill)
            n, c, k = (np.append(np.full(20, good), [value, value]) for good, value in zip((9, 4, 2), row, strict=True))
            message = rf"^2 of 22 rows .* row 20, has n={row[0]}, c={row[1]}, k={row[2]} \(allowed: 1 <= n <="
            with pytest.raises(FastpasskError, match=message):
                evaluate(PASS, n, c, k)


def test_where_a_bad_row_is(path):
    n, c = np.full((4, 5), 9), np.full((4, 5), 3)
    c[2, 3] = 10
    with pytest.raises(FastpasskError, match=r"^1 of 20 rows .*row \(2, 3\), has n=9, c=10, k=2"):
        evaluate(PASS, n, c, 2)
    with pytest.raises(FastpasskError, match=r"^3 of 60 rows .*row \(2, 3, 0\), has n=9, c=10, k=1"):
        evaluate(PASS, n[..., None], c[..., None], np.array([1, 2, 3]))
    with pytest.raises(FastpasskError, match=r"^1 of 1 rows .*the row, has n=5, c=6, k=1"):
        evaluate(PASS, 5, 6, 1)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_beyond_int64_is_an_error_and_never_wraps(path, place):
    rows = [np.full(3, value, np.uint64) for value in (9, 3, 2)]
    rows[place][1] = 2**64 - 150
    with pytest.raises(FastpasskError, match=rf"row 1, .*{'nck'[place]}={2**64 - 150}"):
        evaluate(PASS, *rows)
    numbers = [9, 3, 2]
    numbers[place] = 2**63
    with pytest.raises(FastpasskError, match=str(2**63)):
        evaluate(PASS, *numbers)
    numbers[place] = 2**64
    with pytest.raises(FastpasskError, match=f"{'nck'[place]} holds an integer outside"):
        evaluate(PASS, *numbers)


@pytest.mark.parametrize("value", [1.0, np.array([1.5]), True, np.array([True]), "3", None, [1, None]])
def test_what_is_no_integer_is_refused(value):
    with pytest.raises(FastpasskError, match=r"k has the dtype .*allowed: integers"):
        evaluate(PASS, 5, 2, value)


def test_shapes_that_do_not_broadcast():
    with pytest.raises(FastpasskError, match=r"\(3,\), \(4,\) and \(\)"):
        evaluate(PASS, np.full(3, 5), np.full(4, 2), 1)


@pytest.mark.parametrize("record", METRICS.values(), ids=METRICS)
def test_n_on_both_sides_of_the_table(path, record):
    n = np.array([5, 131072, 131073, 10**9, 2**40, 200, 7, 2**63 - 1])
    c, k = n - np.array([3, 50, 4, 1, 0, 100, 7, 5]), np.array([2, 3, 3, 10**9, 5, 201, 1, 9])
    np.testing.assert_array_equal(evaluate(record, n, n - c, k), truth(record, n, n - c, k))


def test_columns_are_built_once_and_only_where_they_pay(monkeypatch):
    monkeypatch.setattr(small, "fill", lambda *_: False)
    columns.forget()
    n, c = np.full(5000, 200), np.arange(5000) % 201
    expected = truth(PASS, n, c, 10)
    np.testing.assert_array_equal(evaluate(PASS, n, c, 10), expected)
    kept = columns.stored(0)
    np.testing.assert_array_equal(evaluate(PASS, n[:10], c[:10], 10), expected[:10])
    assert columns.stored(0) is kept
    evaluate(PASS, n[:10], c[:10], 11)  # ten rows do not pay for a column of 201
    assert columns.stored(0) is kept
    evaluate(PASS, n, c, np.where(c > 200, 11, 400))  # k > n needs no cells
    assert columns.stored(0).arena.size == kept.arena.size
    columns.forget()


def test_what_is_stored_does_not_keep_later_work_from_its_columns(monkeypatch):
    columns.forget()
    monkeypatch.setattr(columns, "MAX_STARTS", 1 << 20)
    evaluate(PASS, np.full(60_000, 20_000), 7, 1)
    assert columns.stored(0).top == 20_000
    n, c, ks = np.full(1000, 200), np.arange(1000) % 201, np.arange(1, 301)
    found = evaluate(PASS, n[:, None], c[:, None], ks)
    assert columns.stored(0).top == 200
    np.testing.assert_array_equal(found[:201], truth(PASS, n[:201, None], c[:201, None], ks))
    columns.forget()


@pytest.mark.parametrize("k", [0, -1, -100, -(2**62)])
def test_a_k_below_one_is_an_error_whatever_is_stored(path, k):
    n, c = np.full(60, 20), np.arange(60) % 21
    evaluate(PASS, n, c, 3)
    for ks in (k, [k, 3]):
        with pytest.raises(FastpasskError, match=f"has n=20, c=0, k={k} "):
            evaluate(PASS, n[:, None], c[:, None], ks)


def test_curves_beyond_the_table_are_walked(monkeypatch, path):
    """And so cost their last k, not the sum of all."""
    n, c = np.array([10**6, 300, 10**6, 200_000]), np.array([3000, 200, 2, 199_000])
    ks = np.array([40, 1, 1000, 7, *range(100, 200)])
    walked = []
    walk = running.running_curve
    monkeypatch.setattr(running, "running_curve", lambda *given: (walked.append(given[1:]), walk(*given))[1])
    for record in METRICS.values():
        np.testing.assert_array_equal(
            evaluate(record, n[:, None], c[:, None], ks), truth(record, n[:, None], c[:, None], ks)
        )
    assert path == "small" or (10**6, 3000, 1000) in walked


def test_kernels_are_compiled_in_the_calling_thread(monkeypatch):
    monkeypatch.setenv("FASTPASSK_THREADS", "2")
    monkeypatch.setattr(small, "fill", lambda *_: False)
    monkeypatch.setattr(large, "CELLS", 50)
    callers = []
    walk = running._walk
    monkeypatch.setattr(running, "_walk", lambda *given: (callers.append(threading.current_thread()), walk(*given))[1])
    evaluate(PASS, np.full(200, 10**6), np.arange(200), 9)
    assert callers[0] is threading.main_thread()
    assert threading.main_thread() not in callers[1:]


def test_good_rows_are_checked_without_repeating_them_for_every_k(monkeypatch):
    rows = Rows(np.full((500, 1), 9), np.arange(500)[:, None] % 9, np.arange(1, 1000))
    monkeypatch.setattr(Rows, "expanded", None)
    rows.check([(0, 200), (200, 500)])


def test_rows_repeated_across_ks_are_not_copied_whole():
    n = np.broadcast_to(np.int32(100), (1000, 1000, 1000))
    rows = Rows(n, np.int32(3), 5)
    assert rows.size == 10**9
    assert rows.part(10**8, 10**8 + 4).n.tolist() == [100] * 4


def test_small_work_never_imports_numba():
    code = """
import sys
import numpy as np
from fastpassk.metrics import METRICS
from fastpassk.metrics.evaluate import evaluate
from fastpassk.metrics.means import mean_and_error
for metric in METRICS.values():
    evaluate(metric, 200, 10, 10)
    evaluate(metric, 100_000, 30, 40_000)
    n = np.full(20_000, 200)
    evaluate(metric, n, np.arange(n.size) % 201, 10)
    evaluate(metric, n[:, None], 5, [1, 2])
    mean_and_error(metric, n[:100], np.arange(100), n[:100], np.arange(1, 101))
assert not {"numba", "polars", "pyarrow"} & set(sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr


def test_metrics_by_name():
    assert metric("pass^k") is HAT
    with pytest.raises(UsageError, match=r"metric is 'pass@l'; allowed: pass@k, pass\^k \(did you mean 'pass@k'\?\)"):
        metric("pass@l")
