"""The array functions on columns: one k for all rows, a k a row, and whole curves; a new metric is a new parameter."""

from __future__ import annotations

import numpy as np

import fastpassk as fp
from benchmarks.common import KS, ROWS, exact, rate, rows
from fastpassk.metrics import METRICS

CURVES = max(1, ROWS // 100)  # rows of a curve, which has up to a hundred values each


class OneK:
    """The same k for all rows: the columns of the table are cached, so this is a gather."""

    params = (list(METRICS), [1, 10, 100])
    param_names = ("metric", "k")

    def setup_cache(self):
        return rows()

    def setup(self, data, metric, k):
        self.function = getattr(fp, METRICS[metric].function)
        self.out = np.empty(len(data["n"]))
        self.time_rows(data, metric, k)  # compiled and cached before anything is timed

    def time_rows(self, data, _metric, k):
        return self.function(data["n"], data["c"], k, out=self.out)

    def track_rows_a_second(self, data, metric, k):
        return rate(lambda: self.time_rows(data, metric, k), len(data["n"]))

    track_rows_a_second.unit = "rows/s"

    def correct(self, found, data, metric, k):
        np.testing.assert_array_equal(found, exact(metric, data["n"], data["c"], np.array(k)))


class OneKMemory:
    """Peak memory of one call, the kernels it loads included, beside a call on a few of the same rows."""

    params = tuple(METRICS)
    param_names = ("metric",)

    def setup_cache(self):
        return rows()

    def setup(self, _data, metric):
        self.function = getattr(fp, METRICS[metric].function)

    def peakmem_rows(self, data, _metric):
        self.function(data["n"], data["c"], 10)

    def peakmem_nothing(self, data, _metric):
        self.function(data["n"][:10], data["c"][:10], 10)


class Triples:
    """A k a row, validated, in several integer widths."""

    params = (list(METRICS), ["uint8", "int32", "int64"])
    param_names = ("metric", "dtype")

    def setup_cache(self):
        return {dtype: rows(dtype=dtype) for dtype in self.params[1]}

    def setup(self, data, metric, dtype):
        self.function = getattr(fp, METRICS[metric].function)
        self.columns = [data[dtype][name] for name in ("n", "c", "k")]
        self.out = np.empty(len(self.columns[0]))
        self.time_rows(data, metric, dtype)

    def time_rows(self, _data, _metric, _dtype):
        return self.function(*self.columns, out=self.out)

    def track_rows_a_second(self, data, metric, dtype):
        return rate(lambda: self.time_rows(data, metric, dtype), len(self.out))

    track_rows_a_second.unit = "rows/s"

    def correct(self, found, _data, metric, _dtype):
        np.testing.assert_array_equal(found, exact(metric, *self.columns))


class Curve:
    """Every row at many k; and one problem with so many samples that the running product walks its curve."""

    params = (list(METRICS), ["few", "all", "long"])
    param_names = ("metric", "ks")

    def setup_cache(self):
        return rows(CURVES)

    def setup(self, data, metric, ks):
        if ks == "long" and metric != "pass@k":
            raise NotImplementedError  # the same walk
        self.n, self.c = (300_000, 17) if ks == "long" else (data["n"], data["c"])
        self.ks = {"few": list(KS), "all": range(1, 101), "long": range(1, min(ROWS, 10_000) + 1)}[ks]
        self.time_curve(data, metric, ks)

    def time_curve(self, _data, metric, _ks):
        return fp.pass_curve(self.n, self.c, self.ks, metric=metric)

    def track_values_a_second(self, data, metric, ks):
        return rate(lambda: self.time_curve(data, metric, ks), np.size(self.n) * len(self.ks))

    track_values_a_second.unit = "values/s"

    def correct(self, found, _data, metric, _ks):
        n, c = np.array(self.n)[..., None], np.array(self.c)[..., None]
        some = slice(None, None, max(1, len(self.ks) // 25))  # exact integers of many digits take their time
        np.testing.assert_array_equal(found[..., some], exact(metric, n, c, np.array(self.ks[some])))


class PlugIn:
    """The biased formula, for comparison: no table, a logarithm and an exponential a row."""

    def setup_cache(self):
        return rows()

    def time_rows(self, data):
        return fp.plug_in(data["n"], data["c"], 10)

    def correct(self, found, data):
        np.testing.assert_allclose(found, 1 - (1 - data["c"] / data["n"]) ** 10, rtol=1e-13)
