"""Which columns are found, named or refused, and under what names they stand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from fastpassk.errors import FastpasskError, UsageError
from fastpassk.schema.provenance import remember
from fastpassk.sources import Dataset, collect, read
from fastpassk.storage import write_frame

if TYPE_CHECKING:
    from pathlib import Path

SAMPLES = {"model_name": ["a", "b"], "task_id": ["p", "q"], "trial": [0, 1], "success": [True, False]}


def rows(dataset: Dataset, *names: str) -> list[tuple[Any, ...]]:
    frame = collect(dataset, dataset.frame)
    return frame.select(names or frame.columns).rows()


def test_roles_are_found_by_their_usual_names() -> None:
    dataset = read(SAMPLES)
    assert (dataset.kind, dataset.identity, dataset.format) == ("samples", ("model",), "frame")
    assert dataset.columns == {"model": "model_name", "problem": "task_id", "passed": "success", "attempt": "trial"}
    assert dataset.frame.collect_schema().names() == ["model", "problem", "outcome", "bad", "raw", "attempt"]
    assert rows(dataset)[0] == ("a", "p", True, False, "true", "0")


@pytest.mark.parametrize(
    ("columns", "kind"),
    [
        (["problem", "passed"], "samples"),
        (["problem", "passed", "n"], "samples"),
        (["problem", "n", "c"], "counts"),
        (["_ng_task_index", "pass_rate_total", "pass_rate_passed", "pass_rate"], "counts"),
        (["n", "c", "problems"], "tally"),
        (["n", "c", "k", "note"], "triples"),
        (["problem", "n", "c", "k", "score"], "scores"),
    ],
)
def test_the_kind_is_told_by_the_columns(columns: list[str], kind: str) -> None:
    assert read({name: [1] for name in columns}).kind == kind


def test_two_candidates_are_an_error_that_lists_both() -> None:
    table = {"task_id": ["x"], "question_id": ["y"], "passed": [1]}
    with pytest.raises(UsageError, match="'task_id' and 'question_id' may each be the problem column"):
        read(table)
    assert rows(read(table, problem="question_id"), "problem") == [("y",)]


def test_named_columns() -> None:
    table = SAMPLES | {"reward": [0.0, 1.0], "other": ["r", "s"]}
    dataset = read(table, problem="other", passed="reward", attempt="task_id")
    assert rows(dataset, "problem", "outcome", "attempt") == [("r", False, "p"), ("s", True, "q")]


def test_n_and_c_may_be_named() -> None:
    dataset = read({"problem": ["p"], "runs": [5], "wins": [2]}, n="runs", c="wins")
    assert rows(dataset, "problem", "n", "c", "bad", "raw") == [("p", 5, 2, False, "n=5, c=2")]


def test_a_named_column_that_does_not_exist() -> None:
    with pytest.raises(UsageError, match=r"no column 'sucess'.*did you mean 'success'"):
        read(SAMPLES, passed="sucess")


def test_a_named_column_must_be_in_every_file(tmp_path: Path) -> None:
    pl.DataFrame({"id": ["p"], "passed": [1]}).write_csv(tmp_path / "a.csv")
    pl.DataFrame({"problem": ["p"], "passed": [1]}).write_csv(tmp_path / "b.csv")
    with pytest.raises(UsageError, match=r"b\.csv: no column 'id'"):
        read(tmp_path, problem="id")


def test_naming_an_outcome_makes_samples_of_a_table_with_counts() -> None:
    table = {"problem": ["p"], "n": [5], "c": [2], "passed": [True]}
    assert read(table).kind == "counts"
    assert read(table, passed="passed").kind == "samples"
    with pytest.raises(UsageError, match="name the columns of one kind"):
        read(table, passed="passed", n="n")


def test_a_table_without_outcomes_says_what_to_name() -> None:
    with pytest.raises(UsageError, match=r"no column for passed; the table has problem, verdict; .*--passed"):
        read({"problem": ["p"], "verdict": ["x"]})


def test_kinds_do_not_mix(tmp_path: Path) -> None:
    pl.DataFrame({"problem": ["p"], "passed": [1]}).write_csv(tmp_path / "a.csv")
    pl.DataFrame({"problem": ["p"], "n": [1], "c": [1]}).write_csv(tmp_path / "b.csv")
    with pytest.raises(UsageError, match=r"a\.csv holds samples and .*b\.csv holds counts"):
        read(tmp_path)


# by


def test_by_keeps_the_name_that_the_caller_gives() -> None:
    assert read(SAMPLES, by="model_name").identity == ("model_name",)
    assert read(SAMPLES, by="model").identity == ("model",)
    assert rows(read(SAMPLES, by=["model_name"]), "model_name") == [("a",), ("b",)]


def test_recognised_identity_stays_and_extras_follow() -> None:
    table = SAMPLES | {"prompt": ["x", "x"], "checkpoint": [1, 2], "seed": [7, 8]}
    dataset = read(table, by=["seed", "prompt", "checkpoint"])
    assert dataset.identity == ("model", "checkpoint", "seed", "prompt")


def test_by_naming_the_attempt_column_turns_its_role_off() -> None:
    for name in ("trial", "attempt"):
        dataset = read(SAMPLES, by=name)
        assert dataset.identity == ("model", name)
        assert "attempt" not in dataset.columns or name == "attempt"
        assert dataset.frame.collect_schema().names().count("attempt") == (name == "attempt")


def test_by_settles_between_two_identity_columns() -> None:
    table = SAMPLES | {"dataset": ["d", "d"], "benchmark": ["b", "b"]}
    with pytest.raises(UsageError, match="may each be the benchmark column"):
        read(table)
    assert read(table, by=["dataset"]).identity == ("model", "dataset")
    assert read(table, by=["dataset", "benchmark"]).identity == ("model", "benchmark", "dataset")


def test_by_naming_a_candidate_for_another_role_leaves_the_rest() -> None:
    table = {"task_name": ["t"], "task_id": ["p"], "passed": [1]}
    dataset = read(table, by="task_name")
    assert (dataset.identity, dataset.columns["problem"]) == (("task_name",), "task_id")


def test_by_that_is_unknown_or_needed_for_the_result() -> None:
    with pytest.raises(
        UsageError, match=r"by names 'modell', which is no column; there are model_name.*did you mean 'model'"
    ):
        read(SAMPLES, by="modell")
    with pytest.raises(UsageError, match="by names 'problem', which the result needs"):
        read({"problem": ["p"], "passed": [1]}, by="problem")


def test_a_column_named_for_a_role_is_no_identity_column() -> None:
    dataset = read({"task": ["p"], "passed": [1]}, problem="task")
    assert (dataset.identity, dataset.columns) == ((), {"problem": "task", "passed": "passed"})


# assume, folders


def test_assumed_columns() -> None:
    table = {"task_id": ["p"], "passed": [1], "lang": ["python"]}
    dataset = read(table, assume={"model": "m", "run": 3, "temperature": "0.20"})
    assert dataset.identity == ("model", "language", "temperature", "run")
    assert dataset.columns["model"] == "(set)"
    assert rows(dataset, "model", "language", "temperature", "run") == [("m", "python", "0.2", "3")]


def test_an_assumed_column_that_the_file_has() -> None:
    with pytest.raises(UsageError, match="already has a model column"):
        read(SAMPLES, assume={"model": "x"})


def test_folders_are_columns_and_their_values_text(tmp_path: Path) -> None:
    for name in ("001", "010"):
        place = tmp_path / "model=a%2Fb" / f"problem={name}"
        place.mkdir(parents=True)
        pl.DataFrame({"passed": [1], "n": [1]}).write_parquet(place / "x.parquet")
    dataset = read(tmp_path)
    assert sorted(rows(dataset, "model", "problem")) == [("a/b", "001"), ("a/b", "010")]
    assert dataset.columns["model"] == "(folder)"
    assert read(tmp_path / "model=a%2Fb" / "problem=001" / "x.parquet").identity == ("model",)
    assert read(tmp_path, by="model", where="model = 'a/b'").identity == ("model",)


def test_a_column_of_the_file_goes_before_its_folder(tmp_path: Path) -> None:
    (tmp_path / "model=folder").mkdir()
    pl.DataFrame({"model": ["file"], "problem": ["p"], "passed": [1]}).write_csv(tmp_path / "model=folder" / "x.csv")
    assert rows(read(tmp_path), "model") == [("file",)]


# our own counts files


def test_a_counts_file_of_ours_says_its_identity(tmp_path: Path) -> None:
    frame = pl.DataFrame({"dataset": ["d"], "seed": ["1"], "language": ["x"], "problem": ["p"], "n": [3], "c": [1]})
    write_frame(frame, tmp_path / "counts.parquet", {"identity": ["seed", "dataset"], "stopped": None})
    dataset = read(tmp_path / "counts.parquet")
    assert dataset.identity == ("seed", "dataset")
    assert dataset.said[0]["stopped"] is None
    write_frame(frame, tmp_path / "plain.parquet")
    assert read(tmp_path / "plain.parquet").identity == ("benchmark", "language")
    assert read(tmp_path / "plain.parquet").said == ({},)


def test_a_frame_of_ours_keeps_its_settings() -> None:
    frame = pl.DataFrame({"seed": ["1"], "problem": ["p"], "n": [3], "c": [1]})
    remember(frame, "counts", identity=["seed"])
    assert read(frame).identity == ("seed",)
    assert read(frame.clone()).identity == ()


# what is a source


@pytest.mark.parametrize("source", [3, None, b"x", object()])
def test_what_is_no_source(source: object) -> None:
    with pytest.raises(UsageError, match="is no source; allowed: a path"):
        read(source)


def test_an_empty_list_and_an_unknown_format() -> None:
    with pytest.raises(UsageError, match="empty list"):
        read([])
    with pytest.raises(UsageError, match="format is 'xlsx'; allowed: auto, parquet"):
        read("x.csv", format="xlsx")


def test_a_threshold_is_for_samples() -> None:
    with pytest.raises(UsageError, match="threshold is for samples"):
        read({"problem": ["p"], "n": [1], "c": [1]}, threshold=1)


def test_a_format_that_is_named_goes_before_the_suffix(tmp_path: Path) -> None:
    (tmp_path / "dump.txt").write_text("problem\tpassed\np,1\t1\n")
    assert rows(read(tmp_path / "dump.txt", format="tsv"), "problem") == [("p,1",)]
    with pytest.raises(FastpasskError):
        read(tmp_path / "dump.txt", format="parquet")
