"""Progress of anything that takes more than two seconds.

A job has stages (`job`, `enter_stage`), and a stage may have steps that count their units
(`track`). Whoever opens the outermost of these owns the line: a job inside a job, and a step inside
a step, only feed it. On a terminal one line on stderr is rewritten in place once two seconds have
passed; `listen` sends the same events to a callback instead, for notebooks, servers and tests.

The listener and the job live in context variables: no module state, and threads keep their own.
"""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from beltrami.core.telling.progress_event import ProgressEvent
from beltrami.core.telling.progress_line import ProgressLine, is_rewritable
from beltrami.core.telling.timetable import Costs, Timetable

PATIENCE_S = 2.0  # before a line is shown

__all__ = ["Advance", "ProgressEvent", "enter_stage", "expect", "job", "listen", "track"]


Listener = Callable[[ProgressEvent], None]
Advance = Callable[[float], None]

_listener: ContextVar[Listener | None] = ContextVar("beltrami_progress", default=None)
_job: ContextVar["_Job | None"] = ContextVar("beltrami_job", default=None)


@contextmanager
def listen(callback: Listener) -> Iterator[None]:
    """Send every progress event inside the block to `callback`, and show no line.

    The callback runs in the thread that computes, whenever a stage begins and whenever units are
    done, and once more when a job has ended. What it raises stops the computation: that is how a
    caller cancels.

    Parameters
    ----------
    callback : callable
        Takes a `ProgressEvent`.

    Yields
    ------
    None
        The callback is heard until the block is left.

    Examples
    --------
    >>> from beltrami import KnnGraph, circle, listen
    >>> events = []
    >>> with listen(events.append):
    ...     graph = KnnGraph(connect="keep").build(circle(200, random_state=0).points)
    >>> events[0].title
    'searching neighbours'
    """
    token = _listener.set(callback)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def job(*stages: str, patience: float = PATIENCE_S) -> Iterator[None]:
    """Announce a job that goes through these stages, and enter the first; within another, nothing.

    - `patience`: seconds before the line is shown on a terminal.
    """
    if _job.get() is not None:
        yield
        return
    with _begun(_Job(stages)) as begun:
        with begun.shown(patience):
            begun.tell()
            yield
        begun.end()


def enter_stage(stage: str) -> None:
    """Say that the next stage begins; a job that has no such stage ahead does not change."""
    current = _job.get()
    if current is not None:
        current.enter(stage)


def expect(costs: Costs) -> None:
    """Say how many seconds stages are expected to take, for those of which nothing is known."""
    current = _job.get()
    if current is not None:
        current.expect(costs)


@contextmanager
def track(step: str, *, total: float, seconds: float = 0.0) -> Iterator[Advance]:
    """Announce the progress of one step; call what is yielded with the units just done.

    - `seconds`: what it will take, about, where that is known only now that it begins.
    """
    current = _job.get()
    if current is not None:
        with current.within(step, total, seconds) as advance:
            yield advance
    else:
        with (
            _begun(_Job((step,))) as alone,
            alone.within(step, total) as advance,
            # A thread for each of thousands of short steps would cost: it waits for units.
            alone.shown(PATIENCE_S, is_eager=False),
        ):
            yield advance


@contextmanager
def _begun(new: "_Job") -> Iterator["_Job"]:
    token = _job.set(new)
    try:
        yield new
    finally:
        _job.reset(token)


@dataclass(slots=True, eq=False)
class _Step:
    """An open step and its units."""

    name: str
    total: float
    done: float = 0.0


class _Job:
    """A job on its way: its timetable, its open steps, and who is told."""

    def __init__(self, stages: tuple[str, ...]) -> None:
        self._table = Timetable(stages)
        self._steps: list[_Step] = []
        self._started = self._counted = time.monotonic()
        self._lock = threading.RLock()
        self._line: ProgressLine | None = None

    @contextmanager
    def shown(self, patience: float, *, is_eager: bool = True) -> Iterator[None]:
        """Show the line on a terminal while the block lasts, unless someone listens."""
        if _listener.get() is None and is_rewritable(sys.stderr):
            self._line = ProgressLine(self.look, patience, is_eager=is_eager)
            with self._line:
                yield
        else:
            yield

    def enter(self, stage: str) -> None:
        with self._lock:
            self._count()
            has_changed = self._table.enter(stage)
            if has_changed:
                self._steps.clear()
        if has_changed:
            self.tell()
            if self._line is not None:
                self._line.redraw()

    def expect(self, costs: Costs) -> None:
        with self._lock:
            self._count()
            self._table.expect(costs)

    @contextmanager
    def within(self, name: str, total: float, seconds: float = 0.0) -> Iterator[Advance]:
        """Open a step for a block; yield what its units are told to."""
        step = _Step(name, total)
        with self._lock:
            self._count()
            self._steps.append(step)
            self._table.expect_step(name, seconds)

        def advance(units: float) -> None:
            with self._lock:
                self._count()
                step.done = min(step.done + units, step.total)
                if step.total:
                    self._table.advance(name, step.done / step.total)
            self.tell(step)

        try:
            yield advance
        finally:
            with self._lock:
                self._count()
                if step in self._steps:
                    self._steps.remove(step)
                    self._table.finish(name)

    def end(self) -> None:
        """Tell a listener that all is done."""
        callback = _listener.get()
        if callback is not None:
            n, title = len(self._table.stages), self._table.title
            elapsed = self._elapsed()
            callback(ProgressEvent(n, n, title, 1.0, elapsed, 0.0, title, 0.0, 0.0, is_over=True))

    def tell(self, step: _Step | None = None) -> None:
        """Send an event to whoever listens; the line looks by itself."""
        callback = _listener.get()
        if callback is not None:
            callback(self.look(step))
        elif self._line is not None:
            self._line.nudge()

    def look(self, step: _Step | None = None) -> ProgressEvent:
        """Return where the job is.

        - `step`: the one to name; None takes the outermost that says more than its stage.
        """
        with self._lock:
            self._count()
            table = self._table
            none = _Step(table.title, 0.0)
            telling = (one for one in self._steps if one.name != table.title)
            seen = step or next(telling, self._steps[0] if self._steps else none)
            fraction, left = table.fraction(), table.left()
            outer = self._steps[0] if self._steps else none
            if fraction is None and outer.total:
                fraction = outer.done / outer.total
            if left is None and fraction and len(table.stages) == 1:
                left = self._elapsed() * (1 - fraction) / fraction
            return ProgressEvent(
                table.place + 1,
                len(table.stages),
                table.title,
                fraction,
                self._elapsed(),
                left,
                seen.name,
                seen.done,
                seen.total,
            )

    def _count(self) -> None:
        """Count the time since the last change towards what was being done."""
        now = time.monotonic()
        self._table.spend(now - self._counted, [step.name for step in self._steps])
        self._counted = now

    def _elapsed(self) -> float:
        return time.monotonic() - self._started
