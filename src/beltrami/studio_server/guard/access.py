"""Who may enter the studio: a request enters, the same with its user's name or a refusal leaves.

A browser comes once with the token in its address, which becomes a cookie that scripts cannot read
and other sites cannot send; programs send the token as a bearer. Nothing is answered to a name that
is not this machine's, and nothing is changed on behalf of a page that is not ours.
"""

import asyncio
import hmac
import re
import secrets
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from urllib.parse import parse_qsl

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from beltrami.core.errors import InvalidInputError
from beltrami.studio_server.guard.addresses import Names, Place, read_origin, read_place
from beltrami.studio_server.guard.refusals import (
    Headers,
    RefusedError,
    refuse,
    values_of,
    with_guards,
)

TOKEN_CHARACTERS = 16
"""The fewest that a token given by a person has."""

WRONG_A_MINUTE, PAUSE_S, MOST_WAITING = 20, 1.0, 16
"""Wrong tokens in a minute after which each waits, how long, and how many wait at once."""

_TOKEN_BYTES = 24
_LONGEST_TOKEN, _LONGEST_NAME = 256, 64
_UNRESERVED = re.compile(r"[A-Za-z0-9._~-]+")
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_ENTER = (
    "This studio needs its token. Open the address that the command printed when it began, the one "
    "with ?token= in it; a program sends the token as 'Authorization: Bearer TOKEN'."
)
_ASK_AGAIN = (
    b'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
    b'<meta http-equiv="refresh" content="0;url=/">\n<title>Beltrami studio</title>\n'
    b'<p><a href="/">Open the studio</a></p>\n</html>\n'
)


@dataclass(frozen=True, slots=True)
class Access:
    """The users of a studio and their tokens.

    Attributes
    ----------
    tokens : mapping of str to str
        From the name of each user.
    """

    tokens: Mapping[str, str] = field(repr=False)

    @classmethod
    def of(cls, users: Sequence[str], token: str | None = None) -> "Access":
        """Return the access of these users, by random tokens.

        - `token`: chosen by a person, for the first of them.
        """
        for name in users:
            if not (name.strip() and len(name) <= _LONGEST_NAME and name.isprintable()):
                raise InvalidInputError(
                    f"{name[:80]!r} is no name of a user: it must have from 1 to {_LONGEST_NAME} "
                    "characters that can be printed."
                )
        if not users or len(set(users)) < len(users):
            raise InvalidInputError(
                f"{len(users)} names of users, {len(set(users))} of them different: at least one "
                "is needed, and each once, as the studio knows a person by the token of the name."
            )
        if token is not None:
            _check_own_token(token)
        first = {users[0]: token or make_token()}
        return cls(first | {name: make_token() for name in users[1:]})

    @property
    def users(self) -> tuple[str, ...]:
        """The names."""
        return tuple(self.tokens)

    def token_of(self, user: str) -> str:
        """Return what lets a user in."""
        return self.tokens[user]

    def user_of_token(self, token: str) -> str | None:
        """Return whose token this is; every one is compared, whichever it is."""
        return _find({name: own.encode() for name, own in self.tokens.items()}, token)

    def user_of_cookie(self, value: str) -> str | None:
        """Return whose cookie this is."""
        return _find({name: self.cookie_of(name).encode() for name in self.tokens}, value)

    def cookie_of(self, user: str) -> str:
        """Return what the browser of a user keeps: proof of the token, and not the token."""
        return hmac.digest(self.tokens[user].encode(), b"beltrami studio cookie", sha256).hex()


def user_of(connection: HTTPConnection) -> str:
    """Return who asks, as the gate found out."""
    return str(connection.state.user)


def make_token() -> str:
    """Return a token that nobody guesses."""
    return secrets.token_urlsafe(_TOKEN_BYTES)


def _check_own_token(token: str) -> None:
    is_long = TOKEN_CHARACTERS <= len(token) <= _LONGEST_TOKEN
    if not (is_long and _UNRESERVED.fullmatch(token)):
        raise InvalidInputError(
            f"a token of your own must have from {TOKEN_CHARACTERS} to {_LONGEST_TOKEN} letters, "
            f"digits or any of '-._~', so that it cannot be guessed and fits into an address; this "
            f"one has {len(token)} characters. Leave it out to be given a random one."
        )


def _find(known: Mapping[str, bytes], said: str) -> str | None:
    matches = [
        name
        for name, secret in known.items()
        if secrets.compare_digest(secret, said.encode(errors="replace"))
    ]
    return matches[0] if matches else None


class _Brake:
    """Slows down those who guess tokens; a right one never waits."""

    def __init__(self) -> None:
        self._wrong: deque[float] = deque(maxlen=WRONG_A_MINUTE)
        self._n_waiting = 0

    async def press(self) -> None:
        """Count a wrong token, and wait where there were many of late."""
        now = time.monotonic()
        is_often = len(self._wrong) == WRONG_A_MINUTE and now - self._wrong[0] < 60
        self._wrong.append(now)
        if not is_often:
            return
        if self._n_waiting >= MOST_WAITING:
            raise RefusedError(
                429, "Too many wrong tokens at once. Wait a minute.", ((b"retry-after", b"60"),)
            )
        self._n_waiting += 1
        try:
            await asyncio.sleep(PAUSE_S)
        finally:
            self._n_waiting -= 1


class Gate:
    """ASGI: lets in who may, says no to everybody else, and guards every answer by its headers.

    The user's name is handed on in ``scope["state"]["user"]``, where `user_of` finds it. Stands
    around `Limits`, so that a stranger's body is not even taken in.

    Parameters
    ----------
    app : ASGI application
        What is behind the gate.
    access : Access
        Who may enter.
    host : str
        A name of this machine by which it may be asked besides the usual ones; see `Names`.
    is_read_only : bool
        Whether nobody may change anything.
    """

    def __init__(
        self, app: ASGIApp, access: Access, *, host: str = "", is_read_only: bool = False
    ) -> None:
        self._app, self._access, self._is_read_only = app, access, is_read_only
        self._host = host
        self._brake = _Brake()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request or handshake."""
        if scope["type"] not in {"http", "websocket"}:
            await self._app(scope, receive, send)
            return
        guarded = with_guards(scope, send)
        try:
            place = self._check_host(scope)
            _check_path(scope)
            if _is_entrance(scope):
                await self._let_in(scope, guarded, place)
                return
            _check_site(scope, place)
            if _came_from_elsewhere(scope) and not _cookies(scope, _cookie_name(place)):
                await _ask_again(guarded)
                return
            user, has_cookie = await self._identify(scope, place)
            self._check_change(scope, has_cookie=has_cookie)
        except RefusedError as refused:
            await refuse(scope, guarded, refused)
            return
        state = {**scope.get("state", {}), "user": user}
        await self._app({**scope, "state": state}, receive, guarded)

    def _check_host(self, scope: Scope) -> Place:
        """Return under which name this machine was asked, if it is one of its own."""
        said = values_of(scope, b"host")
        place = read_place(said[0], _scheme(scope)) if len(said) == 1 else None
        if place is None:
            raise RefusedError(400, "The request must name one host, and in the usual form.")
        local, port = scope.get("server") or ("", None)
        if place.port != port or not Names.of(local, self._host).include(place.host):
            raise RefusedError(
                421,
                "The studio does not answer to the name or port in this address. Use the address "
                "that the command printed; through a tunnel, the same port at both ends.",
            )
        return place

    async def _let_in(self, scope: Scope, send: Send, place: Place) -> None:
        """Turn the token in the address into a cookie, and take it out of the address."""
        tokens = [value for name, value in _query(scope) if name == "token"]
        user = self._access.user_of_token(tokens[0]) if len(tokens) == 1 else None
        if user is None:
            await self._brake.press()
            raise RefusedError(401, f"The token in this address is not right. {_ENTER}")
        cookie = f"{_cookie_name(place)}={self._access.cookie_of(user)}"
        headers = ((b"set-cookie", f"{cookie}; HttpOnly; SameSite=Strict; Path=/".encode()),)
        if _came_from_elsewhere(scope):
            await _ask_again(send, headers)
            return
        home = ((b"location", b"/"), (b"content-length", b"0"))
        await send({"type": "http.response.start", "status": 303, "headers": [*headers, *home]})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _identify(self, scope: Scope, place: Place) -> tuple[str, bool]:
        """Return who asks, and whether a browser says so by its cookie."""
        bearers = values_of(scope, b"authorization")
        cookies = _cookies(scope, _cookie_name(place))
        if bearers:
            kind, _, token = bearers[0].partition(" ")
            is_bearer = len(bearers) == 1 and kind.lower() == "bearer"
            user = self._access.user_of_token(token.strip()) if is_bearer else None
        elif cookies:
            users = [self._access.user_of_cookie(value) for value in cookies]
            user = next((one for one in users if one is not None), None)
        else:
            raise RefusedError(401, _ENTER, ((b"www-authenticate", b"Bearer"),))
        if user is None:
            await self._brake.press()
            raise RefusedError(
                401, f"The token is not right. {_ENTER}", ((b"www-authenticate", b"Bearer"),)
            )
        return user, not bearers

    def _check_change(self, scope: Scope, *, has_cookie: bool) -> None:
        """Refuse a change that no page of ours and no program with a token asks for."""
        is_socket = scope["type"] == "websocket"
        if not is_socket and scope["method"] in _SAFE:
            return
        is_ours = values_of(scope, b"origin") or "same-origin" in values_of(
            scope, b"sec-fetch-site"
        )
        if has_cookie and not is_ours:
            raise RefusedError(
                403,
                "A browser must say which page asks (Origin), and this one did not. A program uses "
                "'Authorization: Bearer TOKEN' instead of the cookie.",
            )
        if is_socket:
            return
        kinds = [one.partition(";")[0].strip() for one in values_of(scope, b"content-type")]
        if [one.lower() for one in kinds] != ["application/json"]:
            raise RefusedError(415, "Send JSON, with 'Content-Type: application/json'.")
        if self._is_read_only:
            raise RefusedError(
                403,
                "This studio was opened to be looked at only (--read-only); nothing was changed.",
            )


def _check_path(scope: Scope) -> None:
    if not scope["path"].startswith("/"):
        raise RefusedError(400, "The address must begin with a slash.")


def _check_site(scope: Scope, place: Place) -> None:
    """Refuse what a page of somebody else has asked for, be it one on this machine."""
    ours = (_scheme(scope), place)
    pages = values_of(scope, b"origin")
    if scope["type"] == "http" and scope["method"] not in _SAFE:
        pages += ["/".join(one.split("/")[:3]) for one in values_of(scope, b"referer")]
    is_foreign = any(read_origin(page) != ours for page in pages)
    sites = values_of(scope, b"sec-fetch-site")
    is_elsewhere = any(one in {"cross-site", "same-site"} for one in sites)
    if is_foreign or (is_elsewhere and not _came_from_elsewhere(scope)):
        raise RefusedError(403, "Another page asked for this, and only the studio's own may.")


def _came_from_elsewhere(scope: Scope) -> bool:
    """Return whether a person followed a link to us from a page of another site.

    The browser then sends no strict cookie, not even after a redirect, until a page of ours asks.
    """
    return (
        scope["type"] == "http"
        and scope["method"] == "GET"
        and not scope["path"].startswith("/api/")
        and values_of(scope, b"sec-fetch-mode") == ["navigate"]
        and values_of(scope, b"sec-fetch-dest") == ["document"]
        and values_of(scope, b"sec-fetch-site") in (["cross-site"], ["same-site"])
    )


async def _ask_again(send: Send, headers: Headers = ()) -> None:
    """Answer by a page of ours that asks for the studio at once."""
    kind = (b"content-type", b"text/html; charset=utf-8")
    length = (b"content-length", str(len(_ASK_AGAIN)).encode())
    start = {"type": "http.response.start", "status": 200, "headers": [*headers, kind, length]}
    await send(start)
    await send({"type": "http.response.body", "body": _ASK_AGAIN, "more_body": False})


def _scheme(scope: Scope) -> str:
    return "https" if scope["scheme"] in {"https", "wss"} else "http"


def _is_entrance(scope: Scope) -> bool:
    """Return whether a browser comes with the token in its address."""
    is_home = (
        scope["type"] == "http" and scope["method"] in {"GET", "HEAD"} and scope["path"] == "/"
    )
    return is_home and any(name == "token" for name, _ in _query(scope))


def _query(scope: Scope) -> list[tuple[str, str]]:
    try:
        return parse_qsl(
            scope["query_string"].decode("latin-1"), keep_blank_values=True, max_num_fields=20
        )
    except ValueError:
        raise RefusedError(400, "The address asks for too many things at once.") from None


def _cookie_name(place: Place) -> str:
    """Return the cookie's name: studios on one machine share a host, and must not share it."""
    return f"beltrami_{place.port}"


def _cookies(scope: Scope, name: str) -> list[str]:
    """Return the values under our name; other programs on this machine have cookies as well."""
    pairs = (one.partition("=") for said in values_of(scope, b"cookie") for one in said.split(";"))
    return [value.strip() for key, _, value in pairs if key.strip() == name][:4]
