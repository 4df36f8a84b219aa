"""Published result files, read into frames here, against exact values computed elsewhere (with fractions).

The files lie beside the project, not in it; the tests are skipped where they are absent.
"""

from __future__ import annotations

import csv
import json
import warnings
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from fastpassk import FastpasskWarning, count, curve, merge

REAL = Path(__file__).parents[2] / "shared" / "real"
NAMES = {"tau": "taubench-gpt4o-airline", "reflexion": "reflexion-gpt4-runs", "aider": "aider-polyglot-leaderboard"}

pytestmark = pytest.mark.skipif(not REAL.is_dir(), reason="the published result files are not beside the project")


def expected(name: str) -> dict[str, dict[str, Any]]:
    """What must come out, by model."""
    models: dict[str, dict[str, Any]] = json.loads((REAL / NAMES[name] / "expected.json").read_text("utf-8"))["models"]
    return models


def taubench() -> pl.DataFrame:
    """The trajectories' rewards: a JSON list, one record a trial."""
    path = REAL / NAMES["tau"] / "raw" / "gpt-4o-airline.no-traj.json"
    records = json.loads(path.read_text("utf-8"))
    return pl.DataFrame([{name: record[name] for name in ("task_id", "reward", "trial")} for record in records])


def reflexion() -> pl.DataFrame:
    """The runs: one file a (system, benchmark, run); the problem is `name` in some files and `task_id` in others."""
    rows = []
    for path in sorted((REAL / NAMES["reflexion"] / "raw").glob("*.jsonl")):
        system, benchmark, *run = path.stem.split("__")
        for line in path.read_text("utf-8").splitlines():
            record = json.loads(line)
            problem = record.get("name") or record["task_id"]
            key = {"model": f"{system}/{benchmark}", "problem": problem, "trial": "".join(run) or "run1"}
            rows.append(key | {"is_solved": record["is_solved"]})
    return pl.DataFrame(rows)


def quietly(*given: Any, **options: Any) -> pl.DataFrame:
    """A curve without its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FastpasskWarning)
        return curve(*given, **options)


def compare(curves: pl.DataFrame, models: dict[str, dict[str, Any]], metric: str) -> None:
    """Every strict point and standard error equals what the file states."""
    seen = 0
    for model, facts in models.items():
        for k, point in facts[metric].items():
            row = curves.row(by_predicate=(pl.col("model") == model) & (pl.col("k") == int(k)), named=True)
            strict = point and point["strict"] is not None
            assert row["estimate"] == (float(Fraction(point["fraction"])) if strict else None)
            assert row["problems"] == facts["problems"]
            if strict and "se_over_problems_ddof1" in point:
                assert row["std_error"] == pytest.approx(point["se_over_problems_ddof1"], rel=4e-15)
            seen += 1
    assert seen == curves.height


def test_taubench_from_its_rewards() -> None:
    columns = {"problem": "task_id", "attempt": "trial", "passed": "reward", "threshold": 1}
    curves = curve(taubench(), [1, 2, 3, 4], metric=["pass@k", "pass^k"], assume={"model": "gpt-4o"}, **columns)
    for metric in ("pass@k", "pass^k"):
        compare(curves.filter(pl.col("metric") == metric), expected("tau"), metric)
    at_least_one = curves.filter(pl.col("metric") == "pass@k")["estimate"].to_list()
    assert at_least_one == [0.42, float(Fraction(17, 30)), 0.66, 0.72]
    every_one = curves.filter(pl.col("metric") == "pass^k")["estimate"].to_list()
    assert every_one == [0.42, float(Fraction(41, 150)), 0.22, 0.2]


def test_taubench_counts() -> None:
    counts = count(taubench(), passed="reward", threshold=1, assume={"model": "gpt-4o"})
    assert sorted(_rows(counts)) == sorted(_listed("tau"))


@pytest.mark.parametrize("metric", ["pass@k", "pass^k"])
def test_reflexion_is_ragged(metric: str) -> None:
    frame = reflexion()
    for model, facts in expected("reflexion").items():
        ks = [int(k) for k in facts[metric]]
        compare(quietly(frame.filter(model=model), ks, metric=metric), {model: facts}, metric)


def test_reflexion_over_the_problems_with_two_runs() -> None:
    ragged = reflexion().filter(model="reflexion/mbpp-py")
    with pytest.warns(FastpasskWarning, match="140 of 397"):
        assert curve(ragged, 2)["estimate"].to_list() == [None]
    with pytest.warns(FastpasskWarning):
        row = curve(ragged, 2, undefined="available").row(0, named=True)
    point = expected("reflexion")["reflexion/mbpp-py"]["pass@k"]["2"]
    assert row["estimate"] == float(Fraction(point["fraction"]))
    assert row["std_error"] == pytest.approx(point["se_over_problems_ddof1"], rel=4e-15)
    assert row["undefined"] == 140


def test_reflexion_counts_however_it_is_split() -> None:
    frame = reflexion()
    whole = count(frame)
    assert sorted(_rows(whole)) == sorted(_listed("reflexion"))
    runs = [part.drop("trial") for _, part in frame.group_by("trial", maintain_order=True)]
    assert merge([count(run) for run in runs]).equals(whole)


def test_aider_is_a_tally_not_one_problem() -> None:
    models = expected("aider")
    path = REAL / NAMES["aider"] / "tally.csv"
    compare(quietly(path, [1, 2]), models, "pass@k")
    compare(quietly(path, [1, 2], metric="pass^k"), models, "pass^k")


def _rows(counts: pl.DataFrame) -> list[tuple[str, str, int, int]]:
    return counts.select("model", "problem", "n", "c").rows()


def _listed(name: str) -> list[tuple[str, str, int, int]]:
    with (REAL / NAMES[name] / "counts.csv").open(encoding="utf-8", newline="") as file:
        return [(row["model"], row["problem"], int(row["n"]), int(row["c"])) for row in csv.DictReader(file)]
