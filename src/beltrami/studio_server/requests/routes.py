"""What can be asked of the server: each function takes a request and returns an answer."""

import asyncio
import shutil
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from beltrami.core.errors import BeltramiError
from beltrami.project.record.events import FILE, HOWS, MARKS
from beltrami.studio_server.desk import Desk
from beltrami.studio_server.guard.access import user_of
from beltrami.studio_server.guard.refusals import RefusedError
from beltrami.studio_server.wire import requests as r
from beltrami.studio_server.wire import telling
from beltrami.studio_server.wire.frames import pack_column
from beltrami.studio_server.wire.hub import Hub, dump
from beltrami.studio_server.wire.outbox import Outbox

_BINARY = "application/octet-stream"
_HOWS = tuple(how for how in HOWS if how != FILE)
_SHARED = ("base.css", "map.js")
"""Files of the report that the page uses, too."""

_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}
_PATIENCE_S = 8.0
"""Seconds for which a question is waited for."""

_MOST_HITS = 10_000
_BLOCK = 2**18


class Routes:
    """The server's answers, given from one desk.

    Parameters
    ----------
    desk : Desk
        Where people label.
    hub : Hub
        The pages that are open.
    """

    def __init__(self, desk: Desk, hub: Hub) -> None:
        self._desk, self._hub = desk, hub
        self._page = _read_page()
        self._reporting = asyncio.Lock()

    def all(self) -> list[BaseRoute]:
        """Return every address with what answers it."""
        return [
            Route("/", self.page),
            Route("/static/{name:path}", self.asset),
            Route("/api/state", self.state),
            Route("/api/map", self.places),
            Route("/api/answers", self.answers),
            Route("/api/rows", self.rows),
            Route("/api/picture", self.picture),
            Route("/api/column", self.column),
            Route("/api/search", self.search),
            Route("/api/question", self.question),
            Route("/api/data", self.data),
            Route("/api/labels", self.labels),
            Route("/api/report", self.report),
            Route("/api/labels", self.save_label, methods=["POST"]),
            Route("/api/marks", self.save_mark, methods=["POST"]),
            Route("/api/undo", self.undo, methods=["POST"]),
            Route("/api/classes", self.change_classes, methods=["POST"]),
            Route("/api/trial", self.try_label, methods=["POST"]),
            Route("/api/roles", self.change_roles, methods=["POST"]),
            WebSocketRoute("/api/live", self.live),
        ]

    @property
    def _n_rows(self) -> int:
        return self._desk.project.n_rows

    async def page(self, _: Request) -> Response:
        """Return the page."""
        return Response(self._page["index.html"], media_type="text/html; charset=utf-8")

    async def asset(self, request: Request) -> Response:
        """Return a file of the page; no other file can be named."""
        name = request.path_params["name"]
        content = self._page.get(name)
        if content is None or name == "index.html":
            raise RefusedError(404, "there is no such file")
        kind = _TYPES["." + name.rpartition(".")[2]]
        return Response(content, media_type=f"{kind}; charset=utf-8")

    async def state(self, request: Request) -> Response:
        """Return what is shown around the rows."""
        return JSONResponse(telling.tell_state(self._desk, user_of(request)))

    async def places(self, _: Request) -> Response:
        """Return the map."""
        if self._desk.places_frame is None:
            raise RefusedError(404, "the map is not drawn yet")
        return Response(self._desk.places_frame, media_type=_BINARY)

    async def answers(self, _: Request) -> Response:
        """Return the answers of all rows."""
        frame = await run_in_threadpool(lambda: self._desk.answers_frame)
        if frame is None:
            raise RefusedError(404, "nothing is known of the rows yet")
        return Response(frame, media_type=_BINARY)

    async def rows(self, request: Request) -> Response:
        """Return some rows with what they hold."""
        rows = r.read_listed_rows(request, self._n_rows)
        told = await run_in_threadpool(telling.tell_rows, self._desk, rows)
        return JSONResponse({"rows": told})

    async def picture(self, request: Request) -> Response:
        """Return the picture of a row, at most so large."""
        row = r.read_number(request, "row", 0, self._n_rows - 1)
        side = 96 if r.read_number(request, "side", 1, 4096) <= 96 else 512
        if not self._desk.contents.has_pictures:
            raise RefusedError(404, "these rows are no pictures")
        try:
            content = await run_in_threadpool(self._desk.contents.picture, row, side)
        except (BeltramiError, OSError) as error:
            raise RefusedError(404, f"the picture cannot be read: {error}") from error
        return Response(content, media_type="image/png")

    async def column(self, request: Request) -> Response:
        """Return a number for each row, to colour or filter by."""
        name = request.query_params.get("name", "")
        if name not in dict(self._desk.contents.colourable):
            raise RefusedError(404, f"there is no column {name!r} to colour by")
        facts, codes = await run_in_threadpool(self._desk.contents.codes, name)
        return Response(pack_column(facts, codes), media_type=_BINARY)

    async def search(self, request: Request) -> Response:
        """Return rows that hold a text."""
        text = request.query_params.get("text", "").strip()
        if not text or len(text) > 500:
            raise RefusedError(400, "say what to look for, in at most 500 characters")
        found = await run_in_threadpool(self._desk.contents.search, text, self._n_rows)
        rows = found.tolist()
        return JSONResponse({"rows": rows[:_MOST_HITS], "count": len(rows)})

    async def question(self, request: Request) -> Response:
        """Return what to ask this person next; it is waited for where none is ready."""
        user, ends = user_of(request), asyncio.get_running_loop().time() + _PATIENCE_S
        while True:
            question = await run_in_threadpool(self._desk.next_question, user)
            if question is not None:
                told = await run_in_threadpool(telling.tell_question, self._desk, question)
                return JSONResponse({"question": told})
            is_over = self._desk.is_all_answered(user)
            if is_over or asyncio.get_running_loop().time() > ends:
                why = telling.tell_why_no_question(self._desk, is_over=is_over)
                return JSONResponse({"question": None, "why": why})
            await asyncio.sleep(0.1)

    async def data(self, _: Request) -> Response:
        """Return what the columns are taken for."""
        return JSONResponse(await run_in_threadpool(telling.tell_data, self._desk))

    async def labels(self, _: Request) -> Response:
        """Return the whole result as a table; only people's labels where learning has failed."""
        if self._desk.learning.phase == "failed":
            path = await run_in_threadpool(self._desk.export_bare)
        else:
            path = await asyncio.wrap_future(self._desk.export())
        return self._handed_over(path, "labels.csv", "text/csv")

    async def report(self, _: Request) -> Response:
        """Return the report as one page to be kept; they are made one after the other."""
        async with self._reporting:
            draft = await asyncio.wrap_future(self._desk.draft_report())
            path = await run_in_threadpool(self._desk.write_report, draft)
        return self._handed_over(path, "report.html", "text/html")

    def _handed_over(self, path: Path, name: str, kind: str) -> Response:
        """Return a file to be kept under the name of the data."""
        stem = quote(PurePath(self._desk.project.data.table.name).stem)
        headers = {
            "content-disposition": f"attachment; filename*=UTF-8''{stem}-{name}",
            "content-length": str(path.stat().st_size),
        }
        media = f"{kind}; charset=utf-8"
        return StreamingResponse(_blocks_of(path), headers=headers, media_type=media)

    async def save_label(self, request: Request) -> Response:
        """Save a label of some rows."""
        body = await r.read_body(request)
        rows = r.read_rows(body.get("rows"), self._n_rows)
        label = None if body.get("label", "") is None else r.read_text(body, "label")
        how = r.read_choice(body, "how", _HOWS, "api")
        return await self._saved(self._desk.label, user_of(request), rows, label, how)

    async def save_mark(self, request: Request) -> Response:
        """Save that rows are skipped, or cannot be told."""
        body = await r.read_body(request)
        rows = r.read_rows(body.get("rows"), self._n_rows)
        mark = r.read_choice(body, "mark", MARKS, "")
        return await self._saved(self._desk.mark, user_of(request), rows, mark)

    async def undo(self, request: Request) -> Response:
        """Take back what this person did last."""
        await r.read_body(request)
        event = await run_in_threadpool(self._desk.undo, user_of(request))
        if event is None:
            raise RefusedError(409, "there is nothing of yours to take back")
        told = telling.tell_saved(self._desk, event)
        return JSONResponse(told | {"undone": telling.tell_undone(event)})

    async def change_classes(self, request: Request) -> Response:
        """Add a class, remove one that no row has, or give one another name."""
        body, user = await r.read_body(request), user_of(request)
        if "add" in body:
            return await self._saved(self._desk.add_class, user, r.read_text(body, "add"))
        if "remove" in body:
            return await self._saved(self._desk.remove_class, user, r.read_text(body, "remove"))
        old, new = r.read_text(body, "rename"), r.read_text(body, "to")
        merge = body.get("merge") is True
        return await self._saved(lambda: self._desk.rename_class(user, old, new, merge=merge))

    async def try_label(self, request: Request) -> Response:
        """Return how many rows a label would change."""
        body = await r.read_body(request)
        rows = r.read_rows(body.get("rows"), self._n_rows)
        label = r.read_text(body, "label")
        if label not in [one.name for one in self._desk.project.state.classes]:
            return JSONResponse({"changes": 0})
        changes = await asyncio.wrap_future(self._desk.count_changes(rows, label))
        return JSONResponse({"changes": changes})

    async def change_roles(self, request: Request) -> Response:
        """Compare rows by other columns."""
        body = await r.read_body(request)
        changes = r.read_roles(body, self._desk.project.data.table.names)
        await run_in_threadpool(self._desk.change_roles, user_of(request), changes)
        return JSONResponse({"accepted": True}, status_code=202)

    async def _saved(self, act: Any, *arguments: Any) -> Response:
        event = await run_in_threadpool(act, *arguments)
        return JSONResponse(telling.tell_saved(self._desk, event))

    async def live(self, socket: WebSocket) -> None:
        """Send a page all that changes, until it goes."""
        user = user_of(socket)
        await socket.accept()
        outbox = Outbox(lambda: self._desk.answers_frame)
        self._hub.join(outbox, user)
        outbox.put_state(dump({"type": "state"} | telling.tell_state(self._desk, user)))
        if self._desk.places_frame is not None:
            outbox.put_places(self._desk.places_frame)
        if self._desk.progress is not None:
            outbox.put_text(dump(self._desk.progress), "progress")
        reading = asyncio.create_task(_read_to_end(socket))
        try:
            await outbox.send_all(socket, reading)
        except WebSocketDisconnect:
            return
        finally:
            reading.cancel()
            self._hub.leave(outbox)
            if user not in self._hub.users:
                self._desk.board.give_back(user)


async def _read_to_end(socket: WebSocket) -> None:
    """Wait until a page goes; it has nothing to say here."""
    while (await socket.receive())["type"] != "websocket.disconnect":
        pass


def _blocks_of(path: Path) -> Iterator[bytes]:
    """Return the content of a file, and remove its folder however that ends."""
    try:
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                yield block
    finally:
        shutil.rmtree(path.parent, ignore_errors=True)


def _read_page() -> dict[str, bytes]:
    """Return the files of the page by name, read once; some are the report's."""
    found = dict(_files_below(files("beltrami.studio_server") / "page", ""))
    shared = files("beltrami.report.page")
    return found | {name: (shared / name).read_bytes() for name in _SHARED}


def _files_below(folder: Traversable, prefix: str) -> Iterator[tuple[str, bytes]]:
    for one in folder.iterdir():
        if one.is_dir():
            yield from _files_below(one, f"{prefix}{one.name}/")
        elif one.name.endswith(tuple(_TYPES)):
            yield prefix + one.name, one.read_bytes()
