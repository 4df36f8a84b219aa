"""The bundled data: made anew it is the same, and the published numbers come out of the published counts exactly."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import fastpassk
import make_data

DATA = Path(__file__).parents[1] / "data"
READERS = {".parquet": pl.read_parquet, ".ndjson": pl.read_ndjson, ".csv": pl.read_csv}

PUBLISHED = [
    ("taubench_gpt4o_airline.csv", "gpt-4o", "pass^k", {1: "21/50", 2: "41/150", 3: "11/50", 4: "1/5"}),
    ("taubench_gpt4o_airline.csv", "gpt-4o", "pass@k", {1: "21/50", 2: "17/30", 3: "33/50", 4: "18/25"}),
    ("humaneval_results.csv", "CodeLlama-34b-Instruct", "pass@k", {1: "37/82", 10: "89/164"}),
    ("humaneval_results.csv", "gpt-3.5-turbo", "pass@k", {1: "631/820", 10: "141/164"}),
    ("humaneval_results.csv", "gpt-4", "pass@k", {1: "1391/1640", 10: "149/164"}),
]


@pytest.mark.parametrize("name", make_data.FILES)
def test_data_made_anew_is_the_committed_data(name: str) -> None:
    committed = READERS[Path(name).suffix](DATA / name)
    assert_frame_equal(make_data.FILES[name](), committed, check_dtypes=True, check_exact=True)


def test_every_data_file_is_listed_and_small() -> None:
    files = {path.name for path in DATA.iterdir() if path.is_file()} - {"README.md", "make_data.py"}
    assert files == set(make_data.FILES)
    assert sum((DATA / name).stat().st_size for name in files) < 500_000
    readme = (DATA / "README.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in readme for name in files)


def test_writing_the_data_gives_every_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_data.main(tmp_path)
    printed = capsys.readouterr().out
    for name in make_data.FILES:
        read = READERS[Path(name).suffix]
        assert_frame_equal(read(tmp_path / name), read(DATA / name))
        assert name in printed


@pytest.mark.parametrize(("name", "model", "metric", "values"), PUBLISHED)
def test_published_numbers(name: str, model: str, metric: str, values: dict[int, str]) -> None:
    curves = fastpassk.curve(DATA / name, list(values), metric=metric).filter(pl.col("model") == model)
    assert dict(curves.select("k", "estimate").iter_rows()) == {k: float(Fraction(v)) for k, v in values.items()}


def test_the_dump_has_hopeless_and_certain_problems() -> None:
    counts = fastpassk.count(DATA / "samples.parquet")
    assert counts.height == 4 * 164
    assert counts["n"].unique().to_list() == [200]
    solved = counts.group_by("problem").agg(pl.col("c").sum())["c"]
    assert (solved == 0).sum() >= 7
    assert (solved == 800).sum() >= 11
