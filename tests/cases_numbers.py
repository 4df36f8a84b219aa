"""Cases about what is computed: one function a case, `case_<id>_<what>`, run by test_cases.py."""

from __future__ import annotations

import ast
import itertools
import math
import subprocess
import sys
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import fastpassk
from fastpassk import FastpasskError, FastpasskWarning, curve, pass_at_k, pass_hat_k, plug_in
from source_tree import ROOT, modules


def samples(**columns: object) -> pl.DataFrame:
    """A table of samples of one problem, unless it says otherwise."""
    frame = pl.DataFrame(columns)
    return frame if "problem" in columns else frame.with_columns(problem=pl.lit("p"))


def case_a01_undefined_everywhere() -> None:
    assert math.isnan(pass_at_k(2, 0, 5))
    assert np.isnan(pass_at_k(np.array([2]), np.array([0]), 5)).all()
    frame = pl.DataFrame({"n": [2], "c": [0]})
    assert math.isnan(frame.select(pass_at_k(pl.col("n"), pl.col("c"), 5)).item())


def case_a02_coverage_stands_beside_the_point() -> None:
    frame = pl.DataFrame({"n": [20, 99], "c": [3, 0], "problems": [161, 1]})
    with pytest.warns(FastpasskWarning, match="162 of 162"):
        row = curve(frame, 100).row(0, named=True)
    assert row["estimate"] is None
    assert [row[name] for name in ("n_min", "n_max", "problems", "undefined")] == [20, 99, 162, 162]


def case_a06_no_order() -> None:
    curves = [curve(samples(passed=list(order)), [1, 2]) for order in set(itertools.permutations([0, 1, 0, 0]))]
    assert len(curves) == 4
    for other in curves:
        assert_frame_equal(other, curves[0])
    assert curves[0]["estimate"].to_list() == [0.25, 0.5]


def case_a08_many_ks_from_one_pass() -> None:
    frame = pl.DataFrame({"problem": ["p"], "n": [32], "c": [3]})
    curves = curve(frame, [32, 1, 8, 16, 8])
    assert curves["k"].to_list() == [1, 8, 16, 32]
    exact = [1 - Fraction(math.comb(29, k), math.comb(32, k)) for k in (1, 8, 16, 32)]
    assert curves["estimate"].to_list() == [float(value) for value in exact]


def case_a09_no_overflow() -> None:
    assert pass_at_k(2_000, 1_000, 1_000) == float(1 - Fraction(1, math.comb(2_000, 1_000)))
    values = pass_at_k(100_000, 3, np.arange(1, 100_001, 997))
    assert np.isfinite(values).all()
    assert (np.diff(values) >= 0).all()


def case_a11_the_metric_is_named() -> None:
    assert curve(samples(passed=[True, False]), 1)["metric"].to_list() == ["pass@k"]
    assert "independent" in (ROOT / "README.md").read_text(encoding="utf-8")


def case_b01_not_the_plug_in() -> None:
    assert pass_hat_k(10, 9, 2) == 0.8
    assert plug_in(10, 9, 2) != pass_at_k(10, 9, 2)
    assert set(fastpassk.METRICS) >= {"pass@k", "pass^k"}
    assert not [name for name in fastpassk.METRICS if "plug" in name]


def case_b04_two_metrics_two_names() -> None:
    curves = curve(samples(passed=[1, 1, 0]), 2, metric=["pass@k", "pass^k"])
    assert dict(curves.select("metric", "estimate").iter_rows()) == {"pass@k": 1.0, "pass^k": 1 / 3}


def case_f01_macro_by_default() -> None:
    frame = pl.DataFrame({"problem": ["a", "b"], "n": [4, 1], "c": [4, 0]})
    assert curve(frame, 1)["estimate"].item() == 0.5
    assert curve(frame, 1, average="samples")["estimate"].item() == 0.8


def case_g01_error_over_problems() -> None:
    row = curve(pl.DataFrame({"problem": ["a", "b"], "n": [100, 100], "c": [100, 0]}), 1).row(0, named=True)
    assert (row["estimate"], row["std_error"]) == (0.5, 0.5)


def case_g05_one_problem_has_no_error() -> None:
    row = curve(samples(passed=[1, 0]), 1).row(0, named=True)
    assert row["std_error"] is row["low"] is row["high"] is None


def case_s01_no_wrap_of_unsigned_counts() -> None:
    frame = pl.DataFrame({"problem": ["p"], "n": [2], "c": [1]}, schema_overrides={"n": pl.UInt32, "c": pl.UInt32})
    with pytest.warns(FastpasskWarning):
        assert curve(frame, 5)["estimate"].to_list() == [None]
    assert math.isnan(frame.select(pass_at_k(pl.col("n"), pl.col("c"), 5)).item())


def case_s02_no_wrap_of_sums() -> None:
    frame = pl.DataFrame(
        {"problem": ["a", "b", "c"], "n": [2**30] * 3, "c": [2**30, 0, 0]},
        schema_overrides={"n": pl.Int32, "c": pl.Int32},
    )
    assert curve(frame, 1, average="samples")["estimate"].item() == float(Fraction(2**30, 3 * 2**30))


def case_s03_small_integers() -> None:
    bytes_ = {"n": pl.UInt8, "c": pl.UInt8}
    with pytest.raises(FastpasskError, match="c=201"):
        curve(pl.DataFrame({"problem": ["p"], "n": [200], "c": [201]}, schema_overrides=bytes_), 1)
    frame = pl.DataFrame({"problem": ["a", "b"], "n": [200, 200], "c": [200, 1]}, schema_overrides=bytes_)
    assert curve(frame, 1)["estimate"].item() == float(Fraction(201, 400))
    ones = samples(passed=pl.Series([1] * 1000, dtype=pl.Int8))
    assert fastpassk.count(ones).select("n", "c").row(0) == (1000, 1000)


def case_s07_integers_until_the_end() -> None:
    frame = pl.read_parquet(ROOT / "data" / "samples.parquet")
    plain = curve(frame)
    for seed in range(2):
        assert curve(frame.sample(fraction=1.0, shuffle=True, seed=seed)).equals(plain)


def case_s23_no_integer_products() -> None:
    assert pass_hat_k(64, 32, 32) == float(Fraction(1, math.comb(64, 32)))
    assert pass_at_k(64, 1, 32) == 0.5


def case_s24_fork_after_a_kernel() -> None:
    if not sys.platform.startswith("linux"):
        pytest.skip("forks on Linux only")
    code = (
        "import os, warnings, numpy as np, fastpassk\n"
        "warnings.simplefilter('ignore')\n"
        "n = np.full(3_000_000, 200); c = np.arange(3_000_000) % 201; k = np.arange(3_000_000) % 200 + 1\n"
        "first = fastpassk.pass_at_k(n, c, k)\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    os._exit(0 if (fastpassk.pass_at_k(n, c, k) == first).all() else 7)\n"
        "print(os.waitpid(child, 0)[1])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.strip() == "0"


def case_s25_the_package_never_forks() -> None:
    for module in modules():
        assert not [name for name, _ in module.imports() if name.split(".")[0] == "multiprocessing"], module.name
        attributes = {node.attr for node in ast.walk(module.tree) if isinstance(node, ast.Attribute)}
        assert not attributes & {"fork", "forkpty"}, module.name


def case_s26_mean_of_booleans() -> None:
    assert curve(samples(passed=[True, True, False]), 1)["estimate"].item() == 2 / 3
