"""Cells and histograms against Python's own integers, for every integer type and at its ends."""

from __future__ import annotations

import math
import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fastpassk.kernels import counting
from fastpassk.sources.buffers import array_of, numbers_of, series_of

if TYPE_CHECKING:
    from pathlib import Path

KINDS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]


@st.composite
def columns(draw: st.DrawFn) -> tuple[counting.Columns, list[tuple[int, ...]]]:
    """Columns as `key` takes them, and the codes of each row."""
    rows, left = draw(st.integers(1, 30)), draw(st.sampled_from([1 << 20, counting.LARGEST]))
    made, codes = [], []
    for _ in range(draw(st.integers(0, 4))):
        kind = draw(st.sampled_from(KINDS))
        limits = np.iinfo(kind)
        many = draw(st.integers(1, min(left, limits.max, 5000)))
        left //= many
        least = draw(st.integers(int(limits.min), int(limits.max) - many + 1))
        code = draw(st.lists(st.integers(0, many - 1), min_size=rows, max_size=rows))
        whole = draw(st.booleans())
        made.append((np.array([least + one for one in code], kind) if whole else None, many, least if whole else 0))
        codes.append(code if whole else [0] * rows)
    return made, list(zip(*codes, strict=True)) if codes else [()] * rows


@settings(max_examples=300, deadline=None)
@given(columns())
def test_cells_are_mixed_radix_numbers(case: tuple[counting.Columns, list[tuple[int, ...]]]) -> None:
    made, codes = case
    expected = []
    for row in codes:
        cell = 0
        for (_, many, _), code in zip(made, row, strict=True):
            cell = cell * many + code
        expected.append(cell)
    assert counting.key(made, len(codes)).tolist() == expected


@settings(max_examples=100, deadline=None)
@given(columns(), st.integers(0, 2**32), st.booleans())
def test_histograms_count_every_row_once(
    case: tuple[counting.Columns, list[tuple[int, ...]]], seed: int, stated: bool
) -> None:
    made, codes = case
    if math.prod(many for _, many, _ in made) > 1 << 16:
        made = made[:1]
    states = np.random.default_rng(seed).integers(0, 3, len(codes)).astype(np.uint8) if stated else None
    counts = counting.histogram(made, states, len(codes), 3)
    cells = counting.key(made, len(codes)).tolist()
    found = {(cell, state): int(many) for (cell, state), many in np.ndenumerate(counts) if many}
    assert found == Counter(zip(cells, [0] * len(codes) if states is None else states.tolist(), strict=True))


@pytest.mark.parametrize("kind", KINDS)
def test_codes_of_numbers_at_the_ends_of_their_type(kind: Any) -> None:
    limits = np.iinfo(kind)
    for least in (int(limits.min), int(limits.max) - 100):
        numbers = np.array([least, least + 100], kind)
        assert counting.codes_of(numbers, least).tolist() == [0, 100]


@pytest.mark.parametrize("kind", KINDS)
def test_buffers_are_seen_through_offsets_chunks_and_nothing_at_all(kind: Any) -> None:
    numbers = np.arange(20).astype(kind)
    array = array_of(numbers)
    assert array.to_pylist() == list(range(20))
    assert numbers_of(array.slice(3, 9)).tolist() == list(range(3, 12))
    assert numbers_of(pa.chunked_array([array.slice(5, 2), array.slice(0, 0), array.slice(18)])).tolist() == [
        5,
        6,
        18,
        19,
    ]
    for empty in (array.slice(20), array.slice(0, 0), pa.array([], array.type), pa.chunked_array([], array.type)):
        assert numbers_of(empty).tolist() == []
        assert numbers_of(empty).dtype == kind
    assert series_of(array.slice(2, 2)).to_list() == [2, 3]


def test_counting_loads_neither_pandas_nor_what_polars_would(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    rows = 300_000
    dump = pl.DataFrame({"model": ["a", "b"] * (rows // 2), "problem": range(rows), "n": [5] * rows, "c": [2] * rows})
    dump.write_parquet(tmp_path / "counts.parquet")
    samples = dump.select("model", pl.col("problem") % 100, passed=pl.col("problem") % 3 == 0)
    samples.write_parquet(tmp_path / "samples.parquet")
    code = (
        "import fastpassk, sys\n"
        f"fastpassk.curve({str(tmp_path / 'counts.parquet')!r}, [1], unique=True)\n"
        f"fastpassk.curve({str(tmp_path / 'samples.parquet')!r}, [1])\n"
        "print(sorted({'pandas', 'pyarrow.compute', 'numba'} & sys.modules.keys()), 'pyarrow.parquet' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[0] == "[] True"
