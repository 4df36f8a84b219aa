"""The command line: a table of options, a table of commands, and where a result goes; nothing is computed here."""

from fastpassk.cli.run import main

__all__ = ["main"]
