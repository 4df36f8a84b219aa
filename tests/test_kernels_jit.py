"""The JIT policy: no compiler, no place for a cache, a full disk, a changed helper."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

# Every kernel, each value compared with exact integers.
EVERY_KERNEL = """
import numpy as np
from fastpassk.kernels import columns, running
from fastpassk.metrics import METRICS, means, small
from fastpassk.metrics.evaluate import evaluate
small._Account.spent = small.CELLS
n = np.repeat([7, 13, 40, 200], 80)
c = np.arange(n.size) % (n + 1)
k = np.arange(n.size) % 9 + 1
for metric in METRICS.values():
    truth = np.array([(lambda a, b: a / b)(*metric.ratio(*row)) if row[2] <= row[0] else np.nan
                      for row in zip(n.tolist(), c.tolist(), k.tolist())])
    for kind in (np.int32, np.int64):
        rows = [a.astype(kind) for a in (n, c, k)]
        assert np.array_equal(evaluate(metric, *rows), truth, equal_nan=True)
        assert np.array_equal(evaluate(metric, *(np.tile(a, 20) for a in rows)), np.tile(truth, 20), equal_nan=True)
        pair = evaluate(metric, rows[0][:, None], rows[1][:, None], np.array([3, 5]))
        assert np.array_equal(pair[k == 3, 0], truth[k == 3]) and np.array_equal(pair[k == 5, 1], truth[k == 5])
        one = evaluate(metric, *rows[:2], 3)
        assert np.array_equal(one[k == 3], truth[k == 3])
    assert np.array_equal(running.running(metric.form, n, c, k), truth, equal_nan=True)
    assert running.running_curve(metric.form, 40, 7, 40)[2] == float(metric.exact(40, 7, 3))
    found = means.mean_and_error(metric, n, c, n, np.array([1, 5]))
    small._Account.spent = -10**6
    exact = means.mean_and_error(metric, n, c, n, np.array([1, 5]))
    small._Account.spent = small.CELLS
    assert np.array_equal(found, exact)
print("right")
"""


# The one that compiles fastest: a gather from columns that hold nothing marks its row.
ONE_KERNEL = """
import numpy as np
from fastpassk.kernels import columns
one = np.ones(1, np.int64)
print(columns.gather_ks(columns._nothing(), one, one, one, np.empty(1)))
"""


def run(code, **environment):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        check=False,
        text=True,
        cwd=ROOT,
        env={**os.environ, "NUMBA_DISABLE_JIT": "0", **environment},
        timeout=120,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.strip()


@pytest.mark.parametrize("threads", ["1", "2"])
def test_the_kernels_run_with_the_jit_off(threads):
    assert run(EVERY_KERNEL, NUMBA_DISABLE_JIT="1", FASTPASSK_THREADS=threads) == "right"


def test_a_read_only_install_without_a_home_compiles_without_a_cache():
    nowhere = """
import numba.core.caching as caching
def refuse(self):
    raise OSError("read-only")
caching._CacheLocator.ensure_cache_path = refuse
"""
    assert run(nowhere + EVERY_KERNEL, HOME="/nonexistent") == "right"


def test_a_cache_that_cannot_be_written_costs_only_time(tmp_path):
    full = """
import numba.core.caching as caching
tried = []
def refuse(self, key, data):
    tried.append(key)
    raise OSError(28, "no space left on device")
caching.IndexDataCacheFile.save = refuse
"""
    code = full + ONE_KERNEL + "assert len(tried) == 1"
    assert run(code, NUMBA_CACHE_DIR=str(tmp_path)) == "False"


def test_a_changed_helper_makes_every_cached_kernel_stale(tmp_path):
    code = (
        """
from fastpassk.kernels import _jit, columns
{change}
"""
        + ONE_KERNEL
        + "print(sum(columns._gather_column.dispatcher.stats.cache_hits.values()))"
    )
    cached = {"NUMBA_CACHE_DIR": str(tmp_path)}
    assert run(code.format(change=""), **cached) == "False\n0"
    assert run(code.format(change=""), **cached) == "False\n1"
    changed = "_jit._room_stamp = lambda: 'another'; import importlib; importlib.reload(columns)"
    assert run(code.format(change=changed), **cached) == "False\n0"


def test_warmup_compiles_every_kernel():
    code = """
from fastpassk.kernels import _jit
_jit.warmup()
from fastpassk.kernels import columns, rounding, running
for room in (columns, rounding, running):
    for name, kernel in vars(room).items():
        if hasattr(kernel, "dispatcher"):
            assert kernel.dispatcher.signatures, name
            print(name, len(kernel.dispatcher.signatures))
"""
    lines = run(code).splitlines()
    assert "_gather_column 2" in lines
    assert "_ratios 1" in lines
    assert len(lines) == 7
