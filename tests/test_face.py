"""The package's face: its names, and that importing it loads nothing heavy."""

from __future__ import annotations

import subprocess
import sys

import pytest

import fastpassk

HEAVY = ("numpy", "numba", "polars", "pyarrow")


def loaded(code):
    """Run code in a fresh interpreter; return which of the heavy packages it loaded."""
    tail = f"\nimport sys; print(*(m for m in {HEAVY} if m in sys.modules))"
    return subprocess.run(
        [sys.executable, "-c", code + tail], capture_output=True, text=True, check=True
    ).stdout.split()


def test_importing_loads_nothing():
    assert loaded("import fastpassk; dir(fastpassk); fastpassk.__version__; fastpassk.FastpasskError") == []


def test_small_work_loads_numpy_only():
    assert loaded("import fastpassk; fastpassk.pass_at_k(200, 5, 10); fastpassk.plug_in([5, 5], 2, 2)") == ["numpy"]


def test_every_name_is_there_and_kept():
    for name in fastpassk.__all__:
        assert getattr(fastpassk, name) is getattr(fastpassk, name)
        assert name in dir(fastpassk)
    assert set(fastpassk._HOMES) | {"__version__"} == set(fastpassk.__all__)


def test_public_names_are_documented():
    for name in set(fastpassk.__all__) - {"METRICS", "__version__"}:
        assert getattr(fastpassk, name).__doc__


def test_a_name_that_is_not_there():
    with pytest.raises(AttributeError, match="'fastpassk' has no attribute 'pass_at_kk'"):
        fastpassk.pass_at_kk  # noqa: B018


def test_the_package_runs_as_a_program():
    done = subprocess.run([sys.executable, "-m", "fastpassk", "--help"], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "usage: fastpassk" in done.stdout
