"""`write`: a frame and how it was made, into one file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from fastpassk.schema import provenance as kept
from fastpassk.sources import translated
from fastpassk.storage import metadata, write_frame

if TYPE_CHECKING:
    import os


def provenance(source: pl.DataFrame | str | os.PathLike[str]) -> dict[str, object] | None:
    """Return the settings that made a frame or a file of this library.

    Parameters
    ----------
    source
        A frame from `count`, `tally`, `score`, `curve` or `merge`; or a Parquet or Arrow file that was written of one.

    Returns
    -------
    Version, kind of frame, options and a hash of the sorted integers behind it; no clock and no path. None for any
    other frame (one that was transformed is another) and for files without it.

    Raises
    ------
    FastpasskError
        The file cannot be read.
    """
    if isinstance(source, pl.DataFrame):
        return kept.provenance(source)
    with translated(()):
        return metadata(source) or None


def write(frame: pl.DataFrame, path: str | os.PathLike[str]) -> None:
    """Write a frame to a file whose suffix names the format; it appears whole or not at all.

    Parameters
    ----------
    frame
        Any frame; one that this library returned takes its provenance along into Parquet, Arrow and JSON.
    path
        A name that ends in .parquet, .arrow, .csv, .tsv, .json or .jsonl.

    Raises
    ------
    UsageError
        The suffix is none of these.
    """
    write_frame(frame, path, kept.provenance(frame))
