"""The named options: their values, their defaults, and how texts from the command line are read.

The default of every policy hides nothing. No package outside the standard library is imported here, so that the
command line can list the choices without loading anything.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from typing import TypeAlias

from fastpassk.errors import UsageError, choose
from fastpassk.schema.outcomes import REASONS

UNDEFINED = ("null", "available", "error")
MISSING = ("error", "fail", "drop", "harness")
DUPLICATES = ("error", "same", "keep")
BAD_LINES = ("error", "skip")
AVERAGE = ("problems", "samples")
INTERVALS = ()  # the methods come with the intervals; None is the only value until then

Ks: TypeAlias = "int | str | Iterable[int] | None"
Missing: TypeAlias = "str | Mapping[str, str]"

DEFAULT_METRIC = "pass@k"
LARGEST_CURVE = 1_000_000  # points a group; a range typed by mistake should not fill the memory


def parse_ks(k: Ks) -> list[int] | str | None:
    """Read the `k` option.

    Parameters
    ----------
    k
        A whole number, a list or range of them, `"all"`, a text such as `"1,10,100"` or `"1:100"`, or None.

    Returns
    -------
    A sorted list without repeats, `"all"`, or None (1, 2, 4, … and the smallest n of the group).

    Raises
    ------
    UsageError
        A k is not a whole number of at least 1, or the list is empty.
    """
    if k is None or (isinstance(k, str) and k == "all"):
        return k
    if isinstance(k, str):
        items: list[object] = [value for part in k.split(",") for value in _span(part)]
    else:
        items = list(k) if isinstance(k, Iterable) else [k]
    numbers = sorted({_whole(item) for item in items})
    if not numbers:
        raise UsageError("k is empty; give whole numbers, as in k=[1, 10, 100] (--k 1,10,100), or 'all'")
    return numbers


def ks_up_to(ks: list[int] | str | None, smallest: int) -> list[int]:
    """Return the k of one group whose smallest n is `smallest`: those given, all of 1..n, or 1, 2, 4, … and n."""
    if isinstance(ks, list):
        return ks
    if ks == "all":
        return list(range(1, smallest + 1))
    return sorted({2**power for power in range(smallest.bit_length())} | {smallest})


def parse_missing(missing: Missing) -> dict[str, str]:
    """Read the `missing` option as one rule a reason; the key `""` holds the rule of samples without a reason.

    Raises
    ------
    UsageError
        A rule or a reason that does not exist.
    """
    if not isinstance(missing, (str, Mapping)):
        raise UsageError(f"missing is {missing!r}; it is {', '.join(MISSING)}, or one of these for each reason")
    if isinstance(missing, str) and "=" not in missing:
        return dict.fromkeys(("", *REASONS), choose(missing, MISSING, "missing"))
    pairs = dict(_pair(part) for part in missing.split(",")) if isinstance(missing, str) else dict(missing)
    rules = dict.fromkeys(("", *REASONS), "error")
    for reason, rule in pairs.items():
        rules[choose(reason, REASONS, "the reason in missing")] = choose(rule, MISSING, f"missing for {reason}")
    return rules


def refuse_harness(rule: str) -> None:
    """Raise when the rule is `harness`: a table has no harness whose rule it could be."""
    if rule == "harness":
        raise UsageError("missing='harness' needs a format with a rule of its own; allowed here: error, fail, drop")


def plain_missing(missing: Missing) -> str | dict[str, str]:
    """Write the `missing` option in one way: the rule where there is one, else those that are not `error`."""
    rules = parse_missing(missing)
    kinds = set(rules.values())
    return kinds.pop() if len(kinds) == 1 else {reason: rule for reason, rule in rules.items() if rule != "error"}


def parse_stopped(stopped: int | None) -> int | None:
    """Read the `stopped` option: the number of passes at which sampling of a problem ended, or None."""
    if stopped is None or (isinstance(stopped, int) and not isinstance(stopped, bool) and stopped >= 1):
        return stopped
    raise UsageError(f"stopped is {stopped!r}; it is the number of passes at which sampling ended, 1 or more")


def parse_names(names: str | Iterable[str] | None) -> list[str] | None:
    """Read a list of names: None, one name, or several; a name given twice is kept once.

    Raises
    ------
    UsageError
        It is neither a name nor a list of names.
    """
    if names is None:
        return None
    several = [names] if isinstance(names, str) or not isinstance(names, Iterable) else list(names)
    wrong = [name for name in several if not isinstance(name, str)]
    if wrong:
        raise UsageError(f"{wrong[0]!r} is no name; allowed: a name as text, or a list of them")
    return list(dict.fromkeys(several))


def parse_threshold(threshold: float | None) -> float | None:
    """Read the `threshold` option: a finite number, or None."""
    number = isinstance(threshold, Real) and not isinstance(threshold, bool) and math.isfinite(threshold)
    if threshold is None or number:
        return threshold
    raise UsageError(f"threshold is {threshold!r}; a numeric outcome passes when it is at least this finite number")


def parse_expected(expect_n: int | None) -> int | None:
    """Read the `expect_n` option: a number of samples, or None."""
    if expect_n is None or (isinstance(expect_n, Integral) and not isinstance(expect_n, bool) and expect_n >= 1):
        return expect_n
    raise UsageError(f"expect_n is {expect_n!r}; it is a number of samples, 1 or more")


def parse_switch(value: bool, what: str) -> bool:
    """Read an option that is on or off."""
    if isinstance(value, bool):
        return value
    raise UsageError(f"{what} is {value!r}; it is True or False")


def _span(part: str) -> Iterable[object]:
    first, colon, last = part.strip().partition(":")
    if not colon:
        return [first]
    low, high = _whole(first), _whole(last)
    if not low <= high < low + LARGEST_CURVE:
        raise UsageError(f"k has the range {part!r}; it runs from the smaller to the larger, at most a million values")
    return range(low, high + 1)


def _whole(value: object) -> int:
    try:
        number = int(value) if isinstance(value, str) else int(value.__index__())  # type: ignore[attr-defined]
    except (ValueError, AttributeError):
        number = 0
    if not 1 <= number < 2**63 or isinstance(value, bool):
        raise UsageError(f"k has {value!r}; it must be a whole number of at least 1, a list of them, or 'all'")
    return number


def _pair(part: str) -> tuple[str, str]:
    reason, _, rule = part.partition("=")
    return reason.strip(), rule.strip()
