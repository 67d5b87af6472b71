"""The studio under random requests and frames: nothing fails, and no label is lost or made up."""

import http.client
import json
import logging
import socket
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from tests.support.random_requests import (
    Call,
    handshake,
    random_bytes,
    random_call,
    random_frames,
)

from beltrami.labelling.options import LearningOptions
from beltrami.project import open_project
from beltrami.studio_server.application import make_app
from beltrami.studio_server.desk import Desk
from beltrami.studio_server.guard.access import Access
from beltrami.studio_server.serving import ServerThread
from beltrami.studio_server.wire.hub import Hub
from beltrami.tables import TableOptions

pytestmark = pytest.mark.usefixtures("few_trees")

N_ROWS = 60
USERS = ("ann", "ben")
_PATIENCE_S = 60  # what any request may take, on a machine that does much else
REFUSALS = {400, 401, 403, 404, 405, 408, 409, 411, 413, 415, 421, 429}


@dataclass(frozen=True, eq=False)
class Entry:
    """Something that was acknowledged; what is not about labels has no rows."""

    user: str
    rows: list[int]
    label: str | None = None


class Ledger:
    """What was acknowledged, in order, and what of it stands after each event."""

    def __init__(self, given: set[int], number: int) -> None:
        self._standing = tuple(Entry("file", [row], "file") for row in given)
        self._moments = {0: (), number: self._standing}  # the data are read in between

    def enter(self, user: str, call: Call, answer: dict) -> None:
        """Write down what was acknowledged."""
        if call.path == "/api/undo":
            taken = next(one for one in reversed(self._standing) if one.user == user)
            self._standing = tuple(one for one in self._standing if one is not taken)
            is_label = answer["undone"]["kind"] == "label"
            assert answer["undone"]["count"] == len(set(taken.rows)) or not is_label
        elif call.path == "/api/history/return":
            moment = max(one for one in self._moments if one <= call.sent["event"])
            self._standing = self._moments[moment]
        elif call.path == "/api/labels":
            entry = Entry(user, call.sent["rows"], call.sent["label"])
            self._standing = (*self._standing, entry)
        elif call.path in {"/api/marks", "/api/classes", "/api/doubts/keep"}:
            self._standing = (*self._standing, Entry(user, []))
        if "saved" in answer:
            self._moments[answer["saved"]] = self._standing

    def rows_with_a_label(self) -> set[int]:
        """Return the rows that must have a label now."""
        labels = {row: entry.label for entry in self._standing for row in entry.rows}
        return {row for row, label in labels.items() if label is not None}


@pytest.fixture
def table(tmp_path) -> Path:
    rng = np.random.default_rng(0)
    lines = ["id,x,y,note,label"]
    for row in range(N_ROWS):
        x, y = rng.normal(size=2) + 4 * (row % 3)
        label = "abc"[row % 3] if row < 9 else ""
        lines.append(f"r{row},{x:.3f},{y:.3f},<script>alert({row})</script>,{label}")
    path = tmp_path / "data.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_random_requests_and_frames_leave_what_was_acknowledged(table, seeds, caplog):
    caplog.set_level(logging.WARNING)
    project = table.with_suffix(".beltrami")
    opened = open_project(table, TableOptions(min_classes=0), project, user=USERS[0])
    ledger = Ledger(set(opened.state.labels), len(opened.events))
    hub, access = Hub(), Access.of(USERS)
    desk = Desk(opened, hub, USERS, LearningOptions(random_state=0))
    try:
        with ServerThread(make_app(desk, hub, access)) as running, ExitStack() as stack:
            port = running.address.port
            lazy = stack.enter_context(closing(_connect(port)))  # a page that never reads
            lazy.sendall(handshake(port, access.token_of("ann")))
            counts = _attack(port, access, ledger, range(3 * seeds.start, 3 * seeds.stop))
            state = _ask(_client(port, stack), access.token_of("ann"), Call("GET", "/api/state"))
    finally:
        desk.close()
    told = f"{counts}\n{caplog.text}"
    assert "Traceback" not in caplog.text, told
    assert not [one for one in caplog.records if one.levelno >= logging.ERROR], told
    assert state[0] == 200, told
    assert state[1]["given"] == len(ledger.rows_with_a_label()), told
    assert counts[200] > len(seeds), told
    assert sum(counts[status] for status in REFUSALS) > len(seeds) // 2, told
    assert set(counts) <= REFUSALS | {0, 101, 200, 202, 303, 307}, told
    again = open_project(table, TableOptions(min_classes=0), project, user=USERS[0])
    with closing(again):
        assert set(again.state.labels) == ledger.rows_with_a_label()


def _attack(port: int, access: Access, ledger: Ledger, seeds: range) -> dict[int, int]:
    """Send random requests of two users; return how many were answered by each status."""
    counts = dict.fromkeys([0, 101, 200, *REFUSALS], 0)
    with ExitStack() as stack:
        client = _client(port, stack)
        for seed in seeds:
            rng = np.random.default_rng((11, seed))
            user = USERS[int(rng.integers(len(USERS)))]
            luck = rng.random()
            if luck < 0.9:
                call = random_call(rng, N_ROWS)
                status, answer = _ask(client, access.token_of(user), call)
                if status == 200 and call.method == "POST":
                    ledger.enter(user, call, answer)
            elif luck < 0.95:
                status = _send_bytes(port, random_bytes(rng, port, access.token_of(user)))
            else:
                opening = handshake(port, access.token_of(user))
                status = _send_bytes(port, opening, random_frames(rng))
            assert status < 500, f"seed {seed}: {status}"
            counts[status] = counts.get(status, 0) + 1
    return counts


def _connect(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=30)


def _client(port: int, stack: ExitStack) -> http.client.HTTPConnection:
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=_PATIENCE_S)
    return stack.enter_context(closing(client))


def _ask(client: http.client.HTTPConnection, token: str, call: Call) -> tuple[int, dict]:
    """Return status and answer of a request; status 0 where nobody can send it."""
    headers = {"Authorization": f"Bearer {token}"} | call.headers
    try:
        client.request(call.method, call.path, call.body, headers)
        with client.getresponse() as response:
            content = response.read()
    except TimeoutError:
        raise AssertionError(f"no answer in {_PATIENCE_S} s to {call}") from None
    except (ValueError, http.client.HTTPException, OSError):
        client.close()  # it cannot be sent, or was refused before all of it was
        return 0, {}
    is_json = response.headers.get_content_type() == "application/json"
    return response.status, json.loads(content) if is_json and content else {}


def _send_bytes(port: int, content: bytes, frames: bytes = b"") -> int:
    """Return the status in what comes back to these bytes, before frames are sent; 0 for none."""
    status = 0
    with closing(_connect(port)) as connection, suppress(OSError):
        connection.sendall(content)
        connection.settimeout(5 if frames else 0.05)
        begin = connection.recv(64)
        status = int(begin[9:12]) if begin.startswith(b"HTTP/1.1 ") else 0
        connection.sendall(frames)
        connection.settimeout(0.02)
        while frames and connection.recv(2**16):
            pass
    return status
