"""Docstrings: there, complete, in step with the signature, and with examples that run.

The convention is NumPy's sections with types left to the annotations. A "Parameters" section names exactly the
parameters of the signature, in its order; names that share a meaning may share a line (`n, c, k`). Public functions
have one.
"""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import re

import pytest

import fastpassk
from source_tree import ROOT, Function, Module, modules

MODULES = modules()
PUBLIC = [
    pytest.param(module, name, node, id=f"{module.name}:{name}") for module in MODULES for name, node in module.public()
]
FUNCTIONS = [item for item in PUBLIC if isinstance(item.values[2], Function)]
API = [name for name in fastpassk.__all__ if name.islower() and not name.startswith("_")]
WITH_EXAMPLES = [module for module in MODULES if ">>> " in module.text]
HEADER = re.compile(r"^(\w[\w ]*)\n-{3,}$", re.MULTILINE)


def sections(docstring: str) -> dict[str, str]:
    """Split a cleaned docstring at its underlined headers."""
    parts = HEADER.split(docstring)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def named(section: str) -> list[str]:
    """The names that a Parameters section describes: its lines without indent, split at commas."""
    lines = [line for line in section.splitlines() if line and not line.startswith(" ")]
    return [name.strip() for line in lines for name in line.split(",")]


def parameters(node: Function) -> list[str]:
    """The parameters of a function as a docstring writes them, without `self` and `cls`."""
    given = node.args
    names = [argument.arg for argument in (*given.posonlyargs, *given.args)]
    names += [given.vararg.arg] if given.vararg else []
    names += [argument.arg for argument in given.kwonlyargs]
    names += [given.kwarg.arg] if given.kwarg else []
    return [name for name in names if name not in {"self", "cls"}]


@pytest.mark.parametrize(("module", "name", "node"), PUBLIC)
def test_every_public_name_has_a_docstring(
    module: Module, name: str, node: ast.Module | ast.ClassDef | Function
) -> None:
    assert ast.get_docstring(node), f"{module.name}: {name}"


@pytest.mark.parametrize(("module", "name", "node"), FUNCTIONS)
def test_a_parameters_section_agrees_with_the_signature(module: Module, name: str, node: Function) -> None:
    section = sections(ast.get_docstring(node) or "").get("Parameters")
    if section is not None:
        assert named(section) == parameters(node), f"{module.name}: {name}"


@pytest.mark.parametrize(("module", "name", "node"), FUNCTIONS)
def test_types_stand_in_annotations_only(module: Module, name: str, node: Function) -> None:
    section = sections(ast.get_docstring(node) or "").get("Parameters", "")
    assert not [line for line in section.splitlines() if re.match(r"^\S.* ?: ", line)], f"{module.name}: {name}"


@pytest.mark.parametrize("name", API)
def test_the_public_functions_are_documented_in_full(name: str) -> None:
    function = getattr(fastpassk, name)
    found = sections(inspect.getdoc(function) or "")
    assert "Parameters" in found
    assert "Returns" in found or inspect.signature(function).return_annotation == "None"


def test_every_public_name_exists_and_is_listed() -> None:
    assert all(hasattr(fastpassk, name) for name in fastpassk.__all__)
    assert dir(fastpassk) == sorted(fastpassk.__all__)
    with pytest.raises(AttributeError, match="no_such_name"):
        fastpassk.no_such_name  # noqa: B018 - reading it is the test


@pytest.mark.parametrize("module", WITH_EXAMPLES, ids=lambda module: module.name)
def test_examples_run(module: Module, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    loaded = importlib.import_module(f"fastpassk.{module.name}".removesuffix(".__init__"))
    assert doctest.testmod(loaded).failed == 0
