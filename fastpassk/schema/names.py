"""The names that columns go by, and which column of a file plays which role.

A file calls the same thing `task_id`, `question_id` or `instance_id`. Each role has one list of accepted names,
compared without regard to case, and with spaces, dots and dashes read as underscores. Two candidates for one role are
an error that lists both: a guess between them would be silent.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from fastpassk.errors import UsageError, hint, listing

if TYPE_CHECKING:
    from collections.abc import Iterable

# What makes two samples repeats of one experiment, in the order in which results are keyed.
IDENTITY: dict[str, tuple[str, ...]] = {
    "model": ("model", "model_name", "model_id", "model_alias"),
    "agent": ("agent", "agent_name", "agent_ref_name"),
    "benchmark": ("benchmark", "benchmark_name", "bench", "dataset", "dataset_name", "task_set", "task"),
    "subset": ("subset", "split", "subset_name"),
    "language": ("language", "lang", "programming_language"),
    "temperature": ("temperature", "temp", "sampling_temperature"),
    "checkpoint": ("checkpoint", "global_step", "step", "ckpt"),
    "scorer": ("scorer", "scorer_name", "grader", "verifier"),
}

# What a table says of one problem or one sample.
ROLES: dict[str, tuple[str, ...]] = {
    "problem": (
        "problem", "problem_id", "problem_idx", "problem_index", "problem_name", "task_id", "task_name", "task_index",
        "ng_task_index", "question_id", "question_idx", "instance_id", "example_id", "case_id", "item_id", "test_id",
        "doc_id", "data_id", "unique_id",
    ),
    "passed": (
        "passed", "pass", "correct", "is_correct", "is_passed", "is_solved", "solved", "success", "is_success",
        "resolved", "is_resolved", "ok", "correctness", "score_binarized", "flagged",
    ),
    "attempt": (
        "attempt", "attempt_id", "attempt_idx", "attempt_index", "trial", "trial_id", "trial_idx", "epoch", "repeat",
        "task_repeat", "rollout", "rollout_id", "rollout_idx", "rollout_index", "ng_rollout_index", "sample_idx",
        "sample_index", "completion_id", "generation_index", "response_idx",
    ),
    "reason": ("reason", "failure_reason", "missing_reason"),
    "stopped": ("stopped", "stopped_early", "early_stopped", "early_stopping"),
    "n": ("n", "n_samples", "num_samples", "num_samples_total", "samples", "pass_rate_total", "nsamples"),
    "c": (
        "c", "n_correct", "num_correct", "num_samples_correct", "n_passed", "num_passed", "pass_rate_passed", "npass",
    ),
    "problems": ("problems",),
    "k": ("k",),
    "score": ("score",),
    "metric": ("metric",),
}  # fmt: skip

ALIASES: dict[str, tuple[str, ...]] = IDENTITY | ROLES


@lru_cache(1 << 12)
def plain(name: str) -> str:
    """Write a column name in the form that aliases are compared in: lower case, words joined by one underscore."""
    return re.sub(r"[^0-9a-z]+", "_", name.lower()).strip("_")


def candidates(role: str, columns: Iterable[str]) -> list[str]:
    """Return the columns that may play `role`, in the order of its aliases."""
    order = {alias: place for place, alias in enumerate(ALIASES[role])}
    found = [column for column in columns if plain(column) in order]
    return sorted(found, key=lambda column: order[plain(column)])


def find(role: str, columns: Iterable[str], named: str | None = None) -> str | None:
    """Return the column that plays `role`, or None when the table has none.

    Parameters
    ----------
    role
        A key of `ALIASES`.
    columns
        The columns of the table.
    named
        The column that the caller named for the role; it is taken as it is and must exist.

    Raises
    ------
    UsageError
        The named column does not exist, or several columns go by names of the role.
    """
    columns = list(columns)
    if named is not None:
        return require(named, columns)
    found = candidates(role, columns)
    if len(found) > 1:
        raise UsageError(f"{' and '.join(map(repr, found))} may each be the {role} column; {_how_to_name(role, found)}")
    return found[0] if found else None


def require(name: str, columns: Iterable[str]) -> str:
    """Return `name` when it is a column, else raise a `UsageError` that lists what exists."""
    columns = list(columns)
    if name in columns:
        return name
    raise UsageError(f"no column {name!r}; the table has {listing(columns, 12)}{hint(name, columns)}")


def assumed(assume: Mapping[str, object] | None, columns: Iterable[str]) -> dict[str, str]:
    """Check the values that a caller supplies for columns the file lacks (`--set model=NAME`), as texts.

    Raises
    ------
    UsageError
        It is no mapping of names to values, or the file has the column already, so that two values would compete.
    """
    if not (assume is None or isinstance(assume, Mapping)) or not all(isinstance(name, str) for name in assume or ()):
        raise UsageError(f"assume is {assume!r}; it maps column names to values, as in {{'model': 'a'}}")
    empty = [name for name, value in (assume or {}).items() if value is None]
    if empty:
        raise UsageError(f"the value set for {empty[0]} is None; give a value, or leave the column out")
    taken = {plain(column) for column in columns}
    clash = [name for name in assume or {} if taken & {plain(alias) for alias in ALIASES.get(name, (name,))}]
    if clash:
        raise UsageError(f"the table already has a {clash[0]} column; leave out the value set for it")
    return {name: str(value) for name, value in (assume or {}).items()}


def _how_to_name(role: str, found: list[str]) -> str:
    if role in IDENTITY:
        return f"name the identity columns, as in by=[{found[0]!r}] (--by {found[0]})"
    return f"name one, as in {role}={found[0]!r} (--{role} {found[0]})"
