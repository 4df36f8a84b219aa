"""Ctrl-C during long work: status 130, one line, soon, and nothing half-written."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Windows has no SIGINT for one process")

ROOT = Path(__file__).parents[1]
INTERRUPTED = (130, "fastpassk: interrupted\n")
ENOUGH = 0.7  # of the work, at which it would not have heard
SOON = 2  # seconds, on a busy machine; a fifth of one on a quiet one
# Says "working" once some of the work is done, so that the signal does not come before it, and how much was done then.
WORK = """
import atexit, sys, threading, time
from fastpassk import threads
from fastpassk.cli import main
of, enough = sys.argv[1], int(sys.argv[2])
del sys.argv[1:3]
seen = []
def tell():
    while not ((shown := threads.progress()) and shown.of == of and shown.done >= enough):
        time.sleep(0.002)
    seen.append(shown)
    print("working", flush=True)
threading.Thread(target=tell, daemon=True).start()
atexit.register(lambda: print(seen[0].done / seen[0].total, flush=True))
sys.exit(main())
"""


@pytest.fixture(scope="module")
def parquet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make 80 million rows of one file of a million."""
    random = np.random.default_rng(0)
    columns = {"problem": random.integers(0, 5000, 1 << 20).astype(str), "passed": random.random(1 << 20) < 0.5}
    folder = tmp_path_factory.mktemp("parquet")
    pl.DataFrame(columns).write_parquet(folder / "a.parquet", compression="uncompressed")
    return _linked(folder / "a.parquet", 80)


@pytest.fixture(scope="module")
def ndjson(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a gigabyte of lines in files of 100 MB."""
    folder = tmp_path_factory.mktemp("ndjson")
    lines = [f'{{"problem": "task/{place}", "passed": true, "completion": "{place:0200}"}}\n' for place in range(1000)]
    (folder / "a.jsonl").write_text("".join(lines) * 400)
    return _linked(folder / "a.jsonl", 10)


def _linked(path: Path, times: int) -> Path:
    """Put a file under so many keys, which makes other data of it, with no room on the disk."""
    whole = path.parent / "whole"
    for place in range(times):
        folder = whole / f"model={place}"
        folder.mkdir(parents=True)
        os.link(path, folder / path.name)
    return whole


def interrupted(*words: object, of: str, enough: int, kind: int = signal.SIGINT) -> tuple[int, str]:
    """Run, interrupt it at work, and return the status and what it said, once it is seen that it did not go on."""
    with subprocess.Popen(
        [sys.executable, "-c", WORK, of, str(enough), *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "FASTPASSK_THREADS": "2", "PYTHONPATH": str(ROOT)},
    ) as work:
        assert work.stdout is not None
        assert work.stdout.readline() == "working\n"
        start = time.monotonic()
        work.send_signal(kind)
        share, error = work.communicate(timeout=60)
        assert time.monotonic() - start < SOON
        assert float(share) < ENOUGH
        return work.returncode, error


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "asked to end"])
def test_counting_of_parquet(parquet: Path, tmp_path: Path, kind: int) -> None:
    out = tmp_path / "counts.parquet"
    assert interrupted("count", parquet, "-o", out, of="parts", enough=3, kind=kind) == INTERRUPTED
    assert list(tmp_path.iterdir()) == []


def test_counting_of_ndjson(ndjson: Path, tmp_path: Path) -> None:
    source = ndjson / "model=0" / "a.jsonl"
    for words, of, enough in (([ndjson], "files", 1), ([source], "bytes", 1)):
        out = tmp_path / "counts.parquet"
        assert interrupted("count", *words, "-o", out, of=of, enough=enough) == INTERRUPTED
        assert list(tmp_path.iterdir()) == []


def test_an_interrupt_inside_the_execution_of_a_text() -> None:
    """Python would end by the signal then, although it was handled."""
    code = (
        "import sys, fastpassk\nfrom fastpassk.cli import main\n"
        "def count(*_, **__): exec('raise KeyboardInterrupt')\n"
        "fastpassk.count = count\nsys.exit(main())"
    )
    command = [sys.executable, "-c", code, "count", "a.csv"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == INTERRUPTED
