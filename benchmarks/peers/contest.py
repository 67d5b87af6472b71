"""A contest: the same answer first, then interleaved clocks, then one ratio."""

import gc
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class Problem:
    """What both sides are given: the same arrays, and the settings both must keep."""

    name: str
    size: int
    arrays: Mapping[str, Any]
    settings: Mapping[str, float] = field(default_factory=dict)

    def __getitem__(self, key: str) -> Any:
        return self.arrays[key]


@dataclass(frozen=True, eq=False)
class Answer:
    """What a side returns: arrays in the form the measures expect, and a remark for the table."""

    arrays: tuple[np.ndarray, ...]
    note: str = ""


Side = Callable[[Problem], Answer]


@dataclass(frozen=True, eq=False)
class Contest:
    """Two sides, one problem, and how their answers are compared.

    `gap` must stay below `tolerance` or the times mean nothing. `error` measures one answer
    against the truth. `match` looks at the peer's answer and returns settings for our side, such
    as the residual that the peer reached. `remark` adds what else is worth knowing of the two
    answers to the note. Without a `peer` ours runs alone.
    """

    task: str
    on: str
    problem: Callable[[], Problem]
    ours: Side
    error: Callable[[Problem, Answer], float]
    peer: Side | None = None
    peer_name: str = ""
    gap: Callable[[Problem, Answer, Answer], float] | None = None
    tolerance: float = np.inf
    match: Callable[[Problem, Answer], Mapping[str, float]] | None = None
    remark: Callable[[Problem, Answer, Answer], str] | None = None
    needs: str = ""
    note: str = ""
    growth: str = ""

    @property
    def name(self) -> str:
        """Task, problem and peer: the key under which the row is kept."""
        against = f" vs {self.peer_name}" if self.peer_name else ""
        return f"{self.task} on {self.on}{against}"


@dataclass
class Row:
    """The outcome of one contest; seconds are kept round by round."""

    name: str
    task: str
    problem: str
    peer: str
    n: int
    gap: float | None = None
    tolerance: float | None = None
    ours_s: list[float] = field(default_factory=list)
    peer_s: list[float] = field(default_factory=list)
    ours_mb: float | None = None
    peer_mb: float | None = None
    ours_error: float | None = None
    peer_error: float | None = None
    settings: dict[str, float] = field(default_factory=dict)
    growth: str = ""
    note: str = ""

    @property
    def ratios(self) -> np.ndarray:
        """Peer's seconds over ours, one per round; above 1 ours is faster."""
        return np.array(self.peer_s) / np.array(self.ours_s[: len(self.peer_s)])


class NotComparable(Exception):  # noqa: N818 - a verdict, not a fault
    """The two sides did not return the same answer, so their times say nothing."""

    def __init__(self, name: str, gap: float, tolerance: float) -> None:
        super().__init__(f"{name}: the answers differ by {gap:.2e}, more than {tolerance:.2e}")


def hold(contest: Contest, problem: Problem, rounds: int = 7, budget_s: float = 300.0) -> Row:
    """Compare the answers, then time both sides in turn.

    The comparison is also the warm-up. Rounds end early, but not before the first, when the next
    one would pass `budget_s`.
    """
    theirs = contest.peer(problem) if contest.peer else None
    if contest.match and theirs:
        problem = replace(problem, settings=dict(contest.match(problem, theirs)))
    ours = contest.ours(problem)
    row = _compare(contest, problem, ours, theirs)
    del ours, theirs
    start = time.perf_counter()
    for done in range(1, rounds + 1):  # interleaved: a slow minute of the machine hits both
        row.ours_s.append(seconds(contest.ours, problem))
        if contest.peer:
            row.peer_s.append(seconds(contest.peer, problem))
        passed = time.perf_counter() - start
        if passed * (done + 1) / done > budget_s:
            break
    return row


def seconds(side: Side, problem: Problem) -> float:
    """Return the wall time of one call."""
    gc.collect()
    start = time.perf_counter()
    side(problem)
    return time.perf_counter() - start


def blank_row(contest: Contest, note: str = "", size: int = 0) -> Row:
    """Return a row with the names filled in and nothing measured."""
    return Row(
        name=contest.name,
        task=contest.task,
        problem=contest.on,
        peer=contest.peer_name,
        n=size,
        growth=contest.growth,
        note=note,
    )


def _compare(contest: Contest, problem: Problem, ours: Answer, theirs: Answer | None) -> Row:
    remarks = [contest.note, f"ours: {ours.note}" if ours.note else ""]
    row = blank_row(contest, size=problem.size)
    row.ours_error = float(contest.error(problem, ours))
    row.settings = dict(problem.settings)
    if theirs is not None and contest.gap:
        row.gap, row.tolerance = float(contest.gap(problem, ours, theirs)), contest.tolerance
        if not row.gap <= contest.tolerance:  # a gap that is not a number fails too
            raise NotComparable(contest.name, row.gap, contest.tolerance)
        row.peer_error = float(contest.error(problem, theirs))
        remarks.append(f"peer: {theirs.note}" if theirs.note else "")
        remarks.append(contest.remark(problem, ours, theirs) if contest.remark else "")
    row.note = "; ".join(filter(None, remarks))
    return row
