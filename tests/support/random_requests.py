"""Random requests to a studio: right, nearly right, and wild."""

import json
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import numpy as np

CLASSES = ("a", "b", "c", "new", "a class", "Ünïcode", "1", "</script>", "'; DROP TABLE events;--")
STRANGE: tuple[Any, ...] = (
    None, True, False, -1, 0, 1.5, 1e308, 2**31, 2**63, 2**70, -(2**63), "", " ", "0", "\x00",
    "\ud800", "x" * 5000, "a\nb", "\u202e", "=cmd()", [], [[]], {}, {"a": 1}, [None], ["0"], [0.5],
    [True], [-1], [10**9], [10**30], [0, 0], list(range(2000)), float("nan"), float("inf"),
)  # fmt: skip
PATHS = (
    "/", "//", "/api", "/api/", "/api/nothing", "/static/", "/static/studio.js", "/static/map.js",
    "/static/../application.py", "/static/..%2f..%2fapplication.py", "/static/%2e%2e/access.py",
    "/static/....//access.py", "/static//etc/passwd", "/static/%00", "/static/index.html",
    "/static/page/../../access.py", "/../../../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd",
    "/favicon.ico", "/api/live", "/api/labels/", "/api/state/../labels", "/?token=wrong", "/?x=1",
    "/api/history/", "/api/history/map", "/api/history/moment?event=..%2f", "/api/history/return",
)  # fmt: skip
ROLES = ("features", "text", "categories", "numbers", "ignore")
COLUMNS = ("id", "x", "y", "note", "label")
METHODS = ("GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD", "TRACE", "BREW", "get")


@dataclass
class Call:
    """One request."""

    method: str
    path: str
    body: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def sent(self) -> Any:
        """What the body says."""
        return json.loads(self.body or b"{}")


def random_call(rng: np.random.Generator, n_rows: int) -> Call:
    """Return a request: right one time in two, else with something wrong."""
    call = _right_call(rng, n_rows)
    luck = rng.random()
    if luck < 0.5:
        return call
    if luck < 0.8:
        return _bend(call, rng)
    return _wild_call(rng)


def _right_call(rng: np.random.Generator, n_rows: int) -> Call:
    kinds = ("label", "mark", "keep", "undo", "class", "rename", "trial", "return", "roles", "read")
    kind = rng.choice(kinds, p=(0.37, 0.05, 0.03, 0.12, 0.04, 0.04, 0.02, 0.01, 0.01, 0.31))
    rows = rng.choice(n_rows, size=int(rng.integers(1, 6)), replace=False).tolist()
    label = str(rng.choice(CLASSES))
    if kind == "label":
        sent = {"rows": rows, "label": None if rng.random() < 0.15 else label}
        if rng.random() < 0.5:
            sent["how"] = str(rng.choice(("key", "click", "area", "api")))
        return _post("/api/labels", sent)
    if kind == "mark":
        return _post("/api/marks", {"rows": rows, "mark": str(rng.choice(("skip", "unsure")))})
    if kind == "keep":
        about = str(rng.choice(("label", "twins", "island", "spelling")))
        return _post("/api/doubts/keep", {"kind": about, "rows": rows, "value": label})
    if kind == "undo":
        return _post("/api/undo", {})
    if kind == "class":
        return _post("/api/classes", {"add": f"class {rng.integers(20)}"})
    if kind == "rename":
        other = str(rng.choice(CLASSES))
        sent = {"rename": label, "to": other} | ({"merge": True} if rng.random() < 0.5 else {})
        return _post("/api/classes", sent)
    if kind == "return":
        return _post("/api/history/return", {"event": int(rng.integers(1, 40))})
    if kind == "trial":
        return _post("/api/trial", {"rows": rows, "label": label})
    if kind == "roles":
        sent = {str(rng.choice(ROLES)): [str(one) for one in rng.choice(COLUMNS, size=2)]}
        return _post("/api/roles", {"id": None} if rng.random() < 0.2 else sent)
    if rng.random() < 0.05:
        return Call("GET", str(rng.choice(("/api/labels", "/api/question", "/api/doubts"))))
    paths = (
        "/api/state", "/api/map", "/api/answers", f"/api/rows?rows={','.join(map(str, rows))}",
        f"/api/picture?row={rows[0]}&side=96", "/api/column?name=x", "/api/search?text=r1",
        "/api/data", "/", "/static/map.js", "/api/doubts/list?kind=between", "/api/history",
        "/api/history?from=3&user=me", "/api/history/curve",
        f"/api/history/moment?event={rng.integers(1, 40)}",
        f"/api/history/map?event={rng.integers(1, 40)}&quick=1",
    )  # fmt: skip
    return Call("GET", str(rng.choice(paths)))


def _post(path: str, sent: Any) -> Call:
    return Call("POST", path, json.dumps(sent).encode(), {"Content-Type": "application/json"})


def _bend(call: Call, rng: np.random.Generator) -> Call:
    """Return a request with something about it changed."""
    if call.body is None:
        path = call.path.partition("?")[0]
        names = ("rows", "row", "side", "name", "text", "token", "")
        pairs = [
            f"{rng.choice(names)}={quote(str(_strange(rng)), errors='replace')}"
            for _ in range(int(rng.integers(0, 4)))
        ]
        return Call(call.method, f"{path}?{'&'.join(pairs)}"[:6000])
    how = int(rng.integers(7))
    if how < 4:
        sent = dict(call.sent)
        names = ("rows", "label", "how", "mark", "add", "rename", "to", "merge", "id", "event")
        for _ in range(int(rng.integers(1, 3))):
            sent[str(rng.choice(names))] = _strange(rng)
        if rng.random() < 0.2 and sent:
            sent.pop(str(rng.choice(list(sent))))
        return _post(call.path, sent)
    if how == 4:
        return Call(call.method, call.path, _bend_bytes(call.body, rng), call.headers)
    if how == 5:
        kind = str(rng.choice(("text/plain", "", "application/json; charset=utf-16", "a/b; c")))
        return Call(call.method, call.path, call.body, {"Content-Type": kind})
    return Call(str(rng.choice(METHODS)), call.path, call.body, call.headers)


def _strange(rng: np.random.Generator) -> Any:
    return STRANGE[int(rng.integers(len(STRANGE)))]


def _bend_bytes(body: bytes, rng: np.random.Generator) -> bytes:
    """Return a body that is cut, doubled, deep, or has a byte that is another."""
    how = int(rng.integers(5))
    if how == 0:
        return body[: int(rng.integers(0, len(body) + 1))]
    if how == 1:
        return body + body
    if how == 2:
        return b"[" * 100_000
    if how == 3:
        return bytes(rng.integers(0, 256, size=int(rng.integers(0, 200)), dtype=np.uint8))
    bent = bytearray(body)
    bent[int(rng.integers(len(bent)))] = int(rng.integers(256))
    return bytes(bent)


def _wild_call(rng: np.random.Generator) -> Call:
    headers: dict[str, str] = {}
    if rng.random() < 0.5:
        headers["Content-Type"] = "application/json"
    if rng.random() < 0.3:
        headers["Origin"] = str(rng.choice(("null", "http://evil.example", "", "x" * 300)))
    if rng.random() < 0.2:
        headers["Host"] = str(rng.choice(("evil.example", "", "[", "127.0.0.1:1", "localhost:0")))
    if rng.random() < 0.2:
        headers["Authorization"] = str(rng.choice(("Bearer", "Bearer \xff", "Basic eDp5", "")))
    if rng.random() < 0.2:
        headers["Cookie"] = str(rng.choice(("beltrami", "=;=;", "beltrami_80=\xff", ";" * 500)))
    if rng.random() < 0.1:
        headers["Sec-Fetch-Site"] = str(rng.choice(("cross-site", "same-site", "?")))
    body = _bend_bytes(b'{"rows": [0], "label": "a"}', rng) if rng.random() < 0.5 else None
    return Call(str(rng.choice(METHODS)), str(rng.choice(PATHS)), body, headers)


def random_bytes(rng: np.random.Generator, port: int, token: str) -> bytes:
    """Return what may be sent over a connection by somebody who knows little of HTTP."""
    head = f"Host: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n"
    length = int(rng.choice((0, 1, 10, 10**6, 10**15)))
    choices = (
        bytes(rng.integers(0, 256, size=300, dtype=np.uint8)),
        f"GET /api/state HTTP/1.1\r\n{head}\r\n".encode()[: int(rng.integers(0, 90))],
        f"GET /api/state HTTP/0.9\r\n{head}\r\n".encode(),
        f"GET /api/state HTTP/1.1\r\n{head}{head}\r\n".encode(),
        f"GET http://evil.example/ HTTP/1.1\r\n{head}\r\n".encode(),
        f"POST /api/labels HTTP/1.1\r\n{head}Content-Length: {length}\r\n\r\nabc".encode(),
        f"POST /api/labels HTTP/1.1\r\n{head}Content-Length: -1\r\n\r\n".encode(),
        f"POST /api/undo HTTP/1.1\r\n{head}Transfer-Encoding: chunked\r\n\r\nzz\r\n".encode(),
        f"GET / HTTP/1.1\r\n{head}Upgrade: websocket\r\nConnection: Upgrade\r\n\r\n".encode(),
        f"GET /\xff HTTP/1.1\r\n{head}X: \xff\x01\r\n\r\n".encode("latin-1"),
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    )
    return choices[int(rng.integers(len(choices)))]


def handshake(port: int, token: str, path: str = "/api/live") -> bytes:
    """Return what opens a WebSocket."""
    return (
        f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n"
        "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
    ).encode()


def random_frames(rng: np.random.Generator) -> bytes:
    """Return frames of a WebSocket: some right, some of no kind, cut, too long or unmasked."""
    frames = b""
    for _ in range(int(rng.integers(1, 6))):
        payload = bytes(rng.integers(0, 256, size=int(rng.integers(0, 120)), dtype=np.uint8))
        if rng.random() < 0.5:
            payload = b'{"type": "state"}'
        first = int(rng.choice((0x81, 0x82, 0x88, 0x89, 0x8A, 0x01, 0x00, 0x80, 0x83, 0xF1)))
        said = int(rng.choice((len(payload), 126, 127), p=(0.9, 0.05, 0.05)))
        if rng.random() < 0.85:
            mask = bytes(rng.integers(0, 256, size=4, dtype=np.uint8))
            masked = bytes(one ^ mask[place % 4] for place, one in enumerate(payload))
            frames += bytes((first, 0x80 | said)) + mask + masked
        else:
            frames += bytes((first, said)) + payload
    return frames
