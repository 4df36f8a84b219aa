"""The pool: order, nesting, forks, and results that do not depend on the number of threads."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
import weakref
from concurrent.futures import wait
from pathlib import Path

import numpy as np
import pytest

from fastpassk import threads
from fastpassk.errors import UsageError
from fastpassk.kernels import columns
from fastpassk.metrics import METRICS
from fastpassk.metrics.evaluate import evaluate

ROOT = Path(__file__).parent.parent


def test_results_keep_the_order_of_items(monkeypatch):
    monkeypatch.setenv("FASTPASSK_THREADS", "3")
    assert threads.run(lambda item: item * item, range(50)) == [item * item for item in range(50)]
    assert threads.run(str, iter([])) == []


def test_work_is_spread_and_workers_do_not_wait_for_workers(monkeypatch):
    monkeypatch.setenv("FASTPASSK_THREADS", "2")

    def outer(_):
        inner = threads.run(lambda _: threading.get_ident(), range(4))
        assert set(inner) == {threading.get_ident()}
        return threading.get_ident()

    assert threading.get_ident() not in threads.run(outer, range(8))


def test_one_thread_works_in_the_caller(monkeypatch):
    monkeypatch.setenv("FASTPASSK_THREADS", "1")
    assert set(threads.run(lambda _: threading.get_ident(), range(4))) == {threading.get_ident()}


def test_an_error_of_a_worker_reaches_the_caller(monkeypatch):
    monkeypatch.setenv("FASTPASSK_THREADS", "2")
    with pytest.raises(ZeroDivisionError):
        threads.run(lambda item: 1 // item, [1, 0, 1])


def test_no_worker_is_busy_once_an_error_is_raised(monkeypatch):
    """Whoever catches the error may use the arrays again: nobody writes into them any more."""
    monkeypatch.setenv("FASTPASSK_THREADS", "2")
    finished = []

    def work(item):
        time.sleep(0.05 * item)
        if item == 1:
            raise ValueError("one")
        finished.append(item)

    with pytest.raises(ValueError, match="one"):
        threads.run(work, [1, 4, 2, 3])
    assert finished == [4]


def test_the_exception_of_the_first_item_wins(monkeypatch):
    monkeypatch.setenv("FASTPASSK_THREADS", "2")

    def work(item):
        time.sleep(item)
        raise ValueError(f"after {item}")

    with pytest.raises(ValueError, match=r"after 0\.1"):
        threads.run(work, [0.1, 0.0])


def test_an_interrupt_ends_what_the_workers_do(monkeypatch):
    monkeypatch.setenv("FASTPASSK_THREADS", "2")
    waits = []

    def interrupted(workers, seconds):
        waits.append(len(workers))
        if len(waits) == 1:
            raise KeyboardInterrupt
        return wait(workers, seconds)

    def endless(_):
        while True:
            threads.go_on()
            time.sleep(0.001)

    monkeypatch.setattr(threads, "wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        threads.run(endless, range(9))
    assert waits[:2] == [2, 2]
    assert threads.run(str, range(3)) == ["0", "1", "2"]
    threads.go_on()  # in a thread that works for nobody nothing happens


def test_a_worker_at_rest_keeps_nothing(monkeypatch):
    monkeypatch.setenv("FASTPASSK_THREADS", "2")
    array = np.empty(3)
    kept = weakref.ref(array)
    threads.run(lambda item, array=array: item + array.size, range(4))
    with pytest.raises(ZeroDivisionError):
        threads.run(lambda item, array=array: array.size // item, range(2))
    del array
    assert kept() is None


def test_how_many_threads(monkeypatch):
    monkeypatch.setenv("FASTPASSK_THREADS", " 7 ")
    assert threads.thread_count() == 7
    monkeypatch.setenv("FASTPASSK_THREADS", "")
    assert threads.thread_count() == threads._usable_processors() >= 1
    monkeypatch.delenv("FASTPASSK_THREADS")
    assert threads.thread_count() >= 1


@pytest.mark.parametrize("value", ["0", "-1", "two", "1.5"])
def test_a_count_that_is_none_is_refused(monkeypatch, value):
    monkeypatch.setenv("FASTPASSK_THREADS", value)
    with pytest.raises(UsageError, match=f"FASTPASSK_THREADS is '{value}'; allowed: a whole number"):
        threads.thread_count()


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
def test_the_number_of_threads_does_not_show(monkeypatch, metric):
    random = np.random.default_rng(0)
    n = random.integers(1, 150, 1_200_000).astype(np.int32)
    c, k = random.integers(0, n + 1).astype(np.int32), random.choice(np.array([1, 5, 10], np.int32), n.size)
    results = []
    for count in ("1", "2", "5"):
        monkeypatch.setenv("FASTPASSK_THREADS", count)
        columns.forget()
        results.append(evaluate(metric, n, c, k).tobytes())
    results.append(evaluate(metric, n, c, k, threads=False).tobytes())
    assert len(set(results)) == 1
    columns.forget()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_child_makes_its_own_pool():
    code = """
import os
import numpy as np
from fastpassk.metrics import METRICS
from fastpassk.metrics.evaluate import evaluate
n = np.full(1_200_000, 60, np.int32)
c = np.arange(n.size, dtype=np.int32) % 61
first = evaluate(METRICS["pass@k"], n, c, 5)
child = os.fork()
if child == 0:
    same = np.array_equal(evaluate(METRICS["pass@k"], n, c, 5), first)
    other = evaluate(METRICS["pass^k"], n, c, 7)[60] == 1.0
    os._exit(0 if same and other else 3)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert np.array_equal(evaluate(METRICS["pass@k"], n, c, 5), first)
"""
    environment = {**os.environ, "FASTPASSK_THREADS": "2"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=False, text=True, cwd=ROOT, env=environment, timeout=60
    )
    assert done.returncode == 0, done.stderr
