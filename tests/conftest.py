"""Settings of all tests."""

from __future__ import annotations

from hypothesis import settings

# A busy machine makes single examples slow; speed is measured by the benchmarks, never here.
settings.register_profile("fastpassk", deadline=None)
settings.load_profile("fastpassk")
