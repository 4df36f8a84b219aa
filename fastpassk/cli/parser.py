"""The words of a command line: help, keyword arguments and where the result goes, made from the tables.

A command has a parser of its own, built when it is called, so that options and sources may stand in any order and no
other command costs anything.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from fastpassk._version import __version__
from fastpassk.cli.commands import COMMANDS, Command
from fastpassk.cli.options import OPTIONS, OUTPUT_OPTIONS, RUN_OPTIONS, Option, options_of
from fastpassk.errors import UsageError, hint

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PROGRAM = "fastpassk"
SOURCES_HELP = "file, glob or folder; - is standard input"


class Call(NamedTuple):
    """One command line, read.

    Parameters
    ----------
    command
        The sub-command.
    sources
        The inputs as written.
    keywords
        Keyword arguments of the library function.
    output
        The options about the output.
    running
        The options about the process.
    """

    command: Command
    sources: list[str]
    keywords: dict[str, object]
    output: dict[str, object]
    running: dict[str, object]


class Parser(argparse.ArgumentParser):
    """An `ArgumentParser` that raises a `UsageError` where the original prints the usage and exits."""

    def error(self, message: str) -> NoReturn:
        """Raise the error, with the place where help is."""
        raise UsageError(f"{message}\n{self.prog} --help lists what there is")


def parse(words: Sequence[str]) -> Call:
    """Read a command line.

    Parameters
    ----------
    words
        The arguments without the program's name.

    Returns
    -------
    What to call, and with what.

    Raises
    ------
    UsageError
        An unknown command or option, or a value that is not of the option's type.
    SystemExit
        After `--help` and `--version`, with status 0.
    """
    if not words or words[0] not in COMMANDS:
        _without_command(words)
    command = COMMANDS[words[0]]
    parser = command_parser(command)
    given, unknown = parser.parse_known_intermixed_args(list(words[1:]))
    if unknown:
        parser.error(_unknown(unknown[0], command))
    values = vars(given)
    keywords, output, running = (_values(options, values) for options in (OPTIONS, OUTPUT_OPTIONS, RUN_OPTIONS))
    return Call(command, values.get("sources", []), keywords, output, running)


def top_parser() -> Parser:
    """Build the parser of `fastpassk` itself: its help, its version."""
    width = max(map(len, COMMANDS))
    commands = "\n".join(f"  {name.ljust(width)}  {command.summary}" for name, command in COMMANDS.items())
    parser = Parser(
        prog=PROGRAM,
        usage=f"{PROGRAM} COMMAND [SOURCE ...] [options]",
        description="Exact pass@k from dumps of pass/fail samples or (n, c) counts.",
        epilog=f"commands:\n{commands}\n\n{PROGRAM} COMMAND --help shows its options.\n\n"
        f"example:\n  {COMMANDS['curve'].example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}")
    return parser


def command_parser(command: Command) -> Parser:
    """Build the parser of one sub-command from the table of options."""
    parser = Parser(
        prog=f"{PROGRAM} {command.name}",
        usage=" ".join(
            filter(None, (PROGRAM, command.name, command.sources and f"{command.sources} ...", "[options]"))
        ),
        description=command.summary[0].upper() + command.summary[1:] + ".",
        epilog=f"example:\n  {command.example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        argument_default=argparse.SUPPRESS,
        allow_abbrev=False,
    )
    if command.sources:
        parser.add_argument("sources", nargs="+", metavar=command.sources, help=SOURCES_HELP)
    groups: dict[str, argparse._ArgumentGroup] = {}
    for option in options_of(command.name):
        if option.group not in groups:
            groups[option.group] = parser.add_argument_group(option.group)
        _add(groups[option.group], option)
    return parser


def _add(group: argparse._ArgumentGroup, option: Option) -> None:
    text = option.description.replace("%", "%%")
    if option.switch:
        group.add_argument(*option.spellings, dest=option.name, action="store_true", help=text)
    else:
        group.add_argument(*option.spellings, dest=option.name, action="append", metavar=option.metavar, help=text)


def _values(options: Sequence[Option], given: Mapping[str, list[str]]) -> dict[str, object]:
    """Read the values of the options that were given."""
    present = [option for option in options if option.name in given]
    return {option.name: option.switch or option.value(given[option.name]) for option in present}


def _without_command(words: Sequence[str]) -> NoReturn:
    """Answer a command line that does not begin with a command: help, version, or an error."""
    parser = top_parser()
    if not words:
        parser.error(f"a command is missing; there are {', '.join(COMMANDS)}")
    parser.parse_known_args(list(words))  # --help and --version leave here
    parser.error(f"{words[0]!r} is no command; there are {', '.join(COMMANDS)}{hint(words[0], COMMANDS)}")


def _unknown(word: str, command: Command) -> str:
    """Say that an option does not exist here, and what it may have been meant to be."""
    flag = word.partition("=")[0]
    owners = [name for name in COMMANDS if flag in _flags(name)]
    where = f"; it belongs to {', '.join(owners)}" if owners else hint(flag, _flags(command.name))
    return f"{command.name} has no option {flag!r}{where}"


def _flags(command: str) -> list[str]:
    return [flag for option in options_of(command) for flag in option.spellings]
