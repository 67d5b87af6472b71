"""What a job is expected to take, corrected by what it has taken: the time that is left.

Stages and expected seconds enter, then what happens and how long it took; the time left comes out.
Nothing here looks at a clock.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Costs = Mapping[str, Mapping[str, float]]
"""Expected seconds of the steps of each stage; those of all that has no name stand under "". A step
that costs nothing may come or not: its time counts, and says nothing of the pace."""

_OVERDUE = 0.1
"""A step that takes longer than expected is thought to take this share of its time still."""

_UNKNOWN = 1.0
"""A step of which nothing was expected is thought to take this share of its time still."""

_TRUST = 1.0
"""Seconds of work, as expected, that a first measurement of the pace counts against."""


@dataclass(slots=True)
class _Piece:
    """A step of a stage: what it is expected to take, has taken, and the share of it done."""

    cost: float
    spent: float = 0.0
    share: float | None = None
    is_over: bool = False

    def left(self, pace: float) -> float:
        r"""Return the seconds left.

        With a share f done in t seconds of E expected, the whole is thought to take
        :math:`E^{1 - f} (t / f)^f`: the forecast at first, what was measured in the end.
        """
        if self.is_over:
            return 0.0
        expected = self.cost * pace
        if not self.share or not self.spent:
            overdue = _OVERDUE if expected else _UNKNOWN
            return max(expected - self.spent, overdue * self.spent)
        measured = self.spent / self.share
        if not expected:
            return measured - self.spent
        blend: float = expected ** (1 - self.share) * measured**self.share
        return max(blend - self.spent, 0.0)

    @property
    def evidence(self) -> tuple[float, float]:
        """What was spent and what was expected for the same, where that can be told."""
        if not self.cost:
            return 0.0, 0.0
        if self.is_over:
            return (self.spent, self.cost) if self.spent else (0.0, 0.0)
        if self.share:
            return self.spent, self.cost * self.share
        return (self.spent, self.cost) if self.spent > self.cost else (0.0, 0.0)


class Timetable:
    """The stages of a job, where it is, and what each step takes.

    Time is spent on the innermost step that has a cost of its own, else on the rest of the stage. A
    machine that is slower than the one the costs were measured on shows in the pace: the seconds
    spent over the seconds expected for the same work.
    """

    def __init__(self, stages: Sequence[str]) -> None:
        self.stages = tuple(map(str, stages))
        self.place = 0
        self._pieces: dict[str, dict[str, _Piece]] = {}

    @property
    def title(self) -> str:
        """The stage the job is at."""
        return self.stages[self.place]

    def expect(self, costs: Costs) -> None:
        """Take expected seconds for the stages that have none yet and are not over."""
        for stage in self.stages[self.place :]:
            if stage in costs and stage not in self._pieces:
                self._pieces[stage] = {"": _Piece(0.0)} | {
                    step: _Piece(cost) for step, cost in costs[stage].items()
                }

    def expect_step(self, step: str, seconds: float) -> None:
        """Take expected seconds for a step of this stage of which nothing was expected."""
        piece = self._pieces.get(self.title, {}).get(step)
        if piece is not None and not piece.cost:
            piece.cost = seconds

    def enter(self, stage: str) -> bool:
        """Go on to a later stage; False where it is none."""
        if stage not in self.stages[self.place + 1 :]:
            return False
        for piece in self._pieces.get(self.title, {}).values():
            piece.is_over = True
        self.place = self.stages.index(stage)
        return True

    def advance(self, step: str, share: float) -> None:
        """Say which share of a step is done."""
        piece = self._pieces.get(self.title, {}).get(step)
        if piece is not None and not piece.is_over:
            piece.share = share

    def finish(self, step: str) -> None:
        """End a step."""
        piece = self._pieces.get(self.title, {}).get(step)
        if piece is not None:
            piece.is_over = True

    def spend(self, seconds: float, steps: Sequence[str]) -> None:
        """Count time towards what is being done: the open steps, from the outermost in."""
        pieces = self._pieces.get(self.title)
        if pieces is not None:
            named = (pieces[step] for step in reversed(steps) if step in pieces)
            # A step that is over may come again within another, which then takes the time.
            going_on = (piece for piece in named if not piece.is_over)
            next(going_on, pieces[""]).spent += seconds

    @property
    def pace(self) -> float:
        """The time spent over that expected, near one as long as little was measured."""
        pieces = [one.evidence for steps in self._pieces.values() for one in steps.values()]
        spent = sum(seconds for seconds, _ in pieces)
        return (spent + _TRUST) / (sum(expected for _, expected in pieces) + _TRUST)

    def left(self) -> float | None:
        """Return the seconds left; None where a stage to come has no cost."""
        ahead = self.stages[self.place :]
        if not all(stage in self._pieces for stage in ahead):
            return None
        pace = self.pace
        return sum(one.left(pace) for stage in ahead for one in self._pieces[stage].values())

    def fraction(self) -> float | None:
        """Return the share of this stage that is done; None where it has no cost."""
        pieces = self._pieces.get(self.title)
        if pieces is None:
            return None
        spent, pace = sum(one.spent for one in pieces.values()), self.pace
        left = sum(one.left(pace) for one in pieces.values())
        return spent / (spent + left) if spent else 0.0
