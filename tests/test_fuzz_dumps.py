"""Random dumps through random encodings and options, held against a slow reference in plain Python and Fractions.

A dump is a list of records. The reference counts and averages it as DESIGN.md says, without Polars; the same dump is
shuffled, split into files of several formats and read back. Either both refuse it or both give the same numbers.
"""

from __future__ import annotations

import gzip
import json
import random
import warnings
from collections import Counter
from decimal import Decimal, localcontext
from fractions import Fraction
from math import comb
from typing import TYPE_CHECKING, Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fastpassk as fp
from fastpassk import FastpasskError, FastpasskWarning
from fastpassk.schema.outcomes import REASONS
from fastpassk.sources import coded

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Record = dict[str, Any]
Counts = dict[tuple[Any, ...], list[int]]  # (*identity, problem) to [n, c]

IDENTITY = ("model", "benchmark", "temperature")
SEEDS = range(150)


class Refused(Exception):  # noqa: N818 - it is an answer, not an error
    """The reference refuses the dump."""


# the dump


def dump(rng: random.Random) -> list[Record]:
    """A few groups of a few problems, more or less ragged, with gaps, reasons and now and then a repeat."""
    names = [name for name in IDENTITY if rng.random() < 0.6]
    problem = rng.choice([lambda i: f"HumanEval/{i}", lambda i: i, lambda i: f"{i:03d}", lambda i: f"é, \"{i}'"])
    gaps, repeats, attempts, reasons = (rng.random() < chance for chance in (0.5, 0.15, 0.5, 0.5))
    groups = [tuple(identity_value(rng, name) for name in names) for _ in range(rng.randint(1, 3))]
    records = []
    for group in dict.fromkeys(groups):
        for number in range(rng.randint(1, 6)):
            for attempt in range(rng.choice([1, 4, 4, 4, 9])):
                passed = None if gaps and rng.random() < 0.2 else rng.random() < 0.4
                record = dict(zip(names, group, strict=True)) | {"problem": problem(number), "passed": passed}
                record |= {"attempt": attempt} if attempts else {}
                record |= (
                    {"reason": rng.choice([*REASONS, "other", None]) if passed is None else None} if reasons else {}
                )
                records += [record] * (2 if repeats and rng.random() < 0.1 else 1)
    return records


def identity_value(rng: random.Random, name: str) -> Any:
    if name == "temperature":
        return rng.choice([0.0, 0.2, 1.0])
    return rng.choice([f"{name}-a", f"{name} b", None])


def options(rng: random.Random, records: list[Record]) -> dict[str, Any]:
    """Some options of `count`, which may or may not suit the dump."""
    chosen: dict[str, Any] = {}
    names = [name for name in IDENTITY if name in records[0]]
    chosen["missing"] = rng.choice(["error", "fail", "fail", "drop", "drop", {"timeout": "drop", "infra": "fail"}])
    if "attempt" in records[0]:
        chosen["duplicates"] = rng.choice([None, "same", "keep", "error"])
    if rng.random() < 0.4:
        chosen["by"] = [name for name in names if rng.random() < 0.6]
    if names and rng.random() < 0.3:
        chosen["pool"] = [rng.choice(names)]
    if rng.random() < 0.2:
        chosen["common"] = True
    if rng.random() < 0.2:
        chosen["problems"] = [*{str(record["problem"]) for record in records}, "absent"]
    if rng.random() < 0.2:
        chosen["expect_n"] = rng.choice([4, 9])
    return chosen


# the reference


def reference(records: list[Record], given: dict[str, Any]) -> tuple[list[str], Counts]:
    """Count as DESIGN.md says; returns the columns of the groups and the counts."""
    names = [name for name in IDENTITY if any(record.get(name) is not None for record in records)]
    names += [name for name in given.get("pool", ()) if name in records[0] and name not in names]
    names += [name for name in given.get("by", ()) if name not in names]
    names = [name for name in IDENTITY if name in names]
    key = lambda record: (*(text(record[name]) for name in names), str(record["problem"]))  # noqa: E731
    counts: Counts = {}
    for record in settled(records, key, given.get("duplicates")):
        rule = rule_of(record, given["missing"]) if record["passed"] is None else "keep"
        if rule == "error":
            raise Refused("missing")
        cell = counts.setdefault(key(record), [0, 0])
        cell[0] += rule != "drop"
        cell[1] += record["passed"] is True
    by, counts = narrowed(names, {one: cell for one, cell in counts.items() if cell[0]}, given)
    counts = completed(counts, given)
    return by or ["group"], shared(counts) if given.get("common") else counts


def text(value: Any) -> Any:
    return str(value) if isinstance(value, float) else value


def settled(records: list[Record], key: Callable[[Record], Any], duplicates: str | None) -> list[Record]:
    """Apply the policy for repeated attempts."""
    if "attempt" not in records[0] or duplicates == "keep":
        return records
    kept: dict[Any, Record] = {}
    for record in records:
        other = kept.setdefault((key(record), record["attempt"]), record)
        if other is not record and (duplicates != "same" or outcome(other) != outcome(record)):
            raise Refused("repeats")
        if other is record and duplicates != "same" and sum(one is record for one in records) > 1:
            raise Refused("repeats")
    return list(kept.values())


def outcome(record: Record) -> Any:
    return record["passed"], reason_of(record) if record["passed"] is None else ""


def reason_of(record: Record) -> str:
    return record["reason"] if record.get("reason") in REASONS else ""


def rule_of(record: Record, missing: Any) -> str:
    return missing if isinstance(missing, str) else missing.get(reason_of(record), "error")


def narrowed(names: list[str], counts: Counts, given: dict[str, Any]) -> tuple[list[str], Counts]:
    """Add up over the columns that are pooled; refuse to add over any other."""
    pool = given.get("pool", ())
    by = given["by"] if "by" in given else [name for name in names if name not in pool]
    if set(by) & set(pool):
        raise Refused("by and pool")
    total: Counts = {}
    seen: dict[tuple[Any, ...], set[Any]] = {}
    for (*group, problem), (n, c) in counts.items():
        values = dict(zip(names, group, strict=True))
        to = (*(values[name] for name in by), problem) if by else ("all", problem)
        cell = total.setdefault(to, [0, 0])
        cell[0], cell[1] = cell[0] + n, cell[1] + c
        seen.setdefault(to, set()).add(tuple(values[name] for name in names if name not in by and name not in pool))
    if any(len(values) > 1 for values in seen.values()):
        raise Refused("pooling")
    return list(by), total


def completed(counts: Counts, given: dict[str, Any]) -> Counts:
    """Fill in or refuse what is absent."""
    listed, expect = given.get("problems"), given.get("expect_n")
    if listed is None and expect is None:
        return counts
    if not set(listed or ()) >= {one[-1] for one in counts if listed}:
        raise Refused("unlisted")
    whole = dict(counts)
    for group in {one[:-1] for one in counts}:
        sizes = Counter(n for one, (n, _) in counts.items() if one[:-1] == group)
        usual = expect or max(n for n, times in sizes.items() if times == max(sizes.values()))
        for problem in listed or [one[-1] for one in counts if one[:-1] == group]:
            n, c = whole.get((*group, problem), (0, 0))
            if expect and n > expect:
                raise Refused("surplus")
            rule = given["missing"] if isinstance(given["missing"], str) else "error"
            if n < usual and rule == "error":
                raise Refused("absent")
            whole[*group, problem] = [max(n, usual) if rule == "fail" else n, c]
    return {one: cell for one, cell in whole.items() if cell[0]}


def shared(counts: Counts) -> Counts:
    groups = {one[:-1] for one in counts}
    kept = {one: cell for one, cell in counts.items() if all((*group, one[-1]) in counts for group in groups)}
    if not kept:
        raise Refused("nothing in common")
    return kept


def points(counts: Counts, ks: list[int], metric: str, *, available: bool) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    """(*group, k) to estimate, standard error, problems, undefined."""
    found = {}
    for group in {one[:-1] for one in counts}:
        cells = [cell for one, cell in counts.items() if one[:-1] == group]
        for k in ks:
            values = [value(metric, n, c, k) for n, c in cells if k <= n]
            short = len(cells) - len(values)
            mean, error = (None, None) if not values or (short and not available) else moments(values)
            found[*group, k] = mean, error, len(cells), short
    return found


def value(metric: str, n: int, c: int, k: int) -> Fraction:
    ratio = Fraction(comb(n - c if metric == "pass@k" else c, k), comb(n, k))
    return 1 - ratio if metric == "pass@k" else ratio


def moments(values: list[Fraction]) -> tuple[float, float | None]:
    size = len(values)
    mean = sum(values, Fraction(0)) / size
    if size < 2:
        return float(mean), None
    square = sum(((one - mean) ** 2 for one in values), Fraction(0)) / (size - 1) / size
    with localcontext(prec=80):
        return float(mean), float((Decimal(square.numerator) / Decimal(square.denominator)).sqrt())


# the encodings


def written(rng: random.Random, records: list[Record], folder: Path) -> Any:
    """The dump as some source: frames in memory, or one to three files of any formats."""
    rows = rng.sample(records, len(records))
    if rng.random() < 0.2:
        return rng.choice([pl.DataFrame.lazy, pl.DataFrame.to_arrow, pl.DataFrame.to_pandas, pl.DataFrame.rechunk])(
            framed(rng, rows)
        )
    cuts = sorted(rng.randrange(len(rows) + 1) for _ in range(rng.randrange(3)))
    parts = [part for a, b in zip([0, *cuts], [*cuts, len(rows)], strict=True) if (part := rows[a:b])]
    for place, part in enumerate(parts):
        name = rng.choice(list(WRITERS))
        WRITERS[name](rng, framed(rng, part, text=name in TEXT), folder / f"{place}{name}")
    return folder


def framed(rng: random.Random, rows: list[Record], *, text: bool = False) -> pl.DataFrame:
    """The records as a frame, with some spelling of the outcomes and some types of the keys."""
    frame = pl.DataFrame(rows, infer_schema_length=None)
    passed = pl.col("passed").cast(pl.Boolean)
    spelled = [
        passed,
        passed.cast(pl.Int8),
        passed.cast(pl.Float32).fill_null(float("nan")) if not text else passed.cast(pl.Float64),
        pl.when(passed).then(pl.lit("passed")).when(~passed).then(pl.lit("Failed ")),
    ]
    frame = frame.with_columns(rng.choice(spelled).alias("passed"))
    if frame["problem"].dtype == pl.Int64:
        kinds = [pl.Int8, pl.UInt16, pl.Int64, pl.String, pl.Float64]
        frame = frame.with_columns(pl.col("problem").cast(rng.choice(kinds)))
    if "model" in frame.columns:
        frame = frame.with_columns(pl.col("model").cast(rng.choice([pl.String, pl.Categorical])))
    return frame.select(rng.sample(frame.columns, frame.width))


def write_parquet(rng: random.Random, frame: pl.DataFrame, path: Path) -> None:
    options = {"row_group_size": rng.choice([2, 50, 1000]), "use_dictionary": rng.random() < 0.5}
    pq.write_table(frame.to_arrow(), path, **options)


def write_stream(_: random.Random, frame: pl.DataFrame, path: Path) -> None:
    table = frame.to_arrow()
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as out:
        out.write_table(table, max_chunksize=7)


def write_records(_: random.Random, frame: pl.DataFrame, path: Path) -> None:
    path.write_text(json.dumps(frame.to_dicts()), encoding="utf-8")


def write_members(_: random.Random, frame: pl.DataFrame, path: Path) -> None:
    """Two gzip members, one after the other."""
    lines = frame.write_ndjson().encode().splitlines(keepends=True)
    half = len(lines) // 2
    path.write_bytes(b"".join(gzip.compress(b"".join(part)) for part in (lines[:half], lines[half:]) if part))


def write_zstd(_: random.Random, frame: pl.DataFrame, path: Path) -> None:
    with pa.CompressedOutputStream(pa.OSFile(str(path), "wb"), "zstd") as out:
        out.write(b"\xef\xbb\xbf" + frame.write_csv(line_terminator="\r\n").encode())


WRITERS: dict[str, Callable[[random.Random, pl.DataFrame, Path], None]] = {
    ".parquet": write_parquet,
    ".arrow": lambda _, frame, path: frame.write_ipc(path),
    ".arrows": write_stream,
    ".csv": lambda _, frame, path: frame.write_csv(path),
    ".tsv": lambda _, frame, path: frame.write_csv(path, separator="\t"),
    ".jsonl": lambda _, frame, path: frame.write_ndjson(path),
    ".json": write_records,
    ".jsonl.gz": write_members,
    ".csv.zst": write_zstd,
}
TEXT = {".csv", ".tsv", ".jsonl", ".json", ".jsonl.gz", ".csv.zst"}


# the comparison


@pytest.mark.parametrize("seed", SEEDS)
def test_a_dump_gives_what_the_reference_gives(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(seed)  # noqa: S311 - not for secrets
    records = dump(rng)
    given = options(rng, records)
    source = written(rng, records, tmp_path)
    monkeypatch.setattr(coded, "FEWEST_BYTES", rng.choice([0, 1 << 60]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FastpasskWarning)
        try:
            by, want = reference(records, given)
        except Refused:
            with pytest.raises(FastpasskError):
                fp.count(source, **given)
            return
        counts = fp.count(source, **given)
        assert counts.columns == [*by, "problem", "n", "c"]
        assert {row[:-2]: list(row[-2:]) for row in counts.iter_rows()} == want
        compare_curves(rng, source, given, want)


def compare_curves(rng: random.Random, source: Any, given: dict[str, Any], want: Counts) -> None:
    ks, metric, undefined = [1, 2, 4, 7], rng.choice(["pass@k", "pass^k"]), rng.choice(["null", "available"])
    frame = fp.curve(source, ks, metric=metric, undefined=undefined, **given)
    found = {
        (*row[: frame.columns.index("metric")], named["k"]): (
            named["estimate"], named["std_error"], named["problems"], named["undefined"],
        )
        for row, named in zip(frame.iter_rows(), frame.iter_rows(named=True), strict=True)
    }  # fmt: skip
    assert found == points(want, ks, metric, available=undefined == "available")
    scores = fp.score(source, ks, metric=metric, **given)
    assert fp.curve(scores, by=scores.columns[: scores.columns.index("problem")], undefined=undefined).equals(frame)
