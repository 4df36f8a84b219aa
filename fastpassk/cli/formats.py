"""`fastpassk formats`: the input formats, from the tables that tell them."""

from __future__ import annotations

from fastpassk.storage import FORMATS, SUFFIXES

BINARY = ("parquet", "arrow", "arrow-stream")  # pack their columns themselves


def formats() -> list[dict[str, str]]:
    """List the formats that a source may have.

    Returns
    -------
    For each one its name (for `--format`), its suffixes, the compression that may stand around it, and an example.
    """
    return [_describe(name, [suffix for suffix, kind in SUFFIXES.items() if kind == name]) for name in FORMATS]


def _describe(name: str, suffixes: list[str]) -> dict[str, str]:
    packed = "" if name in BINARY else ".gz .zst"
    example = f"fastpassk check results{suffixes[0]}{packed[:3]}"
    return {"format": name, "suffixes": " ".join(suffixes), "compressed": packed, "example": example}
