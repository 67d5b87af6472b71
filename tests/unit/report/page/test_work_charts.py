"""The charts of a project: how labels came in, and what was known meanwhile."""

from dataclasses import replace
from itertools import pairwise

import pytest
from tests.support.fake_pages import fake_page, fake_work

from beltrami.report.page import CurvePoint, Measured, render
from beltrami.report.page.charts import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH
from beltrami.report.page.work_charts import (
    accepted_chart,
    accuracy_chart,
    count_axis,
    labels_chart,
)

WORK = fake_work()


@pytest.mark.parametrize("largest", [0, 1, 5, 6, 9, 10, 11, 49, 51, 1000, 60_001, 10**7])
def test_an_axis_of_counts_holds_its_largest_number_in_few_whole_steps(largest):
    end, ticks = count_axis(largest)
    assert ticks[0] == 0
    assert ticks[-1] == end >= largest
    assert len(ticks) <= 6
    assert len({after - before for before, after in pairwise(ticks)}) == 1


def test_a_curve_begins_and_ends_where_its_points_do():
    points = (CurvePoint(0, "before", 0, 0), CurvePoint(10, "after", 20, 2))
    chart = labels_chart(points)
    assert chart.line == (f"{LEFT:.1f},{HEIGHT - BOTTOM:.1f} {WIDTH - RIGHT:.1f},{TOP:.1f}")
    assert chart.sentence == "From 0 labels to 20 of 2 classes, from before to after."
    assert chart.rows[-1] == ("10", "after", "20", "2")


def test_a_long_curve_has_a_short_table_with_both_ends():
    chart = labels_chart(fake_work(n_points=200).curve)
    assert len(chart.rows) == 24
    assert (chart.rows[0][0], chart.rows[-1][0]) == ("1", "797")


def test_where_labels_were_taken_back_the_latest_of_each_number_counts():
    measured = (Measured(1, 5, 50, 0, 0), Measured(2, 6, 70, 0, 0), Measured(3, 5, 60, 0, 0))
    chart = accepted_chart(measured)
    assert [row[:2] for row in chart.rows] == [("5", "60"), ("6", "70")]


def test_the_band_holds_the_line_and_says_how_many_labels_it_rests_on():
    chart = accuracy_chart(WORK.measured)
    n = len(WORK.measured)
    places = [tuple(map(float, place.split(","))) for place in chart.area.split()]
    line = [tuple(map(float, place.split(","))) for place in chart.line.split()]
    assert len(places) == 2 * n
    for (x, y), above, below in zip(line, places[:n], reversed(places[n:]), strict=True):
        assert x == above[0] == below[0]
        assert above[1] < y < below[1]  # the drawing's axis points down
    assert "Of 95 held-out labels 94 % came out right at the end (84 to 99 %)." in chart.sentence


def test_what_was_not_measured_makes_no_chart():
    untested = tuple(replace(one, n_held_out=0) for one in WORK.measured)
    assert accuracy_chart(untested) is None
    assert accepted_chart(WORK.measured[:1]) is None
    assert labels_chart(()) is None
    page = fake_page(50, 2, work=replace(WORK, measured=(), curve=()))
    assert "How it went" not in render(page)


def test_the_page_says_who_did_what_and_how_to_get_the_same_again():
    text = render(fake_page(50, 2, work=WORK))
    for words in ("by area", "1,200", "taken back", "Round 2 waits", WORK.command, "How it went"):
        assert words in text
    assert "To prove it, check a blind sample" not in text
    assert "Who labelled what" not in render(fake_page(50, 2))


def test_without_a_command_the_page_says_why():
    text = render(fake_page(50, 2, work=replace(WORK, command="")))
    assert "a table in memory" in text
    assert 'class="command"' not in text


def test_nobody_is_no_table():
    nobody = replace(WORK, hands=(), by_class=(), rounds=())
    assert "Nobody has given a label yet." in render(fake_page(50, 2, work=nobody))
