"""The studio as one application: routes, and around them what keeps strangers and floods out."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp

from beltrami.core.errors import BeltramiError
from beltrami.core.spelling import spell_out
from beltrami.project import ClassExistsError, NotSavedError, ProjectError
from beltrami.studio_server.desk import Desk
from beltrami.studio_server.guard.access import Access, Gate
from beltrami.studio_server.guard.limits import Limits
from beltrami.studio_server.guard.refusals import RefusedError
from beltrami.studio_server.requests.audit_routes import AuditRoutes
from beltrami.studio_server.requests.history_routes import HistoryRoutes
from beltrami.studio_server.requests.review_routes import ReviewRoutes
from beltrami.studio_server.requests.routes import Routes
from beltrami.studio_server.wire.hub import Hub
from beltrami.studio_server.wire.telling import tell_state

_STATUS = {NotSavedError: 507, ClassExistsError: 409, ProjectError: 409}


def make_app(desk: Desk, hub: Hub, access: Access, *, host: str = "") -> ASGIApp:
    """Return the application of a desk; it opens the desk when it starts and leaves it open."""

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        hub.attach(asyncio.get_running_loop())
        hub.state_for = lambda user: tell_state(desk, user)
        desk.open()
        yield

    app = Starlette(
        routes=[
            *Routes(desk, hub).all(),
            *ReviewRoutes(desk).all(),
            *AuditRoutes(desk).all(),
            *HistoryRoutes(desk).all(),
        ],
        lifespan=lifespan,
        exception_handlers={RefusedError: _refuse, BeltramiError: _refuse_input, 404: _say_missing},
    )
    return Gate(Limits(app), access, host=host, is_read_only=desk.is_read_only)


async def _refuse(_: Request, error: Exception) -> Response:
    assert isinstance(error, RefusedError)
    return JSONResponse({"error": spell_out(error.words)}, status_code=error.status)


async def _refuse_input(_: Request, error: Exception) -> Response:
    """Say what is wrong with what was asked; nothing was saved."""
    status = next((code for kind, code in _STATUS.items() if isinstance(error, kind)), 400)
    return JSONResponse({"error": spell_out(str(error))}, status_code=status)


async def _say_missing(_: Request, __: Exception) -> Response:
    return JSONResponse({"error": "there is nothing at this address"}, status_code=404)
