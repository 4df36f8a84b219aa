"""The sub-commands: which library function each one calls, and what its help says."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable


class Command(NamedTuple):
    """One sub-command.

    Parameters
    ----------
    name
        The word on the command line.
    function
        The library function, as `module:name`; it is imported when it is called.
    result
        What it returns, which decides how it is shown: `curves`, `table`, `facts` or `formats`.
    summary
        One line of help.
    doing
        What the progress line says.
    example
        A command line that works.
    sources
        How the inputs are written in the help; empty for a command without inputs.
    listed
        The function takes the inputs as a list, also a single one.
    sink
        The keyword argument that makes the function write its rows itself, where it has one.
    """

    name: str
    function: str
    result: str
    summary: str
    doing: str
    example: str
    sources: str = "SOURCE"
    listed: bool = False
    sink: str = ""

    def load(self) -> Callable[..., object]:
        """Import the library function."""
        module, _, name = self.function.partition(":")
        function: Callable[..., object] = getattr(import_module(module), name)
        return function


COMMANDS: dict[str, Command] = {
    command.name: command
    for command in (
        Command(
            "curve", "fastpassk:curve", "curves",
            "pass@k of every model, from samples, counts, a tally or scores", "computing curves",
            "fastpassk curve results.parquet --k 1,10,100 --by model",
        ),
        Command(
            "score", "fastpassk:score", "table",
            "a score for every problem, or for every row of a table with n, c and k", "scoring",
            "fastpassk score results.parquet --k 1,10 -o scores.parquet",
            sink="sink",
        ),
        Command(
            "count", "fastpassk:count", "table",
            "n and c of every problem: the small file that replaces a dump", "counting",
            "fastpassk count samples/*.jsonl.gz --missing fail -o counts.parquet",
        ),
        Command(
            "merge", "fastpassk:merge", "table",
            "add counts of separate parts of the samples", "merging",
            "fastpassk merge monday.parquet tuesday.parquet -o counts.parquet",
            sources="PART", listed=True,
        ),
        Command(
            "check", "fastpassk:check", "facts",
            "what a file is taken for, and what is odd about it", "checking",
            "fastpassk check results.csv",
        ),
        Command(
            "formats", "fastpassk.cli.formats:formats", "formats",
            "the input formats", "listing formats",
            "fastpassk formats", sources="",
        ),
    )
}  # fmt: skip
