import io
import sys
import threading

import pytest

from beltrami.core import progress
from beltrami.core.progress import ProgressEvent, listen, track


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
