"""NDJSON: keys that come late, words that JSON does not know, and large files."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest

from fastpassk.errors import UsageError
from fastpassk.sources import collect, lines, read

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(params=["parsed whole", "looked through"])
def _size(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the head that is parsed be the whole file, or nothing but the first lines of it."""
    if request.param == "looked through":
        monkeypatch.setattr(lines, "SAMPLE", 100)


def dump(folder: Path, *parts: str, packed: bool = False) -> Path:
    text = "\n".join(parts) + "\n"
    path = folder / ("a.jsonl.gz" if packed else "a.jsonl")
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    return path


def rows(source: Any, *names: str, **options: Any) -> list[Any]:
    dataset = read(source, **options)
    frame = collect(dataset, dataset.frame)
    return frame.select(names or frame.columns).rows()


EARLY = [json.dumps({"task_id": i, "passed": i % 2}) for i in range(50)]


@pytest.mark.usefixtures("_size")
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("spelling", ["model", "Model Name", "MODEL-ID", "model.name", "_model_id"])
def test_a_late_identity_column_is_found(tmp_path: Path, spelling: str, packed: bool) -> None:
    path = dump(tmp_path, *EARLY, f'{{"{spelling}" : "m", "task_id": "x", "passed": true}}', packed=packed)
    assert read(path).identity == ("model",)
    assert rows(path)[-1] == ("m", "x", True, False, "true")
    assert rows(path)[0] == (None, "0", False, False, "0")


@pytest.mark.usefixtures("_size")
def test_a_late_outcome_is_found(tmp_path: Path) -> None:
    early = [json.dumps({"task_id": i}) for i in range(100)]
    path = dump(tmp_path, *early, *[json.dumps({"task_id": i, "passed": True}) for i in range(900)])
    assert [outcome for (outcome,) in rows(path, "outcome")].count(True) == 900


@pytest.mark.usefixtures("_size")
def test_late_names_that_the_caller_gives(tmp_path: Path) -> None:
    late = json.dumps({"task_id": "x", "reward": [0.4, 0.9], "my (key)": 7})
    path = dump(tmp_path, *EARLY, late)
    assert rows(path, "my (key)", "outcome", passed="reward", by="my (key)", threshold=0.5)[-2:] == [
        ("7", False),
        ("7", True),
    ]
    assert rows(path, "problem", where='"my (key)" > 5')[0] == ("x",)
    with pytest.raises(UsageError, match="no column 'award'"):
        read(path, passed="award")


@pytest.mark.usefixtures("_size")
def test_names_in_inner_objects_and_in_texts_are_no_columns(tmp_path: Path) -> None:
    inner = json.dumps({"task_id": "x", "passed": 1, "usage": {"model": "m", "trial": 3}})
    text = json.dumps({"task_id": "x", "passed": 1, "code": 'print({"model": "m"})'})
    null = json.dumps({"task_id": "x", "passed": 1, "temperature": None})
    path = dump(tmp_path, *EARLY, inner, text)
    assert read(path).identity == ()
    assert "attempt" not in read(path).columns
    assert rows(dump(tmp_path, *EARLY, null), "problem")[-1] == ("x",)


@pytest.mark.usefixtures("_size")
def test_two_late_candidates_are_an_error(tmp_path: Path) -> None:
    path = dump(tmp_path, *EARLY, '{"task_id": "x", "correct": true}')
    with pytest.raises(UsageError, match="'passed' and 'correct' may each be the passed column"):
        read(path)


@pytest.mark.usefixtures("_size")
@pytest.mark.parametrize("packed", [False, True])
def test_words_that_json_does_not_know(tmp_path: Path, packed: bool) -> None:
    strange = [
        '{"task_id": "a", "passed": NaN, "x": [NaN,NaN, -Infinity]}',
        '{"task_id": "b", "passed":Infinity}',
        '{"task_id": "c: NaN, Infinity", "passed": true, "note": "say \\"NaN\\", : NaN"}',
    ]
    path = dump(tmp_path, *EARLY, *strange, packed=packed)
    assert rows(path, "problem", "outcome", "bad", "raw")[-3:] == [
        ("a", None, False, None),
        ("b", None, True, "Infinity"),
        ("c: NaN, Infinity", True, False, "true"),
    ]


@pytest.mark.usefixtures("_size")
def test_ids_and_numbers_of_several_types(tmp_path: Path) -> None:
    ids = ["2727", "9007199254740993", '"1873_A"', "2.0", "true", "null", '""']
    path = dump(tmp_path, *EARLY, *[f'{{"task_id": {name}, "passed": 1}}' for name in ids])
    assert [name for (name,) in rows(path, "problem")][-7:] == [
        "2727",
        "9007199254740993",
        "1873_A",
        "2",
        "true",
        None,
        None,
    ]


def test_a_line_may_be_longer_than_the_head(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "SAMPLE", 10)
    path = dump(tmp_path, *EARLY)
    assert len(rows(path)) == 50
