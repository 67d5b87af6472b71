"""Who may enter the studio, and who may not: every answer with its status."""

import asyncio
import re
import time

import pytest
from starlette.requests import HTTPConnection
from tests.support.asgi import ORIGIN, PORT, ask, ask_async, shake_hands

from beltrami.core.errors import InvalidInputError
from beltrami.studio_server.guard.access import (
    MOST_WAITING,
    WRONG_A_MINUTE,
    Access,
    Gate,
    user_of,
)
from beltrami.studio_server.guard.addresses import Address, Names, machine_name
from beltrami.studio_server.guard.refusals import RefusedError, refuse

TOKEN = "a-token-of-my-own"
ACCESS = Access.of(("ann", "ben"), TOKEN)
BEARER = {"authorization": f"Bearer {TOKEN}"}
COOKIE = {"cookie": f"other=1; beltrami_{PORT}={ACCESS.cookie_of('ann')}"}
JSON = {"content-type": "application/json"}
OURS = {"origin": ORIGIN}


async def hall(scope, receive, send):
    """Behind the gate: says who has come in."""
    user = user_of(HTTPConnection(scope)).encode()
    if scope["type"] == "websocket":
        await send({"type": "websocket.accept"})
        return
    start = {"type": "http.response.start", "status": 200}
    await send({**start, "headers": [(b"cache-control", b"public"), (b"x-user", user)]})
    await send({"type": "http.response.body", "body": user})


def gate(**options):
    return Gate(hall, ACCESS, **options)


# Tokens


def test_random_tokens_are_long_and_never_the_same():
    tokens = [Access.of(("me",)).token_of("me") for _ in range(50)]
    assert len(set(tokens)) == 50
    assert min(map(len, tokens)) == 32


@pytest.mark.parametrize("token", ["", "short", "x" * 15, "with a space in it", "ünreserved-" * 2])
def test_a_token_of_ones_own_must_be_long_and_fit_into_an_address(token):
    with pytest.raises(InvalidInputError, match="from 16 to"):
        Access.of(("me",), token)


@pytest.mark.parametrize("users", [(), ("a", "a"), ("",), ("a\nb",), ("x" * 65,)])
def test_users_have_different_names_that_can_be_printed(users):
    with pytest.raises(InvalidInputError, match="user"):
        Access.of(users)


def test_neither_the_record_nor_the_cookie_gives_the_token_away():
    assert TOKEN not in repr(ACCESS)
    assert TOKEN not in ACCESS.cookie_of("ann")
    assert ACCESS.user_of_token(ACCESS.cookie_of("ann")) is None
    assert ACCESS.user_of_cookie(TOKEN) is None


def test_a_token_with_strange_letters_is_only_wrong():
    assert ACCESS.user_of_token("\udcff√") is None


# Coming in


def test_without_a_token_nothing_is_said_but_how_to_come_in():
    page = ask(gate(), "GET", "/", {"accept": "text/html"})
    assert page.status == 401
    assert b"?token=" in page.body
    assert page.headers["content-type"].startswith("text/html")
    for path in ("/api/state", "/static/studio.js", "/nothing"):
        answer = ask(gate(), "GET", path)
        assert (answer.status, "token" in answer.error) == (401, True)


def test_the_right_token_in_the_address_becomes_a_cookie_and_is_stripped():
    answer = ask(gate(), "GET", f"/?token={TOKEN}")
    assert answer.status == 303
    assert answer.headers["location"] == "/"
    name, value = answer.headers["set-cookie"].split("; ")[0].split("=")
    assert name == f"beltrami_{PORT}"  # two studios on one machine have the same host
    assert answer.headers["set-cookie"].split("; ")[1:] == ["HttpOnly", "SameSite=Strict", "Path=/"]
    assert TOKEN not in str(answer.headers)
    assert ask(gate(), "GET", "/", {"cookie": f"{name}={value}"}).body == b"ann"


@pytest.mark.parametrize("query", ["token=", "token=wrong", f"token={TOKEN}&token=x", "token=%00"])
def test_a_wrong_token_in_the_address_is_refused(query):
    answer = ask(gate(), "GET", f"/?{query}")
    assert answer.status == 401
    assert "set-cookie" not in answer.headers


def test_a_token_in_another_address_lets_nobody_in():
    assert ask(gate(), "GET", f"/api/state?token={TOKEN}").status == 401
    assert ask(gate(), "POST", f"/?token={TOKEN}", JSON).status == 401


def test_a_link_on_another_site_leads_in_by_a_page_of_ours():
    """A redirect would not do: the browser keeps a strict cookie back until our page asks."""
    link = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    link |= {"sec-fetch-dest": "document"}
    answer = ask(gate(), "GET", f"/?token={TOKEN}", link)
    assert (answer.status, answer.headers.get("location")) == (200, None)
    assert answer.headers["set-cookie"].startswith(f"beltrami_{PORT}=")
    assert b'content="0;url=/"' in answer.body
    assert ask(gate(), "GET", "/?token=wrong", link).status == 401
    again = ask(gate(), "GET", "/", link)
    assert (again.status, again.headers.get("set-cookie")) == (200, None)
    assert b'content="0;url=/"' in again.body
    assert ask(gate(), "GET", "/", link | {"sec-fetch-site": "same-origin"}).status == 401


def test_each_user_comes_in_by_ones_own_token():
    for name in ACCESS.users:
        bearer = {"authorization": f"Bearer {ACCESS.token_of(name)}"}
        assert ask(gate(), "GET", "/api/state", bearer).body == name.encode()


@pytest.mark.parametrize(
    "sent", [f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", "Bearer", f"Basic {TOKEN}", TOKEN, ""]
)
def test_a_wrong_bearer_is_refused_even_beside_a_right_cookie(sent):
    answer = ask(gate(), "GET", "/api/state", COOKIE | {"authorization": sent})
    assert answer.status == 401
    assert answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize(
    "sent", [f"beltrami_{PORT}={TOKEN}", f"beltrami_{PORT + 1}=x", "beltrami", ";;;===", "\xff=1"]
)
def test_a_wrong_cookie_is_refused(sent):
    assert ask(gate(), "GET", "/api/state", {"cookie": sent}).status == 401


def test_who_guesses_waits_and_the_right_token_never_does():
    async def guess(app, token):
        started = time.monotonic()
        bearer = {"authorization": f"Bearer {token}"}
        answer = await ask_async(app, "GET", "/api/state", bearer)
        return answer.status, time.monotonic() - started

    async def run():
        app = gate()
        first = [await guess(app, "wrong") for _ in range(WRONG_A_MINUTE)]
        then = asyncio.gather(*(guess(app, "wrong") for _ in range(MOST_WAITING + 3)))
        await asyncio.sleep(0.1)
        right = await guess(app, TOKEN)
        return first, await then, right

    first, then, right = asyncio.run(run())
    assert {status for status, _ in first} == {401}
    assert sum(seconds for _, seconds in first) < 0.5
    assert [status for status, _ in then] == [401] * MOST_WAITING + [429] * 3
    assert all(seconds > 0.9 for status, seconds in then if status == 401)
    assert right[0] == 200
    assert right[1] < 0.5


# Hosts


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST", "[::1]"])
def test_names_of_this_machine_are_answered(host):
    assert ask(gate(), "GET", "/", BEARER | {"host": f"{host}:{PORT}"}).status == 200


@pytest.mark.parametrize(
    "host",
    [
        f"evil.example:{PORT}",
        f"127.0.0.1.evil.example:{PORT}",
        f"localhost.:{PORT}",
        f"192.168.0.7:{PORT}",
        f"0.0.0.0:{PORT}",
        f"{machine_name()}:{PORT}",
        f"127.0.0.1:{PORT + 1}",
        "127.0.0.1",
    ],
)
def test_a_foreign_host_is_refused_with_the_right_token(host):
    for path in ("/api/state", f"/?token={TOKEN}"):
        answer = ask(gate(), "GET", path, BEARER | {"host": host})
        assert (answer.status, "address" in answer.error) == (421, True)
        assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    "host", ["", "a b", "127.0.0.1:x", "[::1", "a/b", "\xff", "127.0.0.1:123456"]
)
def test_a_host_that_is_none_is_refused(host):
    assert ask(gate(), "GET", "/", BEARER | {"host": host}).status == 400


def test_a_host_without_a_port_means_the_usual_one():
    sent = BEARER | {"host": "localhost"}
    assert ask(gate(), "GET", "/", sent, server=("127.0.0.1", 80)).status == 200


def test_a_connection_from_outside_may_name_numbers_and_the_machine_but_no_other_name():
    names = Names.of("192.168.0.7", "Studio.example.org")
    for host in ("192.168.0.7", "10.0.0.1", "fe80::1", machine_name(), "studio.example.org"):
        assert names.include(host)
    assert not names.include("rebound.example")
    for local in ("127.0.0.1", "::1", "::ffff:127.0.0.1"):
        assert not Names.of(local).include("192.168.0.7")


def test_an_address_is_spelt_for_this_machine_and_for_others():
    assert str(Address("localhost", 5)) == "http://127.0.0.1:5"
    assert str(Address("::1", 5)) == "http://[::1]:5"
    assert Address("127.0.0.1", 5).outside_url is None
    everywhere = Address("0.0.0.0", 5)
    assert (everywhere.url, everywhere.outside_url) == (
        "http://127.0.0.1:5",
        f"http://{machine_name()}:5",
    )


# Changes


def test_a_change_from_our_page_or_a_program_is_let_through():
    assert ask(gate(), "POST", "/api/labels", COOKIE | OURS | JSON, b"{}").body == b"ann"
    assert ask(gate(), "POST", "/api/labels", BEARER | JSON, b"{}").body == b"ann"
    by_fetch = COOKIE | JSON | {"sec-fetch-site": "same-origin"}
    assert ask(gate(), "POST", "/api/labels", by_fetch, b"{}").status == 200


@pytest.mark.parametrize("who", [COOKIE, BEARER], ids=["cookie", "bearer"])
@pytest.mark.parametrize(
    "foreign",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": ""},
        {"origin": f"http://127.0.0.1:{PORT + 1}"},
        {"origin": f"http://localhost:{PORT}"},
        {"origin": f"https://127.0.0.1:{PORT}"},
        {"origin": f"{ORIGIN}.evil.example"},
        {"referer": "http://evil.example/page"},
        {"referer": "nonsense"},
        OURS | {"referer": f"http://evil.example/{ORIGIN}/"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        OURS | {"sec-fetch-site": "cross-site"},
    ],
    ids=lambda headers: ", ".join(f"{name} {value}" for name, value in headers.items()),
)
def test_a_change_that_another_page_asks_for_is_refused(who, foreign):
    answer = ask(gate(), "POST", "/api/labels", who | foreign | JSON, b"{}")
    assert (answer.status, answer.error) == (
        403,
        "Another page asked for this, and only the studio's own may.",
    )


def test_a_change_by_cookie_must_say_which_page_asks():
    answer = ask(gate(), "POST", "/api/labels", COOKIE | JSON, b"{}")
    assert answer.status == 403
    assert "Origin" in answer.error


@pytest.mark.parametrize(
    "kind", ["text/plain", "", "application/x-www-form-urlencoded", "application/jsonp", "json"]
)
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "BREW"])
def test_a_change_must_be_json(kind, method):
    answer = ask(gate(), method, "/api/labels", BEARER | {"content-type": kind}, b"{}")
    assert answer.status == 415
    assert answer.headers["connection"] == "close"  # its body is not read


def test_json_may_say_its_letters():
    kind = {"content-type": "Application/JSON; charset=utf-8"}
    assert ask(gate(), "POST", "/api/labels", BEARER | kind, b"{}").status == 200


def test_a_studio_to_look_at_lets_nobody_change_anything():
    app = gate(is_read_only=True)
    for path in ("/api/labels", "/api/doubts/keep"):
        answer = ask(app, "POST", path, BEARER | JSON, b"{}")
        assert (answer.status, "read-only" in answer.error) == (403, True)
    assert ask(app, "GET", "/api/state", BEARER).status == 200
    assert ask(app, "GET", "/api/doubts", BEARER).status == 200
    assert shake_hands(app, "/api/live", BEARER).status == 101


def test_what_another_page_embeds_is_refused_and_a_link_to_us_is_not():
    embedded = {"sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors"}
    embedded |= {"sec-fetch-dest": "image"}
    assert ask(gate(), "GET", "/api/picture?row=1", COOKIE | embedded).status == 403
    link = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    link |= {"sec-fetch-dest": "document"}
    assert ask(gate(), "GET", "/", COOKIE | link).body == b"ann"
    assert ask(gate(), "GET", "/", COOKIE | link | {"sec-fetch-dest": "iframe"}).status == 403
    assert (
        ask(gate(), "GET", "/api/state", COOKIE | {"origin": "http://evil.example"}).status == 403
    )


@pytest.mark.parametrize("path", ["*", "http://evil.example/", ""])
def test_an_address_that_is_no_path_is_refused(path):
    assert ask(gate(), "GET", path, BEARER).status == 400


def test_an_address_with_too_many_fields_is_refused():
    assert ask(gate(), "GET", "/?" + "token=x&" * 30, BEARER).status == 400


# WebSockets


def test_a_page_of_ours_and_a_program_may_listen():
    assert shake_hands(gate(), "/api/live", COOKIE | OURS).status == 101
    assert shake_hands(gate(), "/api/live", BEARER).status == 101


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"authorization": "Bearer wrong"},
        {"cookie": f"beltrami_{PORT}=wrong"} | OURS,
        COOKIE,
        COOKIE | {"origin": "http://evil.example"},
        COOKIE | {"origin": f"http://127.0.0.1:{PORT + 1}"},
        BEARER | {"origin": "http://evil.example"},
        BEARER | {"host": f"evil.example:{PORT}"},
    ],
    ids=[
        "nothing", "wrong bearer", "wrong cookie", "no origin", "foreign origin", "other port",
        "foreign origin with bearer", "foreign host",
    ],
)  # fmt: skip
def test_a_handshake_is_refused_before_it_is_accepted(headers):
    assert shake_hands(gate(), "/api/live", headers).status == 403


# Answers


def test_every_answer_is_guarded_by_its_headers():
    app = gate()
    answers = [
        ask(app, "GET", "/", BEARER),
        ask(app, "GET", "/"),
        ask(app, "GET", f"/?token={TOKEN}"),
        ask(app, "POST", "/", BEARER),
        ask(app, "GET", "/", {"host": "evil.example"}),
    ]
    for answer in answers:
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert re.search(r"(^|; )frame-ancestors 'none'(;|$)", policy)
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cross-origin-opener-policy"] == "same-origin"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        assert answer.headers["cache-control"] == "no-store"
    assert ask(app, "GET", "/static/a.js", BEARER).headers["cache-control"] == "no-cache"


def test_words_of_a_refusal_are_text_in_a_page():
    async def app(scope, receive, send):
        await refuse(scope, send, RefusedError(400, "<script>alert(1)</script>"))

    page = ask(app, "GET", "/", {"accept": "text/html"})
    assert b"<script" not in page.body
    assert b"&lt;script&gt;" in page.body
    assert page.headers["content-type"] == "text/html; charset=utf-8"


def test_what_is_neither_request_nor_handshake_passes():
    seen = []

    async def app(scope, receive, send):
        seen.append(scope["type"])

    asyncio.run(Gate(app, ACCESS)({"type": "lifespan"}, None, None))
    assert seen == ["lifespan"]
