"""The error family: what a caller did or fed us that cannot be answered, said in one or two lines.

A message states the fact, what was allowed, and what to do. Errors are raised at the door (array functions, sources,
steps), never inside a kernel.
"""

from __future__ import annotations

import sys
import warnings
from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class FastpasskError(ValueError):
    """Every error that fastpassk raises on purpose; the command line ends with status 1."""


class UsageError(FastpasskError):
    """An option, a column name or a value of an option that does not exist; the command line ends with status 2."""


class FastpasskWarning(UserWarning):
    """What a reader of a result should be told: a null point and why, what was dropped, which rule applied."""


def tell(message: str) -> None:
    """Say one plain line about a result, as a `FastpasskWarning` at the line that called the library."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("fastpassk."):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, FastpasskWarning, stacklevel=level - 1)


def choose(value: object, allowed: Iterable[str], what: str) -> str:
    """Return `value` when it is one of `allowed`, else raise a `UsageError` that lists them and guesses."""
    names = list(allowed)
    if isinstance(value, str) and value in names:
        return value
    raise UsageError(f"{what} is {value!r}; allowed: {', '.join(names)}{hint(value, names)}")


def hint(value: object, names: Iterable[str]) -> str:
    """Return ' (did you mean …?)' when one of `names` is close to `value`, else an empty text."""
    close = get_close_matches(str(value), list(names), n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""


def listing(items: Iterable[object], limit: int = 5) -> str:
    """Write at most `limit` items for a message, and how many more there are."""
    texts = [str(item) for item in items]
    more = f" and {len(texts) - limit} more" if len(texts) > limit else ""
    return ", ".join(texts[:limit]) + more
