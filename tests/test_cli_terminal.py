"""On a terminal: a table as wide as it, a progress line for long work, and nothing of the kind elsewhere."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

pty = pytest.importorskip("pty", reason="pseudo-terminals exist on Unix only")

ROOT = Path(__file__).parents[1]
PROLOGUE = """
import sys, time, fastpassk, polars as pl
from fastpassk.cli import main
from fastpassk.errors import tell
def curve(*_, **__):
    time.sleep({seconds})
    tell("a note")
    rows = [dict(model="模型 \\x1b[31m", metric="pass@k", k=k, estimate=k / 128, std_error=0.25, low=None, high=None,
                 problems=164, undefined=0, n_min=200, n_max=200) for k in {ks}]
    return pl.DataFrame(rows)
fastpassk.curve = curve
fastpassk.count = lambda *_, **__: pl.DataFrame(dict(problem=[str(i) for i in range(100)], n=5, c=2))
sys.exit(main(sys.argv[1:]))
"""


def on_terminal(
    *words: str,
    seconds: float = 0,
    ks: str = "[1, 10]",
    columns: int = 80,
    output: bool = True,
    error: bool = True,
    code: str = "",
    **env: str,
) -> tuple[int, str, str]:
    """Run with a terminal as the chosen streams; return the status, what the terminal got, and what the pipe got."""
    master, slave = pty.openpty()
    done = subprocess.Popen(
        [sys.executable, "-c", code or PROLOGUE.format(seconds=seconds, ks=ks), *words],
        cwd=ROOT,
        stdout=slave if output else subprocess.PIPE,
        stderr=slave if error else subprocess.PIPE,
        stdin=slave,
        env={**os.environ, "COLUMNS": str(columns), "TERM": "xterm", **env},
    )
    os.close(slave)
    shown = b""
    while True:
        try:
            part = os.read(master, 4096)
        except OSError:  # Linux: the other end is closed
            break
        if not part:
            break
        shown += part
    os.close(master)
    outputs = done.communicate(timeout=20)
    return done.returncode, shown.decode().replace("\r\n", "\n"), b"".join(filter(None, outputs)).decode()


def test_a_terminal_gets_the_table_and_then_the_notes() -> None:
    status, shown, _ = on_terminal("curve", "a.csv")
    assert status == 0
    assert shown == (
        "model          pass@1  pass@10  problems    n\n"
        "模型 \\x1b[31m   0.008    0.078       164  200\n"
        "fastpassk: note: a note\n"
    )


def test_the_table_is_as_wide_as_the_terminal() -> None:
    _, shown, _ = on_terminal("curve", "a.csv", "--quiet", ks="range(1, 30)", columns=50)
    lines = shown.splitlines()
    assert max(map(len, lines)) <= 50
    assert sum(line.startswith("model") for line in lines) > 3
    assert all(f"pass@{k}" in shown.split() for k in range(1, 30))


def test_styles_of_the_table() -> None:
    _, shown, _ = on_terminal("curve", "a.csv", "--unit", "percent", "--digits", "2", "--layout", "long", "--quiet")
    assert "0.78% (se 25.00%)" in shown


def test_a_terminal_gets_csv_or_json_where_told() -> None:
    assert on_terminal("curve", "a.csv", "-o", "-", "--quiet")[1].startswith("model,metric,k,estimate")
    assert on_terminal("curve", "a.csv", "--json", "--quiet")[1].startswith("{")


def test_a_pipe_gets_csv_without_the_table_or_the_progress() -> None:
    status, shown, piped = on_terminal("curve", "a.csv", output=False)
    assert (status, shown) == (0, "fastpassk: note: a note\n")
    assert piped.startswith("model,metric,k,estimate")


def test_a_pipe_gets_the_table_where_told() -> None:
    _, _, piped = on_terminal("curve", "a.csv", "--layout", "wide", output=False, columns=10)
    assert piped.startswith("model          pass@1  pass@10  problems    n\n")


def test_long_tables_say_how_much_is_left_out() -> None:
    _, shown, _ = on_terminal("count", "a.csv")
    assert shown.splitlines()[-1] == "… 60 more rows"
    assert on_terminal("count", "a.csv", output=False)[2].count("\n") == 101


def test_long_work_shows_what_it_does_and_wipes_it() -> None:
    _, shown, _ = on_terminal("curve", "a.csv", "b.csv", seconds=1.5)
    line = "computing curves: a.csv and 1 more … 1 s"
    assert line in shown
    assert "\x1b[3" not in shown
    before, _, after = shown.rpartition("\r")
    assert before.endswith("\r" + " " * (len(line) + 2))
    assert after.startswith("model")


@pytest.mark.parametrize("words", [["--quiet"], []], ids=["quiet", "dumb"])
def test_no_progress_where_it_is_not_wanted(words: list[str]) -> None:
    _, shown, _ = on_terminal("curve", "a.csv", *words, seconds=1.4, TERM="xterm" if words else "dumb")
    assert "computing" not in shown


def test_no_progress_off_a_terminal() -> None:
    _, _, piped = on_terminal("curve", "a.csv", seconds=1.4, error=False)
    assert piped == "fastpassk: note: a note\n"


TASK = """
import sys, time, fastpassk, polars as pl
from fastpassk import threads
from fastpassk.cli import main
def count(*_, **__):
    with threads.task({total}, "{of}") as shown:
        shown.done = {total} * 3 // 4
        time.sleep(1.5)
    return pl.DataFrame(dict(problem=["p"], n=5, c=2))
fastpassk.count = count
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    ("total", "of", "words"),
    [
        (4000, "files", "75 % of 4,000 files, 1 s"),
        (40, "parts", "75 % of 40 parts, 1 s"),
        (340_000_000, "bytes", "75 % of 340 MB, 1 s"),
        (0, "bytes", "a.csv … 1 s"),
        (1, "files", "a.csv … 1 s"),
    ],
)
def test_long_work_shows_how_far_it_is(total: int, of: str, words: str) -> None:
    _, shown, piped = on_terminal("count", "a.csv", output=False, code=TASK.format(total=total, of=of))
    assert words in shown
    assert piped == "problem,n,c\np,5,2\n"


def test_no_progress_leaves_the_notes() -> None:
    _, shown, _ = on_terminal("curve", "a.csv", "--no-progress", seconds=1.4)
    assert "computing" not in shown
    assert "note: a note" in shown


REAL = """
import sys
from fastpassk.cli import main, progress
from fastpassk.sources import coded
coded.ROWS, coded.FEWEST_BYTES, progress.DELAY, progress.PERIOD = 1000, 0, 0.001, 0.001
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize(("suffix", "share"), [("parquet", "% of 200 parts"), ("jsonl", r"% of 20 MB")])
def test_counting_shows_how_far_it_is(tmp_path: Path, suffix: str, share: str) -> None:
    frame = pl.DataFrame({"problem": [str(place) for place in range(1000)] * 200, "passed": True, "text": "x" * 50})
    path = tmp_path / f"a.{suffix}"
    if suffix == "parquet":
        frame.write_parquet(path, row_group_size=1000)
    else:
        frame.write_ndjson(path)
        share = f"% of {path.stat().st_size / 1e6:,.0f} MB"
    status, shown, piped = on_terminal("count", str(path), output=False, code=REAL, columns=400)
    assert status == 0
    assert share in shown
    assert piped.count("\n") == 1001
