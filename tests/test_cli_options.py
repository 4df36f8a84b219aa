"""The table of options: each one is documented, belongs to the commands whose function takes it, and arrives there."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import pytest

import fastpassk
from fastpassk.cli.commands import COMMANDS
from fastpassk.cli.options import OPTIONS, OUTPUT_OPTIONS, RUN_OPTIONS, Option, options_of
from fastpassk.cli.parser import command_parser, parse, top_parser
from fastpassk.cli.run import main
from fastpassk.errors import UsageError
from fastpassk.schema.options import READING, Options

if TYPE_CHECKING:
    from collections.abc import Callable

# For every option that reaches the library: what is typed, and what arrives.
TYPED: dict[str, tuple[list[str], object]] = {
    "k": (["--k", "1,10", "--k", "20:22"], "1,10,20:22"),
    "metric": (["--metric", "pass@k,pass^k"], ["pass@k", "pass^k"]),
    "format": (["--format", "csv"], "csv"),
    "by": (["--by", "model, temperature", "--by", '"a,b"'], ["model", "temperature", "a,b"]),
    "problem": (["--problem", "task"], "task"),
    "passed": (["--passed", "ok"], "ok"),
    "attempt": (["--attempt", "try"], "try"),
    "n": (["--n", "samples"], "samples"),
    "c": (["--c", "hits"], "hits"),
    "assume": (["--set", "model=a=b", "--set", "temperature=0.8"], {"model": "a=b", "temperature": "0.8"}),
    "threshold": (["--threshold", "-0.5"], -0.5),
    "where": (["--where", "difficulty = 'hard'"], "difficulty = 'hard'"),
    "meta": (["--meta", "meta.csv"], "meta.csv"),
    "missing": (["--missing", "timeout=fail,infra=drop"], "timeout=fail,infra=drop"),
    "duplicates": (["--duplicates", "same"], "same"),
    "bad_lines": (["--bad-lines", "skip"], "skip"),
    "pool": (["--pool", "language"], ["language"]),
    "problems": (["--problems", "all.txt"], "all.txt"),
    "expect_n": (["--expect-n", "20"], 20),
    "common": (["--common"], True),
    "stopped": (["--stopped", "1"], 1),
    "unique": (["--unique"], True),
    "undefined": (["--undefined", "available"], "available"),
    "average": (["--average", "samples"], "samples"),
    "partition_by": (["--partition-by", "model", "--partition-by", "k"], ["model", "k"]),
    "interval": (["--interval", "none"], None),
}
PAIRS = [
    pytest.param(command, option, id=f"{command}-{option.name}")
    for command in COMMANDS
    for option in options_of(command)
]
every_command = pytest.mark.parametrize("command", COMMANDS)


def words(command: str, *options: str) -> list[str]:
    """A command line of a command."""
    return [command, *(["results.csv"] if COMMANDS[command].sources else []), *options]


def keywords(function: Callable[..., object]) -> set[str]:
    """The keyword arguments of a step, the shared ones spelled out."""
    parameters = inspect.signature(function).parameters.values()
    shared = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)
    named = {parameter.name for parameter in parameters if parameter.kind is not parameter.VAR_KEYWORD}
    return named | (set(Options.__annotations__) if shared else set())


@every_command
def test_the_options_are_the_arguments_of_the_library_function(command: str) -> None:
    taken = keywords(COMMANDS[command].load()) - {"source", "parts", COMMANDS[command].sink}
    if command == "check":  # it refuses no data, so it takes no policy
        taken = set(READING)
    assert {option.name for option in OPTIONS if command in option.commands.split()} == taken


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.name)
def test_every_option_arrives_at_the_library_and_nothing_else_does(
    option: Option, monkeypatch: pytest.MonkeyPatch
) -> None:
    typed, expected = TYPED[option.name]
    for command in option.commands.split():
        given: list[tuple[tuple[object, ...], dict[str, object]]] = []

        def fake(*sources: object, given: list[Any] = given, **options: object) -> None:
            given.append((sources, options))
            raise UsageError("seen")

        monkeypatch.setattr(fastpassk, COMMANDS[command].function.partition(":")[2], fake)
        assert main(words(command, *typed)) == 2
        assert given == [(("results.csv",), {option.name: expected})]


def test_every_option_is_typed_somewhere() -> None:
    assert {option.name for option in OPTIONS} == set(TYPED)


@pytest.mark.parametrize(("command", "option"), PAIRS)
def test_every_option_is_explained(command: str, option: Option) -> None:
    text = " ".join(command_parser(COMMANDS[command]).format_help().split())
    assert all(flag in text for flag in option.spellings)
    assert " ".join(option.description.split()) in text
    assert option.help[0].islower() or option.name in ("metric", "json")
    assert not option.help.endswith(".")


@every_command
def test_help_shows_an_example_that_parses(command: str) -> None:
    example = COMMANDS[command].example
    assert example in command_parser(COMMANDS[command]).format_help()
    program, *rest = example.split()
    assert (program, parse(rest).command.name) == ("fastpassk", command)
    assert COMMANDS[command].summary in top_parser().format_help()


@every_command
def test_stated_defaults_are_the_defaults_of_the_library(command: str) -> None:
    parameters = inspect.signature(COMMANDS[command].load()).parameters
    for option in OPTIONS:
        if option.name in parameters and parameters[option.name].default is not None:
            assert option.default == str(parameters[option.name].default), option.name


def test_shared_defaults_are_those_of_the_settings() -> None:
    from fastpassk.schema.options import Settings

    stated = {option.name: option.default for option in OPTIONS}
    settings = Settings()
    assert stated["missing"] == settings.missing
    assert stated["format"] == settings.format
    assert settings.common is settings.unique is False


@pytest.mark.parametrize("option", [*OPTIONS, *OUTPUT_OPTIONS, *RUN_OPTIONS], ids=lambda option: option.name)
def test_an_option_is_refused_where_it_has_no_meaning(option: Option, capsys: pytest.CaptureFixture[str]) -> None:
    value = [] if option.switch else ["1"]
    for command in set(COMMANDS) - set(option.commands.split()):
        assert main(words(command, option.spellings[-1], *value)) == 2
        error = capsys.readouterr().err
        assert f"{command} has no option {option.spellings[-1]!r}; it belongs to " in error


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (["--threshold", "high"], "--threshold is 'high': it is one number, such as 0.5"),
        (["--threshold", "1", "--threshold", "2"], "--threshold is '1', '2': it is one number, such as 0.5"),
        (["--expect-n", "2.5"], "--expect-n is '2.5': it is one whole number"),
        (["--set", "model"], "--set is 'model': it is NAME=VALUE, as in model=gpt-4"),
        (["--set", "m=1", "--set", "m=2"], "--set is 'm=1', 'm=2': 'm' has two values"),
        (["--problem", "a", "--problem", "b"], "--problem is 'a', 'b': it can be given once only"),
        (["--layout", "wid"], "--layout is 'wid': allowed: wide, long (did you mean 'wide'?)"),
        (["--unit", "percents"], "--unit is 'percents': allowed: fraction, percent (did you mean 'percent'?)"),
        (["--digits", "18"], "--digits is '18': it is a whole number from 0 to 17"),
        (["--digits", "x"], "--digits is 'x': it is one whole number"),
        (["--k"], "argument --k: expected one argument"),
        (["--mising", "fail"], "curve has no option '--mising' (did you mean '--missing'?)"),
        (["--und", "null"], "curve has no option '--und'"),
    ],
)
def test_what_is_typed_wrong_is_said(typed: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words("curve", *typed)) == 2
    assert capsys.readouterr().err.splitlines()[0].startswith(f"fastpassk: error: {message}")


def test_options_and_sources_stand_in_any_order() -> None:
    call = parse(["curve", "--k", "1", "a.csv", "--common", "b.csv", "--by", "model", "-"])
    assert call.sources == ["a.csv", "b.csv", "-"]
    assert call.keywords == {"k": "1", "common": True, "by": ["model"]}


def test_one_group_is_asked_for_with_an_empty_by() -> None:
    assert parse(["curve", "a.csv", "--by", ""]).keywords == {"by": []}
