"""Merging partial counts: exact, in any order and tree, and never twice."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import fastpassk as fp
from fastpassk import FastpasskError, UsageError


def part(seed: int, rows: int = 200) -> pl.DataFrame:
    frame = pl.select(
        model=pl.int_range(rows).mod(3).cast(pl.String),
        problem=(pl.int_range(rows) * (seed + 7)).mod(11).cast(pl.String),
        passed=(pl.int_range(rows) * (seed + 3)).mod(5) < 2,
    )
    return frame.with_columns(seed=pl.lit(seed))


def test_any_order_and_tree_gives_the_counts_of_the_whole() -> None:
    parts = [part(seed) for seed in range(4)]
    whole = fp.count(pl.concat(parts))
    counts = [fp.count(one) for one in parts]
    assert fp.merge(counts).equals(whole)
    assert fp.merge(counts[::-1]).equals(whole)
    tree = fp.merge([fp.merge(counts[:2]), fp.merge(counts[2:])])
    assert tree.equals(whole)
    assert fp.provenance(tree) == fp.provenance(fp.merge(counts[::-1]))


def test_parts_in_files(tmp_path: Path) -> None:
    for seed in range(3):
        part(seed).write_parquet(tmp_path / f"in-{seed}.parquet")
        fp.write(fp.count(tmp_path / f"in-{seed}.parquet"), tmp_path / f"part-{seed}.parquet")
    merged = fp.merge([tmp_path / f"part-{seed}.parquet" for seed in range(3)])
    assert merged.equals(fp.count([tmp_path / f"in-{seed}.parquet" for seed in range(3)]))


def test_an_input_may_not_be_counted_twice(tmp_path: Path) -> None:
    counts = fp.count(part(1))
    with pytest.raises(FastpasskError, match="were counted from the same input"):
        fp.merge([counts, fp.count(part(1))])
    with pytest.raises(FastpasskError, match="same input"):
        fp.merge([fp.merge([counts, fp.count(part(2))]), counts])


def test_counts_counted_again_keep_their_inputs(tmp_path: Path) -> None:
    part(1).write_parquet(tmp_path / "in.parquet")
    counts = fp.count(tmp_path / "in.parquet")
    fp.write(counts, tmp_path / "counts.parquet")
    for again in (fp.count(counts), fp.count(tmp_path / "counts.parquet"), fp.count(fp.count(counts))):
        with pytest.raises(FastpasskError, match="same input"):
            fp.merge([tmp_path / "counts.parquet", again])


def test_a_part_made_of_files_and_rows_names_both(tmp_path: Path) -> None:
    part(1).write_parquet(tmp_path / "in.parquet")
    both = fp.count([tmp_path / "in.parquet", part(2)])
    named = fp.provenance(both)["inputs"]
    assert [one.partition(":")[0] == "rows" for one in named] == [False, True]
    assert fp.merge([both, fp.count(part(3))]).equals(fp.count([part(1), part(2), part(3)]))


def test_equal_keys_of_unknown_inputs_are_refused_and_other_keys_join() -> None:
    plain = pl.DataFrame({"problem": ["a"], "n": [2], "c": [1]})
    with pytest.raises(FastpasskError, match="do not say what they were counted from"):
        fp.merge([plain, plain])
    assert fp.merge([plain, plain.with_columns(problem=pl.lit("b"))]).height == 2


def test_parts_counted_in_different_ways_are_refused() -> None:
    with pytest.raises(FastpasskError, match="was counted with options"):
        fp.merge([fp.count(part(1)), fp.count(part(2), missing="fail")])
    with pytest.raises(FastpasskError, match="was counted with identity"):
        fp.merge([fp.count(part(1)), fp.count(part(2).drop("model"))])
    with pytest.raises(UsageError, match="merge adds counts"):
        fp.merge([part(1)])
    with pytest.raises(UsageError, match="nothing to merge"):
        fp.merge([])


def test_parts_of_several_models_whose_names_were_supplied() -> None:
    plain = part(1).drop("model")
    merged = fp.merge([fp.count(plain, assume={"model": name}) for name in ("a", "b")])
    assert merged["model"].unique().sort().to_list() == ["a", "b"]


def test_provenance_of_a_file(tmp_path: Path) -> None:
    counts = fp.count(part(1))
    fp.write(counts, tmp_path / "counts.parquet")
    fp.write(counts, tmp_path / "counts.csv")
    assert fp.provenance(tmp_path / "counts.parquet") == fp.provenance(counts)
    assert fp.provenance(tmp_path / "counts.csv") is None
    with pytest.raises(FastpasskError):
        fp.provenance(tmp_path / "absent.parquet")
