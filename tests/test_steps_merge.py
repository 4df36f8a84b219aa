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
