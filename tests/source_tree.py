"""The package as syntax trees: what the tests of architecture and docstrings look at."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "fastpassk"

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Module:
    """One file of the package: its dotted name, its text, its tree."""

    path: Path

    @property
    def name(self) -> str:
        """The dotted name within the package: `metrics.records`, `schema.__init__`."""
        return ".".join(self.path.relative_to(PACKAGE).with_suffix("").parts)

    @cached_property
    def text(self) -> str:
        """The file's text."""
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def tree(self) -> ast.Module:
        """The file's syntax tree."""
        return ast.parse(self.text)

    def functions(self) -> Iterator[Function]:
        """Every function of the file, nested ones and methods among them."""
        return (node for node in ast.walk(self.tree) if isinstance(node, Function))

    def imports(self, *, when: str = "ever") -> Iterator[tuple[str, int]]:
        """Every imported module, as dotted names from the top, with its line; `when="import"`: those met on import."""
        for node in ast.walk(self.tree) if when == "ever" else _met_on_import(self.tree):
            if isinstance(node, ast.Import):
                yield from ((alias.name, node.lineno) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                yield from ((name, node.lineno) for name in self._imported_from(node))

    def public(self) -> Iterator[tuple[str, ast.Module | ast.ClassDef | Function]]:
        """The file itself and every public class, function and method, by name."""
        yield "(module)", self.tree
        for node in self.tree.body:
            if not isinstance(node, ast.ClassDef | Function) or node.name.startswith("_"):
                continue
            yield node.name, node
            if isinstance(node, ast.ClassDef):
                inner = (item for item in node.body if isinstance(item, Function) and not item.name.startswith("_"))
                yield from ((f"{node.name}.{item.name}", item) for item in inner)

    def _imported_from(self, node: ast.ImportFrom) -> list[str]:
        above = ["fastpassk", *self.path.relative_to(PACKAGE).parts]
        start = above[: len(above) - node.level] if node.level else []
        base = ".".join([*start, *([node.module] if node.module else [])])
        return [whole if is_module(whole := f"{base}.{alias.name}") else base for alias in node.names]


def modules() -> list[Module]:
    """Every file of the package."""
    return [Module(path) for path in sorted(PACKAGE.rglob("*.py"))]


def is_module(dotted: str) -> bool:
    """Whether a dotted name is a file or a folder of the package."""
    path = ROOT.joinpath(*dotted.split("."))
    return dotted.startswith("fastpassk") and (path.is_dir() or path.with_suffix(".py").is_file())


def body_lines(node: Function) -> int:
    """Lines of a function's body without its docstring."""
    has_doc = ast.get_docstring(node, clean=False) is not None
    body = node.body[1:] if has_doc else node.body
    return (node.end_lineno or 0) - body[0].lineno + 1 if body else 0


def _met_on_import(node: ast.AST) -> Iterator[ast.AST]:
    """Walk what runs when a file is imported: no function bodies, nothing that is there for annotations only."""
    for child in ast.iter_child_nodes(node):
        types = isinstance(child, ast.If) and isinstance(child.test, ast.Name) and child.test.id == "TYPE_CHECKING"
        if not (types or isinstance(child, Function)):
            yield child
            yield from _met_on_import(child)
