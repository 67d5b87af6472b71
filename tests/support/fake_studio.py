"""A small server that speaks the studio's contract with made-up rows, for tests of its page.

Run as a module it serves until it is stopped: ``python -m tests.support.fake_studio table 8800 3``
(kind of rows, port, labels a class to begin with).
"""

import asyncio
import contextlib
import json
import socket
import sys
import threading
import time
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from tests.support.fake_learning import FakeStudio
from tests.support.fake_rows import draw_picture

POLICY = (
    "default-src 'self'; img-src 'self' blob: data:; connect-src 'self'; style-src 'self'; "
    "script-src 'self'"
)
_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}
_PAGE = files("beltrami.studio_server").joinpath("page")
_SHARED = files("beltrami.report").joinpath("page")


class Routes:
    """What each address answers, for one studio."""

    def __init__(self, studio: FakeStudio) -> None:
        self.studio = studio

    async def page(self, request: Request) -> Response:
        name = request.path_params.get("name", "index.html")
        folder = _SHARED if name in ("base.css", "map.js") else _PAGE
        text = folder.joinpath(name).read_bytes()
        headers = {"Content-Security-Policy": POLICY, "Cache-Control": "no-store"}
        return Response(text, media_type=_TYPES[Path(name).suffix], headers=headers)

    async def state(self, request: Request) -> Response:
        return JSONResponse(self.studio.state())

    async def places(self, request: Request) -> Response:
        return Response(self.studio.places_frame())

    async def answers(self, request: Request) -> Response:
        return Response(self.studio.answers_frame())

    async def live(self, socket: WebSocket) -> None:
        if self.studio.is_down:
            await socket.close()
            return
        await socket.accept()
        await socket.send_text(json.dumps({"type": "state", **self.studio.state()}))
        await socket.send_bytes(self.studio.places_frame())
        await socket.send_bytes(self.studio.answers_frame())
        self.studio.sockets.add(socket)
        with contextlib.suppress(WebSocketDisconnect, RuntimeError):
            while True:
                await socket.receive()
        self.studio.sockets.discard(socket)

    async def rows(self, request: Request) -> Response:
        rows = [int(row) for row in request.query_params["rows"].split(",")]
        return JSONResponse({"rows": [self.studio.item(row) for row in rows]})

    async def picture(self, request: Request) -> Response:
        row, side = (int(request.query_params[name]) for name in ("row", "side"))
        return Response(draw_picture(self.studio.rows, row, side), media_type="image/png")

    async def column(self, request: Request) -> Response:
        return Response(self.studio.column_frame(request.query_params["name"]))

    async def search(self, request: Request) -> Response:
        rows = self.studio.rows.found(request.query_params["text"])
        return JSONResponse({"rows": rows[:10000], "count": len(rows)})

    async def question(self, request: Request) -> Response:
        return JSONResponse(self.studio.question())

    async def table(self, request: Request) -> Response:
        """Answer what the columns are for; the file's own labels are its first column."""
        rows = self.studio.rows
        names = ["kind", "id", *rows.table] + ["body"] * bool(rows.texts[0])
        roles = {"kind": ("label", ""), "id": ("id", ""), "body": ("feature", "text")}
        columns = []
        for name in names:
            kind = "text" if name == "remark" else "categorical"
            if name in rows.table and rows.table[name].dtype.kind == "f":
                kind = "numeric"
            role, kind = roles.get(name, ("feature", kind))
            values = {"id": rows.ids, "body": rows.texts}.get(name, rows.table.get(name, [""]))
            column = {
                "name": name,
                "role": role,
                "kind": kind,
                "reason": "every value differs" if name == "id" else "guessed from its values",
                "examples": [str(value)[:80] for value in list(values[5:10])],
                "asked": self.studio.asked.get(name),
                "missing": 3 if name == "age" else 0,
                "distinct": len({str(value) for value in values}),
            }
            columns.append(column)
        cells = [[str(dict(self._line(row)).get(name, "")) for name in names] for row in range(12)]
        answer = {"columns": columns, "lines": ["2,000 rows read; 3 cells of age are empty."]}
        preview = {"names": names, "rows": cells}
        facts = {"can_change": True, "has_named_features": False, "preview": preview}
        return JSONResponse(answer | facts)

    def _line(self, row: int) -> Iterator[tuple[str, str]]:
        yield "id", self.studio.rows.ids[row]
        yield "body", self.studio.rows.texts[row][:200]
        for cell in self.studio.rows.cells(row):
            yield str(cell["name"]), str(cell["value"])

    async def export(self, request: Request) -> Response:
        return Response("id,label\n", media_type="text/csv")

    async def post(self, request: Request) -> Response:
        """Take a change, or refuse it as the test asks."""
        name = request.url.path.rsplit("/", 1)[-1]
        body = await request.json()
        self.studio.posts.append((name, body))
        await asyncio.sleep(self.studio.save_s)
        if self.studio.refuse and name != "trial":
            return JSONResponse({"error": self.studio.refuse}, status_code=507)
        answer = getattr(self, f"take_{name}")(body)
        return answer if isinstance(answer, Response) else JSONResponse(answer)

    def take_labels(self, body: Any) -> Any:
        studio, rows = self.studio, np.asarray(body["rows"])
        before = (studio.given.copy(), studio.by_area.copy(), studio.unsure.copy())
        studio.given[rows] = -1 if body["label"] is None else studio.code_of(body["label"])
        studio.by_area[rows] = body["how"] == "area" and body["label"] is not None
        studio.unsure[rows] = False
        return studio.save({"kind": "label", **body, "before": before})

    def take_marks(self, body: Any) -> Any:
        studio = self.studio
        before = (studio.given.copy(), studio.by_area.copy(), studio.unsure.copy())
        marks = studio.skipped if body["mark"] == "skip" else studio.unsure
        marks[body["rows"]] = True
        return studio.save({"kind": body["mark"], "label": None, **body, "before": before})

    def take_undo(self, body: Any) -> Any:
        studio = self.studio
        if not studio.events:
            return JSONResponse({"error": "There is nothing of yours to take back."}, 409)
        event = studio.events.pop()
        studio.given, studio.by_area, studio.unsure = event["before"]
        studio.skipped[event.get("rows", [])] = False
        rows = event.get("rows", [])
        studio.reserved -= set(rows)
        undone = {"kind": event["kind"], "rows": rows[:60], "count": len(rows)}
        answer = studio.save({"kind": "undo"})
        return answer | {"undone": undone | {"label": event.get("label")}}

    def take_classes(self, body: Any) -> Any:
        studio = self.studio
        names = [one["name"] for one in studio.classes if not one["gone"]]
        if "add" in body:
            studio.code_of(body["add"])
            return studio.save({"kind": "add"})
        if "remove" in body:
            studio.classes[studio.code_of(body["remove"])]["gone"] = True
            return studio.save({"kind": "remove"})
        code = studio.code_of(body["rename"])
        if body["to"] not in names:
            studio.classes[code]["name"] = body["to"]
            return studio.save({"kind": "rename"})
        if not body.get("merge"):
            return JSONResponse({"error": f"There is a class {body['to']} already."}, 409)
        before = (studio.given.copy(), studio.by_area.copy(), studio.unsure.copy())
        studio.given[studio.given == code] = studio.code_of(body["to"])
        studio.classes[code]["gone"] = True
        return studio.save({"kind": "merge", "before": before})

    def take_trial(self, body: Any) -> Any:
        given = self.studio.given.copy()
        names = [one["name"] for one in self.studio.classes]
        given[body["rows"]] = names.index(body["label"])
        codes, _, _ = self.studio.learn(given)
        return {"changes": int(np.sum(codes != self.studio.answers[0]))}

    def take_roles(self, body: Any) -> Any:
        async def show() -> None:
            for stage in range(1, 4):
                progress = {"stage": stage, "stages": 3, "title": "Reading the table", "step": ""}
                progress |= {"fraction": stage / 3, "left": 3.0 - stage, "over": stage == 3}
                await self.studio.send(json.dumps({"type": "progress", **progress}))
                await asyncio.sleep(0.15)

        task = asyncio.get_running_loop().create_task(show())
        self.studio.waiting.add(task)
        return JSONResponse({}, status_code=202)


def application(studio: FakeStudio) -> Starlette:
    """Return the app of one studio."""
    routes = Routes(studio)
    gets = {
        "/": routes.page,
        "/static/{name}": routes.page,
        "/api/state": routes.state,
        "/api/map": routes.places,
        "/api/answers": routes.answers,
        "/api/rows": routes.rows,
        "/api/picture": routes.picture,
        "/api/column": routes.column,
        "/api/search": routes.search,
        "/api/question": routes.question,
        "/api/data": routes.table,
        "/api/labels": routes.export,
    }
    posts = ("labels", "marks", "undo", "classes", "trial", "roles")
    return Starlette(
        routes=[
            *(Route(path, act) for path, act in gets.items()),
            *(Route(f"/api/{name}", routes.post, methods=["POST"]) for name in posts),
            WebSocketRoute("/api/live", routes.live),
        ]
    )


@contextlib.contextmanager
def serve(studio: FakeStudio, port: int = 0) -> Iterator[str]:
    """Serve a studio in a thread; the address is yielded."""
    listener = socket.create_server(("127.0.0.1", port))
    settings = uvicorn.Config(
        application(studio), log_level="warning", ws="websockets-sansio", lifespan="off"
    )
    server = uvicorn.Server(settings)

    async def run() -> None:
        studio.loop = asyncio.get_running_loop()
        await server.serve(sockets=[listener])

    thread = threading.Thread(target=lambda: asyncio.run(run()), daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
    finally:
        server.should_exit = server.force_exit = True
        thread.join(10)
        listener.close()


if __name__ == "__main__":
    kind, port, given = (*sys.argv[1:], *("text", "8800", "0")[len(sys.argv) - 1 :])
    with serve(FakeStudio(kind, given=int(given)), int(port)) as address:
        sys.stdout.write(f"{address}\n")
        threading.Event().wait()
