"""The list of problems that must be there: names, a text file with one a line, or a table with a problem column."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import polars as pl

from fastpassk.errors import FastpasskError, UsageError
from fastpassk.sources.failures import translated
from fastpassk.sources.opening import open_one, problem_key


def problem_names(problems: Any) -> pl.Series:
    """Return the names of a list of problems, as text, each once, sorted.

    Parameters
    ----------
    problems
        Names; the path of a .txt file with one name a line; or any table that `read` takes.

    Raises
    ------
    FastpasskError
        The list is empty or names a problem null; a `UsageError` where no column of a table is the problem.
    """
    if isinstance(problems, (str, os.PathLike)) and Path(problems).suffix in ("", ".txt", ".lst"):
        names = pl.Series("problem", [line.strip() for line in _lines(problems) if line.strip()], pl.String)
    elif isinstance(problems, (list, tuple, set, frozenset)) and not any(isinstance(one, dict) for one in problems):
        names = pl.Series("problem", [None if one is None else str(one) for one in problems], pl.String)
    else:
        names = _column(problems)
    if not len(names) or names.null_count():
        raise FastpasskError("the list of problems is empty or has a null name; give one name for each problem")
    return names.unique().sort()


def _lines(path: str | os.PathLike[str]) -> list[str]:
    try:
        return Path(path).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeError) as error:
        raise UsageError(f"the list of problems {path} cannot be read: {error}") from error


def _column(problems: Any) -> pl.Series:
    if isinstance(problems, pl.Series):
        return problems.cast(pl.String).rename("problem")
    table = open_one(problems, "the list of problems")
    column, key = problem_key(table)
    with translated([table.file] if table.file else []):
        return table.scan([column]).select(key.alias("problem")).collect().to_series()
