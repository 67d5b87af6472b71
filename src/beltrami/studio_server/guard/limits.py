"""How much anyone may ask of the studio: requests of any size enter, bounded ones leave.

A body is taken in whole before the application hears of it, so that no slow client keeps any of its
work waiting; what fails inside is said in one sentence to the client and in full to the log.
"""

import asyncio
import logging
from dataclasses import dataclass

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from beltrami.studio_server.guard.refusals import RefusedError, announces_body, refuse, values_of

_LOG = logging.getLogger("beltrami.studio")

_FAILED = (
    "Something went wrong in the studio, and it was not this request's fault. What was saved is "
    "safe. The window in which the studio runs says what happened."
)


@dataclass(frozen=True, slots=True)
class Bounds:
    """What the studio takes on at most.

    Attributes
    ----------
    body_bytes, bodies_bytes : int
        Of one body, and of all that arrive at the same time.
    patience_s : float
        Seconds within which a request must have arrived, its head and its body each, and for which
        a client may take nothing of what is sent to it.
    n_sockets, n_connections : int
        WebSockets, and connections of any kind.
    """

    body_bytes: int = 8 * 2**20
    bodies_bytes: int = 64 * 2**20
    patience_s: float = 20.0
    n_sockets: int = 64
    n_connections: int = 256


class Limits:
    """ASGI: keeps requests within bounds, and failures of the application out of sight.

    Parameters
    ----------
    app : ASGI application
        Never sees a body that is too long or has not arrived.
    bounds : Bounds
        What is taken on at most.
    """

    def __init__(self, app: ASGIApp, bounds: Bounds | None = None) -> None:
        self._app, self._bounds = app, bounds or Bounds()
        self._n_sockets = self._arriving_bytes = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request or handshake."""
        if scope["type"] == "http":
            await self._answer(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._converse(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            body = await self._take_in(scope, receive)
        except RefusedError as refused:
            await refuse(scope, send, refused)
            return
        if body is None:  # whoever asked has gone
            return
        outcome = _Outcome(send)
        try:
            await self._app(scope, _replay(body, receive), outcome.pass_on)
        except Exception:  # noqa: BLE001 - whatever it is, the client hears one sentence
            if outcome.is_gone:
                return
            _LOG.exception("%s %r failed", scope["method"], scope["path"])
            outcome.has_failed = True
        if outcome.has_failed and not outcome.has_begun:
            await refuse(scope, send, RefusedError(500, _FAILED))

    async def _take_in(self, scope: Scope, receive: Receive) -> bytes | None:
        """Return the body once all of it is there; None where the client left before."""
        if not announces_body(scope):
            return b""
        if scope["method"] in {"GET", "HEAD"}:
            raise RefusedError(400, f"A {scope['method']} has no body.")
        self._check_length(scope)
        parts: list[bytes] = []
        n_bytes, is_whole = 0, False
        try:
            async with asyncio.timeout(self._bounds.patience_s):
                while not is_whole:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        return None
                    part = message.get("body", b"")
                    parts.append(part)
                    n_bytes += len(part)
                    self._arriving_bytes += len(part)
                    self._check_bytes(n_bytes)
                    is_whole = not message.get("more_body", False)
        except TimeoutError:
            raise RefusedError(
                408,
                f"Only {n_bytes} bytes of the request arrived in {self._bounds.patience_s:g} "
                "seconds. Send it again, in smaller parts.",
            ) from None
        finally:
            self._arriving_bytes -= n_bytes
        return b"".join(parts)

    def _check_length(self, scope: Scope) -> None:
        for said in values_of(scope, b"content-length"):
            if not (said.isascii() and said.isdigit()):
                raise RefusedError(400, "The length of a body is a number of bytes.")
            self._check_bytes(int(said[:20]))

    def _check_bytes(self, n_bytes: int) -> None:
        if n_bytes > self._bounds.body_bytes:
            raise RefusedError(
                413,
                f"A request may have {self._bounds.body_bytes / 2**20:g} MB at most, and this one "
                "has more. Send fewer rows at a time.",
            )
        if self._arriving_bytes > self._bounds.bodies_bytes:
            raise RefusedError(
                503, "Too much arrives at once. Send it again.", ((b"retry-after", b"1"),)
            )

    async def _converse(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._n_sockets >= self._bounds.n_sockets:
            words = f"{self._bounds.n_sockets} windows of this studio are open; close some first."
            await send({"type": "websocket.accept"})  # a page is told words only after that
            await send({"type": "websocket.close", "code": 1013, "reason": words})
            return
        outcome = _Outcome(send)
        self._n_sockets += 1
        try:
            await self._app(scope, receive, outcome.pass_on)
        except Exception:  # noqa: BLE001 - the same
            if not outcome.is_gone:
                _LOG.exception("the conversation at %r failed", scope["path"])
                await self._end(scope, send, outcome)
        finally:
            self._n_sockets -= 1

    @staticmethod
    async def _end(scope: Scope, send: Send, outcome: "_Outcome") -> None:
        if not outcome.has_begun:
            await refuse(scope, send, RefusedError(500, _FAILED))
            return
        try:
            await send({"type": "websocket.close", "code": 1011, "reason": "the studio failed"})
        except (OSError, RuntimeError):  # it is closed already
            return


class _Outcome:
    """What has become of an answer: whether it began, failed, or nobody is there to hear it."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.has_begun = self.has_failed = self.is_gone = False

    async def pass_on(self, message: Message) -> None:
        """Send a message on; an answer of status 500 is left to the sentence of ours."""
        if message["type"] == "http.response.start" and message["status"] == 500:
            self.has_failed = True
        if self.has_failed and not self.has_begun:
            return
        self.has_begun = True
        try:
            await self._send(message)
        except OSError:
            self.is_gone = True
            raise


def _replay(body: bytes, receive: Receive) -> Receive:
    """Return a way to receive the body in one piece, and what comes after it."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return waiting.pop() if waiting else await receive()

    return next_message
