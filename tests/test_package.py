"""The package as others get it: what the wheel and the sdist hold, what they need, and that an installed one works."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from email import message_from_string
from pathlib import Path

import pytest

import fastpassk
from source_tree import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def builds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the sdist of this checkout."""
    folder = tmp_path_factory.mktemp("builds")
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    return folder


def wheel(builds: Path) -> Path:
    """The one wheel of a folder."""
    (found,) = builds.glob("*.whl")
    return found


def test_the_two_lists_of_test_requirements_are_one() -> None:
    extra = PROJECT["project"]["optional-dependencies"]["test"]
    assert extra == PROJECT["dependency-groups"]["test"] == sorted(extra)


def test_four_runtime_dependencies_without_upper_caps() -> None:
    wanted = ["numpy>=1.26", "numba>=0.61", "pyarrow>=18", "polars>=2.0"]
    assert PROJECT["project"]["dependencies"] == wanted


def test_the_changelog_knows_the_version() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"## {fastpassk.__version__}" in changelog


@pytest.mark.slow
def test_the_wheel_holds_the_package_and_nothing_else(builds: Path) -> None:
    with zipfile.ZipFile(wheel(builds)) as archive:
        names = set(archive.namelist())
        meta = next(name for name in names if name.endswith(".dist-info/METADATA"))
        headers = message_from_string(archive.read(meta).decode())
    code = {name for name in names if ".dist-info/" not in name}
    tree = {path.relative_to(ROOT).as_posix() for path in (ROOT / "fastpassk").rglob("*.py")}
    assert code == tree | {"fastpassk/py.typed"}
    needs = {need for need in headers.get_all("Requires-Dist", []) if "extra ==" not in need}
    assert needs == {"numpy>=1.26", "numba>=0.61", "pyarrow>=18", "polars>=2.0"}
    assert headers["License-Expression"] == "MIT"
    assert headers["Requires-Python"] == ">=3.11"
    assert any(name.endswith("licenses/LICENSE") for name in names)


@pytest.mark.slow
def test_the_sdist_holds_what_is_needed_to_test_it(builds: Path) -> None:
    (sdist,) = builds.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    folders = {"tests", "data", "benchmarks", "fastpassk"}
    assert folders <= {name.split("/")[0] for name in names}
    assert {"LICENSE", "Makefile", "pyproject.toml", "README.md", "data/samples.parquet", "CHANGELOG.md"} <= names
    assert not [name for name in names if name.startswith(".venv") or name.endswith(".pyc")]


@pytest.mark.slow
def test_an_installed_wheel_does_the_main_job_elsewhere(builds: Path, tmp_path: Path) -> None:
    home = tmp_path / "environment"
    python = _clean_environment(home)
    install = [python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", str(wheel(builds))]
    subprocess.run(install, check=True, capture_output=True)
    data = ROOT / "data" / "taubench_gpt4o_airline.csv"
    command = [python.with_name("fastpassk"), "curve", str(data), "--k", "1,2,3,4", "-o", "curves.csv"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True)
    with (tmp_path / "curves.csv").open(encoding="utf-8", newline="") as file:
        values = [float(row["estimate"]) for row in csv.DictReader(file)]
    assert values == [0.42, 17 / 30, 0.66, 0.72]
    asked = [python, "-c", "import fastpassk; print(fastpassk.__file__)"]
    where = subprocess.run(asked, cwd=tmp_path, env=environment, check=True, capture_output=True, text=True).stdout
    assert Path(where).is_relative_to(home)


def _clean_environment(home: Path) -> Path:
    """A fresh environment that has this one's packages, less this project itself, whose path file it does not read."""
    venv.create(home, with_pip=True)
    python = home / ("Scripts" if os.name == "nt" else "bin") / "python"
    own = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        check=True,
        capture_output=True,
        text=True,
    )
    ours = [path for path in sys.path if path.endswith("site-packages")]
    # A folder named in a .pth file is not searched for .pth files itself, so no editable install comes along.
    (Path(own.stdout.strip()) / "borrowed.pth").write_text("\n".join(ours) + "\n", encoding="utf-8")
    return python
