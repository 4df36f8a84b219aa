"""Write the bundled data anew: made dumps from a fixed seed, and small published count tables stated as facts.

Usage: python data/make_data.py [FOLDER]. One function a file; each returns the table it stands for. Only the uniform
doubles of PCG64 are used, whose stream NumPy keeps from version to version, so the tables are the same everywhere. The
file bytes depend on the Parquet writer, and are not compared.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from collections.abc import Callable

SEED = 20210707
PROBLEMS, DRAWS = 164, 200
NEVER, ALWAYS = 7, 11  # problems that no model ever solves, and that every model always solves
# Made-up models: the two shapes of the law of their pass rates. Below 1 it is U-shaped, as real ones are.
MODELS = {"small-1b": (0.35, 2.2), "base-7b": (0.45, 1.3), "large-34b": (0.6, 0.9), "huge-70b": (0.9, 0.6)}
REASONS = ("timeout", "infra", "truncated", "unparsed")

# How many of 50 problems were solved in c = 0..4 of 4 trials (see README.md beside this file).
TAUBENCH_AIRLINE = (14, 12, 10, 4, 10)
# How many of 164 problems were solved in c = 0..10 of 10 samples (see README.md beside this file).
HUMANEVAL = {
    "CodeLlama-34b-Instruct": (75, 6, 4, 0, 5, 2, 2, 2, 2, 6, 60),
    "gpt-3.5-turbo": (23, 5, 5, 0, 2, 2, 2, 6, 5, 5, 109),
    "gpt-4": (15, 2, 1, 2, 1, 5, 3, 0, 5, 6, 124),
}


def samples() -> pl.DataFrame:
    """Return a raw dump: 4 models, 164 problems, 200 samples of each, one row a sample."""
    rng = np.random.Generator(np.random.PCG64(SEED))
    difficulty = rng.random(PROBLEMS)
    rates = np.stack([_pass_rates(rng, difficulty, *shapes) for shapes in MODELS.values()])
    passed = rng.random((len(MODELS), PROBLEMS, DRAWS)) < rates[:, :, None]
    return pl.DataFrame(
        {
            "model": np.repeat(list(MODELS), PROBLEMS * DRAWS),
            "problem": np.tile(np.repeat([f"HumanEval/{i}" for i in range(PROBLEMS)], DRAWS), len(MODELS)),
            "attempt": np.tile(np.arange(DRAWS), len(MODELS) * PROBLEMS),
            "passed": passed.ravel(),
        }
    )


def ragged() -> pl.DataFrame:
    """Return a ragged dump: a model at two temperatures, 24 problems with 3 to 14 samples, some without an outcome."""
    rng = np.random.Generator(np.random.PCG64(SEED + 1))
    rows = [row for temperature in (0.2, 0.8) for task in range(24) for row in _trials(rng, temperature, task)]
    return pl.DataFrame(rows, schema_overrides={"passed": pl.Boolean, "reason": pl.String})


def taubench_gpt4o_airline() -> pl.DataFrame:
    """Return the published histogram of tau-bench's airline tasks, as a tally."""
    return _tally("tau-bench airline", {"gpt-4o": TAUBENCH_AIRLINE})


def humaneval_results() -> pl.DataFrame:
    """Return the published histograms of three models on HumanEval, as a tally."""
    return _tally("HumanEval", HUMANEVAL)


FILES: dict[str, Callable[[], pl.DataFrame]] = {
    "samples.parquet": samples,
    "ragged.ndjson": ragged,
    "taubench_gpt4o_airline.csv": taubench_gpt4o_airline,
    "humaneval_results.csv": humaneval_results,
}


def main(folder: Path) -> None:
    """Write every file into `folder`."""
    for name, make in FILES.items():
        _write(make(), folder / name)
        print(f"{name}: {(folder / name).stat().st_size:,} bytes")


def _pass_rates(rng: np.random.Generator, difficulty: np.ndarray, a: float, b: float) -> np.ndarray:
    """Draw pass rates that mostly fall with difficulty; the law is Kumaraswamy's, a beta law in closed form."""
    law = np.sort((1 - (1 - rng.random(PROBLEMS)) ** (1 / b)) ** (1 / a))
    easiest_last = np.argsort(np.argsort(-(difficulty + 0.25 * rng.random(PROBLEMS))))
    rates = law[easiest_last]
    order = np.argsort(difficulty)
    rates[order[:ALWAYS]] = 1.0
    rates[order[PROBLEMS - NEVER :]] = 0.0
    return rates


def _trials(rng: np.random.Generator, temperature: float, task: int) -> list[dict[str, object]]:
    rate, count = rng.random() ** (0.5 + temperature), 3 + int(12 * rng.random())
    key: dict[str, object] = {"model": "base-7b", "temperature": temperature, "task_id": f"task-{task:02d}"}
    return [key | {"trial": trial} | _trial(rng, rate) for trial in range(count)]


def _trial(rng: np.random.Generator, rate: float) -> dict[str, object]:
    draw, fate, which = rng.random(3)
    if fate < 0.05:
        return {"passed": None, "reason": REASONS[int(which * len(REASONS))]}
    return {"passed": bool(draw < rate), "reason": None}


def _tally(benchmark: str, histograms: dict[str, tuple[int, ...]]) -> pl.DataFrame:
    """Turn histograms over c = 0..n into the rows of a tally, leaving out what no problem did."""
    rows = [
        {"model": model, "benchmark": benchmark, "n": len(histogram) - 1, "c": c, "problems": problems}
        for model, histogram in histograms.items()
        for c, problems in enumerate(histogram)
        if problems
    ]
    return pl.DataFrame(rows)


def _write(frame: pl.DataFrame, path: Path) -> None:
    if path.suffix == ".csv":
        frame.write_csv(path)
    elif path.suffix == ".ndjson":
        frame.write_ndjson(path)
    else:
        table = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
        plain = pa.schema([(f.name, pa.string() if pa.types.is_large_string(f.type) else f.type) for f in table.schema])
        pq.write_table(table.cast(plain), path, compression="zstd", use_dictionary=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
