"""Where a result goes: a table on a terminal, CSV off a terminal, strict JSON, or a file by its suffix."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from fastpassk.errors import UsageError, hint

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import polars as pl

SHOWN = 40  # rows of a long table on a terminal
SLICE = 1 << 16  # rows of CSV written at a time
MARKDOWN = ".md"
STYLE = ("layout", "unit", "digits")


@dataclass(frozen=True)
class Output:
    """The options about the output.

    Parameters
    ----------
    output
        A file, `-`, or None.
    json
        Strict JSON on standard output.
    style
        The options of text tables that were given: layout, unit, digits.
    quiet
        No notes and no progress.
    folder
        `output` is a folder for many files.
    """

    output: str | None
    json: bool
    style: dict[str, Any]
    quiet: bool
    folder: bool = False

    @classmethod
    def of(cls, given: Mapping[str, object], *, folder: bool = False) -> Output:
        """Read the options that were given.

        Raises
        ------
        UsageError
            Options that exclude each other, or a file that cannot be written to.
        """
        style = {name: given[name] for name in STYLE if name in given}
        output = cls(cast("str | None", given.get("output")), "json" in given, style, "quiet" in given, folder)
        output._check()
        return output

    @property
    def path(self) -> str | None:
        """The file to write, when it is not standard output."""
        return None if self.output == "-" else self.output

    @property
    def data_path(self) -> str | None:
        """The file to write, when it holds data rather than text for people."""
        return None if self.path is None or (_is_markdown(self.path) and not self.folder) else self.path

    def refuse_input(self, sources: Sequence[str]) -> None:
        """Raise a `UsageError` when the file to be written exists and is one of the inputs."""
        if self.path is not None and Path(self.path).is_file():
            from fastpassk.storage import expand, refuse_input

            # A pipe can be read once only, and is not looked into.
            named = [source for source in sources if source != "-" and not Path(source).is_fifo()]
            refuse_input(self.path, expand(named) if named else [])

    def _check(self) -> None:
        """Find before the work what would spoil it at the end."""
        if self.json and self.output is not None:
            raise UsageError("--json writes to standard output; for a file leave it out and end the name in .json")
        if self.style and (self.json or self.data_path is not None):
            name = next(iter(self.style))
            raise UsageError(f"--{name} styles a table for people; it goes with a terminal or a .md file")
        if self.path is not None and not Path(self.path).parent.is_dir():
            raise UsageError(f"no folder {str(Path(self.path).parent)!r} to write {self.path!r} into")
        if self.data_path is not None and not self.folder:
            _check_suffix(self.data_path)


def show(result: object, kind: str, output: Output) -> None:
    """Put the result of a command where it belongs.

    Parameters
    ----------
    result
        A frame, or a mapping for `facts` and `formats`.
    kind
        `curves`, `table`, `facts` or `formats`.
    output
        The options about the output.
    """
    SHOW[kind](result, output)


def write_text(text: str) -> None:
    """Write text to standard output; what its encoding lacks is written as escapes."""
    stream = _standard_output()
    encoding = getattr(stream, "encoding", None) or "utf-8"
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding))


def _show_curves(frame: pl.DataFrame, output: Output) -> None:
    from fastpassk.present import tables

    _show_frame(frame, output, tables.curves_text, tables.curves_markdown, {})


def _show_table(frame: pl.DataFrame, output: Output) -> None:
    from fastpassk.present import tables

    _show_frame(frame, output, tables.frame_text, tables.markdown, {"limit": SHOWN} if _on_terminal() else {})


def _show_frame(
    frame: pl.DataFrame,
    output: Output,
    as_text: Callable[..., str],
    as_markdown: Callable[..., str],
    limits: Mapping[str, int],
) -> None:
    if output.data_path is not None:
        from fastpassk.steps.provenance import write

        write(frame, output.data_path)
    elif output.path is not None:
        from fastpassk.storage import atomic

        with atomic(output.path) as path:
            path.write_text(as_markdown(frame, **output.style), encoding="utf-8")
    elif output.json:
        from fastpassk.steps.provenance import provenance
        from fastpassk.storage import json_text

        _write_bytes(json_text(frame, provenance(frame)).encode())
    elif output.style or (output.output is None and _on_terminal()):
        write_text(as_text(frame, width=_width(), **output.style, **limits))
    else:
        _write_csv(frame)


def _show_facts(facts: Mapping[str, object], output: Output) -> None:
    from fastpassk.present.tables import cell

    if output.json:
        _write_json(facts)
    else:
        write_text("".join(f"{name}: {cell(_plain(value))}\n" for name, value in facts.items()))


def _show_formats(formats: list[dict[str, str]], output: Output) -> None:
    from fastpassk.present.tables import rows_text

    if output.json:
        _write_json(formats)
    else:
        write_text(rows_text(formats))


SHOW: dict[str, Callable[[Any, Output], None]] = {
    "curves": _show_curves,
    "table": _show_table,
    "facts": _show_facts,
    "formats": _show_formats,
}


def _write_csv(frame: pl.DataFrame) -> None:
    """Write CSV in slices, so that a long table is not in memory twice and a reader that leaves is noticed."""
    _write_bytes(frame.clear().write_csv().encode())
    for part in frame.iter_slices(SLICE):
        _write_bytes(part.write_csv(include_header=False).encode())


def _write_bytes(data: bytes) -> None:
    """Write data to standard output, in UTF-8 whatever the terminal's encoding is."""
    stream = _standard_output()
    if hasattr(stream, "buffer"):
        stream.flush()
        stream.buffer.write(data)
    else:  # replaced by a stream of text
        stream.write(data.decode())


def _write_json(value: object) -> None:
    import json

    _write_bytes((json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode())


def _plain(value: object) -> object:
    """Write lists and mappings of facts without brackets."""
    if isinstance(value, dict):
        return ", ".join(f"{name} = {_plain(item)}" for name, item in value.items()) or "none"
    if isinstance(value, list | tuple):
        return ", ".join(str(_plain(item)) for item in value) or "none"
    return "none" if value is None else value


def _on_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


def _width() -> int | None:
    return shutil.get_terminal_size().columns if _on_terminal() else None


def _check_suffix(path: str) -> None:
    from fastpassk.storage import OUTPUTS

    suffix, allowed = Path(path).suffix.lower(), [*OUTPUTS, MARKDOWN]
    if suffix not in allowed:
        raise UsageError(
            f"{path} has a suffix that is not written; allowed: {' '.join(allowed)}{hint(suffix, allowed)}"
        )


def _is_markdown(path: str) -> bool:
    return Path(path).suffix.lower() == MARKDOWN


def _standard_output() -> Any:
    if sys.stdout is None:
        raise OSError("standard output is closed")
    return sys.stdout
