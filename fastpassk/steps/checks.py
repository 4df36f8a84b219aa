"""`check`: what a source is, before anything is scored: its columns, its identity, its gaps. It refuses no data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from fastpassk.errors import UsageError
from fastpassk.schema.options import READING, Options, Settings
from fastpassk.sources import Dataset, collect, read

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Unpack

Facts = dict[str, object]

SIZE, SUM, REPEATS = "__size", "__sum", "__repeats"  # helper columns, in no table's way


def check(source: Any, **options: Unpack[Options]) -> Facts:
    """Say what was recognised in a source, without scoring it.

    Parameters
    ----------
    source
        Anything that `read` takes.
    options
        The options of `read`; see `fastpassk.Options`.

    Returns
    -------
    Facts in the order in which they are printed: format, kind, columns, identity, rows, problems, range of n, missing
    and impossible values, repeated attempts or keys, and problem sets that differ.

    Raises
    ------
    FastpasskError
        The source cannot be read at all; a `UsageError` for options and names that do not exist.
    """
    settings = Settings.of(options)
    idle = sorted(settings.changed().keys() - set(READING))
    if idle:
        raise UsageError(f"{idle[0]}= has no meaning for check, which reads and scores nothing")
    dataset = read(source, **settings.reading())
    head: Facts = {"format": dataset.format, "kind": dataset.kind, "columns": dict(dataset.columns)}
    return head | _BY_KIND[dataset.kind](dataset)


def _samples(dataset: Dataset) -> Facts:
    """Describe samples from one group-by."""
    identity = list(dataset.identity)
    absent = (pl.col("outcome").is_null() & ~pl.col("bad")).sum()
    sums = {"n": pl.len(), "c": pl.col("outcome").sum(), "missing": absent, "bad": pl.col("bad").sum()}
    if dataset.has("attempt"):
        sums[REPEATS] = pl.col("attempt").drop_nulls().len() - pl.col("attempt").drop_nulls().n_unique()
    if dataset.has("stopped"):
        sums["stopped"] = pl.col("stopped").sum()
    wide = [expr.cast(pl.Int64).alias(name) for name, expr in sums.items()]
    cells = collect(dataset, dataset.frame.group_by(*identity, "problem").agg(wide))
    totals = {name: int(cells[name].sum()) for name in sums}
    return {
        **_groups(cells, identity),
        "samples": totals["n"],
        "passed": totals["c"],
        **_sizes(cells),
        "without outcome": totals["missing"],
        "impossible outcomes": totals["bad"],
        "repeated attempts": totals.get(REPEATS, "no attempt column"),
        "stopped early": totals.get("stopped", "not marked"),
        **_problem_sets(cells, identity),
    }


def _counts(dataset: Dataset) -> Facts:
    """Describe a table of counts."""
    identity, cells = list(dataset.identity), collect(dataset, dataset.frame)
    wrong = pl.col("bad") | (pl.col("n") < 1) | (pl.col("c") < 0) | (pl.col("c") > pl.col("n"))
    return {
        **_groups(cells, identity),
        "rows": cells.height,
        "samples": int(cells["n"].sum()),
        **_sizes(cells),
        "impossible rows": cells.filter(wrong.fill_null(True)).height,
        "repeated keys": cells.height - cells.select(*identity, "problem").n_unique(),
        **_problem_sets(cells, identity),
    }


def _tally(dataset: Dataset) -> Facts:
    """Describe a tally, which has no names of problems left."""
    identity, cells = list(dataset.identity), collect(dataset, dataset.frame)
    return {
        **_groups(cells, identity),
        "rows": cells.height,
        "problems": int(cells["problems"].sum()),
        "n": _span(cells, "n"),
        "impossible rows": int(cells["bad"].sum()),
        "repeated keys": cells.height - cells.select(*identity, "n", "c").n_unique(),
    }


def _rows_with_k(dataset: Dataset) -> Facts:
    """Describe triples and scores."""
    names = [name for name in ("n", "c", "k") if name in dataset.frame.collect_schema().names()]
    ends = [end for name in names for end in (pl.col(name).min(), pl.col(name).max().alias(f"{name} max"))]
    row = collect(dataset, dataset.frame.select(pl.len().alias("rows"), *ends)).row(0, named=True)
    spans: Facts = {name: {"min": row[name], "max": row[f"{name} max"]} for name in names}
    return {"identity": list(dataset.identity), "rows": row["rows"]} | spans


def _groups(cells: pl.DataFrame, identity: list[str]) -> Facts:
    """Say how many values each identity column takes, and how many groups they make."""
    values = {name: cells[name].n_unique() for name in identity}
    groups = cells.select(identity).n_unique() if identity and cells.height else min(cells.height, 1)
    return {"identity": values or "none: one group", "groups": groups}


def _sizes(cells: pl.DataFrame) -> Facts:
    return {"problems": cells["problem"].n_unique(), "n": _span(cells, "n")}


def _span(cells: pl.DataFrame, name: str) -> dict[str, object]:
    return {"min": cells[name].min(), "max": cells[name].max()}


def _problem_sets(cells: pl.DataFrame, identity: list[str]) -> Facts:
    """Say how many different sets of problems the groups were run on, and how many problems all share."""
    if not identity or not cells.height:
        return {}
    names = pl.col("problem")
    sets = cells.group_by(identity).agg(names.len().alias(SIZE), names.hash(0).sum().alias(SUM))
    in_all = cells.group_by("problem").agg(pl.struct(identity).n_unique().alias(SIZE))
    shared = in_all.filter(pl.col(SIZE) == sets.height).height
    return {"problem sets": sets.select(SIZE, SUM).n_unique(), "problems in every group": shared}


_BY_KIND: dict[str, Callable[[Dataset], Facts]] = {
    "samples": _samples,
    "counts": _counts,
    "tally": _tally,
    "triples": _rows_with_k,
    "scores": _rows_with_k,
}
