"""What must hold of what events say: a value enters, and leaves or is refused in words."""

import unicodedata
from collections import Counter
from datetime import datetime, timedelta
from typing import Any

from beltrami.core.errors import InvalidInputError
from beltrami.core.spelling import spell_out
from beltrami.tables.model import few_of

_LONGEST_NAME = 200
_JOINERS = "\u200c\u200d"
"""Signs without width that some scripts and emoji are written with."""


def check_name(name: Any, what: str) -> str:
    """Return the name of a class or person, or say what is wrong with it."""
    require(is_text(name), f"the name of a {what} is a text, and not {name!r}")
    require(bool(name.strip()), f"the name of a {what} is empty")
    require(
        len(name) <= _LONGEST_NAME,
        f"the name of a {what} has {len(name)} characters, and may have {_LONGEST_NAME}: "
        f"{name[:30]!r}...",
    )
    hidden = [
        one
        for one in name
        if one in "\t\n"
        or spell_out(one) != one
        or (unicodedata.category(one) == "Cf" and one not in _JOINERS)
    ]
    require(
        not hidden,
        f"the name {name!r} of a {what} holds characters that cannot be seen, such as "
        f"{hidden[:1]!r}; use letters, numbers and signs",
    )
    return str(name)


def check_rows(rows: Any) -> None:
    """Raise unless these are positions, each once."""
    is_list = isinstance(rows, tuple) and all(type(row) is int for row in rows)
    require(is_list, "rows are whole numbers, counted from 0")
    require(min(rows, default=0) >= 0, "rows are counted from 0, and one is below it")
    if len(set(rows)) < len(rows):
        twice = [row for row, n in Counter(rows).items() if n > 1]
        raise InvalidInputError(f"rows are named more than once: {few_of(twice)}. Name each once.")


def check_choice(value: Any, choices: tuple[str, ...], what: str) -> None:
    """Raise unless a value is one of some words."""
    require(value in choices, f"{what}={value!r} must be one of {', '.join(choices)}")


def check_number(value: Any, what: str) -> None:
    """Raise unless this is a number from 1."""
    require(type(value) is int and value > 0, f"the number of an {what} is not {value!r}")


def check_time(at: Any) -> None:
    """Raise unless this is a time in UTC."""
    try:
        is_utc = datetime.fromisoformat(at).utcoffset() == timedelta(0)
    except (TypeError, ValueError):
        is_utc = False
    require(is_utc, f"{at!r} is no time in UTC")


def is_text(value: Any) -> bool:
    """Say whether a value is a text."""
    return isinstance(value, str)


def require(is_so: bool, otherwise: str) -> None:
    """Raise in these words unless something is so."""
    if not is_so:
        raise InvalidInputError(f"{otherwise}.")
