"""Inputs of every kind, brought to one form: which columns play which role, and their values in one spelling."""

from fastpassk.sources.dataset import Dataset, read
from fastpassk.sources.failures import collect, fingerprints, translated
from fastpassk.sources.problems import problem_names
from fastpassk.sources.sinks import sink_parquet, streamed

__all__ = ["Dataset", "collect", "fingerprints", "problem_names", "read", "sink_parquet", "streamed", "translated"]
