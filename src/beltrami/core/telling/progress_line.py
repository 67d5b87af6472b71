"""One line on a terminal that says how far a job is, rewritten in place.

It needs nothing of the terminal but the carriage return: no colours, no cursor movements. A thread
redraws it, so that it goes on while a library computes; what is printed meanwhile goes above it.
"""

import os
import shutil
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, Self

from beltrami.core.telling.progress_event import ProgressEvent

EVERY_S = 0.5
"""Seconds between two drawings."""

_screen = threading.Lock()
"""Held by the line that is on the screen: there is one at a time."""


def is_rewritable(stream: Any) -> bool:
    """Say whether a stream can go back to the start of a line: a terminal, a notebook's cell."""
    if type(stream).__module__.partition(".")[0] == "ipykernel":
        return True  # no terminal by its own word, yet every notebook heeds the carriage return
    # A program without a console has no stderr at all, and a replaced one may lack isatty.
    return bool(getattr(stream, "isatty", bool)()) and os.environ.get("TERM") != "dumb"


def line_text(now: ProgressEvent, width: int) -> str:
    """Return the line, in at most `width` characters; the name of a step goes first."""
    percent = f" {now.done / now.total:.0%}" if now.total > 1 else ""
    number = f"[{now.stage}/{now.n_stages}] " if now.n_stages > 1 else ""
    head = f"{number}{now.title}{percent}"
    whole = head if now.step == now.title else f"{number}{now.title}: {now.step}{percent}"
    left = "" if now.left_s is None else f", about {spell_left(now.left_s)} left"
    tail = f"  {spell_time(now.elapsed_s)}{left}"
    for text in (whole, head):
        if len(text) + len(tail) <= width:
            return text + tail
    room = width - len(tail)
    return head[: room - 2] + ".." + tail if room > len(number) + 5 else tail.strip()[:width]


def spell_time(seconds: float) -> str:
    """Return a time as 7 s, 1:05 min or 1:02:05 h."""
    whole = int(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes}:{rest:02} min"
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02} h"


def spell_left(seconds: float) -> str:
    """Return a time that is not known exactly, rounded to a tenth of itself or coarser."""
    unit = next((unit for below, unit in ((10, 1), (60, 5), (600, 10)) if seconds < below), 60)
    return spell_time(max(unit * round(seconds / unit), 1))


class ProgressLine:
    """The line of a job, on the screen for the time of a block.

    - `look`: returns how far the job is, at any moment and in any thread.
    - `patience`: seconds before it is first drawn.
    - `is_eager`: whether it draws itself then; if not, it waits for a `nudge`.
    """

    def __init__(
        self, look: Callable[[], ProgressEvent], patience: float, *, is_eager: bool = True
    ) -> None:
        self._look, self._is_eager = look, is_eager
        self._due = time.monotonic() + patience
        self._stream: Any = sys.stderr
        self._lock = threading.RLock()
        self._over = threading.Event()
        self._ticker: threading.Thread | None = None
        self._drawn = 0
        self._is_free = True
        self._beside: list[tuple[str, _Above]] = []

    def __enter__(self) -> Self:
        if self._is_eager:
            self._start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._ticker is None:
            return
        self._over.set()
        with self._lock:
            self._erase()
            for name, stream in self._beside:
                if getattr(sys, name) is stream:
                    setattr(sys, name, stream.stream)
        self._ticker.join(EVERY_S)
        _screen.release()

    def nudge(self) -> None:
        """Begin to draw, if it is time to."""
        if self._ticker is None and time.monotonic() >= self._due:
            self._start()

    def redraw(self) -> None:
        """Draw now, if it is time to."""
        if self._ticker is None or time.monotonic() < self._due:
            return
        with self._lock:
            if self._is_free and not self._over.is_set():
                self._write(line_text(self._look(), self._width() - 1))

    def _start(self) -> None:
        if not _screen.acquire(blocking=False):
            return
        for name in ("stderr", "stdout"):
            stream = getattr(sys, name)
            if stream is self._stream or is_rewritable(stream):
                above = _Above(stream, self)
                self._beside.append((name, above))
                setattr(sys, name, above)
        self._ticker = threading.Thread(target=self._tick, name="beltrami-progress", daemon=True)
        self._ticker.start()
        self.redraw()

    def _tick(self) -> None:
        wait = max(self._due - time.monotonic(), 0.0) or EVERY_S
        while not self._over.wait(wait):
            self.redraw()
            wait = EVERY_S

    def print_above(self, stream: Any, text: str) -> Any:
        """Write what someone else prints, with the line out of its way."""
        with self._lock:
            self._erase()
            written = stream.write(text)
            if text:
                self._is_free = text.endswith("\n")
            return written

    def _write(self, text: str) -> None:
        try:
            self._stream.write("\r" + text.ljust(self._drawn) + ("" if text else "\r"))
            self._stream.flush()
        except (OSError, ValueError):
            self._over.set()  # the terminal is gone, or cannot spell it: the job goes on
        self._drawn = len(text)

    def _erase(self) -> None:
        if self._drawn:
            self._write("")

    def _width(self) -> int:
        try:
            columns = os.get_terminal_size(self._stream.fileno()).columns
        except (AttributeError, OSError, ValueError):
            columns = 0
        return columns or shutil.get_terminal_size().columns


class _Above:
    """A stream whose text goes above the line."""

    def __init__(self, stream: Any, line: ProgressLine) -> None:
        self.stream, self._line = stream, line

    def write(self, text: str) -> Any:
        return self._line.print_above(self.stream, text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)
