"""`check` says what is there and refuses no data."""

from __future__ import annotations

import polars as pl

import fastpassk as fp


def test_samples() -> None:
    data = pl.DataFrame(
        {
            "model_name": ["x", "x", "x", "y"],
            "task_id": ["a", "a", "b", "a"],
            "trial": [0, 0, 0, 0],
            "correct": ["pass", None, "maybe", "fail"],
        }
    )
    facts = fp.check(data)
    assert facts["kind"] == "samples"
    assert facts["columns"] == {"model": "model_name", "problem": "task_id", "passed": "correct", "attempt": "trial"}
    assert facts["identity"] == {"model": 2}
    assert (facts["groups"], facts["samples"], facts["passed"], facts["problems"]) == (2, 4, 1, 2)
    assert facts["n"] == {"min": 1, "max": 2}
    assert (facts["without outcome"], facts["impossible outcomes"], facts["repeated attempts"]) == (1, 1, 1)
    assert (facts["problem sets"], facts["problems in every group"]) == (2, 1)


def test_counts_and_tally_and_triples() -> None:
    counts = pl.DataFrame({"problem": ["a", "a", "b"], "n": [4, 4, 3], "c": [5, 4, 0]})
    facts = fp.check(counts)
    assert (facts["kind"], facts["impossible rows"], facts["repeated keys"]) == ("counts", 1, 1)
    assert facts["n"] == {"min": 3, "max": 4}
    tally = fp.check(pl.DataFrame({"n": [4], "c": [1], "problems": [7]}))
    assert (tally["kind"], tally["problems"], tally["n"]) == ("tally", 7, {"min": 4, "max": 4})
    triples = fp.check(counts.with_columns(k=pl.lit(2)))
    assert (triples["kind"], triples["rows"], triples["k"]) == ("triples", 3, {"min": 2, "max": 2})
