"""What comes in: JSON bodies and addresses enter, checked values leave, or a refusal in words."""

import json
from typing import Any

from starlette.requests import Request

from beltrami.studio_server.guard.refusals import RefusedError
from beltrami.tables.options import COLUMN_LISTS

MOST_ROWS = 200_000
"""Rows that one request may label."""

_MOST_SHOWN = 60
_LONGEST_MARKER = 200


async def read_body(request: Request) -> dict[str, Any]:
    """Return the body, which must be a JSON object."""
    raw = await request.body()
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise RefusedError(400, f"the body is no JSON: {error}") from error
    if not isinstance(body, dict):
        raise RefusedError(400, "the body must be a JSON object")
    return body


def read_rows(value: Any, n_rows: int, most: int = MOST_ROWS) -> list[int]:
    """Return row positions, each once, in their order."""
    if not isinstance(value, list) or not value:
        raise RefusedError(
            400, "rows must be a list of positions in the file, from 0, and not empty"
        )
    if len(value) > most:
        raise RefusedError(413, f"{len(value):,} rows are more than {most:,} at once")
    if not all(type(row) is int for row in value):
        raise RefusedError(400, "rows must be whole numbers")
    if min(value) < 0 or max(value) >= n_rows:
        raise RefusedError(400, f"rows go from 0 to {n_rows - 1}; got {min(value)} to {max(value)}")
    return list(dict.fromkeys(value))


def read_text(body: dict[str, Any], name: str) -> str:
    """Return a text of the body."""
    value = body.get(name)
    if not isinstance(value, str):
        raise RefusedError(400, f"{name} must be a text")
    return value


def read_choice(body: dict[str, Any], name: str, choices: tuple[str, ...], usual: str) -> str:
    """Return one of some words of the body."""
    value = body.get(name, usual)
    if value not in choices:
        raise RefusedError(400, f"{name} must be one of {', '.join(choices)}")
    return str(value)


def read_listed_rows(request: Request, n_rows: int) -> list[int]:
    """Return the rows that an address lists, such as rows=3,17."""
    text = request.query_params.get("rows", "")
    try:
        rows = [int(one) for one in text.split(",")] if len(text) < 10_000 else []
    except ValueError:
        rows = []
    return read_rows(rows, n_rows, _MOST_SHOWN)


def read_number(request: Request, name: str, low: int, high: int) -> int:
    """Return a whole number of an address."""
    text = request.query_params.get(name, "")
    if text.isascii() and text.isdigit() and len(text) < 12 and low <= int(text) <= high:
        return int(text)
    raise RefusedError(400, f"{name} must be a whole number from {low} to {high}")


def read_roles(body: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """Return corrections of what columns are for."""
    strange = set(body) - {*COLUMN_LISTS, "id", "unlabeled"}
    if strange:
        roles = ", ".join(COLUMN_LISTS)
        raise RefusedError(400, f"{min(strange)!r} is no role; roles are id, {roles}")
    changes: dict[str, Any] = {}
    if "unlabeled" in body:
        changes["unlabeled"] = read_text(body, "unlabeled")
        if len(changes["unlabeled"]) > _LONGEST_MARKER:
            raise RefusedError(400, f"unlabeled may have {_LONGEST_MARKER} characters at most")
    for role in (one for one in COLUMN_LISTS if one in body):
        listed = body[role]
        if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
            raise RefusedError(400, f"{role} must be a list of names of columns")
        changes[role] = tuple(listed)
    if "id" in body:
        if body["id"] is not None and not isinstance(body["id"], str):
            raise RefusedError(400, "id must be the name of a column, or null")
        changes["id"] = body["id"]
    columns = (value for role, value in changes.items() if role != "unlabeled")
    listed = [name for value in columns for name in _names_in(value)]
    unknown = [name for name in listed if name not in names]
    if unknown:
        raise RefusedError(400, f"there is no column {unknown[0]!r}")
    return changes


def _names_in(value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    return (value,) if isinstance(value, str) else tuple(value)
