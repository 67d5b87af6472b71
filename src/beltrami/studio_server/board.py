"""The questions that wait: each is shown to one person at a time, the most useful first."""

import threading
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from beltrami.questions import Question

_LEASE_S = 600.0
"""Seconds for which a question is kept for a person who says nothing."""

_MOST_HELD = 4
"""Questions that one person may hold: what is looked at, one or two in advance, and a spare."""


@dataclass(slots=True)
class _Lease:
    """Who looks at a question, and since when."""

    user: str
    since: float
    question: Question


@dataclass(slots=True)
class Board:
    """Questions that are ready, and who looks at which.

    Attributes
    ----------
    clock : callable
        Seconds, for tests.
    """

    clock: Callable[[], float] = time.monotonic
    _ready: list[Question] = field(default_factory=list)
    _leases: dict[int, _Lease] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def put(self, questions: Collection[Question]) -> None:
        """Replace the questions that nobody looks at."""
        with self._lock:
            self._ready = [one for one in questions if one.row not in self._leases]

    def take(self, user: str, is_closed: Callable[[int], bool]) -> Question | None:
        """Reserve the best question for a person; None where there is none yet.

        - `is_closed`: says which rows are not to be asked of this person, such as labelled ones.
        """
        with self._lock:
            self._expire()
            held = [one for one in self._leases.values() if one.user == user]
            if len(held) >= _MOST_HELD:  # a page that was loaded anew has forgotten the oldest
                oldest = min(held, key=lambda one: one.since)
                oldest.since = self.clock()
                if not is_closed(oldest.question.row):
                    return oldest.question
                del self._leases[oldest.question.row]
            while self._ready:
                question = self._ready.pop(0)
                if not is_closed(question.row) and question.row not in self._leases:
                    self._leases[question.row] = _Lease(user, self.clock(), question)
                    return question
            return None

    def close(self, rows: Collection[int]) -> None:
        """Forget rows that have an answer now."""
        answered = set(rows)
        with self._lock:
            for row in answered & self._leases.keys():
                del self._leases[row]
            self._ready = [one for one in self._ready if one.row not in answered]

    def give_back(self, user: str) -> None:
        """Let others have what a person who left was looking at."""
        with self._lock:
            for row in [row for row, one in self._leases.items() if one.user == user]:
                self._ready.insert(0, self._leases.pop(row).question)

    def clear(self) -> None:
        """Forget all questions: the rows are others now."""
        with self._lock:
            self._ready.clear()
            self._leases.clear()

    @property
    def held(self) -> set[int]:
        """The rows that somebody looks at."""
        with self._lock:
            self._expire()
            return set(self._leases)

    @property
    def n_ready(self) -> int:
        """How many questions nobody looks at."""
        with self._lock:
            return len(self._ready)

    def _expire(self) -> None:
        limit = self.clock() - _LEASE_S
        for row in [row for row, one in self._leases.items() if one.since < limit]:
            del self._leases[row]


def choose_open(learner: Any, closed: Collection[int], count: int) -> tuple[Question, ...]:
    """Return what a learner would ask next, but of some rows that are not to be asked."""
    candidates = None
    if closed:
        rows = np.fromiter(closed, np.intp, len(closed))
        candidates = np.setdiff1d(np.arange(learner.graph_.n_nodes), rows)
    if candidates is not None and not len(candidates):
        return ()
    _, questions = learner.query(count, candidates=candidates, return_reasons=True)
    return tuple(questions)
