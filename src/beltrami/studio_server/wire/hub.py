"""The pages that are open: what is told from any thread goes out to each, at its own pace."""

import asyncio
import json
import threading
from collections.abc import Callable
from typing import Any

from beltrami.studio_server.wire.outbox import Outbox


class Hub:
    """All open pages.

    Attributes
    ----------
    state_for : callable
        Returns what a person's pages show around the rows.
    """

    def __init__(self) -> None:
        self.state_for: Callable[[str], dict[str, Any]] = lambda _: {}
        self._outboxes: dict[Outbox, str] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_state_due = False
        self._lock = threading.Lock()

    def attach(self, loop: asyncio.AbstractEventLoop) -> None:
        """Say in which loop the pages are served."""
        self._loop = loop

    def join(self, outbox: Outbox, user: str) -> None:
        """Add a page; in the loop."""
        self._outboxes[outbox] = user

    def leave(self, outbox: Outbox) -> None:
        """Forget a page; in the loop."""
        self._outboxes.pop(outbox, None)

    @property
    def users(self) -> set[str]:
        """Who has a page open."""
        return set(self._outboxes.values())

    def tell_progress(self, message: dict[str, Any]) -> None:
        """Send to all how far something is."""
        self._call(self._post, "progress", dump(message))

    def say(self, message: dict[str, Any]) -> None:
        """Send something to all that a person must read."""
        self._call(self._say, dump(message))

    def tell_state(self) -> None:
        """Send the state to each, once however often it is asked for meanwhile."""
        with self._lock:
            if self._is_state_due:
                return
            self._is_state_due = True
        self._call(self._post_states)

    def send_places(self, frame: bytes) -> None:
        """Send a map to all."""
        self._call(self._place, frame)

    def send_answers(self, frame: bytes) -> None:
        """Send answers, or what has changed of them, to all."""
        self._call(self._change, frame)

    def _call(self, act: Callable[..., None], *arguments: Any) -> None:
        if self._loop is not None and not self._loop.is_closed():
            try:
                self._loop.call_soon_threadsafe(act, *arguments)
            except RuntimeError:  # the loop ended between the two lines
                return

    def _post(self, about: str, text: str) -> None:
        for outbox in self._outboxes:
            outbox.put_text(text, about)

    def _say(self, text: str) -> None:
        for outbox in self._outboxes:
            outbox.put_text(text)

    def _post_states(self) -> None:
        with self._lock:
            self._is_state_due = False
        texts = {user: dump({"type": "state"} | self.state_for(user)) for user in self.users}
        for outbox, user in self._outboxes.items():
            outbox.put_state(texts[user])

    def _place(self, frame: bytes) -> None:
        for outbox in self._outboxes:
            outbox.put_places(frame)

    def _change(self, frame: bytes) -> None:
        for outbox in self._outboxes:
            outbox.put_answers(frame)


def dump(message: dict[str, Any]) -> str:
    """Return a message as JSON."""
    return json.dumps(message, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
