"""A stopping rule goes with the counts, through files, merges, scores and the list of problems."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

import fastpassk as fp
from fastpassk import FastpasskError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

# Sampling ended at the first pass, or at the cap of ten.
SAMPLES = pl.DataFrame({"problem": ["a"] * 3 + ["b"] * 10, "passed": [0, 0, 1] + [0] * 10})


@pytest.fixture
def parts(tmp_path: Path) -> list[Path]:
    """The two problems as two counts files, from two inputs."""
    paths = []
    for name in ("a", "b"):
        source, path = tmp_path / f"in-{name}.parquet", tmp_path / f"{name}.parquet"
        SAMPLES.filter(problem=name).write_parquet(source)
        fp.write(fp.count(source, stopped=1), path)
        paths.append(path)
    return paths


def test_it_stays_with_several_files(parts: list[Path]) -> None:
    want = fp.curve(SAMPLES, stopped=1)
    assert want["estimate"].to_list() == [0, 0, 0.5, 0.5, 0.5]
    assert fp.curve(parts).equals(want)
    assert fp.curve(fp.merge(parts)).equals(want)
    assert fp.curve([fp.count(part) for part in parts]).equals(want)


def test_files_with_and_without_it_do_not_mix(parts: list[Path]) -> None:
    plain = fp.count(SAMPLES.filter(problem="b"))
    with pytest.raises(FastpasskError, match="made with stopped=1 and without a rule"):
        fp.curve([parts[0], plain])
    assert fp.curve([parts[0], plain], stopped=1).equals(fp.curve(parts))
    with pytest.raises(UsageError, match="made with stopped=1, not stopped=2"):
        fp.curve(parts, stopped=2)


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "json"])
def test_it_stays_in_a_file(tmp_path: Path, suffix: str) -> None:
    counts = fp.count(SAMPLES, stopped=1)
    fp.write(counts, tmp_path / f"counts.{suffix}")
    back = fp.count(tmp_path / f"counts.{suffix}")
    assert back.equals(counts)
    assert fp.provenance(back)["stopped"] == 1
    assert fp.provenance(back)["inputs"] == fp.provenance(counts)["inputs"]


def test_a_problem_that_ended_early_lacks_nothing() -> None:
    names = ["a", "b", "c"]
    assert fp.count(SAMPLES, stopped=1, expect_n=10).rows() == [("all", "a", 3, 1), ("all", "b", 10, 0)]
    with pytest.raises(
        FastpasskError, match="30 expected samples are absent in 2 problems, 1 of them absent as a whole"
    ):
        fp.count(SAMPLES, stopped=1, expect_n=20, problems=names)
    with pytest.warns(fp.FastpasskWarning, match="10 expected samples are absent in 1 problems"):
        filled = fp.count(SAMPLES, stopped=1, problems=names, missing="fail")
    assert filled.rows() == [("all", "a", 3, 1), ("all", "b", 10, 0), ("all", "c", 10, 0)]


@pytest.mark.filterwarnings("ignore::fastpassk.FastpasskWarning")
@pytest.mark.parametrize("undefined", ["null", "available"])
def test_scores_give_what_the_counts_give(undefined: str) -> None:
    capped = pl.concat([SAMPLES, pl.DataFrame({"problem": ["c"] * 5, "passed": [0] * 5})])
    ks = [1, 2, 4, 5, 8, 10]
    want = fp.curve(capped, ks, stopped=1, undefined=undefined)
    assert fp.curve(fp.score(capped, ks, stopped=1), undefined=undefined).equals(want)
    assert fp.curve(fp.score(capped, ks, stopped=1).clone(), undefined=undefined, stopped=1).equals(want)
