"""What can be asked of the past: events, the curve, a moment and its map; return to it."""

import asyncio
from dataclasses import asdict
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from beltrami.front_door.report import percent
from beltrami.review.audit import floor_percent
from beltrami.studio_server.desk import Desk
from beltrami.studio_server.guard.access import user_of
from beltrami.studio_server.guard.refusals import RefusedError
from beltrami.studio_server.history import History, Proved
from beltrami.studio_server.wire import requests as r
from beltrami.studio_server.wire import telling
from beltrami.studio_server.wire.frames import pack_answers

_AT_ONCE = 100
"""Events of one page."""

_MOST = 10**9
_LONGEST_NAME = 200


class HistoryRoutes:
    """The server's answers about the past, given from one desk.

    Parameters
    ----------
    desk : Desk
        Where people label.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._history = History(desk.project)

    def all(self) -> list[BaseRoute]:
        """Return every address with what answers it."""
        return [
            Route("/api/history", self.listed),
            Route("/api/history/curve", self.curve),
            Route("/api/history/moment", self.moment),
            Route("/api/history/map", self.answers),
            Route("/api/history/return", self.return_to, methods=["POST"]),
        ]

    async def listed(self, request: Request) -> Response:
        """Return some events, the newest first; of one person where one is named."""
        asked = request.query_params
        start = r.read_number(request, "from", 0, _MOST) if "from" in asked else 0
        user = asked.get("user") or None
        if user is not None and len(user) > _LONGEST_NAME:
            raise RefusedError(400, f"a name has {_LONGEST_NAME} characters at most")
        project, contents = self._desk.project, self._desk.contents
        told, count = await run_in_threadpool(self._history.listed, start, _AT_ONCE, user, contents)
        people = await run_in_threadpool(self._history.people)
        return JSONResponse(
            {"events": told, "count": count, "last": len(project.events), "users": people}
        )

    async def curve(self, _: Request) -> Response:
        """Return what was known at each moment, what audits proved, and why numbers fell."""
        return JSONResponse(await run_in_threadpool(self._tell_curve))

    async def moment(self, request: Request) -> Response:
        """Return what held after an event, and what a return to it would change."""
        number = self._read_moment(request)
        return JSONResponse(await run_in_threadpool(self._history.moment, number))

    async def answers(self, request: Request) -> Response:
        """Return what the labels of a moment say of all rows; nothing is changed."""
        number, is_quick = self._read_moment(request), request.query_params.get("quick") == "1"
        learning = await run_in_threadpool(lambda: self._desk.answers_at(number, is_quick=is_quick))
        answers = await asyncio.wrap_future(learning)
        frame = await run_in_threadpool(pack_answers, answers)
        return Response(frame, media_type="application/octet-stream")

    async def return_to(self, request: Request) -> Response:
        """Save that what people said is again as it was after an event."""
        body = await r.read_body(request)
        number, last = body.get("event"), len(self._desk.project.events)
        if type(number) is not int or not 1 <= number <= last:
            raise RefusedError(400, f"event must be a whole number from 1 to {last}")
        event = await run_in_threadpool(self._desk.return_to, user_of(request), number)
        return JSONResponse(telling.tell_saved(self._desk, event))

    def _read_moment(self, request: Request) -> int:
        return r.read_number(request, "event", 1, len(self._desk.project.events))

    def _tell_curve(self) -> dict[str, Any]:
        history = self._history
        points = history.curve()
        return {
            "points": [asdict(one) | {"way": is_way} for one, is_way in points],
            "audits": [
                asdict(one) | {"words": _say_proof(one), "given": self._given_at(one.event)}
                for one in history.proofs()
            ],
            "falls": [
                {
                    "event": one.after.event,
                    "given": one.after.given,
                    "from": one.before.accuracy,
                    "to": one.after.accuracy,
                    "since": one.before.event,
                    "words": one.words,
                }
                for one in history.falls()
            ],
        }

    def _given_at(self, number: int) -> int:
        """Return how many labels people had given after an event."""
        known = (one for one in self._desk.project.measures.all() if one.event == number)
        measure = next(known, None)
        if measure is not None:
            return measure.given
        return len(self._desk.project.state_at(number).labels)


def _say_proof(proof: Proved) -> str:
    """Return what a round proved, in a sentence."""
    wrong = f"{proof.n_wrong:,} wrong" + (f", {proof.n_blank:,} blank" if proof.n_blank else "")
    return (
        f"Round {proof.round}: at least {floor_percent(proof.lower)} % of the {proof.n_pool:,} "
        f"labels that it was drawn from were right, at {percent(proof.confidence)} confidence "
        f"({proof.n_checked:,} checked, {wrong})."
    )
