"""The audits of a project: events enter, the trail of rounds that they amount to leaves.

A round comes back whole: as long as one of its rows has no answer, none counts. Where a class is
renamed or merged, or that is taken back, what was answered means something else for rows that
nobody looked at: no earlier round is about the labels of now. Where people return from a rename or
to one, answers by its names count as blank, too.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from beltrami.core.errors import InvalidInputError
from beltrami.project.record.audit_events import AuditAnswered, AuditDrawn
from beltrami.project.record.events import Event, Renamed, Returned, TakenBack
from beltrami.project.record.standing import standing
from beltrami.review.trail import Round, Trail
from beltrami.tables.model import few_of


@dataclass(frozen=True, slots=True)
class Audits:
    """Rounds of audits, and what came back; a step returns a new record.

    Attributes
    ----------
    trail : Trail
        All rounds. Rows are positions; one that is gone from the data has a number beyond them.
    answers : mapping of int to str or None
        Answers so far in the open round, which the trail does not know of yet.
    """

    trail: Trail = field(default_factory=Trail)
    answers: Mapping[int, str | None] = field(default_factory=dict)

    @property
    def open_rows(self) -> tuple[int, ...]:
        """All rows of the open round."""
        one = self.trail.open_round
        return () if one is None else one.rows

    @property
    def left(self) -> tuple[int, ...]:
        """The rows of the open round that have no answer yet."""
        return tuple(row for row in self.open_rows if row not in self.answers)

    def names(self, name: str) -> bool:
        """Say whether a row was answered by a class."""
        rounds = (one.answers or () for one in self.trail.rounds)
        return name in self.answers.values() or any(name in answers for answers in rounds)

    def draw(
        self, accepted: Mapping[int, str], risk: float | None, seed: int, input_number: int
    ) -> AuditDrawn:
        """Return a further round; an open one must be answered unless labels have changed."""
        if self.trail.continues(accepted) and any(row in accepted for row in self.left):
            raise InvalidInputError(
                f"{len(self.left)} of {len(self.open_rows)} rows of the open round have no answer "
                "yet. Answer them first: a round that could be left when it looks bad would prove "
                "nothing."
            )
        ordered = {row: accepted[row] for row in sorted(accepted)}
        one = self._closed.draw(ordered, random_state=seed).rounds[-1]
        return AuditDrawn(
            one.pool, one.n_pool, one.rows, one.said, one.rest, risk, seed, input_number
        )

    def answer(
        self, row: int, answer: str | None, classes: Sequence[str], input_number: int
    ) -> AuditAnswered:
        """Return the answer for a row of the open round, which must be a class or None."""
        body = AuditAnswered(len(self.trail.rounds) or 1, row, answer, input_number)
        self._require_open(body)
        if answer is not None and answer not in classes:
            raise InvalidInputError(
                f"there is no class {answer!r}; there are {few_of(list(classes))}. Add the class "
                "first if it is one, for an answer that is misspelt would count as a wrong label."
            )
        return body

    def after(self, body: AuditDrawn | AuditAnswered) -> "Audits":
        """Return what holds after an event."""
        if isinstance(body, AuditDrawn):
            return Audits(Trail((*self._closed.rounds, body.round)))
        self._require_open(body)
        told = replace(self, answers={**self.answers, body.row: body.answer})
        return told if told.left else Audits(told._closed)

    def renamed(self, name: str, to: str) -> "Audits":
        """Return the same by the new name of a class."""

        def called(one: str | None) -> str | None:
            return to if one == name else one

        answers = {row: called(one) for row, one in self.answers.items()}
        told = self._each(lambda one: _called_anew(one, called)).outdated()
        return replace(told, answers=answers)

    def outdated(self) -> "Audits":
        """Return the same with no round about the labels of now."""
        return self._each(lambda one: replace(one, rest=""))

    def without(self, names: set[str]) -> "Audits":
        """Return the same with no round about the labels of now, and blanks for some names."""

        def known(one: str | None) -> str | None:
            return None if one in names else one

        def blank(one: Round) -> Round:
            given = None if one.answers is None else tuple(map(known, one.answers))
            return replace(one, answers=given)

        answers = {row: known(one) for row, one in self.answers.items()}
        return replace(self._each(blank).outdated(), answers=answers)

    def _each(self, change: Callable[[Round], Round]) -> "Audits":
        return replace(self, trail=Trail(tuple(map(change, self.trail.rounds))))

    @property
    def _closed(self) -> Trail:
        """The trail with the answers of the open round in it; rows without one are blank."""
        if self.trail.open_round is None:
            return self.trail
        return self.trail.answer([self.answers.get(row) for row in self.open_rows])

    def _require_open(self, body: AuditAnswered) -> None:
        if self.trail.open_round is None or body.round != len(self.trail.rounds):
            raise InvalidInputError("no round of an audit waits for this answer.")
        if body.row not in self.open_rows:
            raise InvalidInputError(f"row {body.row:,} was not drawn in this round.")
        if body.row in self.answers:
            raise InvalidInputError(
                f"row {body.row:,} has its answer already, and answers of an audit do not change."
            )


def audits_of(events: Sequence[Event]) -> Audits:
    """Return what events amount to: the specification of what `Chronicle` keeps."""
    stands = {event.number for event in standing(events)}
    audits = Audits()
    for event in events:
        match event.body:
            case AuditDrawn() | AuditAnswered() as body:
                audits = audits.after(body)
            case Renamed(name=name, to=to):
                does_stand = event.number in stands
                audits = audits.renamed(name, to) if does_stand else audits.outdated()
            case TakenBack(event=number):
                target = events[number - 1].body
                if isinstance(target, Renamed):  # who said "b" meant what was one with it then
                    audits = audits.without({target.name, target.to})
            case Returned():
                names = names_returned(events[: event.number])
                audits = audits.without(names) if names else audits
            case _:
                pass
    return audits


def names_returned(events: Sequence[Event]) -> set[str]:
    """Return the names in renames that fell, or stand again, by the last of some events."""
    before, after = (set(_standing_renames(some)) for some in (events[:-1], events))
    return {name for _, old, new in before ^ after for name in (old, new)}


def _standing_renames(events: Sequence[Event]) -> Iterator[tuple[int, str, str]]:
    for event in standing(events):
        if isinstance(event.body, Renamed):
            yield event.number, event.body.name, event.body.to


def follow_rows(
    body: AuditDrawn | AuditAnswered,
    moved: NDArray[np.int64],
    keys: NDArray[np.int64],
    n_rows: int,
) -> AuditDrawn | AuditAnswered:
    """Return an event with its rows as positions of now; rows that are gone stay, beyond them.

    - `moved`, `keys`: of each row of the event's input, its position now, -1 for none, and key.
    - `n_rows`: of the present data.
    """

    def follow(row: int) -> int:
        return int(moved[row]) if moved[row] >= 0 else n_rows + int(keys[row])

    if isinstance(body, AuditAnswered):
        return replace(body, row=follow(body.row))
    return replace(body, rows=tuple(map(follow, body.rows)))


def _called_anew(one: Round, called: Callable[[str | None], str | None]) -> Round:
    answers = None if one.answers is None else tuple(map(called, one.answers))
    return replace(one, said=tuple(map(called, one.said)), answers=answers)
