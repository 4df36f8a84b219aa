"""A query over a dataset streamed into files: bounded memory, and they appear whole or not at all."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastpassk.errors import UsageError, hint, listing
from fastpassk.sources.failures import collect, translated
from fastpassk.storage import atomic, atomic_folder, partition_name, write_frame
from fastpassk.storage.writing import KEY

if TYPE_CHECKING:
    import os

    import polars as pl

    from fastpassk.sources.dataset import Dataset


def sink_parquet(
    dataset: Dataset,
    lazy: pl.LazyFrame,
    path: str | os.PathLike[str],
    provenance: dict[str, object],
    partition_by: list[str] | None = None,
) -> None:
    """Write the rows of a query to a file, in their order.

    Parameters
    ----------
    dataset
        Where the query reads; names the files in errors.
    lazy
        The query.
    path
        A .parquet name is streamed to; any other suffix of `write_frame` is collected first. With `partition_by` a
        folder that is new or empty.
    provenance
        The settings behind the rows, for the schema metadata.
    partition_by
        Columns whose values become folders (`model=a`), each with one Parquet file of its rows, without these columns.

    Raises
    ------
    UsageError
        `partition_by` names no columns of the query, or `path` does not fit.
    FastpasskError
        A row or a file cannot be read, or the file cannot be written; nothing is left behind.
    """
    settings: dict[str, Any] = {"metadata": {KEY: json.dumps(provenance)}, "maintain_order": True}
    if partition_by is not None:
        _sink_folder(dataset, lazy, path, partition_by, settings)
    elif not streamed(path, partition_by):
        write_frame(collect(dataset, lazy), path, provenance)
    else:
        with atomic(path) as part, translated(dataset.inputs):
            lazy.sink_parquet(part, **settings)


def streamed(path: str | os.PathLike[str], partition_by: list[str] | None) -> bool:
    """Tell whether `sink_parquet` streams to this path, rather than collect the rows and write them."""
    return partition_by is not None or Path(path).suffix.lower() == ".parquet"


def _sink_folder(
    dataset: Dataset, lazy: pl.LazyFrame, path: str | os.PathLike[str], keys: list[str], settings: dict[str, Any]
) -> None:
    import polars as pl

    _check_keys(keys, lazy.collect_schema().names())
    with atomic_folder(path) as part, translated(dataset.inputs):
        target = pl.PartitionBy(
            part,
            key=keys,
            include_key=False,
            file_path_provider=partial(_place, keys),
            approximate_bytes_per_file=None,  # one file a value, whatever its size
        )
        lazy.sink_parquet(target, mkdir=True, **settings)


def _check_keys(keys: list[str], columns: list[str]) -> None:
    allowed = [name for name in columns if name != "score"]
    wrong = [name for name in keys if name not in allowed]
    if wrong or not keys:
        what = f"has {wrong[0]!r}" if wrong else "names no column"
        raise UsageError(
            f"partition_by {what}; allowed are columns of the result: {listing(allowed, 12)}"
            + (hint(wrong[0], allowed) if wrong else "")
        )


def _place(keys: list[str], given: Any) -> str:
    """Return the file of one partition, within the folder."""
    values = given.partition_keys.row(0)
    folders = [partition_name(key, value) for key, value in zip(keys, values, strict=True)]
    return "/".join([*folders, f"part-{given.index_in_partition}.parquet"])
