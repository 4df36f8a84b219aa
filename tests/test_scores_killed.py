"""A command that is killed while it writes leaves what was there before, or its whole output; nothing in between."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import polars as pl
import pytest

import fastpassk as fp

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the signals are those of POSIX")

ROWS, KS = 30_000, 60  # some tenths of a second of writing
LAST = 0.3  # seconds after the output has begun to grow
BEFORE = pl.DataFrame({"before": [1, 2, 3]})


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A large input of each kind, all of whose results take long to write."""
    folder = tmp_path_factory.mktemp("sources")
    frame = pl.DataFrame({"problem": range(ROWS)}).with_columns(n=100 + pl.col("problem") % 50)
    frame = frame.with_columns(c=pl.col("problem") * 7919 % 97, model=pl.format("m{}", pl.col("problem") % 3))
    frame.write_parquet(folder / "counts.parquet")
    rows = pl.concat([frame.with_columns(k=1 + pl.col("n") % 90)] * 100)
    rows.write_parquet(folder / "triples.parquet", compression="lz4", statistics=False)
    return {kind: folder / f"{kind}.parquet" for kind in ("counts", "triples")}


COMMANDS = {
    "problems": ("counts", ["score", "--k", f"1:{KS}"]),
    "folder": ("counts", ["score", "--k", f"1:{KS}", "--partition-by", "model"]),
    "triples": ("triples", ["score"]),
}


def start(command: str, sources: dict[str, Path], target: Path) -> subprocess.Popen[bytes]:
    """Start a command line that writes to `target`."""
    kind, words = COMMANDS[command]
    line = [sys.executable, "-m", "fastpassk", *words, sources[kind], "--quiet", "-o", target]
    return subprocess.Popen([str(word) for word in line], stderr=subprocess.PIPE)


def hidden(folder: Path) -> list[Path]:
    """The files that no reader takes for input."""
    return [path for path in folder.iterdir() if path.name.startswith(".")]


def killed(child: subprocess.Popen[bytes], folder: Path, how: signal.Signals, moment: float) -> int:
    """Send the signal that long after the output has begun to grow, and return how the process ended."""
    with child:
        while child.poll() is None and not hidden(folder):
            time.sleep(0.002)
        time.sleep(moment)
        child.send_signal(how)
        child.wait(30)
    return child.returncode


def assert_whole(target: Path, *, finished: bool, before: bool) -> None:
    """Find what was there before or the whole output; a signal may come when that has its name, too."""
    if not finished and before and pl.read_parquet_schema(target) == BEFORE.schema:
        assert pl.read_parquet(target).equals(BEFORE)
    elif finished or before or target.exists():
        assert rows_of(target) > 1_000_000


def rows_of(target: Path) -> int:
    """How many rows the output has, every column of them decoded."""
    scan = pl.scan_parquet(target, hive_partitioning=False)
    return scan.select(pl.all().hash().sum()).collect().height and scan.select(pl.len()).collect().item()


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT], ids=lambda how: how.name)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_kill_while_writing(tmp_path: Path, sources: dict[str, Path], command: str, how: signal.Signals) -> None:
    target = tmp_path / ("out" if command == "folder" else "out.parquet")
    if command != "folder":
        BEFORE.write_parquet(target)
    moment = random.uniform(0, LAST)  # noqa: S311 - another one in every run is the point
    status = killed(start(command, sources, target), tmp_path, how, moment)
    assert status in ((-9, 0) if how is signal.SIGKILL else (130, 0))
    assert_whole(target, finished=status == 0, before=command != "folder")
    left = hidden(tmp_path)
    assert not left or how is signal.SIGKILL
    assert all(path.suffix == ".part" for path in left)


def test_what_a_kill_left_is_no_input_and_goes_with_the_next_write(tmp_path: Path, sources: dict[str, Path]) -> None:
    target = tmp_path / "out.parquet"
    status = killed(start("problems", sources, target), tmp_path, signal.SIGKILL, 0.05)
    assert (status, len(hidden(tmp_path)) > 0, target.exists()) == (-9, True, False)
    with pytest.raises(fp.FastpasskError, match="no result files"):
        fp.score(tmp_path)
    other = tmp_path / f".out.parquet.00000000-{os.getpid()}.aaaa.part"  # of another machine, where it may be running
    other.touch()
    fp.score(sources["counts"], 1, sink=target)
    assert rows_of(target) == ROWS
    assert hidden(tmp_path) == [other]
