"""When people pause: judging waits as long as it took the last time."""

import pytest

from beltrami.studio_server.learner.pace import Pace


class Clock:
    """Seconds that pass when somebody says so."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def pace(clock):
    return Pace(clock)


def test_a_pause_is_at_least_two_and_a_half_seconds(pace, clock):
    assert pace.seconds_left() == 2.5
    clock.now = 2.0
    pace.note_label()
    assert pace.seconds_left() == 2.5
    clock.now = 10.0
    assert pace.seconds_left() == 0


@pytest.mark.parametrize(("took", "pause"), [(0.5, 2.5), (7.0, 7.0), (100.0, 20.0)])
def test_it_lasts_as_long_as_judging_took(pace, clock, took, pause):
    with pace.judging():
        clock.now = took
    assert pace.pause_s == pause


def test_judging_that_is_broken_off_says_nothing_of_its_length(pace, clock):
    def break_off():
        with pace.judging():
            clock.now = 9.0
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        break_off()
    assert pace.pause_s == 2.5
