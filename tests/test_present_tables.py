"""Frames as text: rounding, nulls, alignment, wrapping, odd names."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastpassk.errors import UsageError
from fastpassk.present import tables

BY = {"model": "a"}


def curves(*rows: dict[str, Any], by: tuple[str, ...] = ("model",)) -> pl.DataFrame:
    """A Curves frame of rows that name only what matters."""
    usual = {
        "metric": "pass@k", "k": 1, "estimate": 0.5, "std_error": 0.03125, "low": None, "high": None,
        "problems": 164, "undefined": 0, "n_min": 200, "n_max": 200,
    }  # fmt: skip
    full = [dict.fromkeys(by, "a") | usual | row for row in rows]
    schema = dict.fromkeys(by, pl.String) | {
        "metric": pl.String, "k": pl.Int64, "estimate": pl.Float64, "std_error": pl.Float64, "low": pl.Float64,
        "high": pl.Float64, "problems": pl.Int64, "undefined": pl.Int64, "n_min": pl.Int64, "n_max": pl.Int64,
    }  # fmt: skip
    return pl.DataFrame(full, schema)


def test_the_wide_layout_has_a_row_a_model_and_a_column_a_k() -> None:
    frame = curves(
        {"k": 1, "estimate": 0.3125},
        {"k": 10, "estimate": 1.0},
        {"model": "longer", "k": 1, "estimate": 0.0, "n_min": 10},
        {"model": "longer", "k": 10, "estimate": None, "std_error": None, "n_min": 10},
    )
    assert tables.curves_text(frame) == (
        "model   pass@1  pass@10  problems       n\n"
        "a        0.312    1.000       164     200\n"
        "longer   0.000        –       164  10–200\n"
    )


def test_the_long_layout_has_a_row_a_k_and_the_standard_error() -> None:
    frame = curves({"k": 1}, {"k": 300, "estimate": None, "std_error": None, "undefined": 164}, {"std_error": None})
    assert tables.curves_text(frame, layout="long") == (
        "model  metric    k          estimate  problems  undefined    n\n"
        "a      pass@k    1  0.500 (se 0.031)       164          0  200\n"
        "a      pass@k  300                 –       164        164  200\n"
        "a      pass@k    1             0.500       164          0  200\n"
    )


def test_interval_ends_are_shown_once_there_are_some() -> None:
    text = tables.curves_text(curves({"low": 0.25, "high": 0.75}), layout="long")
    assert text.splitlines()[0].split() == [
        "model", "metric", "k", "estimate", "low", "high", "problems", "undefined", "n",
    ]  # fmt: skip
    assert "0.250  0.750" in text


def test_percent_and_digits() -> None:
    frame = curves({"estimate": 0.5125, "std_error": 0.03125})
    assert "51.2%" in tables.curves_text(frame, unit="percent")
    assert "51.25% (se 3.12%)" in tables.curves_text(frame, unit="percent", layout="long", digits=2)
    assert "0.5125000000000000" in tables.curves_text(frame, digits=16)
    assert tables.curves_text(frame, digits=0).splitlines()[1].split() == ["a", "1", "164", "200"]


@given(st.floats(0, 1), st.sampled_from(tables.UNITS), st.integers(0, 17))
def test_rates_are_rounded_half_even_from_the_exact_double(value: float, unit: str, digits: int) -> None:
    scale = 100 if unit == "percent" else 1
    shown = tables.curves_table(curves({"estimate": value}), unit=unit, digits=digits).rows[0][1]
    exact = round(Fraction(value) * scale, digits)  # half to even
    assert Fraction(shown.removesuffix("%")) == exact
    assert len(shown.removesuffix("%").partition(".")[2]) == digits


def test_a_tie_goes_to_the_even_digit() -> None:
    assert Decimal("0.0625").quantize(Decimal("0.001"), ROUND_HALF_EVEN) == Decimal("0.062")
    assert "0.062" in tables.curves_text(curves({"estimate": 0.0625}))
    assert "6.2%" in tables.curves_text(curves({"estimate": 0.0625}), unit="percent")
    assert "28.5%" in tables.curves_text(curves({"estimate": 0.285}), unit="percent")  # 0.285 * 100 is 28.49…


def test_points_that_a_group_never_had_are_empty_and_nulls_are_dashes() -> None:
    frame = curves({"k": 1}, {"k": 5, "estimate": None}, {"model": "b", "k": 2})
    table = tables.curves_table(frame)
    assert table.head == ["model", "pass@1", "pass@2", "pass@5", "problems", "n"]
    assert [row[1:4] for row in table.rows] == [["0.500", "", "–"], ["", "0.500", ""]]


def test_several_metrics_and_several_by_columns() -> None:
    frame = curves(
        {"model": "a", "temperature": "0.2", "metric": "pass@k", "k": 2},
        {"model": "a", "temperature": "0.2", "metric": "pass^k", "k": 2},
        {"model": "a", "temperature": None, "metric": "pass^k", "k": 1},
        by=("model", "temperature"),
    )
    table = tables.curves_table(frame)
    assert table.head == ["model", "temperature", "pass@2", "pass^1", "pass^2", "problems", "n"]
    assert [row[:2] for row in table.rows] == [["a", "0.2"], ["a", "–"]]
    assert table.right == [False, False, True, True, True, True, True]


def test_narrow_terminals_get_further_blocks_and_lose_nothing() -> None:
    frame = curves(*({"k": k, "estimate": k / 128} for k in range(1, 101)))
    text = tables.curves_text(frame, width=60)
    assert all(len(line) <= 60 for line in text.splitlines())
    blocks = text.split("\n\n")
    assert all(block.startswith("model") for block in blocks)
    words = text.split()
    assert all(words.count(f"pass@{k}") == 1 for k in range(1, 101))
    assert words.count("problems") == 1


def test_a_column_wider_than_the_terminal_is_not_cut() -> None:
    text = tables.curves_text(curves({"model": "m" * 50}), width=20)
    assert "m" * 50 + "   0.500" in text


def test_without_a_width_there_is_one_block() -> None:
    assert tables.curves_text(curves(*({"k": k} for k in range(1, 101)))).count("\n") == 2


def test_wide_and_combining_signs_are_aligned() -> None:
    frame = curves({"model": "模型"}, {"model": "abcd"}, {"model": "e\u0301tes"})
    lines = tables.curves_text(frame).splitlines()
    assert lines[1:] == [
        "模型    0.500       164  200",
        "abcd    0.500       164  200",
        "e\u0301tes    0.500       164  200",
    ]


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a\nb", "a\\nb"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("a\tb\r", "a\\tb\\r"),
        ("\u202egnp", "\\u202egnp"),
        ("", ""),
        ("ü–模", "ü–模"),
    ],
)
def test_names_stay_on_their_line_and_cannot_steer_the_terminal(name: str, shown: str) -> None:
    assert tables.cell(name) == shown
    assert tables.curves_text(curves({"model": name})).splitlines()[1].startswith(shown)
    assert tables.frame_text(pl.DataFrame({name: [name]})).splitlines() == [shown, shown]


def test_any_frame() -> None:
    frame = pl.DataFrame(
        {"model": ["a", "bb"], "problem": ["p1", None], "n": [10, 200], "t": [0.1, 2.0], "score": [0.5, None],
         "ok": [True, False]}
    )  # fmt: skip
    assert tables.frame_text(frame) == (
        "model  problem    n    t  score  ok\n"
        "a      p1        10  0.1  0.500  true\n"
        "bb     –        200  2.0      –  false\n"
    )
    assert "0.50000" in tables.frame_text(frame, digits=5)
    assert tables.frame_table(frame).keys == 2


def test_a_limit_says_how_much_it_hides() -> None:
    frame = pl.DataFrame({"n": range(100)})
    assert tables.frame_text(frame, limit=3).splitlines() == ["n", "0", "1", "2", "… 97 more rows"]
    assert tables.frame_text(frame, limit=100) == tables.frame_text(frame)


def test_empty_frames_show_their_columns() -> None:
    assert tables.curves_text(curves()) == "model  problems  n\n"
    assert tables.frame_text(pl.DataFrame({"n": []})) == "n\n"
    assert tables.frame_text(pl.DataFrame()) == ""


def test_markdown() -> None:
    frame = curves({"model": "a|b<c>*`\\\n"}, {"model": "gpt_4", "estimate": None})
    assert tables.curves_markdown(frame, unit="percent") == (
        "| model | pass@1 | problems | n |\n"
        "| --- | ---: | ---: | ---: |\n"
        "| a\\|b\\<c>\\*\\`\\\\\\\\n | 50.0% | 164 | 200 |\n"
        "| gpt_4 | – | 164 | 200 |\n"
    )
    assert tables.markdown(pl.DataFrame({"n": [1]})) == "| n |\n| ---: |\n| 1 |\n"


def test_no_estimate_is_written_with_a_plus_minus_sign() -> None:
    frame = curves({"low": 0.1, "high": 0.9})
    assert "±" not in "".join(tables.curves_text(frame, layout=layout) for layout in tables.LAYOUTS)


def test_layouts_and_units_that_do_not_exist() -> None:
    with pytest.raises(UsageError, match=r"layout is 'wider'; allowed: wide, long \(did you mean 'wide'\?\)"):
        tables.curves_text(curves({}), layout="wider")
    with pytest.raises(UsageError, match="unit is 'per mille'; allowed: fraction, percent"):
        tables.curves_text(curves({}), unit="per mille")


def test_unknown_metrics_get_a_label_too() -> None:
    assert tables.label("pass^k", 3) == "pass^3"
    assert tables.label("pass@k (samples)", 1) == "pass@1 (samples)"
    assert tables.label("maj", 3) == "maj k=3"


def test_rows_of_texts() -> None:
    assert tables.rows_text([{"a": "x", "b": "y\n"}, {"a": "long", "b": ""}]) == "a     b\nx     y\\n\nlong\n"
