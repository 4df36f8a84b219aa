"""Every known mistake of evaluation tools is one test id: its numbers from the table, its handling by hand below."""

from __future__ import annotations

import inspect
import json
import warnings
from collections import defaultdict
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import cases_counting
import cases_files
import cases_numbers
import fastpassk
from cases_table import LATER, LATER_IN_PART, POINTS, Point

if TYPE_CHECKING:
    from collections.abc import Callable

SHARED = Path(__file__).parents[2] / "shared" / "cases.jsonl"

HANDLING: dict[str, list[Callable[..., None]]] = defaultdict(list)
for rows in (cases_numbers, cases_counting, cases_files):
    for name, function in vars(rows).items():
        if name.startswith("case_"):
            HANDLING[name.split("_")[1].upper()].append(function)

IDS = sorted({*POINTS, *HANDLING, *LATER})


@pytest.mark.parametrize("case", IDS)
def test_case(case: str, tmp_path: Path) -> None:
    if case in LATER:
        pytest.skip(f"not offered yet: {LATER[case]}")
    for point in POINTS.get(case, []):
        check(point)
    for function in HANDLING[case]:
        run(function, tmp_path)


@pytest.mark.parametrize("case", sorted(LATER_IN_PART))
def test_rest_of_case(case: str) -> None:
    pytest.skip(f"not offered yet: {LATER_IN_PART[case]}")


@pytest.mark.skipif(
    not SHARED.is_file(), reason="the list of cases is not beside the project; its numbers are in cases_table.py"
)
def test_the_table_covers_the_list() -> None:
    lines = [json.loads(line) for line in SHARED.read_text(encoding="utf-8").splitlines()]
    assert not {line["id"] for line in lines} - set(IDS)
    for line in lines:
        point = listed(line.get("check", {}))
        assert point is None or point in POINTS[line["id"]]


def run(function: Callable[..., None], tmp_path: Path) -> None:
    """Run a case's function, with a folder of its own when it asks for one."""
    if not inspect.signature(function).parameters:
        function()
        return
    folder = tmp_path / function.__name__
    folder.mkdir()
    function(folder)


def listed(given: dict[str, Any]) -> Point | None:
    """The point that a line of the list states, when it states one."""
    if "counts" not in given:
        return None
    metric = "pass^k" if "pass_hat_k" in given else "pass@k"
    value = given["pass_hat_k" if metric == "pass^k" else "pass_at_k"]
    return Point(tuple(map(tuple, given["counts"])), given["k"], value, metric)


def check(point: Point) -> None:
    """Compare a point with what `curve` makes of its tally, and of the same as counts."""
    tally = pl.DataFrame(point.cells, schema=["n", "c", "problems"], orient="row")
    cells = tally.select(pl.exclude("problems").repeat_by("problems")).explode("n", "c")
    counts = cells.with_columns(problem=pl.int_range(pl.len()).cast(pl.String))
    expected = None if point.value is None else float(Fraction(point.value))
    for frame in (tally, counts):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", fastpassk.FastpasskWarning)
            curves = fastpassk.curve(frame, point.k, metric=point.metric)
        assert curves["metric"].to_list() == [point.metric]
        assert curves["k"].to_list() == [point.k]
        assert curves["estimate"].to_list() == [expected]
