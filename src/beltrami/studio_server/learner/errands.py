"""What the learner's thread is asked to do: work enters, whoever waits for it is told."""

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from beltrami.core.errors import BeltramiError

_AHEAD = 8
"""Questions chosen at once, where few people ask."""


class BrokenOffError(Exception):
    """Work is broken off: a label came, or the studio ends."""


class LearningStoppedError(BeltramiError):
    """The learner is not there any more; labels go on being saved."""


class Errands:
    """Work that waits, first come, first served; may be added to from any thread."""

    def __init__(self) -> None:
        self._waiting: deque[tuple[Callable[[], Any], Future[Any], int]] = deque()

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def add(self, work: Callable[[], Any], after: int = 0) -> "Future[Any]":
        """Let some work wait until the event of that number is learned."""
        future: Future[Any] = Future()
        self._waiting.append((work, future, after))
        return future

    def are_due(self, version: int) -> bool:
        """Say whether what waits longest may be done, with events learned up to `version`."""
        return bool(self._waiting) and self._waiting[0][2] <= version

    def do_first(self) -> None:
        """Do what waits longest; what is broken off goes on waiting, and is done again."""
        work, future, _ = self._waiting[0]
        if future.cancelled():
            self._waiting.popleft()
            return
        try:
            outcome = work()
        except BrokenOffError:
            raise
        except Exception as error:  # noqa: BLE001 - whoever asked is told
            self._waiting.popleft()
            _hand_over(future, error=error)
        else:
            self._waiting.popleft()
            _hand_over(future, outcome)

    def refuse_all(self, error: Exception) -> None:
        """Tell all who wait that nothing will be done."""
        while self._waiting:
            _hand_over(self._waiting.popleft()[1], error=error)


class Agenda:
    """Who waits for what: requests, those that wait until all is judged, and questions.

    Where many people label, there is always one more label to learn; whoever waited for the last
    ones goes before the next.

    Attributes
    ----------
    requests, patient : Errands
        What is asked for, and what may wait until all is judged.
    needs_questions : bool
        Whether the questions are to be chosen anew.
    has_just_learned : bool
        Whether labels were learned after what was done last for somebody who waits.
    """

    def __init__(self) -> None:
        self.requests, self.patient = Errands(), Errands()
        self.needs_questions = self.has_just_learned = self._is_awaited = False
        self._n_wanted = _AHEAD

    @property
    def is_urgent(self) -> bool:
        """Whether anything is to be done now, but for labels."""
        return self.needs_questions or bool(self.requests)

    def is_someone_due(self, version: int) -> bool:
        """Say whether somebody waited for the last labels, and is not to wait for the next ones."""
        return self.has_just_learned and (self._is_awaited or self.requests.are_due(version))

    def want_questions(self, count: int) -> None:
        """Note that somebody waits for a question, and how many may soon be wanted."""
        self._n_wanted = max(count, _AHEAD)
        self.needs_questions = self._is_awaited = True

    def take_questions(self) -> int:
        """Return how many questions to choose, which is done now."""
        self.needs_questions = self.has_just_learned = self._is_awaited = False
        return self._n_wanted

    def refuse_all(self, error: Exception) -> None:
        """Tell all who wait that nothing will be done."""
        self.requests.refuse_all(error)
        self.patient.refuse_all(error)


def _hand_over(
    future: "Future[Any]", outcome: Any = None, *, error: Exception | None = None
) -> None:
    """Give whoever waits what came out; who has gone wants nothing."""
    if not future.set_running_or_notify_cancel():
        return
    if error is None:
        future.set_result(outcome)
    else:
        future.set_exception(error)
