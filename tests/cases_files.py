"""Cases about files and folders: one function a case, run by test_cases.py."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fastpassk import FastpasskError, FastpasskWarning, count, curve

if TYPE_CHECKING:
    from pathlib import Path


def run(*words: object) -> subprocess.CompletedProcess[str]:
    """Run the command line."""
    command = [sys.executable, "-m", "fastpassk", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def ndjson(path: Path, rows: list[dict[str, object]]) -> Path:
    """Write rows as they are, one JSON object a line."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def case_d05_a_trailing_slash_changes_nothing(folder: Path) -> None:
    pl.DataFrame({"problem": ["a", "b"], "passed": [True, False]}).write_parquet(folder / "part.parquet")
    plain, slash = run("curve", folder, "--k", 1), run("curve", f"{folder}{os.sep}", "--k", 1)
    assert plain.returncode == 0, plain.stderr
    assert (plain.stdout, plain.stderr) == (slash.stdout, slash.stderr)


def case_g06_strict_json(folder: Path) -> None:
    pl.DataFrame({"problem": ["a"], "passed": [True]}).write_csv(folder / "one.csv")
    done = run("curve", folder / "one.csv", "--k", "1,2", "--json")
    assert done.returncode == 0, done.stderr

    def refuse(token: str) -> None:
        raise AssertionError(f"{token} is not JSON")

    assert "null" in done.stdout
    json.loads(done.stdout, parse_constant=refuse)


def case_s10_a_key_that_comes_late(folder: Path) -> None:
    rows: list[dict[str, object]] = [{"problem": f"p{i}"} for i in range(100)]
    rows += [{"problem": f"p{i}", "passed": i % 2 == 0} for i in range(100, 1000)]
    path = ndjson(folder / "late.ndjson", rows)
    with pytest.raises(FastpasskError, match="100"):
        count(path)
    with pytest.warns(FastpasskWarning, match="100 of 1000"):
        counts = count(path, missing="fail")
    assert (counts["n"].sum(), counts["c"].sum()) == (1000, 450)


def case_s11_mixed_ids(folder: Path) -> None:
    ids: list[object] = [2727, "1873_A"]
    path = ndjson(folder / "ids.ndjson", [{"task_id": ids[i // 150], "passed": i % 2} for i in range(300)])
    assert count(path)["problem"].to_list() == ["1873_A", "2727"]


def case_s11_mixed_numbers(folder: Path) -> None:
    rewards = [1] * 150 + [0.5, 0]
    path = ndjson(folder / "rewards.ndjson", [{"task_id": "t", "reward": reward} for reward in rewards])
    assert count(path, passed="reward", threshold=0.5).select("n", "c").row(0) == (152, 151)
    with pytest.raises(FastpasskError, match=r"0\.5"):
        count(path, passed="reward")


def case_s11_mixed_outcomes(folder: Path) -> None:
    path = ndjson(folder / "outcomes.ndjson", [{"task_id": "t", "passed": value} for value in (True, 0, "1", False)])
    assert count(path).select("n", "c").row(0) == (4, 2)


def case_s11_byte_order_mark_and_cut_line(folder: Path) -> None:
    whole = json.dumps({"task_id": "t", "passed": True}) + "\n"
    marked, cut = folder / "marked.ndjson", folder / "cut.ndjson"
    marked.write_text("\ufeff" + whole * 2, encoding="utf-8")
    assert count(marked).select("n", "c").row(0) == (2, 2)
    cut.write_text(whole * 2 + whole[:15], encoding="utf-8")
    with pytest.raises(FastpasskError, match=r"cut\.ndjson"):
        count(cut)


def case_s12_folder_names_are_texts(folder: Path) -> None:
    for name in ("001", "010"):
        (folder / f"problem={name}").mkdir()
        pl.DataFrame({"passed": [True]}).write_parquet(folder / f"problem={name}" / "0.parquet")
    assert count(folder)["problem"].to_list() == ["001", "010"]


def case_s14_files_that_differ(folder: Path) -> None:
    first = pl.DataFrame({"model": ["m"], "problem": ["a"], "passed": [True]})
    others = [
        pl.DataFrame({"model": ["m"], "problem": ["b"], "passed": [1], "extra": ["x"]}),
        pl.DataFrame({"extra": [2.5], "model": ["m"], "problem": ["b"], "passed": pl.Series([1], dtype=pl.Int32)}),
        pl.DataFrame({"passed": ["passed"], "problem": pl.Series(["b"], dtype=pl.Categorical), "model": ["m"]}),
    ]
    for place, other in enumerate(others):
        home = folder / str(place)
        home.mkdir()
        first.write_parquet(home / "0.parquet")
        other.write_parquet(home / "1.parquet")
        assert count(home)["c"].to_list() == [1, 1]


def case_s15_stray_files_in_a_folder(folder: Path) -> None:
    full, empty = folder / "full", folder / "empty"
    full.mkdir()
    empty.mkdir()
    pl.DataFrame({"problem": ["a"], "passed": [True]}).write_parquet(full / "0.parquet")
    for stray in ("_SUCCESS", ".part.crc"):
        (full / stray).write_bytes(b"")
    with pytest.warns(FastpasskWarning, match=r"left out of the folders as no data: .*\.part\.crc and 1 more"):
        assert count(full)["n"].to_list() == [1]
    with pytest.raises(FastpasskError, match="empty"):
        count(empty)


def case_s17_an_unreadable_dictionary_is_one_line(folder: Path) -> None:
    kind = pa.dictionary(pa.int8(), pa.string())
    chunks = [pa.DictionaryArray.from_arrays(pa.array([0], pa.int8()), [f"m{i}"]).cast(kind) for i in range(200)]
    table = pa.table({"model": pa.chunked_array(chunks), "problem": ["p"] * 200, "passed": [True] * 200})
    pq.write_table(table, folder / "small.parquet")
    done = run("curve", folder / "small.parquet", "--k", 1)
    if done.returncode == 0:
        return  # a version of the readers that can read it
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    assert [line for line in lines if "small.parquet" in line and "model" in line], done.stderr
    assert "Traceback" not in done.stderr


def case_s20_spellings_in_csv(folder: Path) -> None:
    for texts in ("1,0", "True,False", '"true","false"', "passed,failed", "PASS,FAIL"):
        path = folder / "outcomes.csv"
        path.write_text("problem,passed\n" + "".join(f"p,{text}\n" for text in texts.split(",")), encoding="utf-8")
        assert count(path).select("n", "c").row(0) == (2, 1), texts
    path.write_text("problem,passed\np,maybe\np,true\n", encoding="utf-8")
    with pytest.raises(FastpasskError, match="maybe"):
        curve(path, 1)


def case_s21_a_read_only_home() -> None:
    code = (
        "import numba.core.caching as caching\n"
        "caching.CacheImpl._locator_classes = []\n"  # as on a read-only install without a writable home
        "import numpy as np, fastpassk\n"
        "n = np.full(300_000, 200); c = np.arange(300_000) % 201\n"
        "assert fastpassk.pass_at_k(n, c, 1)[1] == 1 / 200\n"
        "print('computed')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout.strip() == "computed", done.stderr
