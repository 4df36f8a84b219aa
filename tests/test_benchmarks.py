"""The asv suite runs once, tiny, in a folder of its own; each result is asserted by the benchmark's own `correct`."""

from __future__ import annotations

import importlib
import inspect
import itertools
import json
import os
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

ROWS = "3000"
os.environ["FASTPASSK_BENCH_ROWS"] = ROWS  # before the first import of the suite

import benchmarks  # noqa: E402

KINDS = ("time_", "timeraw_", "peakmem_", "track_")


def suite():
    """Find every class that has benchmarks, as asv does."""
    for info in pkgutil.iter_modules(benchmarks.__path__):
        module = importlib.import_module(f"benchmarks.{info.name}")
        for _, kind in inspect.getmembers(module, inspect.isclass):
            if kind.__module__ == module.__name__ and methods(kind):
                yield kind


def methods(kind):
    return [name for name in dir(kind) if name.startswith(KINDS)]


def combinations(kind):
    """List the parameters as asv does: one list, or one a parameter."""
    params = getattr(kind, "params", [])
    nested = bool(params) and isinstance(params[0], (list, tuple))
    return list(itertools.product(*(params if nested else [params] if params else [])))


SUITE = list(suite())
CASES = [(kind, values) for kind in SUITE for values in combinations(kind)]


def name_of(kind):
    return f"{kind.__module__.removeprefix('benchmarks.')}.{kind.__name__}"


@pytest.fixture(scope="module")
def caches(tmp_path_factory):
    """Make the data of each class once, in a folder of its own, when first asked for."""
    made = {}

    def cache(kind):
        if kind not in made:
            folder = tmp_path_factory.mktemp(kind.__name__)
            os.chdir(folder)
            made[kind] = folder, [kind().setup_cache()] if hasattr(kind, "setup_cache") else []
        os.chdir(made[kind][0])
        return made[kind][1]

    before = Path.cwd()
    yield cache
    os.chdir(before)


@pytest.mark.parametrize(("kind", "values"), CASES, ids=["-".join(map(str, (name_of(k), *v))) for k, v in CASES])
def test_runs_and_is_right(kind, values, caches):
    arguments = (*caches(kind), *values)
    benchmark = kind()
    try:
        getattr(benchmark, "setup", lambda *_: None)(*arguments)
    except NotImplementedError:
        pytest.skip("a combination that the benchmark leaves out")
    for name in methods(kind):
        result = getattr(benchmark, name)(*arguments)
        if name.startswith("time_"):
            benchmark.correct(result, *arguments)
        elif name.startswith("track_"):
            assert result > 0
            assert getattr(kind, name).unit
        elif name.startswith("timeraw_"):
            code = "\n".join(reversed(result)) if isinstance(result, tuple) else result
            subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, env=fresh())


def fresh():
    """Let a child import the package from here."""
    root = Path(benchmarks.__file__).parents[1]
    return os.environ | {"PYTHONPATH": os.pathsep.join([str(root), os.environ.get("PYTHONPATH", "")])}


@pytest.mark.parametrize("kind", SUITE, ids=name_of)
def test_grammar(kind):
    """Parameters are named, timed methods can be checked, and memory stands beside a baseline."""
    names, params = getattr(kind, "param_names", ()), combinations(kind)
    assert all(len(values) == len(names) for values in params)
    assert kind.__doc__
    if any(name.startswith("time_") for name in methods(kind)):
        assert hasattr(kind, "correct")
    if any(name.startswith("peakmem_") for name in methods(kind)):
        module = sys.modules[kind.__module__]
        assert any("peakmem_nothing" in dir(other) for _, other in inspect.getmembers(module, inspect.isclass))


def test_a_new_metric_is_a_new_parameter():
    from benchmarks.arrays import OneK
    from fastpassk.metrics import METRICS

    assert OneK.params[0] == list(METRICS)


def test_the_suite_is_complete():
    found = {name.split("_")[0] + "_" for kind in SUITE for name in methods(kind)}
    assert found == set(KINDS)
    assert {name_of(kind).split(".")[0] for kind in SUITE} == {"arrays", "curves", "peers", "startup"}


def test_sizes_come_from_one_place():
    from benchmarks import common

    assert str(common.ROWS) == ROWS


def test_configuration():
    folder = Path(benchmarks.__file__).parent
    settings = json.loads((folder / "asv.conf.json").read_text())
    assert (folder / settings["repo"] / "pyproject.toml").exists()
    assert settings["project"] == "fastpassk"
