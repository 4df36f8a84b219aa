"""Counting by codes gives what the group-by gives: any schema, any encoding, any number of threads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import fastpassk as fp
from fastpassk.errors import FastpasskError
from fastpassk.kernels import counting, marking
from fastpassk.sources import coded as decoding
from fastpassk.steps.counts import coded

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def small_files_are_counted_by_codes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding, "FEWEST_BYTES", 0)


def both(source: Any, monkeypatch: pytest.MonkeyPatch, **options: Any) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Counts by codes, where that way really is taken, and by the group-by."""
    taken: list[bool] = []
    with monkeypatch.context() as patch:
        real = coded.coded_cells
        patch.setattr(
            "fastpassk.steps.counts.samples.coded_cells",
            lambda *args, **kwargs: (taken.append((found := real(*args, **kwargs)) is not None), found)[1],
        )
        ours = fp.count(source, **options)
        patch.setattr(decoding, "FEWEST_BYTES", 1 << 60)
        reference = fp.count(source, **options)
    assert taken == [True, False]
    return ours, reference


KINDS = {
    "string": pa.string(),
    "large_string": pa.large_string(),
    "dictionary": pa.dictionary(pa.int32(), pa.string()),
    "int8": pa.int8(),
    "uint16": pa.uint16(),
    "int64": pa.int64(),
    "float64": pa.float64(),
    "bool": pa.bool_(),
}


if int(pa.__version__.partition(".")[0]) >= 20:  # older ones cannot write it to Parquet
    KINDS["string_view"] = pa.string_view()


@st.composite
def tables(draw: st.DrawFn) -> tuple[pa.Table, dict[str, Any]]:
    """A table of samples with some identity columns, a few nulls, and how it is written."""
    rows = draw(st.integers(1, 60))
    names = draw(st.lists(st.sampled_from(["model", "temperature", "benchmark", "language"]), unique=True, max_size=3))
    columns: dict[str, pa.Array] = {}
    for name in [*names, "problem"]:
        kind = KINDS[draw(st.sampled_from(list(KINDS)))]
        top = 1 if pa.types.is_boolean(kind) else draw(st.sampled_from([1, 3, 100]))
        numbers: list[int | None] = draw(st.lists(st.integers(0, top), min_size=rows, max_size=rows))
        if name != "problem" and draw(st.booleans()):
            numbers[0] = None
        columns[name] = made(numbers, kind)
    outcomes = draw(st.lists(st.sampled_from([0, 1, None]), min_size=rows, max_size=rows))
    columns["passed"] = made_outcomes(outcomes, draw(st.sampled_from(["bool", "int8", "float64", "text"])))
    if draw(st.booleans()):
        reasons = draw(st.lists(st.sampled_from(["timeout", "infra", "x", "", None]), min_size=rows, max_size=rows))
        columns["reason"] = pa.array(reasons, pa.string())
    if draw(st.booleans()):
        columns["attempt"] = pa.array(range(rows), draw(st.sampled_from([pa.int32(), pa.int64()])))
    layout = {"row_group_size": draw(st.sampled_from([1, 7, 1000])), "use_dictionary": draw(st.booleans())}
    return pa.table(columns), layout


def made(numbers: list[int | None], kind: pa.DataType) -> pa.Array:
    """An array of a type, from small numbers."""
    if pa.types.is_dictionary(kind):
        return made(numbers, pa.string()).dictionary_encode()
    if pa.types.is_boolean(kind):
        return pa.array([None if number is None else bool(number) for number in numbers], kind)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return pa.array(numbers, pa.int64()).cast(kind)
    return pa.array([None if number is None else f"v{number}" for number in numbers], kind)


def made_outcomes(outcomes: list[int | None], how: str) -> pa.Array:
    """Outcomes written as bool, number or text."""
    if how == "bool":
        return pa.array([None if one is None else bool(one) for one in outcomes], pa.bool_())
    if how == "text":
        return pa.array([{None: "n/a", 0: "failed", 1: "Pass"}[one] for one in outcomes])
    return pa.array(outcomes, pa.int8() if how == "int8" else pa.float64())


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(tables(), st.sampled_from(["fail", "drop", "timeout=fail,infra=drop,failed=fail"]))
@pytest.mark.filterwarnings("ignore::fastpassk.FastpasskWarning")
def test_any_table_is_counted_as_by_the_group_by(
    tmp_path_factory: pytest.TempPathFactory,
    made_table: tuple[pa.Table, dict[str, Any]],
    missing: str,
) -> None:
    table, layout = made_table
    path = tmp_path_factory.mktemp("coded") / "samples.parquet"
    pq.write_table(table, path, **layout)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decoding, "ROWS", 13)
        patch.setattr(coded, "SETTLE", 20)
        patch.setattr(decoding, "FEWEST_BYTES", 0)
        answers = [counted_or_refused(path, missing, patch, least) for least in (0, 1 << 60)]
    assert answers[0] == answers[1]


def counted_or_refused(path: Any, missing: str, patch: pytest.MonkeyPatch, least: int) -> tuple[Any, ...] | str:
    """The rows of the counts, or the message where this data needs a rule that `missing` does not name."""
    patch.setattr(decoding, "FEWEST_BYTES", least)
    try:
        frame = fp.count(path, missing=missing)
    except FastpasskError as error:
        return str(error)
    return (*frame.schema.items(), *frame.rows())


def write(path: Any, frame: pl.DataFrame, **layout: Any) -> Any:
    frame.write_parquet(path, **layout)
    return path


def dump(rows: int = 5000) -> pl.DataFrame:
    rng = np.random.default_rng(7)
    return pl.DataFrame(
        {
            "model": rng.integers(0, 5, rows).astype(str),
            "problem": rng.integers(0, 40, rows),
            "attempt": np.arange(rows),
            "passed": rng.random(rows) < 0.3,
        }
    )


def test_files_of_different_columns_and_hive_folders(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for temperature in ("0.2", "0.80"):
        folder = tmp_path / f"temperature={temperature}"
        folder.mkdir()
        write(folder / "a.parquet", dump(900))
        write(folder / "b.parquet", dump(900).drop("model").with_columns(pl.col("problem").cast(pl.String)))
    ours, reference = both(tmp_path, monkeypatch, duplicates="keep")
    assert ours.equals(reference)
    assert ours["temperature"].unique().sort().to_list() == ["0.2", "0.8"]


def test_assumed_columns_and_a_threshold(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = dump().with_columns(passed=pl.col("attempt") % 7 / 6)
    path = write(tmp_path / "a.parquet", frame.drop("attempt", "model"))
    ours, reference = both(path, monkeypatch, threshold=0.5, assume={"model": "m"})
    assert ours.equals(reference)


def test_values_that_are_no_outcome_are_refused_as_by_the_group_by(tmp_path: Any) -> None:
    path = write(tmp_path / "a.parquet", dump().with_columns(passed=pl.lit(2)).drop("attempt"))
    with pytest.raises(FastpasskError, match=r"passed is 2 in sample 1 .*first of 5000"):
        fp.count(path)


@pytest.mark.parametrize("values", [100, 70_000])
def test_attempts_that_repeat_are_found(tmp_path: Any, values: int) -> None:
    frame = dump(300).with_columns(attempt=pl.int_range(300) % values)
    path = write(tmp_path / "a.parquet", pl.concat([frame, frame.head(1)]), row_group_size=50)
    with pytest.raises(FastpasskError, match=r"\d rows repeat an attempt"):
        fp.count(path)


def test_a_null_attempt_is_refused(tmp_path: Any) -> None:
    frame = dump(50).with_columns(attempt=pl.when(pl.int_range(50) > 3).then(pl.int_range(50)))
    with pytest.raises(FastpasskError, match="the attempt is null in 4 rows"):
        fp.count(write(tmp_path / "a.parquet", frame))


def test_the_group_by_takes_over_where_codes_do_not_pay(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "a.parquet", dump())
    dataset = fp.read(path)
    assert coded.coded_cells(dataset, attempts=False) is not None
    assert coded.coded_cells(dataset, attempts=True) is None  # 5000 attempts are more than a set holds
    monkeypatch.setattr(coded, "MOST_VALUES", 10)
    assert coded.coded_cells(dataset, attempts=False) is None
    assert fp.count(path, duplicates="keep")["n"].sum() == 5000


def test_a_where_or_another_format_is_left_to_the_group_by(tmp_path: Any) -> None:
    path = write(tmp_path / "a.parquet", dump())
    assert not decoding.countable(fp.read(path, where="model = '1'"))
    assert not decoding.countable(fp.read(dump()))


@pytest.mark.parametrize("threads", ["1", "3"])
def test_the_number_of_threads_does_not_show(tmp_path: Any, monkeypatch: pytest.MonkeyPatch, threads: str) -> None:
    monkeypatch.setenv("FASTPASSK_THREADS", threads)
    monkeypatch.setattr(decoding, "ROWS", 100)
    path = write(tmp_path / "a.parquet", dump().drop("attempt"), row_group_size=60)
    ours, reference = both(path, monkeypatch)
    assert ours.equals(reference)


def test_a_row_group_larger_than_a_bundle_is_read_in_batches(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding, "ROWS", 64)
    path = write(tmp_path / "a.parquet", dump().drop("attempt"), row_group_size=5000)
    ours, reference = both(path, monkeypatch)
    assert ours.equals(reference)


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 200), st.integers(1, 9), st.integers(1, 150), st.integers(0, 2**32))
def test_sets_of_attempts_compiled_and_not(rows: int, size: int, attempts: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    cells = rng.integers(0, size, rows).astype(np.int32)
    numbers = rng.integers(0, attempts, rows).astype(np.int32)
    slow, fast = (np.zeros((size, attempts // counting.WORD + 1), np.uint64) for _ in range(2))
    counting.mark(cells, numbers, slow)
    marking.mark(cells, numbers, fast)
    assert (slow == fast).all()
    seen = {(int(cell), int(number)) for cell, number in zip(cells, numbers, strict=True)}
    assert int(np.bitwise_count(fast).sum()) if hasattr(np, "bitwise_count") else True
    assert {(c, a) for c in range(size) for a in range(attempts) if int(fast[c, a // 64]) >> (a % 64) & 1} == seen


@pytest.mark.parametrize("offset", [0, 1, 7, 8, 13])
def test_bits_are_unpacked_at_any_offset(offset: int) -> None:
    rng = np.random.default_rng(offset)
    array = pa.array([None if x < 0.2 else bool(x < 0.6) for x in rng.random(100)], pa.bool_()).slice(offset, 70)
    states = decoding._states_of_bits(array)
    assert states.tolist() == [{True: 1, False: 0, None: decoding.MISSING}[one] for one in array.to_pylist()]


def counts(rows: int = 3000) -> pl.DataFrame:
    rng = np.random.default_rng(3)
    n = rng.choice(np.array([10, 12, 20], np.int16), rows)
    models = np.sort(rng.integers(0, 4, rows)).astype(str)
    return pl.DataFrame(
        {"model": models, "problem": np.arange(rows), "n": n, "c": (n * rng.random(rows)).astype(np.int16)}
    )


@pytest.mark.filterwarnings("ignore:groups were run")
@pytest.mark.parametrize("kind", [pl.Int8, pl.UInt32, pl.Int64, pl.Float64, pl.String])
def test_counts_known_to_be_unique_are_tallied_without_their_problems(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, kind: Any
) -> None:
    path = write(tmp_path / "a.parquet", counts().with_columns(pl.col("n", "c").cast(kind)), row_group_size=500)
    found = [coded.coded_tally(fp.read(path), unique=unique) for unique in (False, True)]
    assert all(one is not None for one in found)
    ours = fp.tally(path, unique=True)
    monkeypatch.setattr(decoding, "FEWEST_BYTES", 1 << 60)
    assert fp.tally(path).equals(ours)
    assert fp.tally(path, unique=True).equals(ours)
    assert fp.curve(path, [1, 5]).equals(fp.curve(ours, [1, 5]))


@pytest.mark.parametrize("bad", [(5, 6), (0, 0), (5, -1), (None, 1)])
def test_impossible_counts_are_refused_although_they_are_unique(tmp_path: Any, bad: tuple[int | None, int]) -> None:
    row = pl.DataFrame({"model": ["m"], "problem": [-1], "n": [bad[0]], "c": [bad[1]]})
    frame = pl.concat([counts().cast({"n": pl.Int64, "c": pl.Int64}), row.cast({"n": pl.Int64, "c": pl.Int64})])
    with pytest.raises(FastpasskError, match=r"row 3001 has .*the first of 1 rows"):
        fp.tally(write(tmp_path / "a.parquet", frame), unique=True)


@pytest.mark.filterwarnings("ignore:groups were run")
def test_unique_counts_may_still_be_shared_completed_or_narrowed(tmp_path: Any) -> None:
    path = write(tmp_path / "a.parquet", counts().with_columns(temperature=pl.lit("0.2")))
    narrow = fp.tally(path, unique=True, by=["model"])
    assert narrow.equals(fp.tally(path).drop("temperature"))
    with pytest.raises(FastpasskError, match="common"):
        fp.tally(path, unique=True, common=True)


@pytest.mark.parametrize(
    ("kind", "low", "high"), [(pa.int8(), -128, 127), (pa.uint8(), 0, 255), (pa.uint64(), 2**64 - 5, 2**64 - 1)]
)
def test_small_integers_over_their_whole_range(
    kind: pa.DataType, low: int, high: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    problems = pa.array([low, high, low + 1, high], kind)
    pq.write_table(pa.table({"problem": problems, "passed": [True, False, True, True]}), tmp_path / "a.parquet")
    ours, reference = both(tmp_path, monkeypatch)
    assert ours.equals(reference)
    assert set(ours["problem"]) == {str(low), str(low + 1), str(high)}
