"""Two runs held against each other: whether all numbers of their records agree.

Two records enter; the largest difference and where it is leave.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from beltrami.core.files import read_json

TOLERANCE = 1e-3
"""How far two numbers may be apart, as a share of the larger one or, below one, absolutely."""

CIRCUMSTANTIAL = frozenset(
    {
        "seconds",
        "wall_seconds",
        "processor_seconds",
        "peak_memory_mib",
        "threads",
        "versions",
        "inputs",
        "quick",
    }
)
"""Entries that say how a run went, not what it found."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """How well two runs of one reproduction agree.

    Attributes
    ----------
    name : str
        Of the reproduction.
    n_numbers : int
        How many numbers both have.
    largest : float
        Largest difference, infinite where the records have different entries.
    place : str
        Where it is.
    """

    name: str
    n_numbers: int
    largest: float
    place: str

    def holds(self, tolerance: float = TOLERANCE) -> bool:
        """Return whether no difference is larger than the tolerance."""
        return self.largest <= tolerance


def compare_runs(name: str, folder: Path, other: Path) -> Agreement | None:
    """Compare the records of one reproduction in two folders."""
    paths = [place / f"{name}.json" for place in (folder, other)]
    if not all(path.exists() for path in paths):
        return None
    first, second = (read_json(path) for path in paths)
    return agreement(name, first, second)


def agreement(name: str, first: Mapping[str, Any], second: Mapping[str, Any]) -> Agreement:
    """Compare two records."""
    mine, theirs = dict(_numbers(first)), dict(_numbers(second))
    alone = sorted(mine.keys() ^ theirs.keys())
    if alone:
        return Agreement(name, len(mine.keys() & theirs.keys()), math.inf, f"{alone[0]}, in one")
    apart = {place: _difference(mine[place], theirs[place]) for place in mine}
    worst = max(apart, key=apart.__getitem__, default="")
    return Agreement(name, len(apart), apart.get(worst, 0.0), worst)


def _numbers(value: object, place: str = "") -> Iterator[tuple[str, float]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if key not in CIRCUMSTANTIAL:
                yield from _numbers(inner, f"{place}/{key}" if place else str(key))
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for number, inner in enumerate(value):
            yield from _numbers(inner, f"{place}[{number}]")
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield place, float(value)


def _difference(mine: float, theirs: float) -> float:
    if mine == theirs or (math.isnan(mine) and math.isnan(theirs)):
        return 0.0
    gap = abs(mine - theirs) / max(1.0, abs(mine), abs(theirs))
    return gap if math.isfinite(gap) else math.inf
