"""Tallies and scores to curves: the mean over problems at each k, for each group."""

from __future__ import annotations

from fastpassk.steps.curves.curve import curve

__all__ = ["curve"]
