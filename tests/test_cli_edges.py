"""What goes wrong: one or two lines on standard error, a status, no traceback, nothing half-written."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import fastpassk
from fastpassk.cli.run import main
from fastpassk.errors import FastpasskError, UsageError, tell

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[1]
CURVES = pl.DataFrame(
    {"model": ["a"], "metric": ["pass@k"], "k": [1], "estimate": [0.5], "std_error": [None], "low": [None],
     "high": [None], "problems": [2], "undefined": [0], "n_min": [3], "n_max": [3]},
    schema_overrides={"std_error": pl.Float64, "low": pl.Float64, "high": pl.Float64},
)  # fmt: skip


class PanicException(BaseException):
    """Stands for the one of Rust, which derives from BaseException too."""


@pytest.fixture
def answer(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], object]], None]:
    """Lets `fastpassk.curve` do what the test wants."""
    return lambda act: monkeypatch.setattr(fastpassk, "curve", lambda *_, **__: act())


def failing(error: BaseException) -> Callable[[], object]:
    """A library function that raises."""

    def act() -> object:
        raise error

    return act


def run(*words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run the command line as a process."""
    return subprocess.run(
        [sys.executable, "-m", "fastpassk", *words], cwd=ROOT, capture_output=True, text=True, check=False, **options
    )


@pytest.mark.parametrize(
    ("error", "status", "lines"),
    [
        (FastpasskError("row 3 is bad"), 1, ["error: row 3 is bad"]),
        (FastpasskError("two\nlines\nand a third"), 1, ["error: two", "lines"]),
        (FastpasskError("model \x1b[31mred"), 1, ["error: model \\x1b[31mred"]),
        (UsageError("k is 0"), 2, ["error: k is 0"]),
        (FileNotFoundError(2, "No such file or directory", "a.csv"), 1, ["error: No such file or directory: a.csv"]),
        (OSError(28, "No space left on device"), 1, ["error: No space left on device"]),
        (OSError("odd"), 1, ["error: odd"]),
        (MemoryError(), 1, ["error: out of memory"]),
        (
            ZeroDivisionError("by zero\nand more"),
            1,
            ["error: unexpected ZeroDivisionError: by zero", "run with FASTPASSK_DEBUG=1 for the traceback"],
        ),
        (
            PanicException("index out of bounds"),
            1,
            ["error: unexpected PanicException: index out of bounds", "run with FASTPASSK_DEBUG=1 for the traceback"],
        ),
        (KeyboardInterrupt(), 130, ["interrupted"]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_errors_are_lines_and_a_status(
    error: BaseException,
    status: int,
    lines: list[str],
    answer: Callable[..., None],
    capsys: pytest.CaptureFixture[str],
) -> None:
    answer(failing(error))
    assert main(["curve", "a.csv"]) == status
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err == "fastpassk: " + "\n".join(lines) + "\n"


def test_the_traceback_is_there_for_those_who_ask(
    answer: Callable[..., None], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FASTPASSK_DEBUG", "1")
    answer(failing(ZeroDivisionError("by zero")))
    assert main(["curve", "a.csv"]) == 1
    assert "Traceback (most recent call last)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "start"),
    [
        ([], "a command is missing; there are curve, score, count, merge, check, formats"),
        (["curves"], "'curves' is no command; there are curve, "),
        (["results.csv"], "'results.csv' is no command"),
        (["--quiet", "curve"], "'--quiet' is no command"),
        (["curve"], "the following arguments are required: SOURCE"),
        (["formats", "a.csv"], "formats has no option 'a.csv'"),
        (["curve", "a.csv", "--json", "-o", "x.json"], "--json writes to standard output"),
        (["curve", "a.csv", "--json", "--layout", "long"], "--layout styles a table for people"),
        (["curve", "a.csv", "--unit", "percent", "-o", "x.csv"], "--unit styles a table for people"),
        (["curve", "a.csv", "-o", "x.xlsx"], "x.xlsx has a suffix that is not written; allowed: .parquet"),
        (["curve", "a.csv", "-o", "nowhere/x.csv"], "no folder 'nowhere' to write 'nowhere/x.csv' into"),
    ],
)
def test_usage_is_checked_before_any_work(
    words: list[str], start: str, answer: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    answer(failing(FastpasskError("the work was begun")))
    assert main(words) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"fastpassk: error: {start}")
    assert error.count("\n") <= 2


def test_version_and_help_end_well(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"fastpassk {fastpassk.__version__}\n"
    assert main(["--help"]) == main(["curve", "--help"]) == 0


def test_notes_are_printed_once_in_order_after_the_result(
    answer: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    def act() -> pl.DataFrame:
        for note in ("z first", "a second", "z first"):
            tell(note)
        return CURVES

    answer(act)
    assert main(["curve", "a.csv"]) == 0
    assert capsys.readouterr().err == "fastpassk: note: z first\nfastpassk: note: a second\n"
    assert main(["curve", "a.csv", "--quiet"]) == 0
    assert capsys.readouterr().err == ""


def test_notes_stand_before_an_error(answer: Callable[..., None], capsys: pytest.CaptureFixture[str]) -> None:
    def act() -> None:
        tell("3 samples were dropped")
        raise FastpasskError("nothing is left")

    answer(act)
    assert main(["curve", "a.csv"]) == 1
    assert capsys.readouterr().err == "fastpassk: note: 3 samples were dropped\nfastpassk: error: nothing is left\n"


def test_other_warnings_are_not_hidden(answer: Callable[..., None]) -> None:
    def act() -> pl.DataFrame:
        warnings.warn("old", RuntimeWarning, stacklevel=1)
        return CURVES

    answer(act)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        assert main(["curve", "a.csv"]) == 0
    assert [str(one.message) for one in seen] == ["old"]


def test_standard_output_may_be_any_stream_of_text(answer: Callable[..., None]) -> None:
    answer(lambda: CURVES)
    with contextlib.redirect_stdout(io.StringIO()) as out:
        assert main(["curve", "a.csv"]) == 0
    assert out.getvalue() == CURVES.write_csv()


def test_a_table_survives_a_poor_encoding(answer: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    frame = CURVES.with_columns(model=pl.lit("modèle"), estimate=pl.lit(None, pl.Float64))
    answer(lambda: frame)
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
    assert main(["curve", "a.csv", "--layout", "wide"]) == 0
    assert b"mod\\xe8le" in raw.getvalue()
    assert main(["curve", "a.csv"]) == 0
    assert raw.getvalue().decode().endswith(frame.write_csv())  # data is UTF-8 whatever the terminal is


def test_a_closed_standard_output_is_an_error(
    answer: Callable[..., None], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answer(lambda: CURVES)
    monkeypatch.setattr(sys, "stdout", None)
    assert main(["curve", "a.csv"]) == 1
    assert capsys.readouterr().err == "fastpassk: error: standard output is closed\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_an_error_even_on_standard_output() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "fastpassk", "formats"],
            cwd=ROOT, stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (1, "fastpassk: error: No space left on device\n")


@pytest.mark.parametrize("words", [["formats"], ["--help"], ["curve", "data/taubench_gpt4o_airline.csv", "--k", "1:4"]])
def test_a_reader_that_leaves_is_no_error(words: list[str]) -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "fastpassk", *words], cwd=ROOT, stdout=write, stderr=subprocess.PIPE, check=False
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (0, b"")


def test_head_ends_a_long_output_quietly() -> None:
    code = (
        "import sys, polars as pl, fastpassk; from fastpassk.cli import main;"
        "fastpassk.count = lambda *_, **__: pl.DataFrame({'n': range(3_000_000)}); sys.exit(main(['count', 'x']))"
    )
    command = f'"{sys.executable}" -c "{code}" | head -2; echo "${{PIPESTATUS[0]}}"'
    done = subprocess.run(["bash", "-c", command], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("n\n0\n0\n", "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_with_130_and_leaves_no_file(tmp_path: Path, number: signal.Signals) -> None:
    code = (
        "import sys, time, fastpassk; from fastpassk.cli import main\n"
        "def slow(*_, sink=None, **__):\n"
        "    from fastpassk.storage import atomic\n"
        "    with atomic(sink) as part:\n"
        "        part.write_text('half'); print('ready', flush=True); time.sleep(30)\n"
        "fastpassk.score = slow\n"
        "sys.argv[1:1] = ['score', 'x.csv', '-o']\nsys.exit(main())"
    )
    target = tmp_path / "out.csv"
    work = subprocess.Popen(
        [sys.executable, "-c", code, str(target)], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert work.stdout is not None
    assert work.stdout.readline() == "ready\n"
    work.send_signal(number)
    _, error = work.communicate(timeout=20)
    assert (work.returncode, error) == (130, "fastpassk: interrupted\n")
    assert list(tmp_path.iterdir()) == []


def test_a_failed_write_leaves_what_stood_there(
    tmp_path: Path, answer: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    from fastpassk.present import tables

    answer(lambda: CURVES)
    monkeypatch.setattr(tables, "curves_markdown", lambda *_, **__: failing(RuntimeError("half-way"))())
    target = tmp_path / "table.md"
    target.write_text("old")
    assert main(["curve", "a.csv", "-o", str(target)]) == 1
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("table.md", "old")]


def test_python_m_runs_it_and_passes_the_status_on() -> None:
    start = time.perf_counter()
    assert run("--version").stdout == f"fastpassk {fastpassk.__version__}\n"
    assert time.perf_counter() - start < 5
    done = run("curve", "no-such-file.csv")
    assert done.returncode == 1
    assert done.stderr.startswith("fastpassk: error: ")
    assert "Traceback" not in done.stderr


def test_ctrl_c_ends_a_wait_for_standard_input(tmp_path: Path) -> None:
    """Polars takes the signal in a way that restarts a waiting read, so the wait must come up for air."""
    env = os.environ | {"TMPDIR": str(tmp_path)}
    work = subprocess.Popen(
        [sys.executable, "-m", "fastpassk", "curve", "-"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env,
    )  # fmt: skip
    deadline = time.monotonic() + 30
    while not list(tmp_path.glob("fastpassk-*")) and time.monotonic() < deadline:
        time.sleep(0.05)
    work.send_signal(signal.SIGINT)
    work.wait(timeout=20)  # with standard input still open
    _, error = work.communicate()
    assert (work.returncode, error) == (130, "fastpassk: interrupted\n")
    assert list(tmp_path.glob("fastpassk-*")) == []


@pytest.mark.parametrize("command", ["curve", "count", "score"])
def test_an_input_is_never_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str) -> None:
    source = tmp_path / "dump.csv"
    source.write_text("problem,passed\na,1\n")
    assert main([command, str(source), "-o", str(source)]) == 2
    assert "would be overwritten" in capsys.readouterr().err
    assert main([command, str(tmp_path), "-o", str(source)]) == 2
    assert source.read_text() == "problem,passed\na,1\n"


def test_notes_of_a_folder_come_once_where_the_output_exists(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, out = tmp_path / "in", tmp_path / "counts.csv"
    folder.mkdir()
    (folder / "a.csv").write_text("problem,passed\na,1\n")
    (folder / "README").write_text("hello")
    for _ in range(2):
        assert main(["count", str(folder), "-o", str(out)]) == 0
        assert capsys.readouterr().err == f"fastpassk: note: left out of the folders as no data: {folder / 'README'}\n"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")
def test_a_pipe_is_read_where_the_output_exists(tmp_path: Path) -> None:
    pipe, out = tmp_path / "pipe", tmp_path / "counts.csv"
    os.mkfifo(pipe)
    out.write_text("old")
    writer = threading.Thread(target=pipe.write_text, args=("problem,passed\na,1\n",), daemon=True)
    writer.start()
    assert main(["count", str(pipe), "-o", str(out)]) == 0
    writer.join()
    assert out.read_text() == "group,problem,n,c\nall,a,1,1\n"
