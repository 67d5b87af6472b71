"""The line on a terminal: its words, its width, and what is printed while it is there."""

import io
import sys
import threading
import time

import pytest
from tests.support.patience import wait_until

from beltrami.core.telling import progress_line
from beltrami.core.telling.progress_event import ProgressEvent
from beltrami.core.telling.progress_line import ProgressLine, is_rewritable, line_text, spell_left

EVENT = ProgressEvent(3, 8, "joining neighbours", 0.4, 12.4, 21.0, "searching", 45.0, 100.0)


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True

    @property
    def screen(self) -> list[str]:
        """What a person sees: the lines, each as it was last rewritten."""
        seen = []
        for line in self.getvalue().split("\n"):
            shown = ""
            for part in line.split("\r"):
                shown = part + shown[len(part) :]
            seen.append(shown.rstrip())
        return seen


def seated(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Return a terminal in the place of stderr; not a fixture, since pytest puts its own there."""
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(progress_line, "EVERY_S", 0.01)
    return stream


def test_the_line_says_stage_step_elapsed_and_left() -> None:
    assert line_text(EVENT, 80) == (
        "[3/8] joining neighbours: searching 45%  12 s, about 20 s left"
    )


@pytest.mark.parametrize("width", range(1, 80))
def test_a_narrow_terminal_gets_a_line_that_fits_and_the_time_to_the_last(width: int) -> None:
    text = line_text(EVENT, width)
    assert len(text) <= width
    if width >= 24:
        assert text.endswith("12 s, about 20 s left")


def test_without_a_forecast_or_units_there_is_no_number_for_them() -> None:
    bare = ProgressEvent(1, 1, "starting", None, 3661.0, None, "starting", 0.0, 0.0)
    assert line_text(bare, 80) == "starting  1:01:01 h"


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.2, "1 s"), (6.7, "7 s"), (23.4, "25 s"), (84.0, "1:20 min"), (1000.0, "17:00 min")],
)
def test_the_time_left_is_rounded(seconds: float, said: str) -> None:
    assert spell_left(seconds) == said


def test_dumb_terminals_and_files_are_not_rewritten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    assert is_rewritable(Terminal())
    assert not is_rewritable(io.StringIO())
    assert not is_rewritable(None)
    monkeypatch.setenv("TERM", "dumb")
    assert not is_rewritable(Terminal())


def test_a_cell_of_a_notebook_is_rewritten_though_it_is_no_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cell = type("OutStream", (io.StringIO,), {"__module__": "ipykernel.iostream"})()
    monkeypatch.setenv("TERM", "dumb")
    assert not cell.isatty()
    assert is_rewritable(cell)


def test_it_goes_on_by_itself_and_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = seated(monkeypatch)
    before = threading.active_count()
    with ProgressLine(lambda: EVENT, 0.0):
        assert sys.stderr is not terminal
        wait_until(lambda: terminal.getvalue().count("\r") > 3)
        assert "joining neighbours" in terminal.screen[-1]
    assert terminal.screen == [""]
    assert sys.stderr is terminal
    assert threading.active_count() == before
    ended = terminal.getvalue()
    time.sleep(0.05)
    assert terminal.getvalue() == ended


def test_it_needs_no_escape_codes(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = seated(monkeypatch)
    with ProgressLine(lambda: EVENT, 0.0):
        pass
    assert "\x1b" not in terminal.getvalue()


def test_what_is_printed_meanwhile_stands_above_it(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = seated(monkeypatch)
    with ProgressLine(lambda: EVENT, 0.0) as line:
        sys.stderr.write("warning: one\n")
        line.redraw()
        sys.stderr.writelines(["two\n", "three\n"])
        line.redraw()
        assert terminal.screen[:3] == ["warning: one", "two", "three"]
        assert terminal.screen[3].startswith("[3/8]")
    assert terminal.screen == ["warning: one", "two", "three", ""]


def test_half_a_line_of_someone_else_is_not_drawn_over(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = seated(monkeypatch)
    with ProgressLine(lambda: EVENT, 0.0) as line:
        sys.stderr.write("name? ")
        line.redraw()
        assert terminal.screen == ["name?"]
        sys.stderr.write("me\n")
        line.redraw()
        assert terminal.screen[0] == "name? me"


def test_an_interruption_leaves_a_clean_line(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = seated(monkeypatch)
    with pytest.raises(KeyboardInterrupt), ProgressLine(lambda: EVENT, 0.0):
        raise KeyboardInterrupt
    assert terminal.screen == [""]
    assert sys.stderr is terminal


def test_a_terminal_that_goes_away_does_not_stop_the_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terminal = seated(monkeypatch)

    def fail(_: str) -> None:
        raise OSError

    with ProgressLine(lambda: EVENT, 0.0) as line:
        monkeypatch.setattr(terminal, "write", fail)
        line.redraw()


def test_there_is_one_line_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = seated(monkeypatch)
    other = ProgressEvent(1, 1, "other", None, 0.0, None, "other", 0.0, 0.0)
    with ProgressLine(lambda: EVENT, 0.0), ProgressLine(lambda: other, 0.0) as second:
        second.redraw()
    assert "other" not in terminal.getvalue()


def test_it_waits_for_its_time_and_for_a_nudge(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = seated(monkeypatch)
    with ProgressLine(lambda: EVENT, 60.0) as line:
        line.redraw()
        line.nudge()
    with ProgressLine(lambda: EVENT, 0.0, is_eager=False) as lazy:
        assert terminal.getvalue() == ""
        lazy.nudge()
        assert terminal.screen[0].startswith("[3/8]")
