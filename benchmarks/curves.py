"""From a file to counts, scores and curves, through the public functions, on a seeded dump of samples."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

import fastpassk as fp
from benchmarks.common import ROWS, exact, rate, rows
from fastpassk.metrics import METRICS

MODELS = 8
PROBLEMS = max(1, min(164, ROWS // (MODELS * 4)))
SIZES = {"samples": ROWS, "counts": ROWS, "triples": ROWS}


def samples(size: int = ROWS) -> pl.DataFrame:
    """Make a shuffled dump: one row a sample, models and problems as text."""
    rng = np.random.default_rng(2406)
    model = np.arange(size) % MODELS
    problem = np.arange(size) // MODELS % PROBLEMS
    chance = rng.beta(0.4, 0.8, (MODELS, PROBLEMS))
    frame = pl.DataFrame({"model": model, "problem": problem, "passed": rng.random(size) < chance[model, problem]})
    names = pl.format("model-{}", "model").alias("model"), pl.format("HumanEval/{}", "problem").alias("problem")
    return frame.with_columns(*names).sample(fraction=1, shuffle=True, seed=1)


def counts(size: int = ROWS) -> pl.DataFrame:
    """Make a table of counts: every model on the same, many, problems."""
    frame = pl.DataFrame(rows(size - size % MODELS)).select("n", "c").with_row_index("row")
    model = pl.format("model-{}", pl.col("row") % MODELS).alias("model")
    return frame.select(model, (pl.col("row") // MODELS).alias("problem"), "n", "c")


class Files:
    """What the classes below share: one Parquet file of each kind, made once."""

    def setup_cache(self):
        samples().write_parquet("samples.parquet")
        counts().write_parquet("counts.parquet")
        pl.DataFrame(rows()).write_parquet("triples.parquet")
        return {kind: str(Path(f"{kind}.parquet").resolve()) for kind in SIZES}


class Count(Files):
    """Samples to counts, the hot path; beside it the same group-by in Polars, with nothing checked."""

    params = ("fastpassk", "polars")
    param_names = ("by",)

    def setup(self, files, by):
        self.time_count(files, by)

    def time_count(self, files, by):
        if by == "fastpassk":
            return fp.count(files["samples"])
        groups = pl.scan_parquet(files["samples"]).group_by("model", "problem")
        return groups.agg(n=pl.len(), c=pl.col("passed").sum()).sort("model", "problem").collect()

    def peakmem_count(self, files, by):
        self.time_count(files, by)

    def track_rows_a_second(self, files, by):
        return rate(lambda: self.time_count(files, by), SIZES["samples"])

    track_rows_a_second.unit = "rows/s"

    def correct(self, found, files, _by):
        frame = pl.read_parquet(files["samples"])
        assert found["n"].sum() == frame.height
        assert found["c"].sum() == frame["passed"].sum()
        assert found.height == frame.n_unique(["model", "problem"])


class Curve(Files):
    """A file to per-model curves, from samples and from counts, for every metric."""

    params = (["samples", "counts"], list(METRICS))
    param_names = ("kind", "metric")

    def setup(self, files, kind, metric):
        self.time_curve(files, kind, metric)

    def time_curve(self, files, kind, metric):
        return fp.curve(files[kind], [1, 2], metric=metric)

    def peakmem_curve(self, files, kind, metric):
        self.time_curve(files, kind, metric)

    def track_rows_a_second(self, files, kind, metric):
        return rate(lambda: self.time_curve(files, kind, metric), SIZES[kind])

    track_rows_a_second.unit = "rows/s"

    def correct(self, found, files, kind, _metric):
        table = pl.read_parquet(files[kind])
        rates = table.group_by("model", "problem").agg(p=pl.col("passed").mean()) if kind == "samples" else table
        if kind == "counts":
            rates = rates.with_columns(p=pl.col("c") / pl.col("n"))
        means = rates.group_by("model").agg(pl.col("p").mean()).sort("model")["p"]
        firsts = found.filter(pl.col("k") == 1).sort("model")["estimate"]
        np.testing.assert_allclose(firsts.to_numpy(), means.to_numpy(), rtol=1e-12)


class Score(Files):
    """Scores row by row: triples from Parquet to Parquet, streamed; counts to one row a problem and k."""

    params = (["triples", "counts"], list(METRICS))
    param_names = ("kind", "metric")

    def setup(self, files, kind, metric):
        self.time_score(files, kind, metric)

    def time_score(self, files, kind, metric):
        ks = None if kind == "triples" else [10]
        fp.score(files[kind], ks, metric=metric, sink="scored.parquet")

    def peakmem_score(self, files, kind, metric):
        self.time_score(files, kind, metric)

    def track_rows_a_second(self, files, kind, metric):
        return rate(lambda: self.time_score(files, kind, metric), SIZES[kind])

    track_rows_a_second.unit = "rows/s"

    def correct(self, _found, files, kind, metric):
        table = pl.read_parquet("scored.parquet")
        expected = exact(metric, table["n"].to_numpy(), table["c"].to_numpy(), table["k"].to_numpy())
        assert table.height == pl.read_parquet(files[kind]).height
        np.testing.assert_array_equal(table["score"].to_numpy(), expected)


class Nothing(Files):
    """The baseline of every `peakmem_` here: the packages loaded, nothing read."""

    def peakmem_nothing(self, files):
        assert files
