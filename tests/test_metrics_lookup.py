"""Batches scored from stored columns: the values of `evaluate`, to the bit, whatever came before and in any thread."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from fastpassk.errors import FastpasskError
from fastpassk.metrics import METRICS, lookup, small
from fastpassk.metrics.evaluate import evaluate
from fastpassk.metrics.lookup import Lookup

every_metric = pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
every_dtype = pytest.mark.parametrize("dtype", ["i1", "u1", "i4", "u4", "i8", ">i4"])


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every test spend exact integers as a new process may."""
    monkeypatch.setattr(small._Account, "spent", 0.0)


def rows(seed: int, size: int = 2000, top: int = 60, most: int = 80) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    n = rng.integers(1, top + 1, size)
    return n, rng.integers(0, n + 1), rng.choice([1, 2, top, most], size)


@every_metric
@every_dtype
def test_values_are_those_of_evaluate(metric: Any, dtype: str) -> None:
    find = Lookup(metric)
    for seed, top in enumerate((5, 60, 20)):  # with more columns, and with those that are there
        n, c, k = (one.astype(dtype) for one in rows(seed, top=top))
        want = evaluate(metric, n.astype("i8"), c.astype("i8"), k.astype("i8"))
        np.testing.assert_array_equal(find(n, c, k).view("i8"), want.view("i8"))
    assert find._pays
    assert find._columns


@every_metric
def test_every_cell_of_the_table(metric: Any) -> None:
    cells = [(n, c, k) for n in range(1, 13) for c in range(n + 1) for k in range(1, 15)]
    n, c, k = np.array(cells).T
    values = Lookup(metric)(n, c, k)
    want = [float(metric.exact(*cell)) if cell[2] <= cell[0] else np.nan for cell in cells]
    np.testing.assert_array_equal(values, want)


@pytest.mark.parametrize(
    "bad", [(0, 0, 1), (-1, 0, 1), (4, -1, 1), (4, 5, 1), (4, 1, 0), (4, 1, -2), (4, 2**31 - 1, 1), (-(2**31), 0, 1)]
)
@pytest.mark.parametrize("dtype", ["i4", "i8"])
@pytest.mark.parametrize("warm", [True, False])
def test_rows_that_cannot_be_are_refused(bad: tuple[int, int, int], dtype: str, warm: bool) -> None:
    find = Lookup(METRICS["pass@k"])
    n, c, k = (one.astype(dtype) for one in rows(1, top=30))
    if warm:
        find(n, c, k)
    n[7], c[7], k[7] = bad
    with pytest.raises(FastpasskError, match="1 of 2000 rows cannot be scored; the first, row 7"):
        find(n, c, k)


def test_what_the_columns_do_not_hold_is_still_scored(monkeypatch: pytest.MonkeyPatch) -> None:
    metric = METRICS["pass@k"]
    far = np.array([lookup.TOP + 5, 9]), np.array([3, 3]), np.array([2, lookup.TOP + 9])
    np.testing.assert_array_equal(Lookup(metric)(*far), evaluate(metric, *far))
    monkeypatch.setattr(small._Account, "spent", float(small.CELLS))  # exact integers have had their share
    find, data = Lookup(metric), rows(3)
    np.testing.assert_array_equal(find(*data), evaluate(metric, *data))
    assert not find._pays


def test_other_shapes_and_out() -> None:
    metric = METRICS["pass@k"]
    find, n, c = Lookup(metric), np.array([4, 5]), np.array([2, 2])
    np.testing.assert_array_equal(find(n, c, 2), evaluate(metric, n, c, 2))
    np.testing.assert_array_equal(
        find(n[:, None], c[:, None], np.array([1, 2])), evaluate(metric, n[:, None], c[:, None], [1, 2])
    )
    assert find(n[:0], c[:0], n[:0]).shape == (0,)
    out = np.empty(2)
    assert find(n, c, np.array([1, 2]), out) is out
    assert out.tolist() == [0.5, 0.7]


def test_threads_share_one() -> None:
    metric = METRICS["pass@k"]
    find, many = Lookup(metric), [rows(seed, top=5 + 3 * seed) for seed in range(16)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda data: find(*data), many))
    for data, values in zip(many, found, strict=True):
        np.testing.assert_array_equal(values, evaluate(metric, *data))
