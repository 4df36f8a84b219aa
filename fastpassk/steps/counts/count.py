"""`count`: any source of samples or counts becomes one row a problem with n and c.

Everything is an integer here. Counts are keyed by the full identity plus problem; a narrower `by` is applied after
counting, where the check that nothing is pooled silently is still possible.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from fastpassk.errors import FastpasskError, UsageError, tell
from fastpassk.schema.options import Options, Settings
from fastpassk.schema.provenance import digest, remember
from fastpassk.sources import Dataset, fingerprints, read
from fastpassk.steps.counts.expected import complete, shared
from fastpassk.steps.counts.given import checked_counts
from fastpassk.steps.counts.grouping import group_columns, narrow, with_group, without_empty
from fastpassk.steps.counts.samples import counts_of_samples

if TYPE_CHECKING:
    from typing import Unpack

    import polars as pl


_USE = {
    "tally": "use tally or curve on it",
    "triples": "use score or curve on it",
    "scores": "use curve on it",
}


@dataclass(frozen=True)
class Counted:
    """Counts on their way: the frame, its key columns before `problem`, and the rule by which sampling stopped."""

    frame: pl.DataFrame
    identity: list[str]
    stopped: int | None
    inputs: tuple[str | None, ...]  # None for a table that does not say what it was made from


def count(source: Any, **options: Unpack[Options]) -> pl.DataFrame:
    """Count samples and passes: one row for each identity and problem.

    Parameters
    ----------
    source
        A path, glob, directory, list of these, Polars frame, or anything with `__arrow_c_stream__`; samples or counts.
    options
        See `fastpassk.Options`; here `by` names the identity columns itself.

    Returns
    -------
    Counts: the identity columns, `problem`, `n` and `c` (Int64), sorted; one row a key.

    Raises
    ------
    FastpasskError
        The data cannot be counted without a guess: outcomes that are none, missing ones without a policy,
        duplicates, pooling. A `UsageError` for options and names that do not exist.
    """
    settings = Settings.of(options)
    dataset = read(source, **settings.reading())
    result = grouped(counted(dataset, settings), settings)
    frame = result.frame.sort([*result.identity, "problem"], nulls_last=True)
    return remember(
        frame,
        "counts",
        identity=result.identity,
        stopped=result.stopped,
        options=settings.stated(),
        counts_sha256=digest(frame),
        inputs=_stated(result.inputs, frame),
    )


def counted(dataset: Dataset, settings: Settings) -> Counted:
    """Bring a dataset of samples or counts to counts keyed by its full identity and problem."""
    if dataset.kind == "samples":
        _tell_files(dataset)
        frame = counts_of_samples(dataset, settings)
    elif dataset.kind == "counts":
        frame = checked_counts(dataset, settings)
    else:
        raise UsageError(f"the input is a table of {dataset.kind}, without samples or counts; {_USE[dataset.kind]}")
    stopped = declared_stop(dataset, settings)
    if dataset.has("stopped"):
        refuse_unmarked_stop(frame, stopped)
    frame = frame.select(*dataset.identity, "problem", "n", "c")
    frame, identity = without_empty(frame, list(dataset.identity), settings)
    return Counted(frame, identity, stopped, tuple(fingerprints(dataset)))


def grouped(counts: Counted, settings: Settings) -> Counted:
    """Narrow counts to `by`, complete them by the list of problems, and keep the common ones where asked."""
    by = group_columns(counts.identity, settings)
    frame = narrow(counts.frame, counts.identity, by, settings)
    frame, by = with_group(frame, by)
    frame = complete(frame.select(*by, "problem", "n", "c"), by, settings, counts.stopped)
    if settings.common:
        frame = shared(frame, by)
    return replace(counts, frame=frame, identity=by)


def declared_stop(dataset: Dataset, settings: Settings) -> int | None:
    """Return the stopping rule: the option, else what the tables say of themselves, which must then be one thing."""
    said = [one.get("stopped") for one in dataset.said]
    written = list(dict.fromkeys(one if isinstance(one, int) else None for one in said))
    if settings.stopped is None and len(written) > 1:
        rules = " and ".join("without a rule" if one is None else f"with stopped={one}" for one in written)
        raise FastpasskError(f"the tables were made {rules}; score them one at a time, or declare one rule (--stopped)")
    other = [one for one in written if one not in (None, settings.stopped)]
    if settings.stopped is not None and other:
        raise UsageError(f"the table was made with stopped={other[0]}, not stopped={settings.stopped}")
    return settings.stopped if settings.stopped is not None else next(iter(written), None)


def refuse_unmarked_stop(frame: pl.DataFrame, stopped: int | None) -> None:
    """Refuse rows marked as stopped early when no rule is declared: n and c alone would be biased."""
    if stopped is None and frame["stopped"].any():
        rows = int(frame["stopped"].sum())
        raise FastpasskError(
            f"{rows} problems are marked as stopped early, which biases pass@k upwards; declare the rule, "
            "as in stopped=1 when sampling ended at the first pass (--stopped 1)"
        )


def _stated(inputs: tuple[str | None, ...], frame: pl.DataFrame) -> list[str]:
    """List the inputs, sorted; rows that came from no file are named by what they were counted to."""
    known = {one for one in inputs if one is not None}
    return sorted(known | ({"rows:" + digest(frame)} if None in inputs else set()))


def _tell_files(dataset: Dataset) -> None:
    """Say that samples of several files are counted together when nothing in them says what they are samples of."""
    told = dataset.identity or "attempt" in dataset.columns or dataset.columns.get("problem") == "(folder)"
    if len(dataset.inputs) > 1 and not told:
        tell(
            f"the {len(dataset.inputs)} files have no column that says which model they are of, so all are counted as "
            "repeats of one experiment; by='file' (--by file) keeps them apart"
        )
