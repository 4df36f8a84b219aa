"""The problem set is part of the experiment: what must be there, and what all groups share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from fastpassk.errors import FastpasskError, listing, tell
from fastpassk.schema.frames import describe
from fastpassk.schema.policies import parse_missing, refuse_harness
from fastpassk.sources import problem_names

if TYPE_CHECKING:
    from collections.abc import Callable

    from fastpassk.schema.options import Settings


EXPECTED, SUM, SETS = "__expected", "__sum", "__problems"  # helper columns, in no table's way


def complete(frame: pl.DataFrame, by: list[str], settings: Settings, stopped: int | None) -> pl.DataFrame:
    """Hold counts against `problems` and `expect_n`, and treat what is absent by `missing`.

    Parameters
    ----------
    frame
        Counts keyed by `by` and problem.
    by
        The columns that make a group.
    settings
        `problems`, `expect_n` and `missing` are used.
    stopped
        The number of passes at which sampling of a problem ended; one that has them is complete at any n.
    """
    if settings.problems is None and settings.expect_n is None:
        return frame
    names = None if settings.problems is None else problem_names(settings.problems)
    if names is not None:
        _refuse_unlisted(frame, names)
    ended = pl.lit(value=False) if stopped is None else pl.col("c") >= stopped
    full = _against(frame, by, names, _usual_n(ended) if settings.expect_n is None else pl.lit(settings.expect_n))
    if settings.expect_n is not None:
        _refuse_surplus(full, by, settings.expect_n)
    lacking = (pl.col("n") < pl.col(EXPECTED)) & ~ended
    short = full.filter(lacking)
    if not short.height:
        return frame
    rule = _rule(short, by, settings)
    if rule == "fail":
        full = full.with_columns(n=pl.when(lacking).then(EXPECTED).otherwise("n"))
    return full.filter(pl.col("n") > 0).select(frame.columns)


def shared(frame: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    """Keep the problems that every group has, and say how many that leaves."""
    groups = frame.select(by).n_unique()
    everywhere = frame.group_by("problem").len().filter(pl.col("len") == groups)
    total = frame["problem"].n_unique()
    if not everywhere.height:
        raise FastpasskError(f"common=True leaves nothing: none of {total} problems is in all {groups} groups")
    if everywhere.height < total:
        tell(f"common: {everywhere.height} of {total} problems are in all {groups} groups; the others were left out")
    return frame.join(everywhere, on="problem", how="semi")


def problem_sets(frame: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    """Return for each group how many problems it has and the wrapping sum of a hash of their names.

    That needs no sorting and is the same for any order.
    """
    return frame.group_by(by).agg(pl.len().cast(pl.Int64).alias(SETS), pl.col("problem").hash(0).sum().alias(SUM))


def problems_in_all(frame: pl.DataFrame, groups: int) -> int:
    """Return how many problems are in all groups."""
    return frame.group_by("problem").len().filter(pl.col("len") == groups).height


def tell_problem_sets(sets: pl.DataFrame, by: list[str], in_all: Callable[[int], int]) -> None:
    """Say so when groups of one benchmark were run on different problems: their curves do not compare.

    Parameters
    ----------
    sets
        From `problem_sets`.
    by
        The columns that make a group.
    in_all
        Tells how many problems are in all of so many groups.
    """
    scope = [name for name in by if name in ("benchmark", "subset", "language")]
    kinds = sets.select(*scope, SETS, SUM).unique()
    if kinds.height == kinds.select(scope or pl.lit(0)).n_unique():
        return
    groups = sets.height
    common = in_all(groups)
    advice = "; common=True (--common) keeps those" if common else ""
    sizes = sets.sort([SETS, *by], nulls_last=True)
    small, large = sizes.row(0, named=True), sizes.row(-1, named=True)
    few, many = ({name: row[name] for name in by} for row in (small, large))
    tell(
        f"groups were run on different problems, from {small[SETS]} ({describe(few)}) to {large[SETS]} "
        f"({describe(many)}); {common} are in all {groups} groups{advice}"
    )


def _refuse_unlisted(frame: pl.DataFrame, names: pl.Series) -> None:
    there = frame["problem"].unique()
    extra = there.filter(~there.is_in(names.implode())).sort()
    if len(extra):
        raise FastpasskError(
            f"{len(extra)} problems are not in the list of problems ({listing(extra.to_list())}); "
            "the list must name all, or keep the listed rows with where="
        )


def _against(frame: pl.DataFrame, by: list[str], names: pl.Series | None, expected: pl.Expr) -> pl.DataFrame:
    """Return counts with a row for each listed problem (n = 0 where absent) and what was expected of it."""
    groups = frame.group_by(by).agg(expected.cast(pl.Int64).alias(EXPECTED))
    if names is None:
        return frame.join(groups, on=by, nulls_equal=True)
    grid = groups.join(names.alias("problem").to_frame(), how="cross")
    full = grid.join(frame, on=[*by, "problem"], how="left", nulls_equal=True)
    return full.with_columns(pl.col("n", "c").fill_null(0))


def _usual_n(ended: pl.Expr) -> pl.Expr:
    """Return the group's most frequent n; of several, the largest, so that nothing absent is overlooked.

    Problems whose sampling ended early say nothing of it, unless all did.
    """
    return pl.col("n").filter(~ended).mode().max().fill_null(pl.col("n").max())


def _refuse_surplus(full: pl.DataFrame, by: list[str], expect_n: int) -> None:
    over = full.filter(pl.col("n") > expect_n).sort([*by, "problem"], nulls_last=True)
    if over.height:
        raise FastpasskError(
            f"{over.height} problems have more than expect_n={expect_n} samples, first "
            f"{describe(over.select(*by, 'problem').row(0, named=True))} with {over['n'][0]}; read twice?"
        )


def _rule(short: pl.DataFrame, by: list[str], settings: Settings) -> str:
    """Return the rule for absent samples (they have no reason), having said or refused what is absent."""
    rule = parse_missing(settings.missing)[""]
    absent = int((short[EXPECTED] - short["n"]).sum())
    gone = short.filter(pl.col("n") == 0).height
    first = describe(short.sort([*by, "problem"], nulls_last=True).select(*by, "problem").row(0, named=True))
    usual = "" if settings.expect_n else f" (expected is the group's most frequent n, {_span(short[EXPECTED])})"
    fact = f"{absent} expected samples are absent in {short.height} problems, {gone} of them absent as a whole{usual}"
    if rule == "error":
        raise FastpasskError(f"{fact}, first {first}; say what they are: missing='fail' or 'drop' (--missing)")
    refuse_harness(rule)
    tell(f"missing={rule}: {fact}; {'they count as failures' if rule == 'fail' else 'they were left out'}")
    return rule


def _span(numbers: pl.Series) -> str:
    values = numbers.unique().sort().to_list()
    return str(values[0]) if len(values) == 1 else f"{values[0]} to {values[-1]}"
