"""How a frame was made: kept beside it, not in it, so that results from any split or encoding are equal bytes.

A frame that the user has transformed is another frame and has no provenance; nor has one that grew in place.
"""

from __future__ import annotations

import hashlib
import weakref
from copy import deepcopy
from typing import TYPE_CHECKING

from fastpassk._version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable

    import polars as pl

SLICE = 1 << 17  # rows
FORMAT = 1  # the version of the layout of frames and their metadata

_kept: dict[int, tuple[tuple[int, int], dict[str, object]]] = {}  # by the frame's id: its shape and its facts


def remember(frame: pl.DataFrame, kind: str, **facts: object) -> pl.DataFrame:
    """Keep `facts` as the provenance of `frame` for as long as it lives, and return the frame."""
    _kept[id(frame)] = frame.shape, {"fastpassk": __version__, "format": FORMAT, "frame": kind, **facts}
    weakref.finalize(frame, _kept.pop, id(frame), None)
    return frame


def provenance(frame: pl.DataFrame) -> dict[str, object] | None:
    """Return the settings that made a frame which this library returned; None for any other frame.

    Parameters
    ----------
    frame
        A frame from `count`, `tally`, `score`, `curve` or `merge`.

    Returns
    -------
    Version, kind of frame, options and a hash of the sorted integers behind it; no clock and no path.
    """
    shape, facts = _kept.get(id(frame), (None, None))
    return deepcopy(facts) if facts is not None and shape == frame.shape else None


def digest(frame: pl.DataFrame) -> str:
    """Return the SHA-256 of a sorted frame of texts and integers, independent of how it was stored."""
    return digest_of([frame.clear(), *frame.iter_slices(SLICE)])  # the text of all at once would outgrow the frame


def digest_of(parts: Iterable[pl.DataFrame]) -> str:
    """Return the digest of a frame that comes in parts."""
    found = hashlib.sha256()
    for place, part in enumerate(parts):
        found.update(part.write_csv(include_header=place == 0).encode())
    return found.hexdigest()
