"""Samples to counts: `count`, and the one way in that the later steps share."""

from __future__ import annotations

from fastpassk.steps.counts.count import Counted, count, counted, declared_stop, grouped

__all__ = ["Counted", "count", "counted", "declared_stop", "grouped"]
