"""Files that live as long as the process: cleaned copies of what cannot be scanned as it stands."""

from __future__ import annotations

import atexit
import os
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def scratch(suffix: str) -> Iterator[tuple[Path, BinaryIO]]:
    """Give a file to write, which is removed when the process ends, or at once after an error."""
    handle, name = tempfile.mkstemp(prefix="fastpassk-", suffix=suffix)
    path = Path(name)
    atexit.register(path.unlink, missing_ok=True)
    try:
        with os.fdopen(handle, "wb") as out:
            yield path, out
    except BaseException:
        path.unlink(missing_ok=True)
        raise
