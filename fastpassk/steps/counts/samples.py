"""Samples to counts: one group-by over integers, then the policies for what has no outcome and for repeats.

The group-by carries what the policies need (missing by reason, repeats by attempt), so that they are applied to a
table of groups and never to rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from fastpassk.errors import FastpasskError, UsageError, listing, tell
from fastpassk.schema.frames import MISSING, describe
from fastpassk.schema.outcomes import FAILED, PASSED, REASONS
from fastpassk.schema.policies import parse_missing, refuse_harness
from fastpassk.sources import Dataset, collect
from fastpassk.steps.counts.coded import coded_cells

if TYPE_CHECKING:
    from fastpassk.schema.options import Settings


def counts_of_samples(dataset: Dataset, settings: Settings) -> pl.DataFrame:
    """Count the samples of a dataset, keyed by its identity and problem.

    Returns
    -------
    The key columns, `n`, `c` (Int64), and `stopped` where the samples carry such a mark.
    """
    key = [*dataset.identity, "problem"]
    roles = [role for role in ("attempt", "reason", "stopped") if dataset.has(role)]
    by = _attempts(roles, settings, key)
    attempts = by != key
    cells = coded_cells(dataset, attempts=attempts)
    if cells is None:
        cells = collect(dataset, dataset.frame.group_by(by).agg(_totals(roles)))
    _refuse_bad(dataset, cells)
    _refuse_nameless(dataset, cells)
    if attempts and "attempt" in cells.columns:
        cells = _settle_repeats(cells, key, settings)
    return _settle_missing(cells, key, settings)


def _attempts(roles: list[str], settings: Settings, key: list[str]) -> list[str]:
    """Return the columns to group by: with the attempt where repeats of one are to be found."""
    if "attempt" in roles:
        return key if settings.duplicates == "keep" else [*key, "attempt"]
    if settings.duplicates in ("error", "same"):
        raise UsageError(f"duplicates={settings.duplicates!r} needs an attempt column; name it with attempt=")
    return key


def _totals(roles: list[str]) -> list[pl.Expr]:
    """Return the integer sums of a group; `len` and Boolean sums are 32-bit in Polars, so each is widened."""
    absent = pl.col("outcome").is_null() & ~pl.col("bad")
    reason = pl.col("reason") if "reason" in roles else pl.lit(None, pl.String)
    known = {name: absent & (reason == name).fill_null(False) for name in REASONS}
    other = absent & ~reason.is_in(list(REASONS)).fill_null(False)
    sums = {
        "n": pl.len().cast(pl.Int64),
        "c": pl.col("outcome").sum().cast(pl.Int64),
        "bad": pl.col("bad").sum().cast(pl.Int64),
        "missing": other.sum().cast(pl.Int64),
    }
    if "reason" in roles:
        sums |= {f"missing {name}": expr.sum().cast(pl.Int64) for name, expr in known.items()}
    if "stopped" in roles:
        sums["stopped"] = pl.col("stopped").any()
    return [expr.alias(name) for name, expr in sums.items()]


def _refuse_bad(dataset: Dataset, cells: pl.DataFrame) -> None:
    """Raise when some values are no outcome, with the first of them."""
    bad = int(cells["bad"].sum())
    if not cells.height:
        raise FastpasskError("there are no samples: the input has no rows, or `where` kept none")
    if not bad:
        return
    rows = dataset.frame.select("problem", "raw", "bad").with_row_index("row").filter("bad").sort("row").head(1)
    row, problem, raw, _ = collect(dataset, rows).row(0)
    more = f", the first of {bad} such values" if bad > 1 else ""
    raise FastpasskError(
        f"{dataset.columns.get('passed', 'passed')} is {raw} in sample {row + 1} (problem {problem}){more}; an outcome "
        f"is one of {listing(PASSED, 9)} or {listing(FAILED, 9)}; for a numeric score give threshold= (--threshold)"
    )


def _refuse_nameless(dataset: Dataset, cells: pl.DataFrame) -> None:
    """Raise when the problem is null somewhere: nothing says which rows are repeats of each other."""
    rows, column = int(cells.filter(pl.col("problem").is_null())["n"].sum()), dataset.columns["problem"]
    if rows:
        raise FastpasskError(f"the problem is null in {rows} rows; every sample must name its own in {column!r}")


def _settle_repeats(cells: pl.DataFrame, key: list[str], settings: Settings) -> pl.DataFrame:
    """Apply `duplicates` to cells keyed by attempt, and add the attempts up."""
    nameless = cells.filter(pl.col("attempt").is_null())
    if nameless.height:
        raise FastpasskError(
            f"the attempt is null in {nameless['n'].sum()} rows, first at {_first(nameless, key)}; "
            "fill it, or count every row with duplicates='keep' (--duplicates keep)"
        )
    missing = [name for name in MISSING if name in cells.columns]
    repeated = cells.filter(pl.col("n") > 1)
    if repeated.height:
        _refuse_repeats(repeated, [*key, "attempt"], missing, settings)
        once = [pl.col(name).clip(0, 1) for name in ("n", "c", *missing)]
        cells = cells.with_columns(once)
    return (
        cells.drop("attempt", "bad")
        .group_by(key)
        .agg(pl.col("n", "c", *missing).sum(), *[pl.col("stopped").any()] * ("stopped" in cells.columns))
    )


def _refuse_repeats(repeated: pl.DataFrame, key: list[str], missing: list[str], settings: Settings) -> None:
    rows = int(repeated["n"].sum()) - repeated.height
    first = _first(repeated, key)
    if settings.duplicates != "same":
        raise FastpasskError(
            f"{rows} rows repeat an attempt, first {first}; the same results may have been read twice. Allowed: "
            "duplicates='same' (equal ones count once) or 'keep' (every row counts)"
        )
    one_kind = pl.any_horizontal(pl.col(name) == pl.col("n") for name in ("c", *missing))
    failed = pl.sum_horizontal("c", *missing) == 0
    conflicts = repeated.filter(~(one_kind | failed))
    if conflicts.height:
        raise FastpasskError(
            f"{conflicts.height} attempts have conflicting outcomes, first {_first(conflicts, key)}; "
            "duplicates='same' joins equal ones only"
        )
    tell(f"duplicates=same: {rows} repeated rows were joined with their equals")


def _settle_missing(cells: pl.DataFrame, key: list[str], settings: Settings) -> pl.DataFrame:
    """Apply the rule of each reason to the samples without an outcome."""
    rules = {f"missing {reason}".strip(): rule for reason, rule in parse_missing(settings.missing).items()}
    present = {name: rules[name] for name in MISSING if name in cells.columns and cells[name].sum()}
    for name, rule in present.items():
        if rule in ("error", "harness"):
            _refuse_missing(cells, key, name, rule)
    dropped = [name for name, rule in present.items() if rule == "drop"]
    failed = [name for name, rule in present.items() if rule == "fail"]
    _tell_missing(cells, "fail", failed, "count as failures")
    _tell_missing(cells, "drop", dropped, "were left out")
    kept = cells.with_columns(n=pl.col("n") - pl.sum_horizontal(pl.lit(0, pl.Int64), *dropped))
    emptied = kept.filter(pl.col("n") == 0)
    if emptied.height:
        tell(f"missing=drop: {emptied.height} problems have no outcome left and were left out, {_first(emptied, key)}")
    return kept.filter(pl.col("n") > 0).select(*key, "n", "c", *["stopped"] * ("stopped" in cells.columns))


def _refuse_missing(cells: pl.DataFrame, key: list[str], name: str, rule: str) -> None:
    rows, first = int(cells[name].sum()), _first(cells.filter(pl.col(name) > 0), key)
    why = f" ({name.removeprefix('missing ')})" if name != "missing" else ""
    refuse_harness(rule)
    raise FastpasskError(
        f"{rows} of {cells['n'].sum()} samples have no outcome{why}, first at {first}; say what they are: "
        "missing='fail' (they count as failures) or 'drop' (they are left out) (--missing)"
    )


def _tell_missing(cells: pl.DataFrame, rule: str, names: list[str], what: str) -> None:
    if names:
        parts = [
            f"{cells[name].sum()} {name.removeprefix('missing ').replace('missing', 'no reason')}" for name in names
        ]
        total = sum(int(cells[name].sum()) for name in names)
        reasons = f" ({', '.join(parts)})" if names != ["missing"] else ""
        tell(f"missing={rule}: {total} of {cells['n'].sum()} samples have no outcome{reasons} and {what}")


def _first(cells: pl.DataFrame, key: list[str]) -> str:
    return describe(cells.select(key).sort(key, nulls_last=True).row(0, named=True))
