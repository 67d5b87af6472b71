"""What waits for one page: messages enter at any pace, and leave as fast as the page takes them."""

import asyncio
from collections import deque
from collections.abc import Callable

from starlette.concurrency import run_in_threadpool
from starlette.websockets import WebSocket

from beltrami.studio_server.wire.frames import CHANGES, kind_of

_ANSWERS, _TEXTS = "answers", "texts"
_MOST_TEXTS = 64


class Outbox:
    """The messages that one client has yet to take, however slow it is.

    Of each thing only the newest is kept. Changes of answers wait in their order while they are
    few; when they are too many they are dropped, and the client is sent all answers as they are at
    the moment when it takes them. A slow client thus costs a fixed number of bytes, misses steps on
    the way and never ends with a wrong map. Lives in the event loop.

    Parameters
    ----------
    all_answers : callable
        Returns the frame of all answers as they are now, or None while there are none; called in a
        thread.
    changes_bytes : int
        The most bytes of changes that wait.
    """

    def __init__(
        self, all_answers: Callable[[], bytes | None], *, changes_bytes: int = 2**20
    ) -> None:
        self._all_answers, self._most_bytes = all_answers, changes_bytes
        self._awake = asyncio.Event()
        self._due: dict[str, str | bytes] = {}  # by what it is about, the longest due first
        self._texts: deque[str] = deque(maxlen=_MOST_TEXTS)
        self._changes: deque[bytes] = deque()
        self._knows_all = False  # before it has all answers once, changes mean nothing to it

    def put_text(self, text: str, about: str = "") -> None:
        """Let a text wait behind others, or in place of the one that is about the same.

        Of those about nothing the last few are kept.
        """
        if about:
            self._due[about] = text
        else:
            self._texts.append(text)
            self._due.setdefault(_TEXTS, "")
        self._awake.set()

    def put_state(self, text: str) -> None:
        """Let a state wait in place of the one before."""
        self.put_text(text, "state")

    def put_places(self, frame: bytes) -> None:
        """Let places wait, and after them all answers: there may be other rows than before."""
        self._due.pop(_ANSWERS, None)
        self._due["places"] = frame
        self._want_all()

    def put_answers(self, frame: bytes) -> None:
        """Let answers wait: all of them, or what has changed of them.

        What `all_answers` returns has such changes already.
        """
        if kind_of(frame) != CHANGES:
            self._want_all(frame)
            return
        self._changes.append(frame)
        self._due.setdefault(_ANSWERS, b"")
        if not self._knows_all or sum(map(len, self._changes)) > self._most_bytes:
            self._want_all()
        self._awake.set()

    def _want_all(self, frame: bytes = b"") -> None:
        """Let all answers wait, those of a frame or those that there will be, and no change."""
        self._changes.clear()
        self._knows_all = False
        self._due[_ANSWERS] = frame
        self._awake.set()

    async def send_all(self, socket: WebSocket, reading: "asyncio.Task[None]") -> None:
        """Send all that is put in, until `reading` says that the client has gone."""
        reading.add_done_callback(lambda _: self._awake.set())
        while not reading.done():
            self._awake.clear()
            message = await self._take()
            if isinstance(message, bytes):
                await socket.send_bytes(message)
            elif message is not None:
                await socket.send_text(message)
            elif not self._due:
                await self._awake.wait()

    async def _take(self) -> str | bytes | None:
        """Return what has been due for the longest, if there is anything."""
        if not self._due:
            return None
        about = next(iter(self._due))
        message = self._due.pop(about)
        if about == _TEXTS:
            message = self._texts.popleft()
            if self._texts:
                self._due[_TEXTS] = ""
        elif about == _ANSWERS and self._knows_all:
            message = self._changes.popleft()
            if self._changes:
                self._due[_ANSWERS] = b""
        elif about == _ANSWERS:
            self._knows_all = True  # changes from now on come after it
            return message or await self._look_up()
        return message

    async def _look_up(self) -> bytes | None:
        """Return all answers, if there are any and nobody has asked for newer ones meanwhile."""
        found = await run_in_threadpool(self._all_answers)
        if found is None:
            self._knows_all = False
            self._changes.clear()
        return found if self._knows_all else None
