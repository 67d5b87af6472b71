"""The studio on a socket: an application enters, a server that can be stopped at any moment leaves.

One process, one event loop. In the foreground it ends by Ctrl-C; in a thread, for notebooks, by
`ServerThread.stop`.
"""

import asyncio
import errno
import logging
import socket
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import Any, Self

import h11
import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from beltrami.core.errors import BeltramiError, InvalidInputError
from beltrami.studio_server.guard.addresses import Address, is_loopback
from beltrami.studio_server.guard.limits import Bounds
from beltrami.studio_server.guard.refusals import RefusedError, refuse

_LOG = logging.getLogger("beltrami.studio")

GRACE_S = 1.0
"""What answers under way may still take when the server ends."""

_HEAD_BYTES = 32 * 1024  # other programs on this machine have cookies, too
_MESSAGE_BYTES = 4 * 1024  # the page says nothing over its WebSocket
_KEEP_ALIVE_S = 15
_SPARE_CONNECTIONS = 64  # those that hear why no more are taken; others are cut off
_PONG_S = 60.0  # a slow client finds the question behind all that it has yet to read
_LOOKS = 8  # for each time that a client may hang
_STARTUP_FAILURE = 3  # uvicorn's
_LONGEST_STOP_S = 10.0


class StudioServerError(BeltramiError, OSError):
    """The studio cannot listen where it should, or did not start."""


def check_host(host: str, has_own_token: bool) -> None:
    """Refuse an address that other machines reach, unless the user gave a token for it.

    - `has_own_token`: whether a person chose the token, and so knows that it is needed.
    """
    if has_own_token or is_loopback(host):
        return
    try:
        found = socket.getaddrinfo(host or None, 0, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError):
        raise InvalidInputError(
            f"the host {host!r} is no name or address of this machine. Leave it out: the studio is "
            "then at 127.0.0.1, for this machine alone."
        ) from None
    if not all(is_loopback(str(place[0])) for *_, place in found):
        raise InvalidInputError(
            f"at {host or 'every address'!r} other machines could reach the studio, see the data "
            "and label them, over a connection that is not encrypted. If that is what you want, "
            "choose a token of at least 16 characters (--token) and hand it on with the address; "
            "if not, leave the host out: the studio is then for this machine alone."
        )


def listen(host: str, port: int) -> tuple[socket.socket, Address]:
    """Return a socket that waits for connections, and where it is; port 0 is any free one."""
    if not 0 <= port < 2**16:
        raise InvalidInputError(f"port={port} must lie between 0 and {2**16 - 1}; 0 is any free.")
    place = "127.0.0.1" if host == "localhost" else host
    family = socket.AF_INET6 if ":" in place else socket.AF_INET
    # Named as TCP, or asyncio leaves the wait of 40 ms between the parts of an answer.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if sys.platform != "win32":  # there it would let two programs share a port
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((place, port))
        listening.listen(128)
    except OSError as error:
        listening.close()
        raise StudioServerError(_explain(host, port, error)) from None
    return listening, Address(host, int(listening.getsockname()[1]))


def _explain(host: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return (
            f"port {port} is taken by another program, perhaps by another studio. Stop that one, "
            "or choose another port (--port; 0 is any that is free)."
        )
    if error.errno == errno.EACCES:
        return f"port {port} is not yours to open. Choose one from 1024 on, or 0 for any free one."
    return (
        f"the studio cannot listen at host {host!r}, port {port} ({error.strerror or error}). "
        "Leave the host out: the studio is then at 127.0.0.1."
    )


def serve(
    app: ASGIApp,
    host: str = "127.0.0.1",
    port: int = 0,
    on_ready: Callable[[Address], None] | None = None,
    *,
    bounds: Bounds | None = None,
) -> None:
    """Serve in the foreground until Ctrl-C or SIGTERM, then end in order and raise that again.

    - `on_ready`: called once with the address, when it answers; may not take long.
    """
    listening, address = listen(host, port)
    with listening:
        server = _Server(app, address, on_ready or (lambda _: None), bounds or Bounds())
        server.run_on(listening)


class ServerThread:
    """A server in a thread of its own, which leaves signals alone.

    Parameters
    ----------
    app : ASGI application
        What is served.
    host, port : str and int
        Where; port 0 is any free one.
    bounds : Bounds
        What is taken on at most.

    Attributes
    ----------
    address : Address
        Where it is; its port is known once it is started.
    """

    def __init__(
        self,
        app: ASGIApp,
        host: str = "127.0.0.1",
        port: int = 0,
        *,
        bounds: Bounds | None = None,
    ) -> None:
        self._app, self._host, self._port, self._bounds = app, host, port, bounds or Bounds()
        self.address = Address(host, port)
        self._settled = threading.Event()
        self._error: BaseException | None = None
        self._server: _Server | None = None
        self._thread: threading.Thread | None = None

    def start(self) -> Address:
        """Return the address, once it answers."""
        listening, self.address = listen(self._host, self._port)
        self._server = _Server(self._app, self.address, lambda _: self._settled.set(), self._bounds)
        # It must not keep an interpreter alive whose user has left: what is saved is saved.
        self._thread = threading.Thread(
            target=self._run, args=(self._server, listening), name="beltrami studio", daemon=True
        )
        self._thread.start()
        self._settled.wait()
        if self._error is not None:
            self._thread.join()
            raise self._error
        return self.address

    def stop(self) -> None:
        """End the server, as Ctrl-C does; nothing where it has ended."""
        if self._server is None or self._thread is None:
            return
        self._server.should_exit = True
        self._thread.join(_LONGEST_STOP_S)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def _run(self, server: "_Server", listening: socket.socket) -> None:
        try:
            with listening:
                server.run_on(listening)
        except BaseException as error:  # noqa: BLE001 - raised where the thread was started
            self._error = error
        finally:
            self._settled.set()


class _Server(uvicorn.Server):
    """A server that says when it is ready, lets go of clients that hang, and ends in time."""

    def __init__(
        self, app: ASGIApp, address: Address, on_ready: Callable[[Address], None], bounds: Bounds
    ) -> None:
        self._address, self._on_ready, self._bounds = address, on_ready, bounds
        self._watcher: asyncio.Task[None] | None = None
        most = bounds.n_connections
        super().__init__(
            uvicorn.Config(
                outermost(app),
                http=partial(_Connection, most=most),  # type: ignore[arg-type]  # it makes one
                loop="asyncio",
                interface="asgi3",
                log_config=None,
                log_level="critical",  # what fails is told by us
                access_log=False,
                workers=1,
                proxy_headers=False,
                server_header=False,
                limit_concurrency=2
                * (most + _SPARE_CONNECTIONS),  # tasks that outlive their client
                timeout_keep_alive=_KEEP_ALIVE_S,
                timeout_graceful_shutdown=round(4 * GRACE_S),
                ws_max_size=_MESSAGE_BYTES,
                ws_max_queue=4,
                ws_ping_timeout=_PONG_S,
                ws_per_message_deflate=False,  # takes longer than it saves on one machine
                h11_max_incomplete_event_size=_HEAD_BYTES,
            )
        )

    def run_on(self, listening: socket.socket) -> None:
        """Serve until the end."""
        try:
            self.run([listening])
        except SystemExit as stop:
            if stop.code != _STARTUP_FAILURE:
                raise
        if not self.started:
            raise StudioServerError("the studio did not start; what is said above tells why.")

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to answer, and say so."""
        await super().startup(sockets)
        if self.started:
            self._watcher = asyncio.create_task(self._watch())
            self._on_ready(self._address)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End: answers under way have a moment, then everything is cut off."""
        if self._watcher is not None:
            self._watcher.cancel()
        asyncio.get_running_loop().call_later(GRACE_S, self._cut_off)
        await super().shutdown(sockets)

    def _cut_off(self) -> None:
        for connection in list(self.server_state.connections):
            connection.transport.abort()
        # A tick later: an application whose client has gone is not reported for its silence.
        asyncio.get_running_loop().call_later(0.05, self._cancel)

    def _cancel(self) -> None:
        for task in list(self.server_state.tasks):
            task.cancel()

    async def _watch(self) -> None:
        """Let go of whoever has not said what it wants, or taken what it asked for, in time."""
        known: dict[Any, _Standing] = {}
        while True:
            await asyncio.sleep(self._bounds.patience_s / _LOOKS)
            now = time.monotonic()
            known = {
                one: _look_at(one, known.get(one), now) for one in self.server_state.connections
            }
            for connection, standing in known.items():
                if now - standing.since > self._bounds.patience_s:
                    connection.transport.abort()


@dataclass(frozen=True, slots=True)
class _Standing:
    """How it stands with a connection.

    Attributes
    ----------
    n_waiting : int
        Bytes that the client has yet to take.
    answered : object
        The last request, while none is under way and the client could say the next.
    since : float
        When something moved last.
    """

    n_waiting: int
    answered: object
    since: float


def _look_at(connection: Any, before: _Standing | None, now: float) -> _Standing:
    """Return how it stands with a connection: it hangs where neither side has moved."""
    n_waiting = int(connection.transport.get_write_buffer_size())
    answered: object = None
    if isinstance(connection, H11Protocol):
        cycle: Any = connection.cycle
        if cycle is None or cycle.response_complete:
            answered = cycle or connection
    since = now
    if before is not None and (n_waiting or answered is not None):
        has_moved = n_waiting < before.n_waiting or answered is not before.answered
        since = now if has_moved else before.since
    return _Standing(n_waiting, answered, since)


class _Connection(H11Protocol):
    """A connection; one too many hears that, and far too many are cut off."""

    def __init__(self, *arguments: Any, most: int, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._most = most

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Count it in."""
        super().connection_made(transport)
        if len(self.connections) > self._most:
            self.app = _say_full
        if len(self.connections) > self._most + _SPARE_CONNECTIONS:
            transport.abort()


async def _say_full(scope: Scope, _: Receive, send: Send) -> None:
    words = "Too many connections to this studio are open. Close some windows, and try again."
    headers = ((b"connection", b"close"), (b"retry-after", b"5"))
    await refuse(scope, send, RefusedError(503, words, headers))


def outermost(app: ASGIApp) -> ASGIApp:
    """Return the application, which tells our log what fails, and ends quietly when it is cut off.

    A client that breaks the rules is no failure. The server has ended its connection by then and
    refuses what is sent to it, which the application hears as if the client had gone.
    """

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        broken = RuntimeError if scope["type"] == "websocket" else h11.LocalProtocolError

        async def told(message: Message) -> None:
            if message["type"] == "lifespan.startup.failed":
                _LOG.error("%s", message.get("message", ""))
            try:
                await send(message)
            except broken as error:
                raise ConnectionResetError("the client was let go") from error

        try:
            await app(scope, receive, told)
        except (asyncio.CancelledError, ConnectionResetError):
            return
        except Exception:
            if scope["type"] == "lifespan":  # it may have none
                raise
            _LOG.exception("%s failed", scope["type"])

    return answer
