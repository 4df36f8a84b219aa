"""The cut of the code, held: who may import whom, how long things are, and what stays unloaded."""

from __future__ import annotations

import ast
import statistics
import subprocess
import sys
from collections import defaultdict
from graphlib import TopologicalSorter

import pytest

from source_tree import ROOT, Module, body_lines, modules

# Imports go from a higher rank to a lower one, or stay within a rank. A room is a folder or a file of the package; the
# steps that others stand on are told apart.
RANK = {
    "errors": 0, "schema": 0, "_optional": 0,
    "storage": 1, "threads": 1, "kernels": 1, "stats": 1, "engines": 1,
    "metrics": 2, "sources": 2,
    "arrays": 3, "steps.counts": 3,
    "steps.tallies": 4, "steps.scores": 4,
    "steps.curves": 5,
    "steps": 6,
    "present": 7, "sql": 7,
    "cli": 8,
}  # fmt: skip
FREE = {"__init__", "__main__", "_version"}
# Neighbours of one rank that must not know each other.
STRANGERS = [
    {"metrics", "sources"},
    {"kernels", "storage"},
    {"kernels", "stats"},
    {"arrays", "steps.counts"},
]
CORE = {"numpy", "numba", "pyarrow", "polars"}
MAY_IMPORT = {
    "kernels": {"numpy", "numba"},
    "metrics": {"numpy"},
    "threads": set(),
    "stats": {"numpy"},
    "errors": set(),
}
COMMANDS = ("curve", "score", "count", "merge", "check", "formats")

MODULES = modules()
every_module = pytest.mark.parametrize("module", MODULES, ids=lambda module: module.name)


def room(dotted: str) -> str:
    """The room that a dotted name (within the package) stands in."""
    names = dotted.split(".")
    whole = ".".join(names[:2])
    return whole if whole in RANK else names[0]


def inner_imports(module: Module, *, when: str = "ever") -> list[tuple[str, int]]:
    """What a module imports from the package, as dotted names within it."""
    found = module.imports(when=when)
    return [(name.removeprefix("fastpassk."), line) for name, line in found if name.startswith("fastpassk.")]


@every_module
def test_every_module_stands_in_a_room(module: Module) -> None:
    assert room(module.name) in RANK.keys() | FREE


@every_module
def test_imports_point_down(module: Module) -> None:
    mine = RANK.get(room(module.name))
    wrong = [
        f"line {line}: {room(module.name)} imports {name}"
        for name, line in inner_imports(module)
        if mine is not None and RANK.get(room(name), -1) > mine
    ]
    assert not wrong


@every_module
def test_neighbours_do_not_know_each_other(module: Module) -> None:
    mine = room(module.name)
    wrong = [name for name, _ in inner_imports(module) if room(name) != mine and {mine, room(name)} in STRANGERS]
    assert not wrong


@every_module
def test_only_the_four_core_packages_are_imported(module: Module) -> None:
    allowed = MAY_IMPORT.get(room(module.name), CORE - {"numba"}) | {"fastpassk"} | sys.stdlib_module_names
    tops = {name.split(".")[0]: line for name, line in module.imports()}
    assert not {name: line for name, line in tops.items() if name not in allowed}


def test_there_are_no_circles_of_rooms() -> None:
    graph: dict[str, set[str]] = defaultdict(set)
    for module in MODULES:
        mine = room(module.name)
        graph[mine] |= {room(name) for name, _ in inner_imports(module)} - {mine}
    assert list(TopologicalSorter(graph).static_order())


def test_there_are_no_circles_of_files_at_import() -> None:
    graph = {module.name: {name for name, _ in inner_imports(module, when="import")} for module in MODULES}
    assert list(TopologicalSorter(graph).static_order())


@every_module
def test_files_and_functions_are_short(module: Module) -> None:
    assert module.text.count("\n") <= 400
    assert not {function.name: body_lines(function) for function in module.functions() if body_lines(function) > 50}


def test_most_functions_are_very_short() -> None:
    sizes = sorted(body_lines(function) for module in MODULES for function in module.functions())
    assert statistics.median(sizes) <= 12
    assert sizes[int(0.9 * (len(sizes) - 1))] <= 35


@every_module
def test_no_exception_is_swallowed(module: Module) -> None:
    handlers = [node for node in ast.walk(module.tree) if isinstance(node, ast.ExceptHandler)]
    assert not [node.lineno for node in handlers if all(isinstance(step, ast.Pass) for step in node.body)]


@every_module
def test_no_assert_stands_in_the_package(module: Module) -> None:
    assert not [node.lineno for node in ast.walk(module.tree) if isinstance(node, ast.Assert)]


def loaded(code: str) -> set[str]:
    """Which of the core packages a fresh interpreter has loaded after running `code`."""
    ending = f"\nimport sys\nprint(*sorted({CORE!r} & set(sys.modules)), sep=',')"
    done = subprocess.run([sys.executable, "-c", code + ending], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split(",")) - {""}


def test_importing_the_package_loads_nothing_heavy() -> None:
    assert loaded("import fastpassk; dir(fastpassk); fastpassk.FastpasskError") == set()


@pytest.mark.parametrize("words", [["--help"], ["--version"], *([command, "--help"] for command in COMMANDS)])
def test_help_loads_nothing_heavy(words: list[str]) -> None:
    code = f"import contextlib, fastpassk.cli\nwith contextlib.suppress(SystemExit):\n    fastpassk.cli.main({words!r})"
    assert loaded(code) == set()


def test_small_work_never_loads_numba() -> None:
    assert "numba" not in loaded("import fastpassk; fastpassk.curve('data/taubench_gpt4o_airline.csv', [1, 2, 3, 4])")
    assert "numba" not in loaded("import fastpassk; fastpassk.pass_at_k([10, 10], [3, 5], 2)")
