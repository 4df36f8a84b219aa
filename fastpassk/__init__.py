"""Exact pass@k: from raw dumps or (n, c) counts to per-problem scores and per-model curves.

Only names stand here. Each is fetched from its module when it is first used, so importing the package loads none of
numpy, numba, polars and pyarrow.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from fastpassk._version import __version__

if TYPE_CHECKING:
    from fastpassk.arrays import pass_at_k, pass_curve, pass_hat_k, plug_in
    from fastpassk.errors import FastpasskError, FastpasskWarning, UsageError
    from fastpassk.metrics import METRICS
    from fastpassk.schema.options import Options
    from fastpassk.sources import Dataset, read
    from fastpassk.steps.checks import check
    from fastpassk.steps.counts.count import count
    from fastpassk.steps.curves.curve import curve
    from fastpassk.steps.merge import merge
    from fastpassk.steps.provenance import provenance, write
    from fastpassk.steps.scores.score import score
    from fastpassk.steps.tallies import tally

_HOMES = {
    "pass_at_k": "arrays",
    "pass_hat_k": "arrays",
    "pass_curve": "arrays",
    "plug_in": "arrays",
    "read": "sources",
    "Dataset": "sources",
    "count": "steps.counts",
    "tally": "steps.tallies",
    "score": "steps.scores",
    "curve": "steps.curves",
    "merge": "steps.merge",
    "check": "steps.checks",
    "provenance": "steps.provenance",
    "write": "steps.provenance",
    "FastpasskError": "errors",
    "UsageError": "errors",
    "FastpasskWarning": "errors",
    "METRICS": "metrics",
    "Options": "schema.options",
}

__all__ = [
    "METRICS",
    "Dataset",
    "FastpasskError",
    "FastpasskWarning",
    "Options",
    "UsageError",
    "__version__",
    "check",
    "count",
    "curve",
    "merge",
    "pass_at_k",
    "pass_curve",
    "pass_hat_k",
    "plug_in",
    "provenance",
    "read",
    "score",
    "tally",
    "write",
]


if not TYPE_CHECKING:  # type checkers see the imports above, and so report a name that does not exist

    def __getattr__(name: str) -> object:
        """Fetch a public name from its module, and keep it."""
        if name not in _HOMES:
            raise AttributeError(f"module 'fastpassk' has no attribute {name!r}")
        value: object = getattr(import_module(f"fastpassk.{_HOMES[name]}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    """List the public names, those not fetched yet among them."""
    return sorted(__all__)
