"""The library among other threads: one answer for any number of them, in callers' pools, Polars' workers, processes."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import fastpassk
from fastpassk import threads
from fastpassk.sources import coded

ROOT = Path(__file__).parents[1]
ROWS = 60_000


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Samples in row groups of a thousand, as Parquet and as NDJSON."""
    random = np.random.default_rng(0)
    frame = pl.DataFrame(
        {
            "model": random.choice(["a", "b", "c"], ROWS),
            "problem": np.char.add("task/", random.integers(0, 500, ROWS).astype(str)),
            "passed": random.random(ROWS) < 0.3,
        }
    )
    folder = tmp_path_factory.mktemp("dump")
    frame.write_parquet(folder / "a.parquet", row_group_size=1000)
    frame.write_ndjson(folder / "a.jsonl")
    return folder


@pytest.fixture
def many_bundles(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut small files into many bundles."""
    monkeypatch.setattr(coded, "ROWS", 2000)
    monkeypatch.setattr(coded, "FEWEST_BYTES", 0)


def in_python(code: str, *words: object, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, words)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, **env},
    )


# --threads

POOLS = """
import sys, fastpassk
from fastpassk.cli import main
def count(*_, **__):
    import polars as pl, pyarrow as pa
    from fastpassk.threads import thread_count
    print(thread_count(), pl.thread_pool_size(), pa.cpu_count(), pa.io_thread_count(), file=sys.stderr)
    return pl.DataFrame({"n": [1]})
fastpassk.count = count
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    ("words", "env", "pools"),
    [
        (["--threads", "3"], {"FASTPASSK_THREADS": "no", "POLARS_MAX_THREADS": "5"}, "3 3 3 3"),
        ([], {"FASTPASSK_THREADS": "3"}, "3 3 3 3"),
        ([], {"FASTPASSK_THREADS": "3", "POLARS_MAX_THREADS": "5"}, "3 5 3 3"),
    ],
    ids=["option", "variable", "both variables"],
)
def test_all_pools_follow(words: list[str], env: dict[str, str], pools: str) -> None:
    clean = dict.fromkeys(("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "ARROW_IO_THREADS"), "")
    done = in_python(POOLS, "count", "a.csv", *words, **clean | env)
    assert (done.returncode, done.stderr.strip()) == (0, pools)


def test_the_environment_is_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FASTPASSK_THREADS", "3")
    monkeypatch.setenv("POLARS_MAX_THREADS", "")
    before = dict(os.environ)
    with threads.held_to(5):
        assert threads.thread_count() == 5
        assert os.environ["POLARS_MAX_THREADS"] == "5"
    assert dict(os.environ) == before
    monkeypatch.delenv("FASTPASSK_THREADS")
    with threads.held_to(None):
        assert os.environ["POLARS_MAX_THREADS"] == ""


@pytest.mark.parametrize("command", ["curve", "score", "count", "check", "merge"])
@pytest.mark.parametrize("value", ["0", "-1", "two", "1.5", "5000", ""])
def test_a_number_of_threads_that_is_none_is_refused(
    command: str, value: str, capsys: pytest.CaptureFixture[str]
) -> None:
    from fastpassk.cli import main

    assert main([command, "a.csv", "--threads", value]) == 2
    assert f"--threads is {value!r}: it is a whole number from 1 to 1024" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["count"], ["curve", "--k", "1:40"], ["score", "--k", "1,5"], ["check"]])
def test_every_number_of_threads_gives_the_same_bytes(dump: Path, tmp_path: Path, words: list[str]) -> None:
    code = "import sys; from fastpassk.cli import main; sys.exit(main(sys.argv[1:]))"
    for source in ("a.parquet", "a.jsonl"):
        outputs = set()
        for number in ("1", "2", "5"):
            out = tmp_path / f"{number}.parquet"
            target = [] if words[0] == "check" else ["-o", out]
            done = in_python(code, words[0], dump / source, *words[1:], *target, "--threads", number)
            assert done.returncode == 0, done.stderr
            outputs.add(out.read_bytes() if target else done.stdout)
        assert len(outputs) == 1


# inside the threads of others


@pytest.mark.usefixtures("many_bundles")
def test_several_callers_at_once(dump: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FASTPASSK_THREADS", "2")
    sources = [dump / "a.parquet", dump / "a.jsonl"] * 6
    first = fastpassk.count(sources[0])
    with ThreadPoolExecutor(6) as pool:
        assert all(frame.equals(first) for frame in pool.map(fastpassk.count, sources))
    assert threads.progress() is None


@pytest.mark.usefixtures("many_bundles")
@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
def test_inside_the_workers_of_polars(dump: Path, monkeypatch: pytest.MonkeyPatch, engine: str) -> None:
    monkeypatch.setenv("FASTPASSK_THREADS", "2")

    def passes(path: str) -> int:
        return int(fastpassk.count(path)["c"].sum())

    path = str(dump / "a.parquet")
    column, expected = pl.col("path"), passes(path)
    query = (
        pl.LazyFrame({"path": [path] * 4})
        .select(
            column.map_elements(passes, return_dtype=pl.Int64).alias("elements"),
            column.map_batches(
                lambda paths: pl.Series([passes(one) for one in paths]), return_dtype=pl.Int64, is_elementwise=True
            ).alias("batches"),
            column.map_batches(
                lambda paths: pl.Series(fastpassk.pass_at_k(np.full(len(paths), 90_000), 3, 5)),
                return_dtype=pl.Float64,
                is_elementwise=True,
            ).alias("values"),
        )
        .collect(engine=engine)  # type: ignore[call-overload]
    )
    assert query["elements"].to_list() == query["batches"].to_list() == [expected] * 4
    assert query["values"].to_list() == [fastpassk.pass_at_k(90_000, 3, 5)] * 4


def test_a_thread_of_another_library_works_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    import _thread
    import threading

    monkeypatch.setenv("FASTPASSK_THREADS", "2")
    done = threading.Event()
    found: list[int] = []

    def work() -> None:
        found.extend([threading.get_ident(), *threads.run(lambda _: threading.get_ident(), range(4))])
        done.set()

    _thread.start_new_thread(work, ())
    assert done.wait(10)
    assert len(found) == 5
    assert len(set(found)) == 1


# processes

PROCESSES = """
import multiprocessing as mp, sys
from concurrent.futures import ProcessPoolExecutor
import fastpassk

if __name__ == "__main__":
    first = fastpassk.count(sys.argv[1])
    with ProcessPoolExecutor(2, mp_context=mp.get_context(sys.argv[2])) as pool:
        for frame in pool.map(fastpassk.count, [sys.argv[1]] * 3):
            assert frame.equals(first)
    print("same")
"""


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_processes_of_a_pool(dump: Path, tmp_path: Path, method: str) -> None:
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {method} on this system")
    script = tmp_path / "main.py"
    script.write_text(PROCESSES)
    done = subprocess.run(
        [sys.executable, str(script), str(dump / "a.parquet"), method],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, "FASTPASSK_THREADS": "2", "PYTHONPATH": str(ROOT)},
    )
    assert (done.returncode, done.stdout) == (0, "same\n"), done.stderr


# how far it is


@pytest.mark.parametrize("number", ["1", "2"])
def test_how_far_a_run_is(monkeypatch: pytest.MonkeyPatch, number: str) -> None:
    monkeypatch.setenv("FASTPASSK_THREADS", number)

    def seen(_: int) -> tuple[int, int]:
        shown = threads.progress()
        assert shown is not None
        return shown.done, shown.total

    assert threads.progress() is None
    found = threads.run(seen, range(5))
    assert found[0] == (0, 5)
    assert {total for _, total in found} == {5}
    assert threads.progress() is None
    with pytest.raises(ZeroDivisionError):
        threads.run(lambda item: 1 // item, [0, 1])
    assert threads.progress() is None


def test_the_outermost_task_is_shown() -> None:
    with threads.task(1, "files"), threads.task(7, "bytes") as shown, threads.task(9, "parts"):
        shown.done += 3
        assert threads.progress() is shown
        assert list(shown.over("ab")) == ["a", "b"]
        assert (shown.done, shown.total, shown.of) == (5, 7, "bytes")
    assert threads.progress() is None


@pytest.mark.usefixtures("many_bundles")
def test_bundles_in_any_number_of_threads(dump: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    results = []
    for number in ("1", "2", "5"):
        monkeypatch.setenv("FASTPASSK_THREADS", number)
        frame = fastpassk.count(dump / "a.parquet")
        results.append((frame.write_csv(), fastpassk.provenance(frame)))
    assert results[0] == results[1] == results[2]
    assert results[0][0] == fastpassk.count(dump / "a.jsonl").write_csv()
