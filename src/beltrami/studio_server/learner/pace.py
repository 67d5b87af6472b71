"""When people pause: how long nobody has labelled, and how long that is before all is judged."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

_SHORTEST_S, _LONGEST_S = 2.5, 20.0


@dataclass(slots=True)
class Pace:
    """How fast people label, beside what it takes to judge their labels.

    Judging may be broken off, but not at every moment, and the more rows there are, the longer a
    label waits for that: so judging waits as long as it took the last time.

    Attributes
    ----------
    clock : callable
        Seconds, for tests.
    pause_s : float
        Seconds without a label after which all is judged.
    """

    clock: Callable[[], float] = time.monotonic
    pause_s: float = _SHORTEST_S
    _last: float = field(default=0.0)

    def __post_init__(self) -> None:
        self.note_label()

    def note_label(self) -> None:
        """Remember that somebody labels."""
        self._last = self.clock()

    def seconds_left(self) -> float:
        """Return how long it is until people pause; 0 where they do."""
        return max(0.0, self._last + self.pause_s - self.clock())

    @contextmanager
    def judging(self) -> Iterator[None]:
        """Take the time of the block, in which all is judged; not where it is broken off."""
        began = self.clock()
        yield
        self.pause_s = min(max(self.clock() - began, _SHORTEST_S), _LONGEST_S)
