"""The nouns of coming in: what a file says of rows, and what is known before it is read."""

import math
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class Answer:
    """What somebody said of a row, elsewhere.

    Attributes
    ----------
    id : str
        What the row is called.
    label : str
        Its class.
    user : str or None
        Who said so, where the file knows.
    at : datetime or None
        When, where the file knows.
    is_area : bool
        Whether it was said of a whole area, so that nobody looked at this row.
    """

    id: str
    label: str
    user: str | None = None
    at: datetime | None = None
    is_area: bool = False


@dataclass(frozen=True, slots=True)
class Reading:
    """What a file says.

    Attributes
    ----------
    name : str
        What to call it in messages.
    answers : tuple of Answer
        In the order of the file.
    lines : tuple of str
        How it was read and what was left out, for a person.
    """

    name: str
    answers: tuple[Answer, ...]
    lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Clues:
    """What tells which part of a file holds ids, and which labels.

    Attributes
    ----------
    ids : frozenset of str
        What the rows of the project are called.
    id_name, label_name : str or None
        The columns of the project's data that hold ids and labels.
    said_id, said_label : str or None
        The columns that a person names; None leaves them to be guessed.
    """

    ids: frozenset[str]
    id_name: str | None = None
    label_name: str | None = None
    said_id: str | None = None
    said_label: str | None = None


def as_text(value: Any) -> str:
    """Return an id or a label as it is compared: whole floats without their point, "" for gaps."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def read_time(value: Any) -> datetime | None:
    """Return the time that a text says, in UTC where it names no zone; None where it says none."""
    try:
        at = datetime.fromisoformat(str(value).strip())
        return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
