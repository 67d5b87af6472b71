import io
import sys
import threading

import pytest

from beltrami.core.telling import progress
from beltrami.core.telling.progress import ProgressEvent, enter_stage, expect, job, listen, track


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_listener_hears_every_step_with_its_share() -> None:
    seen: list[ProgressEvent] = []
    with listen(seen.append), track("counting", total=3) as advance:
        advance(1)
        advance(1.5)
    assert [(event.step, event.done, event.total) for event in seen] == [
        ("counting", 1, 3),
        ("counting", 2.5, 3),
    ]
    assert 0 <= seen[0].elapsed_s <= seen[1].elapsed_s


def test_done_never_exceeds_the_total() -> None:
    seen: list[ProgressEvent] = []
    with listen(seen.append), track("counting", total=2) as advance:
        advance(5)
    assert seen[-1].done == 2


def test_a_listener_ends_with_its_block_and_the_outer_one_returns() -> None:
    outer: list[ProgressEvent] = []
    inner: list[ProgressEvent] = []
    with listen(outer.append):
        with listen(inner.append), track("a", total=1) as advance:
            advance(1)
        with track("b", total=1) as advance:
            advance(1)
    with track("c", total=1) as advance:
        advance(1)
    assert [event.step for event in outer] == ["b"]
    assert [event.step for event in inner] == ["a"]


def test_what_a_listener_raises_stops_the_computation() -> None:
    def cancel(event: ProgressEvent) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), listen(cancel), track("long", total=9) as advance:
        advance(1)


def test_other_threads_keep_their_own_listener() -> None:
    seen: list[ProgressEvent] = []

    def work() -> None:
        with track("elsewhere", total=1) as advance:
            advance(1)

    with listen(seen.append):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert seen == []


def test_no_bar_where_stderr_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(progress, "PATIENCE_S", -1.0)
    with track("quiet", total=1) as advance:
        advance(1)
    assert stream.getvalue() == ""


def test_no_bar_and_no_error_where_there_is_no_stderr(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    with track("windowed", total=1) as advance:
        advance(1)


def test_a_terminal_shows_the_step_once_patience_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(progress, "PATIENCE_S", -1.0)
    with track("searching neighbours", total=2) as advance:
        advance(1)
    assert "searching neighbours" in terminal.getvalue()


def test_a_terminal_shows_nothing_of_a_short_step(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with track("short", total=1) as advance:
        advance(1)
    assert terminal.getvalue() == ""


def test_a_job_tells_its_stages_in_order_and_its_end() -> None:
    seen: list[ProgressEvent] = []
    with listen(seen.append), job("read", "learn", "write"):
        enter_stage("learn")
        enter_stage("read")  # no way back
        with track("solving", total=2) as advance:
            advance(1)
        enter_stage("write")
    assert [(event.stage, event.title, event.step, event.is_over) for event in seen] == [
        (1, "read", "read", False),
        (2, "learn", "learn", False),
        (2, "learn", "solving", False),
        (3, "write", "write", False),
        (3, "write", "write", True),
    ]
    assert {event.n_stages for event in seen} == {3}
    assert seen[2].fraction == 0.5


def test_a_job_within_a_job_is_part_of_it() -> None:
    seen: list[ProgressEvent] = []
    with listen(seen.append), job("read", "learn"), job("learn", "more"):
        enter_stage("learn")
        enter_stage("more")
    assert [event.title for event in seen] == ["read", "learn", "learn"]


def test_a_job_that_fails_does_not_say_that_it_is_over() -> None:
    seen: list[ProgressEvent] = []
    with pytest.raises(ValueError, match="no"), listen(seen.append), job("read"):
        raise ValueError("no")
    assert not any(event.is_over for event in seen)
    enter_stage("elsewhere")  # nothing is left open
    expect({"read": {"": 1.0}})


def test_a_listener_stops_a_job_at_a_stage() -> None:
    def cancel(event: ProgressEvent) -> None:
        if event.title == "learn":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), listen(cancel), job("read", "learn"):
        enter_stage("learn")


def test_the_time_left_follows_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(progress.time, "monotonic", lambda: now)
    seen: list[ProgressEvent] = []
    with listen(seen.append), job("read", "learn"):
        now += 2.0
        expect({"read": {"": 0.0}, "learn": {"one": 10.0}})
        enter_stage("learn")
        with track("one", total=1) as advance:
            now += 6.0
            advance(0.5)
    assert seen[0].left_s is None
    assert seen[1].left_s == pytest.approx(10.0)
    assert seen[2].elapsed_s == pytest.approx(8.0)
    assert 4.0 < seen[2].left_s < 8.0
    assert seen[2].fraction == pytest.approx(0.5, abs=0.1)


def test_the_line_names_the_outermost_step_that_says_more_than_its_stage(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with job("learning", "more", patience=0.0), track("learning", total=3) as advance:
        with track("Poisson learning", total=1), track("solving", total=9) as inner:
            inner(1)
            progress._job.get()._line.redraw()
        advance(1)
        enter_stage("more")
    assert "[1/2] learning: Poisson learning  0 s" in terminal.getvalue()
    assert "solving" not in terminal.getvalue()
    assert "[2/2] more  0 s" in terminal.getvalue()
