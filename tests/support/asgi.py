"""An application asked without a server: the messages of one request or handshake."""

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

PORT = 8421
ORIGIN = f"http://127.0.0.1:{PORT}"


@dataclass
class Answer:
    """What came back."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""

    @property
    def error(self) -> str:
        return json.loads(self.body)["error"]


def scope_of(
    path: str, headers: dict[str, str], *, method: str = "", server: Any = ("127.0.0.1", PORT)
) -> dict[str, Any]:
    """The scope of a request, or of a handshake where there is no method."""
    path, _, query = path.partition("?")
    sent = {"host": f"127.0.0.1:{PORT}"} | headers
    scope = {
        "type": "http" if method else "websocket",
        "scheme": "http" if method else "ws",
        "path": path,
        "query_string": query.encode(),
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in sent.items()],
        "server": server,
    }
    return scope | ({"method": method} if method else {})


async def ask_async(
    app, method: str, path: str, headers: dict[str, str] | None = None, body: bytes = b"", **more
) -> Answer:
    """Return the answer to one request."""
    sent = dict(headers or {})
    if body:
        sent.setdefault("content-length", str(len(body)))
    messages = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive():
        return messages.pop(0) if messages else {"type": "http.disconnect"}

    return await _collect(app, scope_of(path, sent, method=method, **more), receive)


def ask(app, method: str, path: str, headers=None, body: bytes = b"", **more) -> Answer:
    """Return the answer to one request."""
    return asyncio.run(ask_async(app, method, path, headers, body, **more))


def shake_hands(app, path: str, headers: dict[str, str] | None = None, **more) -> Answer:
    """Return how a WebSocket's handshake ends: 101, or why not."""

    async def receive():
        return {"type": "websocket.connect"}

    return asyncio.run(_collect(app, scope_of(path, headers or {}, **more), receive))


async def _collect(app, scope, receive) -> Answer:
    answer = Answer()

    async def send(message):
        kind = message["type"]
        if kind == "http.response.start":
            assert not answer.status
            answer.status = message["status"]
            pairs = [(key.decode(), value.decode()) for key, value in message["headers"]]
            answer.headers = dict(pairs)
            assert len(answer.headers) == len(pairs), "a header twice"
        elif kind == "http.response.body":
            answer.body += message["body"]
        elif kind in {"websocket.accept", "websocket.close"}:
            answer.status = 101 if kind == "websocket.accept" else 403

    await app(scope, receive, send)
    return answer
