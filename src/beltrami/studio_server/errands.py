"""What the learner's thread is asked to do: work enters, whoever waits for it is told."""

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any


class BrokenOffError(Exception):
    """Work is broken off: a label came, or the studio ends."""


class Errands:
    """Work that waits, first come, first served; may be added to from any thread."""

    def __init__(self) -> None:
        self._waiting: deque[tuple[Callable[[], Any], Future[Any]]] = deque()

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def add(self, work: Callable[[], Any]) -> "Future[Any]":
        """Let some work wait."""
        future: Future[Any] = Future()
        self._waiting.append((work, future))
        return future

    def do_first(self) -> None:
        """Do what waits longest."""
        work, future = self._waiting.popleft()
        if not future.set_running_or_notify_cancel():
            return
        try:
            future.set_result(work())
        except BrokenOffError:
            future.set_exception(RuntimeError("the studio has ended"))
            raise
        except Exception as error:  # noqa: BLE001 - whoever asked is told
            future.set_exception(error)

    def refuse_all(self, words: str) -> None:
        """Tell all who wait that nothing will be done."""
        while self._waiting:
            self._waiting.popleft()[1].set_exception(RuntimeError(words))
