"""The named references are as wrong as they are said to be, and no more."""

from __future__ import annotations

import numpy as np
import pytest

from fastpassk.kernels.references import log_sum, product_loop
from fastpassk.metrics import METRICS


@pytest.mark.parametrize(("reference", "units"), [(log_sum, 2), (product_loop, 30)])
def test_errors_in_units_in_the_last_place(reference, units):
    n = 60
    c, k = (a.ravel() for a in np.meshgrid(np.arange(n + 1), np.arange(1, n + 1)))
    truth = np.array([float(METRICS["pass@k"].exact(n, a, b)) for a, b in zip(c.tolist(), k.tolist(), strict=True)])
    off = np.abs(reference(n, c, k) - truth) / np.spacing(np.maximum(truth, 1e-300))
    assert 0 < off.max() <= units


@pytest.mark.parametrize("reference", [log_sum, product_loop])
def test_shapes_and_k_beyond_n(reference):
    values = reference([[3], [5]], 2, [1, 4])
    assert values.shape == (2, 2)
    assert np.isnan(values[0, 1])
    np.testing.assert_allclose(values[[0, 1, 1], [0, 0, 1]], [2 / 3, 0.4, 1.0], rtol=1e-15)
    assert reference([], [], []).shape == (0,)
