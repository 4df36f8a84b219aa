"""Metrics: one file a metric, one line each in `METRICS`; `evaluate` and `means` compute them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastpassk.errors import choose
from fastpassk.metrics import pass_at_k, pass_hat_k

if TYPE_CHECKING:
    from fastpassk.metrics.records import Metric

METRICS: dict[str, Metric] = {record.name: record for record in (pass_at_k.PASS, pass_hat_k.PASS)}


def metric(name: str) -> Metric:
    """Return the metric of that name.

    Raises
    ------
    UsageError
        there is none; the message lists the names and guesses.
    """
    return METRICS[choose(name, METRICS, "metric")]
