"""Every option of the command line, once: its name in Python, its help, how its text is read, who takes it.

The parsers and the keyword arguments are made from this table. A value is read only as far as its type; what it may be
is checked by the library function that takes it, so Python and the shell answer alike. Options that were not given
are not passed on: the defaults are the library's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from fastpassk.errors import UsageError, hint
from fastpassk.schema import policies

Reader: TypeAlias = Callable[[list[str]], object]


def text(given: list[str]) -> object:
    """Read an option that is given once, as it is."""
    if len(given) > 1:
        raise ValueError("it can be given once only")
    return given[0]


def joined(given: list[str]) -> object:
    """Read a list that the library takes as one text; repeated options are joined by commas."""
    return ",".join(given)


def names(given: list[str]) -> object:
    """Read names separated by commas; a name with a comma in it stands in double quotes."""
    import csv

    return [name.strip() for row in csv.reader(given, skipinitialspace=True) for name in row]


def one_or_more(given: list[str]) -> object:
    """Read names separated by commas, a single one as itself."""
    found = [name.strip() for part in given for name in part.split(",")]
    return found[0] if len(found) == 1 else found


def pairs(given: list[str]) -> object:
    """Read `NAME=VALUE`, repeatable."""
    found: dict[str, str] = {}
    for part in given:
        name, equals, value = part.partition("=")
        if not equals or not name.strip():
            raise ValueError("it is NAME=VALUE, as in model=gpt-4")
        if name.strip() in found:
            raise ValueError(f"{name.strip()!r} has two values")
        found[name.strip()] = value
    return found


def number(given: list[str]) -> object:
    """Read a number."""
    try:
        return float(str(text(given)))
    except ValueError:
        raise ValueError("it is one number, such as 0.5") from None


def whole(given: list[str]) -> object:
    """Read a whole number."""
    try:
        return int(str(text(given)))
    except ValueError:
        raise ValueError("it is one whole number") from None


def thread_number(given: list[str]) -> object:
    """Read a number of threads."""
    from fastpassk.threads import parse_count

    number = str(text(given))
    try:
        return parse_count(number.strip())
    except ValueError as error:
        raise ValueError(f"it is {error}") from None


def none_or_text(given: list[str]) -> object:
    """Read a text of which `none` means None."""
    return None if text(given) == "none" else text(given)


class Option(NamedTuple):
    """One option; a NamedTuple, since dataclasses take longer to load than argparse and `--help` must be quick.

    Parameters
    ----------
    name
        The keyword argument of the library function.
    commands
        The sub-commands that take it, separated by spaces.
    group
        The heading that it stands under in the help.
    help
        One line.
    metavar
        How its value is written in the help; empty for a switch.
    read
        From the texts given to the value; a `ValueError` says what is wrong.
    flags
        The spellings, where they are not `--` and the name with dashes.
    default
        What the library does without it, where the help should say so.
    """

    name: str
    commands: str
    group: str
    help: str
    metavar: str = ""
    read: Reader = text
    flags: tuple[str, ...] = ()
    default: str = ""

    @property
    def spellings(self) -> tuple[str, ...]:
        """The flags on the command line."""
        return self.flags or ("--" + self.name.replace("_", "-"),)

    @property
    def switch(self) -> bool:
        """Whether it has no value: it is given or not."""
        return not self.metavar

    @property
    def description(self) -> str:
        """The help, with the default where there is one to state."""
        return self.help + (f" (default: {self.default})" if self.default else "")

    def value(self, given: list[str]) -> object:
        """Read the texts given on the command line.

        Raises
        ------
        UsageError
            They do not have the option's type.
        """
        try:
            return self.read(given)
        except ValueError as error:
            raise UsageError(f"{self.spellings[-1]} is {', '.join(map(repr, given))}: {error}") from None


def one_of(*allowed: str) -> Reader:
    """Make a reader of an option of the command line itself, with these values."""

    def read(given: list[str]) -> object:
        if (value := str(text(given))) not in allowed:
            raise ValueError(f"allowed: {', '.join(allowed)}{hint(value, allowed)}")
        return value

    return read


def digits(given: list[str]) -> object:
    """Read a number of digits after the point."""
    if (count := str(whole(given))) not in map(str, range(18)):
        raise ValueError("it is a whole number from 0 to 17")
    return int(count)


def values(allowed: tuple[str, ...]) -> str:
    """Write the values of a policy for the help."""
    return "|".join(allowed)


ALL = "curve score count"
READ = "curve score count check"
RESULT = "curve score count merge"
NAMING, POLICY, OUTPUT, RUNNING = "what the columns are", "policies", "output", "how it runs"

OPTIONS: tuple[Option, ...] = (
    Option("k", "curve score", "what to compute",
           "numbers, a range or all; may be repeated", "1,10,100|1:100|all", joined, default="1, 2, 4, … smallest n"),
    Option("metric", "curve score", "what to compute",
           "pass@k (one of k passes) or pass^k (all k pass), or both", "NAME", one_or_more, default="pass@k"),
    Option("format", READ, NAMING, "format of the input; `fastpassk formats` lists them", "NAME", default="auto"),
    Option("by", READ, NAMING, "columns that make a group: model,temperature; may be repeated",
           "NAMES", names, default="every identity column"),
    Option("problem", READ, NAMING, "column that names the problem", "COLUMN"),
    Option("passed", READ, NAMING, "column with the outcome of a sample", "COLUMN"),
    Option("attempt", READ, NAMING, "column that tells the samples of a problem apart", "COLUMN"),
    Option("n", READ, NAMING, "column with the number of samples", "COLUMN"),
    Option("c", READ, NAMING, "column with the number of samples that passed", "COLUMN"),
    Option("assume", READ, NAMING, "value of an identity column that the file lacks; may be repeated",
           "NAME=VALUE", pairs, ("--set",)),
    Option("threshold", READ, NAMING, "a numeric outcome passes when it is at least this", "X", number),
    Option("where", READ, NAMING, "keep the rows for which this SQL expression holds: \"difficulty = 'hard'\"", "SQL"),
    Option("meta", READ, NAMING, "table joined on problem, for --where and --by", "FILE"),
    Option("missing", ALL, POLICY, "what a sample without an outcome is; or a rule per reason: timeout=fail,infra=drop",
           values(policies.MISSING), joined, default="error"),
    Option("duplicates", ALL, POLICY, "what a repeated (identity, problem, attempt) is", values(policies.DUPLICATES),
           default="error where there are attempts"),
    Option("bad_lines", READ, POLICY, "what an unreadable line of NDJSON or CSV is; skip counts and leaves it out",
           values(policies.BAD_LINES), default="error"),
    Option("pool", ALL, POLICY, "identity columns whose values may be added together; may be repeated", "NAMES", names),
    Option("problems", ALL, POLICY, "file with all problems that must be there: a table, or one per line", "FILE"),
    Option("expect_n", ALL, POLICY, "samples that each problem must have", "N", whole),
    Option("common", ALL, POLICY, "keep only the problems that every group has"),
    Option("stopped", ALL, POLICY, "sampling of a problem ended at R passes: score without that bias", "R", whole),
    Option("unique", ALL, POLICY, "the rows of a counts table are known to be unique and on one problem set"),
    Option("undefined", "curve", POLICY, "what a point is where some problems have n < k", values(policies.UNDEFINED),
           default="null"),
    Option("average", "curve", POLICY, "mean over problems, or the pooled rate of all samples (k = 1)",
           values(policies.AVERAGE), default="problems"),
    Option("partition_by", "score", OUTPUT,
           "columns whose values become folders, such as model=a, in the folder that -o names", "NAMES", names),
    Option("interval", "curve", POLICY, "confidence interval", values(("none", *policies.INTERVALS)), none_or_text,
           default="none"),
)  # fmt: skip

OUTPUT_OPTIONS: tuple[Option, ...] = (
    Option("output", RESULT, OUTPUT,
           "write to FILE: .parquet .arrow .csv .tsv .json .jsonl .md; - is standard output, as CSV", "FILE",
           flags=("-o", "--output")),
    Option("json", RESULT + " check formats", OUTPUT, "strict JSON on standard output (null, never NaN)"),
    Option("layout", "curve", OUTPUT, "a table with one column or one row per k", "wide|long", one_of("wide", "long"),
           default="wide"),
    Option("unit", "curve", OUTPUT, "how the table writes estimates", "fraction|percent", one_of("fraction", "percent"),
           default="fraction"),
    Option("digits", "curve score", OUTPUT, "digits after the point in the table", "N", digits,
           default="3, 1 for percent"),
    Option("quiet", RESULT + " check", OUTPUT, "no notes and no progress on standard error"),
)  # fmt: skip

RUN_OPTIONS: tuple[Option, ...] = (
    Option("threads", RESULT + " check", RUNNING, "threads to work with; goes before FASTPASSK_THREADS", "N",
           thread_number, default="as many as there are processors"),
    Option("no_progress", RESULT + " check", RUNNING, "no progress line, which only a terminal gets; notes stay"),
)  # fmt: skip


def options_of(command: str) -> list[Option]:
    """Return the options that a sub-command takes, those about the output and the process last."""
    return [option for option in (*OPTIONS, *OUTPUT_OPTIONS, *RUN_OPTIONS) if command in option.commands.split()]
