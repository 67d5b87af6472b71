"""How the studio says no: a status and plain words enter, an answer to whoever asked leaves.

Every answer of the studio's has the headers that guard it in a browser.
"""

import html
import json

from starlette.types import Message, Scope, Send

Headers = tuple[tuple[bytes, bytes], ...]

_HEADERS = {
    b"content-security-policy": (
        b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; "
        b"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"no-referrer",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
}
_PAGE = (
    '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
    '<meta name="viewport" content="width=device-width">\n'
    "<title>Beltrami studio</title>\n<h1>Beltrami studio</h1>\n<p>{words}</p>\n</html>\n"
)


class RefusedError(Exception):
    """A request that is not answered.

    Parameters
    ----------
    status : int
        Of HTTP.
    words : str
        What is wrong and what to do, for the one who asked.
    headers : tuple of pairs of bytes
        Besides those that every answer has.
    """

    def __init__(self, status: int, words: str, headers: Headers = ()) -> None:
        super().__init__(words)
        self.status, self.words, self.headers = status, words, headers


def with_guards(scope: Scope, send: Send) -> Send:
    """Return a way to answer by which every answer has the headers that guard it."""
    is_file = scope["path"].startswith("/static/")
    guards = {**_HEADERS, b"cache-control": b"no-cache" if is_file else b"no-store"}

    async def guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            others = [one for one in message.get("headers", ()) if one[0].lower() not in guards]
            message = {**message, "headers": [*others, *guards.items()]}
        await send(message)

    return guarded


def values_of(scope: Scope, name: bytes) -> list[str]:
    """Return what a header says, once for each time that it was sent."""
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]


def announces_body(scope: Scope) -> bool:
    """Return whether bytes follow the head of a request."""
    lengths = values_of(scope, b"content-length")
    return bool(values_of(scope, b"transfer-encoding")) or any(one != "0" for one in lengths)


async def refuse(scope: Scope, send: Send, refused: RefusedError) -> None:
    """Answer with the words: a page for a browser's window, JSON for everything else.

    A connection on which a body is under way is closed, so that nobody has to read it. A WebSocket
    is refused by 403 and no words, which no browser would show.
    """
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008, "reason": ""})
        return
    if any("text/html" in one for one in values_of(scope, b"accept")):
        kind, body = b"text/html; charset=utf-8", _PAGE.format(words=html.escape(refused.words))
    else:
        kind, body = b"application/json", json.dumps({"error": refused.words})
    content = body.encode()
    headers = [(b"content-type", kind), (b"content-length", str(len(content)).encode())]
    if announces_body(scope):
        headers.append((b"connection", b"close"))
    guarded = with_guards(scope, send)
    start = {"type": "http.response.start", "status": refused.status}
    await guarded({**start, "headers": [*headers, *refused.headers]})
    await guarded({"type": "http.response.body", "body": content, "more_body": False})
