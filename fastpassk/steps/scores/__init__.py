"""Scores: the metric of every problem at every k, or of every row of a table of triples."""

from __future__ import annotations

from fastpassk.steps.scores.score import score
from fastpassk.steps.scores.values import chosen, values_of

__all__ = ["chosen", "score", "values_of"]
