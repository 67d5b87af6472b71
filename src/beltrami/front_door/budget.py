"""What may be tried: by the method asked for, by seconds and by rows, with the reason."""

import numbers
from collections.abc import Sequence
from typing import Any, Protocol, TypeVar

from beltrami.core.errors import InvalidInputError

MOST_ROWS = {"eigenfunctions": 100_000, "laplacian_rls": 2500, "laplacian_svc": 2500}
"""Rows up to which a candidate is tried when the choice is ours."""


_SPENT = "not tried: the time budget"


class Tried(Protocol):
    """What is known of a candidate after it was tried, or not."""

    @property
    def title(self) -> str:
        """For a person to read."""

    @property
    def note(self) -> str:
        """Why it was left out, or nothing."""


class Named(Protocol):
    """What is known of a candidate before it is fitted."""

    name: str
    is_baseline: bool


_Candidate = TypeVar("_Candidate", bound=Named)


def invited(candidates: tuple[_Candidate, ...], method: Any) -> dict[str, _Candidate]:
    """Return who is tried for a method: all candidates, or one beside the baselines."""
    known = {one.name: one for one in candidates}
    if isinstance(method, str) and method == "auto":
        return known
    if not isinstance(method, str) or method not in known:
        listed = ", ".join(["auto", *known])
        raise InvalidInputError(f"method={method!r} is not known; choose one of {listed}.")
    return {name: one for name, one in known.items() if one.is_baseline or name == method}


def checked_budget(seconds: Any) -> float | None:
    """Return the time budget, or say what is wrong with it."""
    if seconds is None:
        return None
    is_number = isinstance(seconds, numbers.Real) and not isinstance(seconds, bool)
    if is_number and float(seconds) >= 0:
        return float(seconds)
    raise InvalidInputError(
        f"time_budget={seconds!r} must be a number of seconds, such as 60, or None for no limit."
    )


def excuse(
    name: str, method: str, n_rows: int, spent: float, budget: float | None, *, has_answer: bool
) -> str:
    """Say why a candidate is not tried, or nothing.

    - `method`: what was asked for: "auto", or the candidate that must answer and is always tried.
    """
    if method == "auto" and n_rows > MOST_ROWS.get(name, n_rows):
        return f"not tried above {MOST_ROWS[name]:,} rows: it takes too long"
    if budget is not None and spent > budget and has_answer and name != method:
        return f"{_SPENT} of {budget:g} s was spent"
    return ""


def left_out_for_time(members: Sequence[Tried]) -> tuple[str, ...]:
    """Say which candidates were left out because the time was spent."""
    late = [one for one in members if one.note.startswith(_SPENT)]
    if not late:
        return ()
    names = ", ".join(one.title for one in late)
    return (
        f"{len(late)} of {len(members)} methods were left out for time ({names}): "
        f"{late[0].note.removeprefix('not tried: ')} before they were begun. The others answer "
        "alone, and another machine may choose otherwise; a larger time_budget (--budget) tries "
        "all.",
    )
