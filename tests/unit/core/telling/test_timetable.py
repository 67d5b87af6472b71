"""The time left: what was forecast, corrected by what was measured."""

import pytest

from beltrami.core.telling.timetable import Timetable

COSTS = {
    "read": {"": 1.0},
    "graph": {"searching": 8.0, "": 2.0},
    "learn": {"one": 10.0, "two": 20.0},
}


def begun(*stages: str) -> Timetable:
    table = Timetable(stages or ("read", "graph", "learn"))
    table.expect(COSTS)
    return table


def test_at_first_the_time_left_is_the_forecast() -> None:
    assert begun().left() == pytest.approx(41.0)


def test_a_job_that_goes_as_expected_counts_down() -> None:
    table, left = begun(), []
    for stage, step, seconds in [
        ("read", "", 1.0),
        ("graph", "searching", 8.0),
        ("graph", "", 2.0),
        ("learn", "one", 10.0),
        ("learn", "two", 20.0),
    ]:
        table.enter(stage)
        left.append(table.left())
        table.spend(seconds, [step])
        table.finish(step)
    assert left == pytest.approx([41.0, 40.0, 32.0, 30.0, 20.0])


def test_a_slow_machine_shows_in_the_pace() -> None:
    table = begun()
    table.spend(3.0, [])
    table.enter("graph")
    table.spend(24.0, ["searching"])
    table.finish("searching")
    table.spend(6.0, [])
    table.enter("learn")
    # 33 seconds where 11 were expected, and a second of trust in the forecast
    assert table.pace == pytest.approx(34 / 12)
    assert table.left() == pytest.approx(30 * 34 / 12)


def test_units_take_over_from_the_forecast() -> None:
    table = begun("graph")
    table.spend(8.0, ["searching"])
    for share, least, most in [(0.1, 10.0, 80.0), (0.5, 7.0, 16.0), (0.9, 0.5, 4.0)]:
        table.advance("searching", share)
        assert least < table.left() < most
    table.advance("searching", 1.0)
    assert table.left() == pytest.approx(2.0 * table.pace)


def test_a_step_that_takes_longer_than_expected_is_never_thought_over() -> None:
    table = begun("read")
    table.spend(100.0, [])
    assert table.left() > 5.0


def test_time_goes_to_the_innermost_step_with_a_cost() -> None:
    table = begun("learn")
    table.spend(9.0, ["one", "solving"])
    table.finish("solving")
    table.finish("one")
    assert table.pace == pytest.approx(10 / 11)
    assert table.left() == pytest.approx(20 * 10 / 11)


def test_what_was_skipped_is_neither_left_nor_evidence() -> None:
    table = begun()
    table.enter("learn")
    assert table.pace == 1.0
    assert table.left() == pytest.approx(30.0)


def test_nothing_is_said_where_a_stage_ahead_has_no_cost() -> None:
    table = Timetable(("read", "dance"))
    table.expect(COSTS)
    assert table.left() is None
    assert table.fraction() == 0.0
    table.enter("dance")
    assert table.fraction() is None


def test_stages_go_one_way_and_the_first_forecast_holds() -> None:
    table = begun()
    assert table.enter("graph")
    assert not table.enter("read")
    assert not table.enter("graph")
    assert not table.enter("elsewhere")
    table.expect({"learn": {"": 1000.0}})
    assert table.left() == pytest.approx(40.0)


def test_the_fraction_of_a_stage_grows_to_one() -> None:
    table = begun("graph")
    seen = [table.fraction()]
    for _ in range(8):
        table.spend(1.0, ["searching"])
        seen.append(table.fraction())
    assert seen == sorted(seen)
    assert seen[4] == pytest.approx(0.4)
    table.finish("searching")
    table.spend(2.0, [])
    assert table.fraction() > 0.9


def test_a_step_that_may_come_or_not_counts_but_says_nothing_of_the_pace() -> None:
    table = Timetable(("graph", "learn"))
    table.expect({"graph": {"": 2.0, "bridging": 0.0}, "learn": {"": 10.0}})
    table.spend(2.0, [])
    table.spend(30.0, ["bridging"])
    table.advance("bridging", 0.75)
    assert table.pace == 1.0
    assert table.left() == pytest.approx(10.0 + 10.0 + 0.2)
    table.finish("bridging")
    table.enter("learn")
    assert table.left() == pytest.approx(10.0)


def test_a_step_that_is_over_takes_no_time_within_another() -> None:
    table = Timetable(["graph", "end"])
    table.expect({"graph": {"search": 1.0, "bridges": 0.0}, "end": {"": 1.0}})
    table.spend(1.0, ["search"])
    table.finish("search")
    table.spend(4.0, ["bridges", "search"])
    assert table.left() == pytest.approx(5.0)  # as long again, and what is ahead


def test_a_step_may_say_what_it_takes_when_it_begins() -> None:
    table = Timetable(["a", "b"])
    table.expect({"a": {"bridging": 0.0, "": 1.0}, "b": {"": 1.0}})
    table.expect_step("bridging", 8.0)
    assert table.left() == pytest.approx(10.0)
    table.expect_step("", 5.0)  # what was expected stands
    table.expect_step("unheard of", 5.0)
    assert table.left() == pytest.approx(10.0)
