"""A query over a dataset streamed into a file: bounded memory, and the file appears whole or not at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from fastpassk.sources.failures import collect, translated
from fastpassk.storage import atomic, write_frame
from fastpassk.storage.writing import KEY

if TYPE_CHECKING:
    import os

    import polars as pl

    from fastpassk.sources.dataset import Dataset


def sink_parquet(
    dataset: Dataset, lazy: pl.LazyFrame, path: str | os.PathLike[str], provenance: dict[str, object]
) -> None:
    """Write the rows of a query to a file, in their order.

    Parameters
    ----------
    dataset
        Where the query reads; names the files in errors.
    lazy
        The query.
    path
        A .parquet name is streamed to; any other suffix of `write_frame` is collected first.
    provenance
        The settings behind the rows, for the schema metadata.

    Raises
    ------
    FastpasskError
        A row or a file cannot be read, or the file cannot be written; nothing is left behind.
    """
    if Path(path).suffix.lower() != ".parquet":
        write_frame(collect(dataset, lazy), path, provenance)
        return
    with atomic(path) as part, translated(dataset.inputs):
        lazy.sink_parquet(part, metadata={KEY: json.dumps(provenance)}, maintain_order=True)
