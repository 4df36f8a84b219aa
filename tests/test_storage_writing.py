"""Results are written whole or not at all, with the settings behind them, and the same bytes for the same frame."""

from __future__ import annotations

import hashlib
import json
import math
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from polars.testing import assert_frame_equal

from fastpassk.errors import FastpasskError, UsageError
from fastpassk.storage import OUTPUTS, atomic, metadata, write_frame

if TYPE_CHECKING:
    from pathlib import Path

FRAME = pl.DataFrame({"model": ["a", "é"], "k": [1, 2], "estimate": [0.1 + 0.2, math.nan], "low": [None, 0.5]})
FACTS: dict[str, object] = {"format": 1, "by": ["model"], "note": "é"}


# atomic


def test_the_file_appears_when_the_block_ends(tmp_path: Path) -> None:
    target = tmp_path / "out.csv"
    with atomic(target) as part:
        part.write_text("new")
        assert not target.exists()
        assert (part.parent, part.name[0]) == (tmp_path, ".")
    assert target.read_text() == "new"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("there", [True, False])
def test_a_failure_leaves_what_was_there(tmp_path: Path, error: type[BaseException], there: bool) -> None:
    target = tmp_path / "out.csv"
    if there:
        target.write_text("old")

    def fail() -> None:
        with atomic(target) as part:
            part.write_text("half")
            raise error

    with pytest.raises(error):
        fail()
    assert [path.read_text() for path in tmp_path.iterdir()] == ["old"] * there


def test_a_kill_leaves_what_was_there(tmp_path: Path) -> None:
    target = tmp_path / "out.csv"
    target.write_text("old")
    script = (
        "import sys, time\nfrom fastpassk.storage import atomic\n"
        "with atomic(sys.argv[1]) as part:\n"
        "    part.write_text('half')\n    print('ready', flush=True)\n    time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script, target], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"ready\n"
        child.send_signal(signal.SIGKILL)
        child.wait()
    assert target.read_text() == "old"
    assert all(path == target or path.name.startswith(".") for path in tmp_path.iterdir())


def test_two_writers_do_not_meet(tmp_path: Path) -> None:
    target = tmp_path / "out.csv"
    with atomic(target) as first, atomic(target) as second:
        assert first != second
        first.write_text("first")
        second.write_text("second")
    assert target.read_text() == "first"
    assert list(tmp_path.iterdir()) == [target]


def test_permissions_are_those_of_any_new_file(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_frame(FRAME, tmp_path / "a.parquet")
    finally:
        os.umask(before)
    assert (tmp_path / "a.parquet").stat().st_mode & 0o777 == 0o640


def test_names_as_long_as_they_may_be(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 240 + ".csv")
    write_frame(pl.DataFrame({"a": [1]}), path)
    assert path.read_text() == "a\n1\n"


def test_what_is_no_frame_or_does_not_fit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="a LazyFrame is not written"):
        write_frame(pl.LazyFrame({"a": [1]}), tmp_path / "a.csv")  # type: ignore[arg-type]
    with pytest.raises(FastpasskError, match=r"a\.csv cannot be written: CSV .*nested"):
        write_frame(pl.DataFrame({"a": [[1]]}), tmp_path / "a.csv")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("suffix", OUTPUTS)
@pytest.mark.parametrize("what", ["fp.write(fp.score(frame), out)", "fp.score(frame, sink=out)"])
def test_a_full_disk_is_told_and_leaves_nothing(tmp_path: Path, suffix: str, what: str) -> None:
    code = f"""
import resource, sys
import fastpassk as fp, polars as pl
frame = pl.DataFrame({{"n": range(1, 20001), "c": [1] * 20000, "k": [1] * 20000}})
out = sys.argv[1]
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
try:
    {what}
except fp.FastpasskError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / f"a{suffix}")], capture_output=True, text=True, check=False
    )
    assert "cannot be written" in done.stdout, done.stderr
    assert not list(tmp_path.iterdir())


def test_links_stay_links(tmp_path: Path) -> None:
    (tmp_path / "real.csv").write_text("old")
    (tmp_path / "link.csv").symlink_to(tmp_path / "real.csv")
    write_frame(FRAME, tmp_path / "link.csv")
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").read_text().startswith("model,")


def test_pipes_are_filled_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE) as reader:
        write_frame(FRAME, pipe)
        assert reader.communicate()[0].startswith(b"model,k")
    assert pipe.is_fifo()


def test_targets_that_cannot_be(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is a folder; name a file in it"), atomic(tmp_path):
        pass
    with (
        pytest.raises(FastpasskError, match="cannot be written: there is no folder"),
        atomic(tmp_path / "no" / "a.csv"),
    ):
        pass
    with pytest.raises(
        UsageError, match=r"a suffix that is not written; allowed: \.parquet .*did you mean '\.parquet'"
    ):
        write_frame(FRAME, tmp_path / "a.parqet")
    with pytest.raises(UsageError, match="a suffix that is not written"):
        write_frame(FRAME, tmp_path / "a")
    with pytest.raises(FastpasskError, match=r"a\.csv cannot be written: No space left"), atomic(tmp_path / "a.csv"):
        raise OSError(28, "No space left on device")
    assert list(tmp_path.iterdir()) == []


def test_an_error_of_ours_inside_the_block_stays_itself(tmp_path: Path) -> None:
    with pytest.raises(FastpasskError, match=r"^x is not a number$"), atomic(tmp_path / "a.csv"):
        raise FastpasskError("x is not a number")


# formats


@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".feather", ".ipc"])
def test_settings_stand_in_the_schema(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    write_frame(FRAME, path, FACTS)
    assert metadata(path) == FACTS
    assert_frame_equal(pl.read_parquet(path) if suffix == ".parquet" else pl.read_ipc(path), FRAME)
    write_frame(FRAME, path)
    assert metadata(path) == {}


def test_other_libraries_read_the_settings(tmp_path: Path) -> None:
    write_frame(FRAME, tmp_path / "a.parquet", FACTS)
    assert json.loads(pq.read_metadata(tmp_path / "a.parquet").metadata[b"fastpassk"]) == FACTS
    write_frame(FRAME, tmp_path / "a.arrow", FACTS)
    schema = pa.ipc.open_file(tmp_path / "a.arrow").schema
    assert json.loads(schema.metadata[b"fastpassk"]) == FACTS
    assert schema.field("model").type == pa.large_string()


def test_files_without_settings(tmp_path: Path) -> None:
    FRAME.write_parquet(tmp_path / "a.parquet", metadata={"fastpassk": "no json"})
    FRAME.write_ipc_stream(tmp_path / "b.arrow")
    FRAME.write_csv(tmp_path / "c.csv")
    (tmp_path / "d").write_bytes(b"")
    assert [metadata(path) for path in sorted(tmp_path.iterdir())] == [{}] * 4


def test_json_is_strict(tmp_path: Path) -> None:
    write_frame(FRAME, tmp_path / "a.json", FACTS)

    def refuse(word: str) -> Any:
        raise AssertionError(word)

    found = json.loads((tmp_path / "a.json").read_text("utf-8"), parse_constant=refuse)
    assert found["provenance"] == FACTS
    assert found["rows"] == [
        {"model": "a", "k": 1, "estimate": 0.1 + 0.2, "low": None},
        {"model": "é", "k": 2, "estimate": None, "low": 0.5},
    ]
    write_frame(FRAME[:0], tmp_path / "b.json")
    assert json.loads((tmp_path / "b.json").read_text()) == {"provenance": {}, "rows": []}


def test_texts_hold_the_rows_alone(tmp_path: Path) -> None:
    for name in ("a.csv", "a.tsv", "a.jsonl", "a.ndjson"):
        write_frame(FRAME, tmp_path / name, FACTS)
    assert (tmp_path / "a.csv").read_text("utf-8") == "model,k,estimate,low\na,1,0.30000000000000004,\né,2,NaN,0.5\n"
    assert (tmp_path / "a.tsv").read_text("utf-8").splitlines()[1] == "a\t1\t0.30000000000000004\t"
    assert (tmp_path / "a.jsonl").read_text("utf-8") == (tmp_path / "a.ndjson").read_text("utf-8")
    assert json.loads((tmp_path / "a.jsonl").read_text("utf-8").splitlines()[0])["estimate"] == 0.1 + 0.2


@pytest.mark.parametrize("suffix", OUTPUTS)
def test_the_same_frame_gives_the_same_bytes(tmp_path: Path, suffix: str) -> None:
    long = pl.DataFrame({"a": [f"m{i % 7}" for i in range(50_000)], "x": [i / 7 for i in range(50_000)]})
    pieces = pl.concat([long[i : i + 777] for i in range(0, 50_000, 777)], rechunk=False)
    for name, frame in (("one", long), ("two", pieces)):
        write_frame(frame, tmp_path / f"{name}{suffix}", FACTS)
        time.sleep(0.01)
    assert (tmp_path / f"one{suffix}").read_bytes() == (tmp_path / f"two{suffix}").read_bytes()


def test_the_number_of_threads_never_shows(tmp_path: Path) -> None:
    script = (
        "import sys, polars as pl\nfrom fastpassk.storage import write_frame\n"
        "write_frame(pl.DataFrame({'a': range(600_000)}).with_columns(b=pl.col('a') % 9), sys.argv[1], {'x': 1})"
    )
    digests = set()
    for threads in ("1", "2", "5"):
        path = tmp_path / f"{threads}.parquet"
        env = {**os.environ, "POLARS_MAX_THREADS": threads}
        subprocess.run([sys.executable, "-c", script, path], check=True, env=env)
        digests.add(hashlib.sha256(path.read_bytes()).hexdigest())
    assert len(digests) == 1
