"""Inputs of every kind, brought to one form: which columns play which role, and their values in one spelling."""

from fastpassk.sources.dataset import Dataset, read
from fastpassk.sources.failures import collect, fingerprints, translated

__all__ = ["Dataset", "collect", "fingerprints", "read", "translated"]
