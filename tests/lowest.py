"""Print the lowest versions that pyproject.toml allows of the runtime dependencies, as exact pins (`make lowest`)."""

from __future__ import annotations

import tomllib
from pathlib import Path


def lowest() -> list[str]:
    """Return 'name==lowest' for every runtime dependency."""
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [requirement.replace(">=", "==") for requirement in project["dependencies"]]


if __name__ == "__main__":
    print(" ".join(lowest()))
