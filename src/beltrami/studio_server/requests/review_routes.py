"""What can be asked of the server about doubts: which there are, what speaks for each, keep it."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from beltrami.core.types import FloatMatrix
from beltrami.front_door.report import percent
from beltrami.project.record.events import DOUBTS
from beltrami.project.record.state import State
from beltrami.review.support import Supporters
from beltrami.studio_server.desk import Desk
from beltrami.studio_server.guard.access import user_of
from beltrami.studio_server.guard.refusals import RefusedError
from beltrami.studio_server.learner.doubts import (
    TITLES,
    Doubt,
    Findings,
    find_doubts,
    hear_others,
    open_doubts,
    spelling_doubts,
    title_of,
    votes,
)
from beltrami.studio_server.wire import requests as r
from beltrami.studio_server.wire import telling

_AT_ONCE, _NEIGHBOURS = 20, 5
_MOST = 10**9


@dataclass(frozen=True, slots=True, eq=False)
class _Found:
    """What was found of one answer of the learner, and what was heard of it since."""

    answer: FloatMatrix | None = None
    is_settled: bool = False
    findings: Findings = field(default_factory=Findings)
    labels: dict[int, str] = field(default_factory=dict)
    heard: dict[int, Supporters] = field(default_factory=dict)


class ReviewRoutes:
    """The server's answers about doubts, given from one desk.

    Parameters
    ----------
    desk : Desk
        Where people label.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._found = _Found()

    def all(self) -> list[BaseRoute]:
        """Return every address with what answers it."""
        return [
            Route("/api/doubts", self.groups),
            Route("/api/doubts/list", self.listed),
            Route("/api/doubts/keep", self.keep, methods=["POST"]),
        ]

    async def groups(self, _: Request) -> Response:
        """Return which kinds of doubts there are, and how many of each."""
        found, state = await self._look()
        doubts = await run_in_threadpool(_open_by_kind, found.findings, state)
        notes = found.findings.notes or {}
        groups = [
            {
                "kind": kind,
                "title": title_of(kind, doubts[kind]),
                "count": len(doubts[kind]),
                "words": notes.get(kind, ""),
            }
            for kind in TITLES
        ]
        return JSONResponse({"settled": self._desk.learning.is_settled, "groups": groups})

    async def listed(self, request: Request) -> Response:
        """Return some doubts of a kind, each with its rows and what speaks for it."""
        kind = request.query_params.get("kind", "")
        if kind not in TITLES:
            raise RefusedError(400, f"kind must be one of {', '.join(TITLES)}")
        start = r.read_number(request, "from", 0, _MOST) if "from" in request.query_params else 0
        found, state = await self._look()
        doubts = (await run_in_threadpool(_open_by_kind, found.findings, state))[kind]
        page = doubts[start : start + _AT_ONCE]
        if any(one.asked and one.asked[0] not in found.heard for one in page):
            await self._do(lambda: self._hear(found, page))
        told = await run_in_threadpool(self._tell, found, page, state)
        return JSONResponse({"doubts": told, "count": len(doubts)})

    async def keep(self, request: Request) -> Response:
        """Save that a person looked at a doubt and leaves things as they are."""
        body = await r.read_body(request)
        kind = r.read_choice(body, "kind", DOUBTS, "")
        rows: list[int] = []
        if kind != "spelling" or body.get("rows"):
            rows = r.read_rows(body.get("rows"), self._desk.project.n_rows)
        value, user = r.read_text(body, "value"), user_of(request)
        event = await run_in_threadpool(self._desk.keep, user, kind, rows, value)
        return JSONResponse(telling.tell_saved(self._desk, event))

    async def _look(self) -> tuple[_Found, State]:
        """Return what is doubtful of the answers of now; found once for each of them."""
        learning = self._desk.learning
        state = await run_in_threadpool(self._desk.project.snapshot)
        beliefs = learning.beliefs
        if beliefs is None or learning.phase != "ready":
            return _Found(), state
        is_same = (
            self._found.answer is beliefs.distributions
            and self._found.is_settled == learning.is_settled
        )
        if is_same and not learning.n_behind:
            return self._found, state
        await self._do(self._find)
        return self._found, await run_in_threadpool(self._desk.project.snapshot)

    async def _do(self, work: Any) -> None:
        await asyncio.wrap_future(self._desk.learning.do(work))

    def _find(self) -> None:
        """Look for doubts, in the learner's thread."""
        learning = self._desk.learning
        if not learning.has_learned or learning.beliefs is None:
            self._found = _Found()
            return
        labels = _labels_of(self._desk.project.snapshot())
        findings = find_doubts(learning.learner, labels)
        answer = learning.beliefs.distributions
        self._found = _Found(answer, learning.is_settled, findings, labels)

    def _hear(self, found: _Found, page: Iterable[Doubt]) -> None:
        """Ask the labelled rows, in the learner's thread."""
        learning = self._desk.learning
        if learning.beliefs is None or learning.beliefs.distributions is not found.answer:
            return  # there are other labels now, and the page will ask again
        new = [one for one in page if one.asked and one.asked[0] not in found.heard]
        found.heard.update(hear_others(learning.learner, found.labels, new))

    def _tell(self, found: _Found, page: Iterable[Doubt], state: State) -> list[dict[str, Any]]:
        labels = _labels_of(state)
        return [self._tell_one(found, doubt, labels) for doubt in page]

    def _tell_one(self, found: _Found, doubt: Doubt, labels: dict[int, str]) -> dict[str, Any]:
        suggested, words = doubt.suggested, doubt.words
        if doubt.kind == "spelling":
            likes = [row for row, label in labels.items() if label == suggested][:_NEIGHBOURS]
            neighbours = [self._item(row) for row in likes]
        else:
            heard = found.heard.get(doubt.asked[0], _nobody(doubt.asked[0]))
            shares = zip(heard.rows.tolist(), heard.shares.tolist(), strict=True)
            speaks = [one for one in shares if one[0] in labels and one[0] not in doubt.asked]
            counted = votes(heard, labels, doubt.asked)
            total = sum(counted.values()) or 1.0
            neighbours = [
                self._item(row) | {"share": round(share / total, 4)}
                for row, share in speaks[:_NEIGHBOURS]
            ]
            if doubt.kind == "twins":
                suggested = next((one for one in counted if one in doubt.names), None)
            words += _say_votes(counted, "them" if len(doubt.asked) > 1 else "it")
        return {
            "kind": doubt.kind,
            "rows": doubt.rows.tolist(),
            "ask": list(doubt.asked),
            "value": doubt.value,
            "given": doubt.given,
            "suggested": suggested,
            "score": round(float(np.clip(doubt.score, 0.0, 1.0)), 4),
            "words": words,
            "items": [self._item(row) for row in doubt.shown],
            "neighbours": neighbours,
        }

    def _item(self, row: int) -> dict[str, Any]:
        return telling.tell_row(self._desk, row)


def _open_by_kind(findings: Findings, state: State) -> dict[str, list[Doubt]]:
    doubts: dict[str, list[Doubt]] = {kind: [] for kind in TITLES}
    for one in open_doubts([*findings.doubts, *spelling_doubts(state)], state):
        doubts[one.kind].append(one)
    return doubts


def _labels_of(state: State) -> dict[int, str]:
    return {row: given.label for row, given in state.labels.items()}


def _nobody(row: int) -> Supporters:
    return Supporters(row, np.zeros(0, dtype=np.intp), np.zeros(0))


def _say_votes(counted: dict[str, float], whom: str) -> str:
    """Return what the labelled rows say together, by class."""
    total = sum(counted.values())
    if not total:
        return ""
    parts = [f"“{name}” {percent(share / total)}" for name, share in list(counted.items())[:3]]
    return f" What the labelled rows around {whom} say, by weight: {', '.join(parts)}."
