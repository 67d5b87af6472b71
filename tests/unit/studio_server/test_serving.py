"""The studio on real sockets: where it listens, whom it lets go, and how it ends."""

import asyncio
import http.client
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from contextlib import ExitStack, closing, suppress

import h11
import httpx
import pytest
import websockets.sync.client as ws
from tests.support.asgi import scope_of
from tests.support.random_requests import handshake
from websockets.exceptions import ConnectionClosed, InvalidStatus

from beltrami.core.errors import BeltramiError, InvalidInputError
from beltrami.studio_server.guard.access import Access, Gate
from beltrami.studio_server.guard.addresses import Address
from beltrami.studio_server.guard.limits import Bounds, Limits
from beltrami.studio_server.serving import (
    ServerThread,
    StudioServerError,
    check_host,
    listen,
    outermost,
    serve,
)

TOKEN = "a-token-of-my-own"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
JSON = {"Content-Type": "application/json"}


async def studio(scope, receive, send):
    """Answers, floods a WebSocket with frames, and fails at /failure."""
    if scope["type"] == "websocket":
        await send({"type": "websocket.accept"})
        while scope["path"] == "/flood":
            await send({"type": "websocket.send", "bytes": bytes(2**20)})
        message = {"type": ""}
        while message["type"] != "websocket.disconnect":
            message = await receive()
        return
    if scope["path"] == "/failure":
        raise ZeroDivisionError("secret")
    await asyncio.sleep({"/sleep": 30, "/nap": 0.1}.get(scope["path"], 0))
    body = bytes(32 * 2**20) if scope["path"] == "/large" else b'{"rows": 3}'
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": body})


def guarded(bounds=None):
    async def app(scope, receive, send):
        if scope["type"] == "lifespan":
            raise NotImplementedError
        await gate(scope, receive, send)

    gate = Gate(Limits(studio, bounds), Access.of(("me",), TOKEN))
    return app


@pytest.fixture(scope="module")
def address():
    with ServerThread(guarded()) as running:
        yield running.address


def ask(address, method="GET", path="/api/state", headers=BEARER, **more):
    with httpx.Client(trust_env=False) as client:
        return client.request(method, f"{address}{path}", headers=headers, **more)


def plain_socket(address):
    return socket.create_connection(("127.0.0.1", address.port), timeout=10)


def read_to_end(connection):
    """Return what comes until the other side closes."""
    content = b""
    with suppress(ConnectionResetError):
        while part := connection.recv(2**16):
            content += part
    return content


# Where it listens


def test_port_zero_is_any_that_is_free_and_known_at_once(address):
    assert address.port > 0
    assert ask(address).json() == {"rows": 3}


def test_a_taken_port_is_one_sentence_with_what_to_do(address):
    with pytest.raises(StudioServerError, match=f"port {address.port} is taken.*--port"):
        ServerThread(guarded(), port=address.port).start()
    with pytest.raises(BeltramiError, match="is taken"):
        serve(guarded(), port=address.port)


@pytest.mark.parametrize("port", [-1, 65536])
def test_a_port_that_is_none_is_refused(port):
    with pytest.raises(InvalidInputError, match="between 0 and 65535"):
        listen("127.0.0.1", port)


def test_an_address_of_another_machine_cannot_be_listened_at():
    with pytest.raises(StudioServerError, match="cannot listen at host"):
        listen("192.0.2.1", 0)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.1.2.3"])
def test_this_machine_needs_no_token_of_ones_own(host):
    check_host(host, has_own_token=False)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "192.0.2.1", "10.0.0.1"])
def test_beyond_this_machine_a_token_of_ones_own_is_needed(host):
    with pytest.raises(InvalidInputError, match="token of at least 16"):
        check_host(host, has_own_token=False)
    check_host(host, has_own_token=True)


def test_a_host_that_nobody_knows_is_refused(monkeypatch):
    def unknown(*_, **__):
        raise socket.gaierror

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(InvalidInputError, match="no name or address"):
        check_host("nowhere.invalid", has_own_token=False)


def test_at_every_address_numbers_are_answered_and_foreign_names_are_not():
    with ServerThread(guarded(), "0.0.0.0") as running:
        address = running.address
        assert str(address) == f"http://127.0.0.1:{address.port}"
        assert ask(address).status_code == 200
        named = BEARER | {"Host": f"rebound.example:{address.port}"}
        assert ask(address, headers=named).status_code == 421


# Whom it lets in


def test_no_token_and_a_wrong_one_are_refused_on_the_wire(address):
    assert ask(address, headers={}).status_code == 401
    assert ask(address, headers={"Authorization": "Bearer wrong"}).status_code == 401
    assert ask(address, headers=BEARER | {"Host": "evil.example"}).status_code == 421


def test_a_browser_comes_in_by_its_cookie(address):
    with httpx.Client(trust_env=False, base_url=str(address)) as browser:
        first = browser.get(f"/?token={TOKEN}")
        assert (first.status_code, first.headers["location"]) == (303, "/")
        assert browser.get("/").status_code == 200
        foreign = {"Origin": "http://evil.example"}
        assert browser.post("/api/labels", json={}, headers=foreign).status_code == 403
        assert browser.post("/api/labels", json={}).status_code == 403
        ours = {"Origin": str(address)}
        assert browser.post("/api/labels", json={}, headers=ours).status_code == 200
        text = ours | {"Content-Type": "text/plain"}
        assert browser.post("/api/labels", content=b"{}", headers=text).status_code == 415
        cookie = {
            "Cookie": f"beltrami_{address.port}={browser.cookies[f'beltrami_{address.port}']}"
        }
    with pytest.raises(InvalidStatus) as refused:
        ws.connect(live(address), additional_headers=cookie | foreign, proxy=None)
    assert refused.value.response.status_code == 403
    with ws.connect(live(address), additional_headers=cookie | ours, proxy=None):
        pass


def live(address, path="/api/live"):
    return f"{address}{path}".replace("http", "ws")


def test_a_handshake_without_a_token_is_refused_and_nothing_is_logged(address, caplog):
    with pytest.raises(InvalidStatus) as refused:
        ws.connect(live(address), proxy=None)
    assert refused.value.response.status_code == 403
    assert caplog.text == ""


def test_the_server_does_not_say_what_it_is(address):
    answer = ask(address)
    assert "server" not in answer.headers
    assert ask(address, path="/failure").status_code == 500


def test_nobody_passes_as_another_by_the_headers_of_a_proxy(address):
    headers = BEARER | JSON | {"X-Forwarded-For": "10.0.0.1", "X-Forwarded-Proto": "https"}
    https = headers | {"Origin": str(address).replace("http", "https")}
    assert ask(address, "POST", "/api/labels", https, content=b"{}").status_code == 403
    ours = headers | {"Origin": str(address)}
    assert ask(address, "POST", "/api/labels", ours, content=b"{}").status_code == 200


def test_a_failure_shows_one_sentence_and_no_traceback(address):
    answer = ask(address, path="/failure")
    assert (answer.status_code, "secret" in answer.text) == (500, False)
    assert "went wrong" in answer.json()["error"]


# What it takes on


def test_a_hundred_megabytes_are_refused_by_their_length(address):
    with closing(plain_socket(address)) as connection:
        head = f"POST /api/labels HTTP/1.1\r\nHost: 127.0.0.1:{address.port}\r\n"
        head += f"Authorization: Bearer {TOKEN}\r\nContent-Type: application/json\r\n"
        head += f"Content-Length: {100 * 2**20}\r\n\r\n"
        connection.sendall(head.encode())
        answer = read_to_end(connection)  # and not one byte of the body was sent
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b"8 MB at most" in answer


def test_a_hundred_megabytes_without_a_length_are_refused_on_the_way(address):
    n_sent = 0
    part = bytes(2**16)
    with closing(plain_socket(address)) as connection:
        head = f"POST /api/labels HTTP/1.1\r\nHost: 127.0.0.1:{address.port}\r\n"
        head += f"Authorization: Bearer {TOKEN}\r\nContent-Type: application/json\r\n"
        connection.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode())
        with suppress(ConnectionError):
            for _ in range(100 * 2**20 // len(part)):
                connection.sendall(b"%x\r\n%s\r\n" % (len(part), part))
                n_sent += len(part)
    assert n_sent < 30 * 2**20  # what is on the way in the buffers of the system included
    assert ask(address).status_code == 200


def test_a_strangers_long_body_is_not_read_either(address):
    with closing(plain_socket(address)) as connection:
        head = f"POST /api/labels HTTP/1.1\r\nHost: 127.0.0.1:{address.port}\r\n"
        connection.sendall(f"{head}Content-Length: {100 * 2**20}\r\n\r\n".encode())
        answer = read_to_end(connection)
    assert answer.startswith(b"HTTP/1.1 401 ")


@pytest.mark.parametrize(
    "sent",
    [
        b"GET /" + b"a" * 40_000,
        b"GET / HTTP/1.1\r\n" + b"".join(b"X-%d: %s\r\n" % (i, b"y" * 900) for i in range(40)),
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"nonsense\r\n\r\n",
    ],
    ids=["long address", "long head", "tls", "nonsense"],
)
def test_a_head_that_is_none_or_too_long_is_refused(address, sent):
    with closing(plain_socket(address)) as connection:
        connection.sendall(sent)
        assert read_to_end(connection).startswith(b"HTTP/1.1 400 ")


def test_two_hundred_connections_at_once_are_all_answered(address):
    with ExitStack() as stack:
        connections = [
            stack.enter_context(closing(http.client.HTTPConnection("127.0.0.1", address.port)))
            for _ in range(200)
        ]
        for connection in connections:
            connection.connect()
        for connection in connections:
            connection.request("GET", "/api/state", headers=BEARER)
        answers = [connection.getresponse() for connection in connections]
        assert [answer.status for answer in answers] == [200] * 200
        assert {answer.read() for answer in answers} == {b'{"rows": 3}'}


def test_one_connection_too_many_hears_why_and_the_others_go_on():
    bounds = Bounds(n_connections=3)
    with ServerThread(guarded(bounds), bounds=bounds) as running, ExitStack() as stack:
        connections = []
        for _ in range(5):
            one = http.client.HTTPConnection("127.0.0.1", running.address.port, timeout=10)
            connections.append(stack.enter_context(closing(one)))
            one.request("GET", "/api/state", headers=BEARER)
            answer = one.getresponse()
            content = answer.read()
            if answer.status == 503:
                break
        assert len(connections) == 4
        assert b"Too many connections" in content
        assert "content-security-policy" in answer.headers
        connections[0].request("GET", "/api/state", headers=BEARER)
        assert connections[0].getresponse().status == 200


def test_so_many_websockets_and_no_more():
    bounds = Bounds(n_sockets=2)
    with ServerThread(guarded(bounds), bounds=bounds) as running, ExitStack() as stack:
        for _ in range(2):
            stack.enter_context(
                ws.connect(live(running.address), additional_headers=BEARER, proxy=None)
            )
        third = ws.connect(live(running.address), additional_headers=BEARER, proxy=None)
        with third, pytest.raises(ConnectionClosed) as closed:
            third.recv(timeout=5)
        assert closed.value.rcvd.code == 1013
        assert "2 windows" in closed.value.rcvd.reason


def test_a_long_message_over_a_websocket_ends_it(address):
    with ws.connect(live(address), additional_headers=BEARER, proxy=None) as connection:
        connection.send("x" * 10_000)
        with pytest.raises(ConnectionClosed) as closed:
            connection.recv(timeout=10)
        assert closed.value.rcvd.code == 1009


# Slow clients


@pytest.fixture(scope="module")
def hasty():
    bounds = Bounds(patience_s=0.8)
    with ServerThread(guarded(bounds), bounds=bounds) as running:
        yield running.address


def test_a_body_a_byte_at_a_time_is_given_up(hasty):
    with closing(plain_socket(hasty)) as connection:
        head = f"POST /api/labels HTTP/1.1\r\nHost: 127.0.0.1:{hasty.port}\r\n"
        head += f"Authorization: Bearer {TOKEN}\r\nContent-Type: application/json\r\n"
        connection.sendall(f"{head}Content-Length: 100\r\n\r\n".encode())
        started, answer = time.monotonic(), b""
        connection.settimeout(0.1)
        while not answer and time.monotonic() - started < 10:
            connection.sendall(b" ")
            try:
                answer = connection.recv(2**16)
            except TimeoutError:
                continue
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert time.monotonic() - started < 5


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nHost: "], ids=["nothing", "half a head"])
def test_who_does_not_say_what_it_wants_is_let_go(hasty, sent):
    with closing(plain_socket(hasty)) as connection:
        started = time.monotonic()
        connection.sendall(sent)
        assert read_to_end(connection) == b""
        assert 0.7 < time.monotonic() - started < 5


def test_half_a_second_question_is_let_go_too(hasty):
    with closing(plain_socket(hasty)) as connection:
        head = f"GET /api/state HTTP/1.1\r\nHost: 127.0.0.1:{hasty.port}\r\n"
        connection.sendall(f"{head}Authorization: Bearer {TOKEN}\r\n\r\nGET".encode())
        assert read_to_end(connection).startswith(b"HTTP/1.1 200 ")


def test_who_does_not_take_an_answer_is_let_go(hasty):
    with closing(plain_socket(hasty)) as connection:
        head = f"GET /large HTTP/1.1\r\nHost: 127.0.0.1:{hasty.port}\r\n"
        connection.sendall(f"{head}Authorization: Bearer {TOKEN}\r\n\r\n".encode())
        time.sleep(2.0)
        assert len(read_to_end(connection)) < 32 * 2**20


def test_who_takes_an_answer_slowly_is_sent_all_of_it(hasty):
    with closing(plain_socket(hasty)) as connection:
        head = f"GET /large HTTP/1.1\r\nHost: 127.0.0.1:{hasty.port}\r\n"
        head += f"Authorization: Bearer {TOKEN}\r\nConnection: close\r\n\r\n"
        connection.sendall(head.encode())
        n_taken, started = 0, time.monotonic()
        while part := connection.recv(2**20):
            n_taken += len(part)
            time.sleep(0.06)
    assert n_taken > 32 * 2**20
    assert time.monotonic() - started > 1.8


def test_a_websocket_that_never_reads_is_let_go(hasty):
    with closing(plain_socket(hasty)) as connection:
        connection.sendall(handshake(hasty.port, TOKEN, "/flood"))
        time.sleep(2.0)
        assert len(read_to_end(connection)) < 32 * 2**20  # what the system holds, then the end
    assert ask(hasty).status_code == 200


@pytest.mark.parametrize(
    "frames",
    [b"\x81\x05hello", b"\x83\x80\0\0\0\0", b"\x81\x81\0\0\0\0\xff", b"\xff" * 64],
    ids=["unmasked", "of no kind", "no utf-8", "nonsense"],
)
def test_a_page_that_breaks_the_rules_is_let_go_without_a_word(address, frames, caplog):
    for path in ("/api/live", "/flood"):
        with closing(plain_socket(address)) as connection:
            connection.sendall(handshake(address.port, TOKEN, path))
            assert connection.recv(2**10).startswith(b"HTTP/1.1 101 ")
            connection.sendall(frames)
            read_to_end(connection)
    assert ask(address).status_code == 200
    assert caplog.text == ""


@pytest.mark.parametrize(
    ("method", "error"),
    [("", RuntimeError("after close")), ("GET", h11.LocalProtocolError("after 400"))],
    ids=["websocket", "http"],
)
def test_what_the_server_refuses_to_send_is_a_client_that_has_gone(method, error, caplog):
    heard = []

    async def app(scope, receive, send):
        try:
            await studio({**scope, "path": "/flood"}, receive, send)
        except OSError as gone:
            heard.append(gone)
            raise

    async def refusing(message):
        if message["type"] in {"websocket.send", "http.response.start"}:
            raise error

    scope = scope_of("/flood", {}, method=method)
    asyncio.run(outermost(Limits(app))(scope, None, refusing))
    assert len(heard) == 1
    assert caplog.text == ""


def test_a_refusal_that_nobody_hears_is_no_failure(caplog):
    async def refusing(_):
        raise h11.LocalProtocolError("after 400")

    asyncio.run(outermost(guarded())(scope_of("/", {}, method="GET"), None, refusing))
    assert caplog.text == ""


def test_a_client_that_breaks_the_rules_while_it_is_answered_is_no_failure(address, caplog):
    head = f"HTTP/1.1\r\nHost: 127.0.0.1:{address.port}\r\nAuthorization: Bearer {TOKEN}\r\n"
    chunked = f"POST /nap {head}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n"
    for sent in (f"{chunked}\r\nzz\r\n", f"GET /nap {head}\r\n\x00\x01 nonsense\r\n\r\n"):
        with closing(plain_socket(address)) as connection:
            connection.sendall(sent.encode())
            assert read_to_end(connection).startswith(b"HTTP/1.1 ")
    assert ask(address).status_code == 200
    assert caplog.text == ""


def test_a_quiet_websocket_is_not_let_go(hasty):
    with ws.connect(live(hasty), additional_headers=BEARER, proxy=None) as connection:
        with pytest.raises(TimeoutError):
            connection.recv(timeout=2.0)
        connection.ping().wait(5)


# How it ends


def test_a_thread_is_stopped_and_its_port_is_free_again():
    running = ServerThread(guarded())
    port = running.start().port
    with ws.connect(f"ws://127.0.0.1:{port}/", additional_headers=BEARER, proxy=None) as connection:
        started = time.monotonic()
        running.stop()
        assert time.monotonic() - started < 3
        with pytest.raises(ConnectionClosed):
            connection.recv(timeout=5)
    running.stop()  # nothing happens
    again, address = listen("127.0.0.1", port)
    again.close()
    assert address == Address("127.0.0.1", port)


def test_a_thread_leaves_signals_alone():
    before = signal.getsignal(signal.SIGINT)
    with ServerThread(guarded()):
        assert signal.getsignal(signal.SIGINT) is before
    assert signal.getsignal(signal.SIGINT) is before


def test_what_hangs_does_not_keep_the_server_from_ending(caplog):
    running = ServerThread(guarded())
    port = running.start().port
    statuses = []

    def hang():
        with httpx.Client(trust_env=False) as client:
            try:
                statuses.append(client.get(f"http://127.0.0.1:{port}/sleep", headers=BEARER))
            except httpx.HTTPError as error:
                statuses.append(error)

    asking = threading.Thread(target=hang)
    asking.start()
    time.sleep(0.2)
    started = time.monotonic()
    running.stop()
    assert time.monotonic() - started < 4
    asking.join()
    assert isinstance(statuses[0], httpx.HTTPError)
    assert caplog.text == ""


def test_an_application_that_does_not_start_is_said(caplog):
    async def broken(scope, receive, send):
        await receive()
        await send({"type": "lifespan.startup.failed", "message": "no desk"})

    with pytest.raises(StudioServerError, match="did not start"):
        ServerThread(broken).start()
    assert "no desk" in caplog.text


SCRIPT = textwrap.dedent(
    """
    import sys
    from beltrami.studio_server.serving import serve

    async def app(scope, receive, send):
        if scope["type"] == "websocket":
            await send({"type": "websocket.accept"})
            while (await receive())["type"] != "websocket.disconnect":
                pass
            return
        if scope["type"] == "http":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"yes"})

    try:
        serve(app, on_ready=lambda address: print(address, flush=True))
    except KeyboardInterrupt:
        print("ended by Ctrl-C")
        sys.exit(130)
    """
)


def test_ctrl_c_ends_the_foreground_at_once_with_a_websocket_open():
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        url = process.stdout.readline().strip()
        assert httpx.get(url, trust_env=False).text == "yes"
        with ws.connect(url.replace("http", "ws"), proxy=None) as connection:
            started = time.monotonic()
            process.send_signal(signal.SIGINT)
            with pytest.raises(ConnectionClosed) as closed:
                connection.recv(timeout=5)
            out, err = process.communicate(timeout=10)
    finally:
        process.kill()
        process.wait()
    assert closed.value.rcvd.code == 1012  # the page comes back by itself when it is started again
    assert (process.returncode, out, err) == (130, "ended by Ctrl-C\n", "")
    assert time.monotonic() - started < 3


def test_an_answer_waits_for_nothing_between_its_parts():
    listening, _ = listen("127.0.0.1", 0)
    with listening:
        assert listening.proto == socket.IPPROTO_TCP  # or asyncio leaves Nagle's wait of 40 ms
