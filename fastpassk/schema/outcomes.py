"""The spellings of an outcome. Whatever is not listed is an error: a truthy value is not a pass."""

from __future__ import annotations

PASSED = ("true", "1", "1.0", "pass", "passed", "success", "succeeded", "correct", "resolved", "solved", "ok")
FAILED = (
    "false", "0", "0.0", "fail", "failed", "failure", "incorrect", "wrong", "unresolved", "unsolved",
)  # fmt: skip
# No outcome was recorded; what that means is for the `missing` policy to say.
NO_OUTCOME = ("", "null", "none", "nan", "na", "n/a")

# Why a sample has no outcome; `missing` may be told apart by these.
REASONS = ("failed", "timeout", "infra", "truncated", "unparsed")
