"""The README cannot drift: its examples run and print what is shown, its tables are generated.

`python tests/test_readme.py --write` puts the outputs of real runs and the generated tables into README.md.

* A ```python block runs, in one namespace with the blocks before it. What it prints stands in the ```text block that
  follows, when there is one; without one it must print nothing.
* A ```console block holds `$ fastpassk …` lines, each followed by what it prints (standard error among it).
* Between `<!-- table: NAME -->` and `<!-- end -->` stands the table that `TABLES[NAME]` makes.
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
BLOCK = re.compile(r"```(python|console)\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", re.DOTALL)
TABLE = re.compile(r"<!-- table: (\w+) -->\n(.*?)<!-- end -->", re.DOTALL)


def metrics_table() -> str:
    """The metrics, from `METRICS`."""
    from fastpassk.metrics import METRICS

    rows = [[f"`{m.name}`", f"`{m.function}`", m.title, m.reference] for m in METRICS.values()]
    return markdown(["metric", "function", "what it is", "reference"], rows)


def frames_table() -> str:
    """The frames, from their specs."""
    from fastpassk.schema.frames import FRAMES

    rows = [[f.name, ", ".join(_column(c) for c in f.columns), f.invariant] for f in FRAMES]
    return markdown(["frame", "columns, after the identity columns", "what always holds"], rows)


def policies_table() -> str:
    """The policies: their values, the default first, from the schema and the meanings below."""
    from fastpassk.schema import policies

    rows = [
        ["`undefined`", _values(policies.UNDEFINED), "a problem has fewer than k samples"],
        [
            "`missing`",
            _values(policies.MISSING),
            "a sample has no outcome; one rule, or one a reason: `timeout=fail,infra=drop`",
        ],
        ["`duplicates`", _values(policies.DUPLICATES), "an identity, problem and attempt stand in several rows"],
        ["`average`", _values(policies.AVERAGE), "mean over problems, or the pooled rate of samples (k = 1 only)"],
    ]
    return markdown(["option", "values (the first is the default)", "when"], rows)


def identity_table() -> str:
    """The columns that are recognised, from the aliases."""
    from fastpassk.schema.names import ALIASES

    rows = [[f"`{role}`", ", ".join(f"`{name}`" for name in names)] for role, names in ALIASES.items()]
    return markdown(["role", "names it goes by"], rows)


def outcomes_table() -> str:
    """The texts that are outcomes, from the schema."""
    from fastpassk.schema import outcomes

    words = {"passed": outcomes.PASSED, "failed": outcomes.FAILED, "no outcome": outcomes.NO_OUTCOME}
    rows = [
        [name, ", ".join(f"`{word}`" if word else "nothing" for word in spelled)] for name, spelled in words.items()
    ]
    return markdown(["outcome", "texts"], rows)


TABLES = {
    "metrics": metrics_table,
    "frames": frames_table,
    "policies": policies_table,
    "columns": identity_table,
    "outcomes": outcomes_table,
}


def markdown(head: list[str], rows: list[list[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)


def renewed(text: str) -> str:
    """The README as it must be: every block run anew, every table made anew."""
    import polars as pl

    namespace: dict[str, object] = {"__name__": "readme"}
    with contextlib.chdir(ROOT), pl.Config(tbl_width_chars=110):
        text = BLOCK.sub(lambda found: _block(found, namespace), text)
    return TABLE.sub(lambda found: f"<!-- table: {found[1]} -->\n{TABLES[found[1]]()}<!-- end -->", text)


def test_readme_shows_what_really_happens() -> None:
    text = README.read_text(encoding="utf-8")
    assert renewed(text) == text


def test_readme_has_examples_and_tables() -> None:
    text = README.read_text(encoding="utf-8")
    assert {found[1] for found in BLOCK.finditer(text)} == {"python", "console"}
    assert {found[1] for found in TABLE.finditer(text)} == set(TABLES)


def _block(found: re.Match[str], namespace: dict[str, object]) -> str:
    kind, code, shown = found.groups()
    if kind == "console":
        commands = [line[2:] for line in code.splitlines() if line.startswith("$ ")]
        return (
            "```console\n" + "".join(f"$ {command}\n{_shell(command)}" for command in commands) + "```\n" + _text(shown)
        )
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), namespace)  # noqa: S102 - our own README
    return f"```python\n{code}```\n" + _text(printed.getvalue() or None)


def _text(shown: str | None) -> str:
    return "" if shown is None else f"\n```text\n{shown}```\n"


def _shell(command: str) -> str:
    words = shlex.split(command)
    if words[0] != "fastpassk":
        return ""  # pip and make lines are shown, not run
    done = subprocess.run(
        [sys.executable, "-m", *words],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.stdout


def _column(column: object) -> str:
    optional = " (optional)" if getattr(column, "optional", False) else ""
    return f"`{getattr(column, 'name')}`{optional}"  # noqa: B009 - the spec's type is not imported at the top


def _values(values: tuple[str, ...]) -> str:
    return ", ".join(f"`{value}`" for value in values)


if __name__ == "__main__":
    old = README.read_text(encoding="utf-8")
    new = renewed(old)
    if "--write" in sys.argv:
        README.write_text(new, encoding="utf-8")
    print(
        "README.md is up to date"
        if new == old
        else "README.md changed"
        if "--write" in sys.argv
        else "README.md is stale"
    )
