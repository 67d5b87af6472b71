"""Progress of anything that takes more than two seconds.

A long step wraps its loop in `track`. By default a bar appears on a terminal's stderr once two
seconds have passed; `listen` sends the same events to a callback instead, for notebooks, servers
and tests. The listener lives in a context variable: no module state, and threads keep their own.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

PATIENCE_S = 2.0  # before a bar is shown


@dataclass(frozen=True, slots=True)
class ProgressEvent:
    """How far a step has come: `done` of `total` units of `step`."""

    step: str
    done: float
    total: float
    elapsed_s: float


_Listener = Callable[[ProgressEvent], None]
Advance = Callable[[float], None]

_listener: ContextVar[_Listener | None] = ContextVar("beltrami_progress", default=None)


@contextmanager
def listen(callback: _Listener) -> Iterator[None]:
    """Send every progress event inside the block to `callback` and show no bar.

    What the callback raises stops the computation: that is how a caller cancels.

    Examples
    --------
    >>> from beltrami.core.progress import listen, track
    >>> events = []
    >>> with listen(events.append), track("counting", total=2) as advance:
    ...     advance(1)
    ...     advance(1)
    >>> [(event.step, event.done) for event in events]
    [('counting', 1.0), ('counting', 2.0)]
    """
    token = _listener.set(callback)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def track(step: str, *, total: float) -> Iterator[Advance]:
    """Announce the progress of one step; call what is yielded with the units just done."""
    started, done = time.monotonic(), 0.0
    callback = _listener.get()
    bar = _TerminalBar(step, total) if callback is None and _on_a_terminal() else None

    def advance(units: float) -> None:
        nonlocal done
        done = min(done + units, total)
        elapsed = time.monotonic() - started
        if callback is not None:
            callback(ProgressEvent(step, done, total, elapsed))
        elif bar is not None and elapsed > PATIENCE_S:
            bar.show(done)

    try:
        yield advance
    finally:
        if bar is not None:
            bar.close()


def _on_a_terminal() -> bool:
    # A program without a console has no stderr at all, and a replaced one may lack isatty.
    return bool(getattr(sys.stderr, "isatty", bool)())


class _TerminalBar:
    """A rich progress bar that is made at its first showing."""

    def __init__(self, step: str, total: float) -> None:
        self._step, self._total = step, total
        self._bar: Any = None
        self._task: Any = None

    def show(self, done: float) -> None:
        if self._bar is None:
            from rich.console import Console
            from rich.progress import Progress

            self._bar = Progress(console=Console(stderr=True), transient=True)
            self._bar.start()
            self._task = self._bar.add_task(self._step, total=self._total)
        self._bar.update(self._task, completed=done)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.stop()
