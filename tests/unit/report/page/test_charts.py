"""The small charts lie where the numbers say, and their sentences say the same."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beltrami.report.page import Bin
from beltrami.report.page.charts import (
    BOTTOM,
    HEIGHT,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    nice_axis,
    reliability_chart,
    risk_chart,
    wilson,
)
from beltrami.report.page.colours import class_styles
from beltrami.report.pictures.palette import OKABE_ITO


def test_an_interval_of_no_success_has_its_closed_form():
    z = 1.959964
    low, high = wilson(0.0, 20)
    assert low == pytest.approx(0.0, abs=1e-12)
    assert high == pytest.approx(z**2 / (20 + z**2))


@given(st.floats(0, 1), st.integers(1, 10_000))
def test_an_interval_holds_its_share(share, count):
    low, high = wilson(share, count)
    assert 0 <= low <= share + 1e-12
    assert share - 1e-12 <= high <= 1


@given(st.floats(0, 1))
def test_an_axis_holds_its_largest_value_with_few_ticks(largest):
    top, ticks = nice_axis(largest)
    assert largest <= top + 1e-9
    assert 3 <= len(ticks) <= 6
    assert ticks[0] == 0
    assert ticks[-1] == pytest.approx(top)


def test_corners_of_the_reliability_diagram():
    chart = reliability_chart((Bin(0, 0.5, 0.0, 0.0, 10), Bin(0.5, 1, 1.0, 1.0, 40)))
    first, last = chart.dots
    assert (first.x, first.y) == (LEFT, HEIGHT - BOTTOM)
    assert (last.x, last.y) == (WIDTH - RIGHT, TOP)
    assert last.radius > first.radius
    assert "differ by 0.0 points" in chart.sentence
    assert chart.rows[1] == ("50 % to 100 %", "100.0 %", "100.0 %", "40")


def test_the_gap_is_weighted_by_the_labels():
    chart = reliability_chart((Bin(0.4, 0.6, 0.5, 0.9, 1), Bin(0.8, 1, 0.9, 0.8, 3)))
    assert "Over 4 held-out labels" in chart.sentence
    assert "differ by 17.5 points" in chart.sentence
    assert "at confidence 50 %" in chart.sentence


def test_empty_bins_and_curves_make_no_chart():
    assert reliability_chart(()) is None
    assert reliability_chart((Bin(0, 1, np.nan, np.nan, 0),)) is None
    assert risk_chart(np.zeros(0), np.zeros(0)) is None
    assert risk_chart(np.array([np.nan]), np.array([0.1])) is None


def test_the_risk_curve_ends_at_the_error_of_all_labels():
    chart = risk_chart(np.linspace(0.001, 1, 1000), np.linspace(0, 0.1, 1000))
    assert "Of all held-out labels 10.0 % are wrong; of the surest 50 %, 5.0 %" in chart.sentence
    assert chart.rows[-1] == ("100 %", "10.0 %")
    assert len(chart.line.split()) <= 200
    assert chart.line.split()[-1] == f"{WIDTH - RIGHT:.1f},{TOP:.1f}"


def test_a_curve_of_one_place_is_drawn():
    chart = risk_chart(np.array([1.0]), np.array([0.0]))
    assert chart.rows == (("100 %", "0.0 %"),)


def test_eight_classes_have_the_colours_of_okabe_and_ito_and_36_differ():
    styles = class_styles(40)
    same = [style.light for style in styles[:8]]
    assert [a == b for a, b in zip(same, OKABE_ITO, strict=True)].count(True) == 7
    assert {style.mark for style in styles[:8]} == {"disc"}
    assert len({(style.light, style.mark) for style in styles[:36]}) == 36
    assert len({(style.dark, style.mark) for style in styles[:36]}) == 36
    assert styles[36:] == styles[:4]
