"""What became of a reproduction, and what is said on the way."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from beltrami.core.telling.progress import ProgressEvent

State = Literal["made", "known", "left out", "failed"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one reproduction ended.

    Attributes
    ----------
    name : str
        Of the reproduction.
    state : {"made", "known", "left out", "failed"}
        Known: it was there from an earlier run. Left out: a data set is not here.
    files : tuple of Path
        What there is now, absolute.
    seconds : float
        Of this run.
    message : str
        Why it was left out or failed.
    """

    name: str
    state: State
    files: tuple[Path, ...] = ()
    seconds: float = 0.0
    message: str = ""


@dataclass(frozen=True, slots=True)
class Running:
    """A reproduction has begun, or has come further.

    Attributes
    ----------
    name : str
        Of the reproduction.
    event : ProgressEvent or None
        The step it is at; None at the beginning.
    """

    name: str
    event: ProgressEvent | None = None


Tell = Callable[[Running | Outcome], None]
"""Hears of everything that happens, in the order in which it happens."""
