"""Writing results: whole or not at all, with the settings behind them in the file's own metadata.

The same frame gives the same bytes: no clock, no path, no thread count.

What is being written has a hidden name beside its target, `.NAME.MACHINE-PROCESS.TOKEN.part`, which no reader takes for
input. An error, Ctrl-C and SIGTERM remove it; after SIGKILL or a power cut it stays until the next write to the same
target, on the same machine, finds that its process is gone.
"""

from __future__ import annotations

import glob
import json
import math
import os
import platform
import secrets
import shutil
import tempfile
import zlib
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from fastpassk.errors import FastpasskError, UsageError, hint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import polars as pl

KEY = "fastpassk"  # of the schema metadata


@contextmanager
def atomic(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary name beside `path`; it becomes `path` when the block ends well and is removed when not.

    Raises
    ------
    UsageError
        `path` is a directory.
    FastpasskError
        Its folder does not exist or may not be written.
    """
    target = Path(os.path.realpath(path))  # a link keeps being a link
    if target.is_dir():
        raise UsageError(f"{path} is a folder; name a file in it")
    with _part(path, target.name, _folder_of(target)) as part:
        yield part
        _finish(part, target)


@contextmanager
def atomic_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary folder beside `path`; it becomes `path` when the block ends well and is removed when not.

    Raises
    ------
    UsageError
        `path` is a file, or a folder with something in it: a folder cannot be replaced in one step as a file can.
    FastpasskError
        The folder around it does not exist or may not be written.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_dir():
        raise UsageError(f"{path} is a file; name a new folder")
    if target.is_dir() and any(target.iterdir()):
        raise UsageError(f"{path} is a folder with something in it; name a new one, or empty it first")
    with _part(path, target.name, target.parent) as part:
        part.mkdir()
        yield part
        if target.is_dir():
            target.rmdir()
        part.replace(target)


@contextmanager
def scratch_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a hidden folder beside `path` for what is needed while it is made; it is removed when the block ends."""
    target = Path(os.path.realpath(path))
    with _part(path, target.name, _folder_of(target)) as part:
        part.mkdir()
        yield part


def write_frame(frame: pl.DataFrame, path: str | os.PathLike[str], provenance: dict[str, object] | None = None) -> None:
    """Write a frame to a file; the suffix chooses the format.

    Parameters
    ----------
    frame
        Any frame of plain columns.
    path
        `.parquet`, `.arrow`, `.feather` and `.ipc` carry `provenance` as schema metadata under the key `fastpassk`;
        `.json` is an object of `provenance` and `rows`; `.csv`, `.tsv`, `.jsonl` and `.ndjson` hold the rows alone.
    provenance
        The settings behind the frame, as JSON values.

    Raises
    ------
    UsageError
        A suffix that is not written, or something else than a frame.
    FastpasskError
        The frame does not fit the format, or the file cannot be written; what stood there before is untouched.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in OUTPUTS:
        raise UsageError(
            f"{path} has a suffix that is not written; allowed: {' '.join(OUTPUTS)}{hint(suffix, OUTPUTS)}"
        )
    import polars as pl

    if not isinstance(frame, pl.DataFrame):
        raise UsageError(f"a {type(frame).__name__} is not written; give a Polars DataFrame (collect a lazy one)")
    with atomic(path) as part:
        try:
            OUTPUTS[suffix](frame.rechunk(), part, provenance or {})
        except pl.exceptions.PolarsError as error:
            raise FastpasskError(f"{path} cannot be written: {str(error).splitlines()[0]}") from error


def metadata(path: str | os.PathLike[str]) -> dict[str, object]:
    """Return the settings that `write_frame` put into a Parquet or Arrow file; {} when there are none."""
    with Path(path).open("rb") as stream:
        magic = stream.read(4)
    text = _parquet_metadata(path) if magic == b"PAR1" else _arrow_metadata(path) if magic == b"ARRO" else None
    try:
        found = json.loads(text or "{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def json_text(frame: pl.DataFrame, provenance: dict[str, object] | None = None) -> str:
    """Write a frame as one strict JSON object of `provenance` and `rows`, one row a line; NaN is null."""
    rows = ",\n".join(
        _json({name: _strict(value) for name, value in row.items()}) for row in frame.iter_rows(named=True)
    )
    return f'{{"provenance": {_json(provenance or {})},\n"rows": [\n{rows}\n]}}\n'


@contextmanager
def _part(path: str | os.PathLike[str], name: str, folder: Path) -> Iterator[Path]:
    """Give a hidden name in `folder` and see to it that nothing of that name is left."""
    if not folder.is_dir():
        raise FastpasskError(f"{path} cannot be written: there is no folder {folder}")
    stem = f".{name[:40]}.{_machine()}-"
    _remove_stale(folder, stem)
    part = folder / f"{stem}{os.getpid()}.{secrets.token_hex(4)}.part"
    try:
        yield part
    except OSError as error:
        raise FastpasskError(f"{path} cannot be written: {error.strerror or error}") from error
    finally:
        _remove(part)


def _machine() -> str:
    """Return a short mark of this machine: process ids mean nothing on another one that shares the folder."""
    return f"{zlib.crc32(platform.node().encode()):08x}"


def _remove_stale(folder: Path, stem: str) -> None:
    """Remove what a process that was killed has left of the same target; one that runs keeps its own."""
    for path in folder.glob(glob.escape(stem) + "*.part"):
        owner = path.name.removeprefix(stem).partition(".")[0]
        if owner.isdecimal() and not _runs(int(owner)):
            _remove(path)


def _runs(process: int) -> bool:
    """Tell whether a process is there; where that cannot be asked, it is taken to be."""
    if os.name != "posix":
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def _remove(part: Path) -> None:
    """Remove a file or a folder, if it is there."""
    if part.is_dir():
        shutil.rmtree(part, ignore_errors=True)
    else:
        part.unlink(missing_ok=True)


def _is_special(target: Path) -> bool:
    """Tell whether a target is a pipe or a device, which is filled and never replaced."""
    return target.exists() and not target.is_file() and not target.is_dir()


def _folder_of(target: Path) -> Path:
    return Path(tempfile.gettempdir()) if _is_special(target) else target.parent


def _finish(part: Path, target: Path) -> None:
    if not _is_special(target):
        part.replace(target)
        return
    with part.open("rb") as read, target.open("wb") as out:
        shutil.copyfileobj(read, out)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, default=str)


def _strict(value: object) -> object:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _write_parquet(frame: pl.DataFrame, path: Path, provenance: dict[str, object]) -> None:
    frame.write_parquet(path, metadata={KEY: _json(provenance)} if provenance else None)


def _write_arrow(frame: pl.DataFrame, path: Path, provenance: dict[str, object]) -> None:
    import polars as pl
    import pyarrow as pa

    table = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
    table = table.replace_schema_metadata({KEY: _json(provenance)} if provenance else None)
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)


def _write_csv(frame: pl.DataFrame, path: Path, _: dict[str, object]) -> None:
    frame.write_csv(path)


def _write_tsv(frame: pl.DataFrame, path: Path, _: dict[str, object]) -> None:
    frame.write_csv(path, separator="\t")


def _write_json(frame: pl.DataFrame, path: Path, provenance: dict[str, object]) -> None:
    path.write_text(json_text(frame, provenance), encoding="utf-8")


def _write_ndjson(frame: pl.DataFrame, path: Path, _: dict[str, object]) -> None:
    frame.write_ndjson(path)


def _parquet_metadata(path: str | os.PathLike[str]) -> str | None:
    import polars as pl

    return pl.read_parquet_metadata(Path(path)).get(KEY)


def _arrow_metadata(path: str | os.PathLike[str]) -> str | None:
    import pyarrow as pa

    with pa.memory_map(os.fspath(path)) as source:
        found = pa.ipc.open_file(source).schema.metadata or {}
    text = found.get(KEY.encode())
    return text.decode() if text is not None else None


OUTPUTS: dict[str, Callable[[pl.DataFrame, Path, dict[str, object]], None]] = {
    ".parquet": _write_parquet,
    ".arrow": _write_arrow,
    ".feather": _write_arrow,
    ".ipc": _write_arrow,
    ".csv": _write_csv,
    ".tsv": _write_tsv,
    ".json": _write_json,
    ".jsonl": _write_ndjson,
    ".ndjson": _write_ndjson,
}
