"""Cases about rows, outcomes and who belongs together: one function a case, run by test_cases.py."""

from __future__ import annotations

import json
import warnings
from typing import TYPE_CHECKING

import polars as pl
import pyarrow as pa
import pytest

from fastpassk import FastpasskError, FastpasskWarning, count, curve, score

if TYPE_CHECKING:
    from pathlib import Path


def estimates(frame: object, k: object = 1, **options: object) -> list[float | None]:
    """The estimates of a curve, whatever it warns of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FastpasskWarning)
        return curve(frame, k, **options)["estimate"].to_list()


def told(frame: object, **options: object) -> tuple[dict[str, object], str]:
    """The one row of a curve at k = 1, and all that was said about it."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        row = curve(frame, 1, **options).row(0, named=True)
    return row, " | ".join(str(warning.message) for warning in seen)


def grid(problems: int, trials: int, outcomes: list[object]) -> pl.DataFrame:
    """Samples of problems × trials, problem by problem."""
    return pl.DataFrame(
        {
            "problem": [f"p{i}" for i in range(problems) for _ in range(trials)],
            "trial": list(range(trials)) * problems,
            "passed": pl.Series(outcomes, dtype=pl.Boolean),
        }
    )


def case_c01_errors_are_not_dropped() -> None:
    frame = grid(50, 4, [True] + [None] * 199)
    with pytest.raises(FastpasskError, match="199"):
        curve(frame, 1)
    assert estimates(frame, missing="fail") == [1 / 200]
    row, notes = told(frame, missing="drop")
    assert (row["estimate"], row["problems"]) == (1.0, 1)
    assert "199 of 200 samples" in notes
    assert "49 problems" in notes


def case_c02_absent_problems_count() -> None:
    frame = grid(20, 1, [True] * 20)
    everything = [f"p{i}" for i in range(60)]
    with pytest.raises(FastpasskError, match="40"):
        curve(frame, 1, problems=everything)
    assert estimates(frame, problems=everything, missing="fail") == [1 / 3]


def case_c03_unscorable_documents_stay() -> None:
    frame = grid(10, 1, [True] * 5 + [None] * 5)
    with pytest.raises(FastpasskError, match="5"):
        curve(frame, 1)
    assert estimates(frame, missing="fail") == [0.5]


def case_c04_one_denominator() -> None:
    frame = grid(500, 1, [True] * 144 + [False] * 64 + [None] * 292)
    assert estimates(frame, missing="fail") == [36 / 125]
    row, notes = told(frame, missing="drop")
    assert (row["estimate"], row["problems"]) == (9 / 13, 208)
    assert "292" in notes


def case_c06_short_problems() -> None:
    frame = pl.DataFrame({"problem": ["p1", "p2"], "n": [10, 9], "c": [0, 9]})
    with pytest.warns(FastpasskWarning, match=r"pass@10 is null: 1 of 2"):
        curve(frame, [5, 10])
    with pytest.warns(FastpasskWarning):
        available = curve(frame, [5, 10], undefined="available")
    assert available["estimate"].to_list() == [0.5, 0.0]
    assert available["undefined"].to_list() == [0, 1]
    with pytest.raises(FastpasskError):
        curve(frame, [5, 10], undefined="error")


def case_c08_subsets_are_legal() -> None:
    frame = grid(19, 2, [True, False] * 19)
    assert estimates(frame, [1, 2]) == [0.5, 1.0]
    with pytest.raises(FastpasskError, match="145"):
        curve(frame, 1, problems=[f"p{i}" for i in range(164)])


def case_c09_one_rule_for_null() -> None:
    frame = grid(2, 2, [True, True, None, None])
    assert estimates(frame, [1, 2], missing="fail") == [0.5, 0.5]


def case_d01_the_key_is_what_the_user_names() -> None:
    frame = pl.DataFrame({"id": range(26), "text": ["same"] * 26, "passed": [True] + [False] * 25})
    assert estimates(frame, [1, 26], problem="id") == [1 / 26, None]


def case_d02_no_dedup_by_content(folder: Path) -> None:
    same = pl.DataFrame({"problem": ["p"] * 3, "passed": [True] * 3})
    assert count(same).select("n", "c").row(0) == (3, 3)
    path = folder / "shard.csv"
    grid(2, 2, [True, False, True, True]).write_csv(path)
    with pytest.raises(FastpasskError):
        count([path, path])


def case_d02_a_run_nested_twice_is_noticed(folder: Path) -> None:
    table = grid(2, 2, [True, False, True, True])
    for columns in (["problem", "trial", "passed"], ["problem", "passed"]):
        for place in (folder / "a.csv", folder / "copy" / "a.csv"):
            place.parent.mkdir(exist_ok=True)
            table.select(columns).write_csv(place)
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            if "trial" in columns:
                with pytest.raises(FastpasskError, match=r"trial|attempt"):
                    count([folder / "a.csv", folder / "copy"])
            else:
                count([folder / "a.csv", folder / "copy"])
        assert "same bytes" in " ".join(str(warning.message) for warning in seen)


def case_d03_a_bad_problem_shows() -> None:
    frame = grid(50, 10, [True] * 490 + [False] * 10)
    assert estimates(frame) == [49 / 50]
    scores = score(frame, 1)
    assert scores.filter(pl.col("score") == 0).select("problem", "n", "c").rows() == [("p49", 10, 0)]


def case_e01_codes_are_not_outcomes() -> None:
    for codes in ([1, -2, -1, 0], [True, 2], [1.0, 0.5]):
        with pytest.raises(FastpasskError, match=r"-2|2|0\.5"):
            curve(pl.DataFrame({"problem": ["p"] * len(codes), "passed": pl.Series(codes, strict=False)}).cast(
                {"passed": pl.Float64}), 1)  # fmt: skip


def case_e02_an_empty_list_is_missing() -> None:
    frame = pl.DataFrame(
        {"problem": ["a", "b"], "passed": [[], [True]]}, schema_overrides={"passed": pl.List(pl.Boolean)}
    )
    with pytest.raises(FastpasskError, match="1"):
        curve(frame, 1)
    assert estimates(frame, missing="fail") == [0.5]


def case_e03_a_list_is_that_many_samples(folder: Path) -> None:
    path = folder / "lists.jsonl"
    path.write_text(json.dumps({"task_id": "a", "passed": [True, False]}) + "\n", encoding="utf-8")
    assert count(path).select("n", "c").row(0) == (2, 1)
    assert estimates(path, [1, 2]) == [0.5, 1.0]


def case_f04_by_trial() -> None:
    frame = grid(2, 3, [True, False, True, True, False, False])
    curves = curve(frame, 1, by="trial")
    assert curves["estimate"].to_list() == [1.0, 0.0, 0.5]


def case_s04_booleans_over_many_rows() -> None:
    frame = pl.DataFrame(
        {"model": ["a", "b"] * 5000, "problem": ["p"] * 10_000, "passed": [True, True, False, False] * 2500}
    )
    assert estimates(frame) == [0.5, 0.5]


def case_s05_without_identity_one_group() -> None:
    counts = count(pl.DataFrame({"problem": ["p"] * 3, "passed": [1, 0, 1]}))
    assert counts.row(0, named=True) == {"group": "all", "problem": "p", "n": 3, "c": 2}


def case_s08_a_group_without_outcomes() -> None:
    frame = grid(4, 500, [None] * 2000)
    with pytest.raises(FastpasskError, match=r"2,?000"):
        curve(frame, 1)
    assert estimates(frame, missing="fail") == [0.0]


def case_s09_nan_is_missing() -> None:
    for outcomes in (pl.Series([1.0, float("nan"), 0.0]), pl.Series([True, None, False])):
        frame = pl.DataFrame({"problem": ["p"] * 3, "passed": outcomes})
        with pytest.raises(FastpasskError, match="1"):
            curve(frame, 1)
        assert estimates(frame, missing="fail") == [1 / 3]
        assert estimates(frame, missing="drop") == [1 / 2]


def case_s17_many_small_dictionaries() -> None:
    kind = pa.dictionary(pa.int8(), pa.string())
    chunks = [pa.DictionaryArray.from_arrays(pa.array([0], pa.int8()), [f"m{i}"]).cast(kind) for i in range(200)]
    table = pa.table({"model": pa.chunked_array(chunks), "problem": ["p"] * 200, "passed": [True] * 200})
    assert count(table)["model"].n_unique() == 200


def case_s18_keys_match_by_text() -> None:
    kinds = [pl.Categorical(), pl.Enum(["b", "a"]), pl.String()]
    for kind in kinds:
        frame = pl.DataFrame({"problem": ["a", "b"], "passed": [True, False]}).cast({"problem": kind})
        for other in kinds:
            meta = pl.DataFrame({"problem": ["a", "b"], "level": ["hard", "easy"]}).cast({"problem": other})
            assert estimates(frame, meta=meta, where="level = 'hard'") == [1.0]
