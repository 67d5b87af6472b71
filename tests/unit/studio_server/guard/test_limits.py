"""How much anyone may ask of the studio."""

import asyncio
import tracemalloc

import pytest
from tests.support.asgi import ask, scope_of, shake_hands

from beltrami.studio_server.guard.limits import Bounds, Limits

JSON = {"content-type": "application/json"}
SMALL = Bounds(body_bytes=1000, bodies_bytes=3000, patience_s=0.2, n_sockets=2)


async def echo(scope, receive, send):
    """Sends back what it was sent."""
    message = await receive()
    assert not message["more_body"]
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": message["body"]})


async def exchange(app, receive, headers=None):
    """Return the status of a POST whose body comes as `receive` says."""
    statuses = []

    async def send(message):
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    sent = {"transfer-encoding": "chunked"} if headers is None else headers
    await app(scope_of("/api/labels", sent, method="POST"), receive, send)
    return statuses


def in_parts(*parts, pause=0.0):
    left = list(parts)

    async def receive():
        if not left:
            return {"type": "http.disconnect"}
        await asyncio.sleep(pause)
        part = left.pop(0)
        return {"type": "http.request", "body": part, "more_body": bool(left)}

    return receive


# Bodies


def test_a_body_arrives_in_one_piece():
    assert ask(Limits(echo), "POST", "/", JSON, b'{"rows": []}').body == b'{"rows": []}'
    assert ask(Limits(echo), "GET", "/").body == b""
    assert asyncio.run(exchange(Limits(echo, SMALL), in_parts(b"a" * 600, b"b" * 400))) == [200]


def test_a_long_body_is_refused_by_its_length_before_any_of_it_is_read():
    async def never():
        raise AssertionError("the body was asked for")

    heads = {"content-length": "1001"}
    assert asyncio.run(exchange(Limits(echo, SMALL), never, heads)) == [413]
    heads = {"content-length": "9" * 400}
    assert asyncio.run(exchange(Limits(echo, SMALL), never, heads)) == [413]
    answer = ask(Limits(echo, SMALL), "POST", "/", JSON, b"x" * 1001)
    assert "at most" in answer.error
    assert answer.headers["connection"] == "close"


def test_a_long_body_without_a_length_is_refused_on_the_way_and_memory_does_not_grow():
    n_sent = 0
    part = bytes(2**16)

    async def endless():  # 100 MB, if anyone reads that far
        nonlocal n_sent
        n_sent += len(part)
        assert n_sent < 100 * 2**20
        return {"type": "http.request", "body": bytes(part), "more_body": True}

    tracemalloc.start()
    try:
        assert asyncio.run(exchange(Limits(echo), endless)) == [413]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert n_sent <= 8 * 2**20 + len(part)
    assert peak < 20 * 2**20


def test_a_body_that_does_not_arrive_in_time_is_given_up():
    parts = [b"{"] * 100
    assert asyncio.run(exchange(Limits(echo, SMALL), in_parts(*parts, pause=0.05))) == [408]


def test_all_bodies_together_are_bounded():
    async def run():
        app, is_fourth_there = Limits(echo, SMALL), asyncio.Event()

        def half():
            messages = [{"body": b"x" * 900, "more_body": True}, {"body": b"", "more_body": False}]

            async def receive():
                if len(messages) == 1:
                    await is_fourth_there.wait()
                return {"type": "http.request", **messages.pop(0)}

            return receive

        waiting = asyncio.gather(*(exchange(app, half()) for _ in range(3)))
        await asyncio.sleep(0)
        fourth = await exchange(app, half())
        is_fourth_there.set()
        return fourth, await waiting, await exchange(app, half())

    fourth, waiting, after = asyncio.run(run())
    assert fourth == [503]
    assert waiting == [[200]] * 3
    assert after == [200]


def test_a_client_that_leaves_is_not_answered():
    assert asyncio.run(exchange(Limits(echo), in_parts())) == []


@pytest.mark.parametrize("length", ["-1", "1e3", "", "²"])
def test_a_length_must_be_a_number(length):
    headers = {"content-length": length}
    assert asyncio.run(exchange(Limits(echo), in_parts(b""), headers)) == [400]


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_question_has_no_body(method):
    assert ask(Limits(echo), method, "/", {}, b"x").status == 400


# Failures


def test_what_fails_inside_is_one_sentence_outside_and_the_rest_in_the_log(caplog):
    async def broken(scope, receive, send):
        raise ZeroDivisionError("secret")

    for method in ("GET", "POST"):
        answer = ask(Limits(broken), method, "/api/state", JSON)
        assert answer.status == 500
        assert "secret" not in answer.error
        assert "Traceback" not in answer.error
    assert "ZeroDivisionError: secret" in caplog.text


def test_a_failure_that_the_application_answers_itself_says_our_sentence(caplog):
    async def broken(scope, receive, send):
        await send({"type": "http.response.start", "status": 500, "headers": []})
        await send({"type": "http.response.body", "body": b"Traceback (most recent call last)"})
        raise ZeroDivisionError

    answer = ask(Limits(broken), "GET", "/")
    assert (answer.status, "saved is safe" in answer.error) == (500, True)


def test_a_failure_after_the_answer_began_stays_in_the_log(caplog):
    async def broken(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise ZeroDivisionError

    answer = ask(Limits(broken), "GET", "/")
    assert (answer.status, answer.body) == (200, b"")
    assert "ZeroDivisionError" in caplog.text


@pytest.mark.parametrize("has_begun", [False, True])
def test_a_conversation_that_fails_is_closed(has_begun, caplog):
    async def broken(scope, receive, send):
        if has_begun:
            await send({"type": "websocket.accept"})
        raise ZeroDivisionError("secret")

    assert shake_hands(Limits(broken), "/api/live").status == 403
    assert "ZeroDivisionError: secret" in caplog.text


def test_a_client_that_has_gone_is_no_failure(caplog):
    async def talks(scope, receive, send):
        await send({"type": "websocket.accept"})

    async def gone(_):
        raise OSError("gone")

    asyncio.run(Limits(talks)(scope_of("/api/live", {}), None, gone))
    assert caplog.text == ""


# WebSockets


def test_so_many_windows_and_no_more():
    async def run():
        over = asyncio.Event()

        async def stays(scope, receive, send):
            await send({"type": "websocket.accept"})
            await over.wait()

        app, sent = Limits(stays, SMALL), []

        async def send(message):
            sent.append(message.get("reason", message["type"]))

        def join():
            return asyncio.ensure_future(app(scope_of("/api/live", {}), None, send))

        tasks = [join() for _ in range(3)]
        await asyncio.sleep(0)
        over.set()
        await asyncio.gather(*tasks)
        await join()
        return sent

    sent = asyncio.run(run())
    assert sent == [
        "websocket.accept",
        "websocket.accept",
        "websocket.accept",
        "2 windows of this studio are open; close some first.",
        "websocket.accept",
    ]
