"""`write`: a frame and how it was made, into one file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastpassk.schema.provenance import provenance
from fastpassk.storage import write_frame

if TYPE_CHECKING:
    import os

    import polars as pl

__all__ = ["provenance", "write"]


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
    write_frame(frame, path, provenance(frame))
