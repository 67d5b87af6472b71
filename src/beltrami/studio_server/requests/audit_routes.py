"""What can be asked of an audit: how many labels a risk accepts, blind cards, what is proved."""

import asyncio
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from beltrami.review.proof import Proof
from beltrami.studio_server.auditing import Look
from beltrami.studio_server.desk import Desk
from beltrami.studio_server.guard.access import user_of
from beltrami.studio_server.guard.refusals import RefusedError
from beltrami.studio_server.wire import requests as r
from beltrami.studio_server.wire import telling

_PATIENCE_S = 8.0
"""Seconds for which labels that are judged are waited for."""

_BLIND = ("row", "id", "text", "picture", "cells")
"""What a card shows of a row: nothing that anybody thinks of it."""


class AuditRoutes:
    """The server's answers about audits, given from one desk.

    Parameters
    ----------
    desk : Desk
        Where people label.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def all(self) -> list[BaseRoute]:
        """Return every address with what answers it."""
        return [
            Route("/api/audit", self.audit),
            Route("/api/audit/card", self.card),
            Route("/api/audit/risk", self.set_risk, methods=["POST"]),
            Route("/api/audit/draw", self.draw, methods=["POST"]),
            Route("/api/audit/answer", self.answer, methods=["POST"]),
        ]

    async def audit(self, _: Request) -> Response:
        """Return what is accepted and proved."""
        return JSONResponse(await self._tell())

    async def card(self, request: Request) -> Response:
        """Return a row of the open round to be looked at, without what we say of it."""
        users, user = self._desk.users, user_of(request)
        row = self._desk.auditing.card(users.index(user) if user in users else 0)
        if row is None:
            return JSONResponse({"card": None})
        item = await run_in_threadpool(telling.tell_row, self._desk, row)
        return JSONResponse({"card": {"row": row, "item": {name: item[name] for name in _BLIND}}})

    async def set_risk(self, request: Request) -> Response:
        """Save how many of the accepted labels may be expected to be wrong."""
        body = await r.read_body(request)
        if "risk" not in body:
            raise RefusedError(400, "risk must be a number from 0 to 1, or null to accept all")
        event = await run_in_threadpool(self._desk.set_risk, user_of(request), body["risk"])
        return JSONResponse(telling.tell_saved(self._desk, event))

    async def draw(self, request: Request) -> Response:
        """Draw a round from the labels as they are now."""
        await r.read_body(request)
        event = await asyncio.wrap_future(self._desk.draw_audit(user_of(request)))
        return JSONResponse(telling.tell_saved(self._desk, event) | {"open": self._tell_open()})

    async def answer(self, request: Request) -> Response:
        """Save what a row of the open round is."""
        body = await r.read_body(request)
        (row,) = r.read_rows([body.get("row")], self._desk.project.n_rows)
        answer = None if body.get("answer", "") is None else r.read_text(body, "answer")
        event = await run_in_threadpool(self._desk.answer_audit, user_of(request), row, answer)
        return JSONResponse(telling.tell_saved(self._desk, event) | {"open": self._tell_open()})

    async def _tell(self) -> dict[str, Any]:
        """Return what is known; what it takes to judge the labels is waited for, for a while."""
        looking = asyncio.wrap_future(self._desk.auditing.look())
        try:
            look, is_settled = await asyncio.wait_for(looking, _PATIENCE_S), True
        except TimeoutError:
            look, is_settled = Look(), False
        return {
            "risk": self._desk.project.state.risk,
            "settled": is_settled,
            "accepted": look.n_accepted,
            "expected": look.expected,
            "curve": [{"risk": risk, "accepted": count} for risk, count in look.curve],
            "open": self._tell_open(),
            "certificate": None if look.proof is None else _tell_proof(look.proof),
            "stale": look.stale or None,
            "target": look.target,
            "answers": look.n_answers,
        }

    def _tell_open(self) -> dict[str, int] | None:
        """Return how many cards are left, and nothing of what was answered."""
        audits = self._desk.auditing.audits
        if audits.trail.open_round is None:
            return None
        round_place, of = len(audits.trail.rounds), len(audits.open_rows)
        return {"round": round_place, "left": len(audits.left), "of": of}


def _tell_proof(proof: Proof) -> dict[str, Any]:
    one = proof.certificate
    return {
        "sentence": one.sentence,
        "lower": one.lower,
        "confidence": one.confidence,
        "n_accepted": one.n_accepted,
        "n_answers": one.n_checked - one.n_blank,
        "n_wrong": one.n_wrong,
        "n_blank": one.n_blank,
        "target": proof.target,
        "is_proved": proof.outlook.n_answers == 0,
        "target_left": proof.outlook.words,
    }
