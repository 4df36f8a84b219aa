"""Frames as text: aligned columns for a terminal, and Markdown.

Pure functions from a frame to a text. Rates are rounded half-even from the exact value of the double, to a fixed number
of digits. A null is `–`; why it is null is said by the step that made it. A cell that a group never had is empty.
Names are shown on one line whatever they hold: control characters are written as escapes.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from fastpassk.errors import choose
from fastpassk.schema.frames import CURVES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import polars as pl

LAYOUTS = ("wide", "long")
UNITS = ("fraction", "percent")
DIGITS = {"fraction": 3, "percent": 1}
NULL = "–"
GAP = "  "
# Columns that hold rates; other floats (a temperature, a reward) are shown as they are.
RATES = frozenset({"score", "estimate", "std_error", "low", "high"})

Row = dict[str, Any]


@dataclass(frozen=True)
class Table:
    """Cells ready to be laid out.

    Parameters
    ----------
    head
        The names of the columns.
    rows
        Texts, one list a row, as long as `head`.
    right
        For each column, whether it is aligned to the right.
    keys
        How many leading columns are repeated when the others do not fit beside each other.
    """

    head: list[str]
    rows: list[list[str]]
    right: list[bool]
    keys: int = 0


def curves_text(
    frame: pl.DataFrame,
    *,
    layout: str = "wide",
    unit: str = "fraction",
    digits: int | None = None,
    width: int | None = None,
) -> str:
    """Write a Curves frame as an aligned table.

    Parameters
    ----------
    frame
        Curves, as `curve` returns them.
    layout
        `wide`: a row a group, a column a k. `long`: a row a group and k, with the standard error.
    unit
        `fraction` or `percent`.
    digits
        Digits after the point; 3 for fractions and 1 for percent by default.
    width
        Columns of the terminal. What does not fit beside is written below, in further blocks; None is without limit.

    Returns
    -------
    Lines, each ended by a newline.

    Raises
    ------
    UsageError
        A layout or a unit that does not exist.
    """
    return _lines(curves_table(frame, layout=layout, unit=unit, digits=digits), width)


def curves_markdown(
    frame: pl.DataFrame, *, layout: str = "wide", unit: str = "fraction", digits: int | None = None
) -> str:
    """Write a Curves frame as a Markdown table; the options are those of `curves_text`."""
    return _markdown(curves_table(frame, layout=layout, unit=unit, digits=digits))


def frame_text(
    frame: pl.DataFrame, *, digits: int | None = None, width: int | None = None, limit: int | None = None
) -> str:
    """Write any frame as an aligned table.

    Parameters
    ----------
    frame
        Any frame.
    digits
        Digits after the point of rates (`score`, `estimate`, …); 3 by default. Other floats are shown in full.
    width
        Columns of the terminal, as for `curves_text`.
    limit
        The most rows to show; a last line says how many more there are. None shows all.

    Returns
    -------
    Lines, each ended by a newline.
    """
    shown = frame if limit is None else frame.head(limit)
    rest = frame.height - shown.height
    return _lines(frame_table(shown, digits=digits), width) + (f"… {rest} more rows\n" if rest else "")


def markdown(frame: pl.DataFrame, *, digits: int | None = None) -> str:
    """Write any frame as a Markdown table, all rows; `digits` as for `frame_text`."""
    return _markdown(frame_table(frame, digits=digits))


def rows_text(rows: Sequence[dict[str, str]]) -> str:
    """Write rows of texts, all with the keys of the first, as an aligned table."""
    head = list(rows[0])
    return _lines(Table(head, [list(map(cell, row.values())) for row in rows], [False] * len(head)), None)


def curves_table(
    frame: pl.DataFrame, *, layout: str = "wide", unit: str = "fraction", digits: int | None = None
) -> Table:
    """Make the cells of a Curves frame; the options are those of `curves_text`."""
    known = {column.name for column in CURVES.columns}
    by = [name for name in frame.columns if name not in known]
    make = _wide if choose(layout, LAYOUTS, "layout") == "wide" else _long
    return make(list(frame.iter_rows(named=True)), by, _rates(unit, digits))


def frame_table(frame: pl.DataFrame, *, digits: int | None = None) -> Table:
    """Make the cells of any frame: rates with fixed digits, everything else as it is."""
    rate = _rates("fraction", digits)
    writers = [rate if name in RATES else cell for name in frame.columns]
    rows = [[write(value) for write, value in zip(writers, row, strict=True)] for row in frame.iter_rows()]
    keys = frame.columns.index("problem") + 1 if "problem" in frame.columns else 0
    return Table(list(map(cell, frame.columns)), rows, [dtype.is_numeric() for dtype in frame.dtypes], keys)


def cell(value: object) -> str:
    """Write a value on one line: null as `–`, control characters as escapes."""
    if value is None:
        return NULL
    if isinstance(value, bool):
        return "true" if value else "false"
    text = str(value)
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)


def label(metric: str, k: int) -> str:
    """Write the name of a metric at a k: pass@k and 10 give pass@10."""
    for sign in "@^":
        if f"{sign}k" in metric:
            return metric.replace(f"{sign}k", f"{sign}{k}", 1)
    return f"{metric} k={k}"


def _wide(rows: list[Row], by: list[str], rate: Callable[[object], str]) -> Table:
    groups: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in by), []).append(row)
    metrics = list(dict.fromkeys(row["metric"] for row in rows))
    points = sorted({(metrics.index(row["metric"]), row["k"]) for row in rows})
    lines = []
    for group, members in groups.items():
        at = {(metrics.index(row["metric"]), row["k"]): rate(row["estimate"]) for row in members}
        lines.append([*map(cell, group), *(at.get(point, "") for point in points), *_coverage(members)])
    head = [*map(cell, by), *(label(metrics[metric], k) for metric, k in points), "problems", "n"]
    return Table(head, lines, _sides(head, len(by)), len(by))


def _long(rows: list[Row], by: list[str], rate: Callable[[object], str]) -> Table:
    ends = ["low", "high"] if any(row["low"] is not None for row in rows) else []
    head = [*by, "metric", "k", "estimate", *ends, "problems", "undefined", "n"]
    lines = []
    for row in rows:
        estimate = rate(row["estimate"])
        if row["std_error"] is not None and row["estimate"] is not None:
            estimate += f" (se {rate(row['std_error'])})"
        names = [cell(row[name]) for name in (*by, "metric")]
        counts = [cell(row[name]) for name in ("problems", "undefined")]
        interval = [rate(row[name]) for name in ends]
        lines.append([*names, cell(row["k"]), estimate, *interval, *counts, _span([row["n_min"]], [row["n_max"]])])
    return Table(list(map(cell, head)), lines, _sides(head, len(by) + 1), len(by) + 2)


def _sides(head: Sequence[str], names: int) -> list[bool]:
    return [place >= names for place in range(len(head))]


def _coverage(rows: list[Row]) -> list[str]:
    """Write how many problems a group has, and its n."""
    problems = [row["problems"] for row in rows]
    return [_span(problems, problems), _span([row["n_min"] for row in rows], [row["n_max"] for row in rows])]


def _span(lows: Iterable[int | None], highs: Iterable[int | None]) -> str:
    known_lows = [low for low in lows if low is not None]
    known_highs = [high for high in highs if high is not None]
    if not known_lows or not known_highs:
        return NULL
    low, high = min(known_lows), max(known_highs)
    return str(low) if low == high else f"{low}–{high}"


def _rates(unit: str, digits: int | None) -> Callable[[object], str]:
    """Make the function that writes a rate."""
    places = DIGITS[choose(unit, UNITS, "unit")] if digits is None else digits
    style = f".{places}{'%' if unit == 'percent' else 'f'}"

    def rate(value: object) -> str:
        # A Decimal holds the double exactly, and its percent sign shifts the point without rounding.
        return format(Decimal(value), style) if isinstance(value, float) and value == value else NULL

    return rate


def _lines(table: Table, width: int | None) -> str:
    """Lay a table out in aligned columns, in as many blocks as the width asks for."""
    columns = [[name, *cells] for name, cells in zip(table.head, _columns(table), strict=True)]
    widths = [max(map(_width, column)) for column in columns]
    texts = []
    for block in _blocks(widths, table.keys, width):
        padded = [[_pad(text, widths[place], right=table.right[place]) for text in columns[place]] for place in block]
        texts.append("".join(GAP.join(line).rstrip() + "\n" for line in zip(*padded, strict=True)))
    return "\n".join(texts)


def _columns(table: Table) -> list[list[str]]:
    return [[row[place] for row in table.rows] for place in range(len(table.head))]


def _blocks(widths: list[int], keys: int, width: int | None) -> list[list[int]]:
    """Deal the columns into blocks no wider than `width`, each with the keys and at least one more."""
    start = list(range(keys))
    blocks = [list(start)]
    for place in range(keys, len(widths)):
        wider = sum(widths[column] + len(GAP) for column in blocks[-1]) + widths[place]
        if width is not None and wider > width and len(blocks[-1]) > keys:
            blocks.append(list(start))
        blocks[-1].append(place)
    return blocks


def _markdown(table: Table) -> str:
    rule = ["---:" if right else "---" for right in table.right]
    lines = [list(map(_marked, table.head)), rule, *(list(map(_marked, row)) for row in table.rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _marked(text: str) -> str:
    """Take the meaning from the signs that would break a cell or vanish from it."""
    return "".join("\\" + sign if sign in "\\|<*`" else sign for sign in text)


def _pad(text: str, width: int, *, right: bool) -> str:
    space = " " * (width - _width(text))
    return space + text if right else text + space


def _width(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    from unicodedata import category, east_asian_width

    zero = ("Mn", "Me")
    return sum(0 if category(sign) in zero else 1 + (east_asian_width(sign) in "WF") for sign in text)
