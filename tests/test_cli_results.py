"""For every sub-command the command line gives what the library gives, in every form of output."""

from __future__ import annotations

import gzip
import io
import json
import subprocess
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import fastpassk
from fastpassk.cli.commands import COMMANDS
from fastpassk.cli.formats import formats
from fastpassk.cli.run import main
from fastpassk.present import tables
from fastpassk.storage import FORMATS, OUTPUTS, SUFFIXES, metadata

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[1]
RAGGED = str(ROOT / "data" / "ragged.ndjson")
TALLY = str(ROOT / "data" / "taubench_gpt4o_airline.csv")

# For every sub-command: what is typed, and the call of the library that it stands for. Merge adds the ragged file's
# samples with an odd attempt to those with an even one.
CASES: dict[str, tuple[list[str], Callable[[], object]]] = {
    "curve": (
        [RAGGED, "--k", "1,3,10", "--metric", "pass@k,pass^k", "--missing", "fail", "--by", "model,temperature"],
        lambda: fastpassk.curve(
            RAGGED, [1, 3, 10], metric=["pass@k", "pass^k"], missing="fail", by=["model", "temperature"]
        ),
    ),
    "score": (
        [RAGGED, "--k", "1", "--k", "10", "--missing", "timeout=fail,truncated=fail,unparsed=fail,infra=drop"],
        lambda: fastpassk.score(RAGGED, [1, 10], missing="timeout=fail,truncated=fail,unparsed=fail,infra=drop"),
    ),
    "count": (
        [RAGGED, "--missing", "drop", "--where", "temperature = 0.2"],
        lambda: fastpassk.count(RAGGED, missing="drop", where="temperature = 0.2"),
    ),
    "merge": (["odd.parquet", "even.parquet"], lambda: fastpassk.merge(["odd.parquet", "even.parquet"])),
    "check": ([RAGGED, "--by", "model"], lambda: fastpassk.check(RAGGED, by=["model"])),
    "formats": ([], formats),
}
FRAMES = [name for name, command in COMMANDS.items() if command.result in ("curves", "table")]
every_frame = pytest.mark.parametrize("command", FRAMES)
READERS: dict[str, Callable[[Path, pl.DataFrame], pl.DataFrame]] = {
    ".parquet": lambda path, _: pl.read_parquet(path),
    ".arrow": lambda path, _: pl.read_ipc(io.BytesIO(path.read_bytes())),
    ".csv": lambda path, like: pl.read_csv(path, schema=like.schema),
    ".tsv": lambda path, like: pl.read_csv(path, schema=like.schema, separator="\t"),
    ".json": lambda path, like: pl.DataFrame(strict(path.read_text(encoding="utf-8"))["rows"], like.schema),
    ".jsonl": lambda path, like: pl.read_ndjson(path, schema=like.schema),
}
SAME = {".feather": ".arrow", ".ipc": ".arrow", ".ndjson": ".jsonl"}  # another suffix of one format


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in, with the parts that merge takes."""
    monkeypatch.chdir(tmp_path)
    rows = pl.read_ndjson(RAGGED)
    for name, rest in (("odd", 1), ("even", 0)):
        part = rows.filter(pl.col("trial") % 2 == rest)
        fastpassk.write(quietly(lambda part=part: fastpassk.count(part, missing="fail")), f"{name}.parquet")
    return tmp_path


def quietly(act: Callable[[], Any]) -> Any:
    """Call the library without its notes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fastpassk.FastpasskWarning)
        return act()


def expected(command: str) -> Any:
    """What the library answers."""
    return quietly(CASES[command][1])


def run(command: str, *more: str) -> int:
    """Run the case of a command in this process."""
    return main([command, *CASES[command][0], *more])


def strict(text: str) -> Any:
    """Parse JSON, refusing NaN and Infinity."""

    def refuse(name: str) -> None:
        raise ValueError(name)

    return json.loads(text, parse_constant=refuse)


def test_every_command_has_a_case() -> None:
    assert CASES.keys() == COMMANDS.keys()


@every_frame
def test_off_a_terminal_the_frame_is_csv(command: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(command) == 0
    assert capfd.readouterr().out == expected(command).write_csv()


@every_frame
def test_a_minus_is_standard_output(command: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(command, "-o", "-") == 0
    assert capfd.readouterr().out == expected(command).write_csv()


@every_frame
def test_json_is_strict_and_whole(command: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(command, "--json") == 0
    shown = strict(capfd.readouterr().out)
    frame = expected(command)
    assert shown["rows"] == frame.to_dicts()
    assert shown["provenance"] == strict(json.dumps(fastpassk.provenance(frame)))


@every_frame
@pytest.mark.parametrize("suffix", OUTPUTS)
def test_a_file_holds_what_the_library_writes(command: str, suffix: str, place: Path) -> None:
    frame = expected(command)
    assert run(command, "-o", f"mine{suffix}") == 0
    fastpassk.write(frame, f"its{suffix}")
    read = READERS[SAME.get(suffix, suffix)]
    assert_frame_equal(read(place / f"mine{suffix}", frame), frame, check_exact=True)
    assert (place / f"mine{suffix}").read_bytes() == (place / f"its{suffix}").read_bytes()
    assert {path.name for path in place.iterdir()} == {f"mine{suffix}", f"its{suffix}", "odd.parquet", "even.parquet"}


@every_frame
def test_parquet_says_how_it_was_made(command: str) -> None:
    assert run(command, "-o", "mine.parquet") == 0
    assert metadata("mine.parquet") == strict(json.dumps(fastpassk.provenance(expected(command))))


@every_frame
def test_markdown(command: str, place: Path) -> None:
    write = tables.curves_markdown if COMMANDS[command].result == "curves" else tables.markdown
    assert run(command, "-o", "table.md") == 0
    assert (place / "table.md").read_text(encoding="utf-8") == write(expected(command))


def test_styles_make_a_table_off_a_terminal_too(capfd: pytest.CaptureFixture[str]) -> None:
    style: dict[str, Any] = {"layout": "long", "unit": "percent", "digits": 2}
    words = [word for name, value in style.items() for word in (f"--{name}", str(value))]
    assert run("curve", *words) == 0
    assert capfd.readouterr().out == tables.curves_text(expected("curve"), **style)
    assert run("curve", *words, "-o", "table.md") == 0
    assert Path("table.md").read_text(encoding="utf-8") == tables.curves_markdown(expected("curve"), **style)
    assert run("score", "--digits", "5") == 0
    assert capfd.readouterr().out == tables.frame_text(expected("score"), digits=5)


def test_check_prints_a_line_a_fact(capfd: pytest.CaptureFixture[str]) -> None:
    facts = expected("check")
    assert run("check") == 0
    lines = capfd.readouterr().out.splitlines()
    assert [line.partition(": ")[0] for line in lines] == list(facts)
    assert "format: ndjson" in lines
    assert f"samples: {facts['samples']}" in lines
    assert run("check", "--json") == 0
    assert strict(capfd.readouterr().out) == facts


def test_formats_are_those_that_are_read(capfd: pytest.CaptureFixture[str]) -> None:
    assert run("formats", "--json") == 0
    listed = strict(capfd.readouterr().out)
    assert listed == expected("formats")
    assert [one["format"] for one in listed] == list(FORMATS)
    assert [suffix for one in listed for suffix in one["suffixes"].split()] == list(SUFFIXES)
    assert run("formats") == 0
    assert capfd.readouterr().out == tables.rows_text(listed)


def test_notes_are_the_warnings_of_the_library(capfd: pytest.CaptureFixture[str]) -> None:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        CASES["curve"][1]()
    notes = dict.fromkeys(str(one.message) for one in seen)
    assert notes
    assert run("curve") == 0
    assert capfd.readouterr().err == "".join(f"fastpassk: note: {note}\n" for note in notes)
    assert run("curve", "--quiet") == 0
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("name", ["tally.csv", "tally.csv.gz"])
def test_standard_input(name: str, place: Path) -> None:
    (place / "tally.csv").write_bytes(Path(TALLY).read_bytes())
    (place / "tally.csv.gz").write_bytes(gzip.compress(Path(TALLY).read_bytes()))
    with (place / name).open("rb") as stream:
        done = subprocess.run(
            [sys.executable, "-m", "fastpassk", "curve", "-", "--k", "1:4", "--quiet"],
            cwd=ROOT, stdin=stream, capture_output=True, text=True, check=True,
        )  # fmt: skip
    assert done.stdout == fastpassk.curve(TALLY, "1:4").write_csv()


def test_several_sources_are_one(place: Path, capfd: pytest.CaptureFixture[str]) -> None:
    lines = Path(RAGGED).read_text(encoding="utf-8").splitlines(keepends=True)
    (place / "a.ndjson").write_text("".join(lines[::2]), encoding="utf-8")
    (place / "b.ndjson").write_text("".join(lines[1::2]), encoding="utf-8")
    assert main(["curve", "b.ndjson", *CASES["curve"][0][1:], "a.ndjson"]) == 0
    assert capfd.readouterr().out == expected("curve").write_csv()


def test_triples_go_from_file_to_file(place: Path, capfd: pytest.CaptureFixture[str]) -> None:
    rows = pl.DataFrame({"id": ["x", "y", "z"], "n": [10, 5, 3], "c": [3, 5, 0], "k": [2, 1, 7]})
    rows.write_parquet("rows.parquet")
    assert main(["score", "rows.parquet", "-o", "scored.parquet"]) == 0
    assert capfd.readouterr() == ("", "")
    assert_frame_equal(pl.read_parquet("scored.parquet"), fastpassk.score("rows.parquet"), check_exact=True)
    assert main(["score", "rows.parquet"]) == 0
    assert capfd.readouterr().out == fastpassk.score("rows.parquet").write_csv()
    (place / "bad.csv").write_text("n,c,k\n5,3,1\n5,6,1\n")
    assert main(["score", "bad.csv", "-o", "bad.parquet"]) == 1
    assert not list(place.glob("*bad.parquet*"))


@pytest.mark.parametrize("suffix", [".md", ".csv", ".jsonl"])
def test_triples_go_to_other_files_too(suffix: str, place: Path) -> None:
    pl.DataFrame({"n": [10, 5], "c": [3, 5], "k": [2, 1]}).write_csv("rows.csv")
    assert main(["score", "rows.csv", "-o", f"scored{suffix}"]) == 0
    assert (place / f"scored{suffix}").stat().st_size > 0


def test_errors_of_the_library_are_those_of_the_command_line(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(fastpassk.UsageError) as caught:
        fastpassk.curve(TALLY, "0")
    assert main(["curve", TALLY, "--k", "0"]) == 2
    assert capfd.readouterr().err == f"fastpassk: error: {caught.value}\n"
    with pytest.raises(fastpassk.FastpasskError) as caught_data:
        fastpassk.curve("missing.csv")
    assert main(["curve", "missing.csv"]) == 1
    assert capfd.readouterr().err == f"fastpassk: error: {caught_data.value}\n"
