"""What starting costs, each in a fresh interpreter: importing, the first call, and the first call ever.

The first call of small work needs no compiled kernel; that of large work loads one from numba's cache; the first one
ever compiles it. The code before the semicolon of asv's pair is not timed.
"""

from __future__ import annotations

LARGE = """
import numpy as np
import fastpassk
rng = np.random.default_rng(1)
n = rng.integers(1_000, 1_200, 300_000)
c = rng.integers(0, 1_000, 300_000)
k = rng.integers(1, 1_000, 300_000)
"""
NO_CACHE = """
import os, tempfile
os.environ["NUMBA_CACHE_DIR"] = tempfile.mkdtemp()
"""
HELP = """
import contextlib, io
from fastpassk.cli import main
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    main(["--help"])
"""


class Import:
    """Importing the package, beside an import that does nothing new and those that it avoids."""

    params = ("sys", "fastpassk", "numpy", "polars", "numba")
    param_names = ("package",)

    def timeraw_import(self, package):
        return f"import {package}"


class Help:
    """The help text of the command line."""

    def timeraw_help(self):
        return HELP


class FirstCall:
    """The first call in a process, the imports of the caller's own not counted."""

    def timeraw_scalar(self):
        return "fastpassk.pass_at_k(200, 5, 10)", "import fastpassk"

    def timeraw_array(self):
        return "fastpassk.pass_at_k([200] * 164, [5] * 164, 10)", "import fastpassk, numpy"

    def timeraw_kernel_cached(self):
        return "fastpassk.pass_at_k(n, c, k)", LARGE

    def timeraw_kernel_compiled(self):
        return "fastpassk.pass_at_k(n, c, k)", NO_CACHE + LARGE
