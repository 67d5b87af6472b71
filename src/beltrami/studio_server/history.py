"""What happened in a project, told: events and measures enter, sentences and a curve leave.

Of an open round of an audit nothing is told but how many cards were drawn and answered.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from beltrami.labelling.showing.contents import RowContents
from beltrami.project import Project
from beltrami.project.record.audit_events import AuditAnswered, AuditDrawn
from beltrami.project.record.audits import audits_of
from beltrami.project.record.chronicle import Chronicle
from beltrami.project.record.events import FILE, Event, Labelled, TakenBack
from beltrami.project.record.measures import Measure
from beltrami.project.record.standing import fallen_after, fallen_numbers, way_numbers
from beltrami.project.record.state import State
from beltrami.studio_server.event_words import say_event, say_why

_PREVIEW_LENGTH = 90
_MOST_POINTS = 500
_MOST_FALLS = 5
_LEAST_FALL = 0.005
"""A share by which held-out accuracy must fall before it is called so."""


@dataclass(frozen=True, slots=True)
class Fall:
    """Held-out accuracy that fell between two measures, and what happened between them."""

    before: Measure
    after: Measure
    words: str


@dataclass(frozen=True, slots=True)
class Proved:
    """What a round of an audit proved when its last answer came, of the labels it was drawn from.

    Attributes
    ----------
    event : int
        Of the last answer.
    round, n_checked, n_wrong, n_blank, n_pool : int
        Which round, the answers of its pool so far, and the labels that they were drawn from.
    lower, confidence : float
        At least this share of these was right, at this confidence.
    """

    event: int
    round: int
    n_checked: int
    n_wrong: int
    n_blank: int
    n_pool: int
    lower: float
    confidence: float


class History:
    """The past of a project.

    Parameters
    ----------
    project : Project
        Open; read under its lock.
    """

    def __init__(self, project: Project) -> None:
        self._project = project
        self._reasons: dict[tuple[int, int], str] = {}
        self._proofs: dict[int, Proved | None] = {}

    @property
    def events(self) -> list[Event]:
        """All events so far, in a list that does not grow."""
        with self._project.lock:
            return list(self._project.events)

    def people(self) -> list[str]:
        """Return who has done something, in the order of their first events."""
        users = dict.fromkeys(event.user for event in self.events)
        return [user for user in users if user != FILE]

    def listed(
        self, start: int, count: int, user: str | None, contents: RowContents
    ) -> tuple[list[dict[str, Any]], int]:
        """Return some events, the newest first, and how many there are of this person."""
        events = self.events
        chosen = [one for one in reversed(events) if user in (None, one.user)]
        page = chosen[start : start + count]
        rows = [row for one in page if (row := self._shown_row(one)) is not None]
        previews = dict(zip(rows, contents.previews(rows, _PREVIEW_LENGTH), strict=True))
        rounds = _rounds_of(events)
        fates = _fates_of(events)
        told = [self._tell(one, previews, rounds) | {"fate": fates.get(one.number)} for one in page]
        return told, len(chosen)

    def moment(self, number: int) -> dict[str, Any]:
        """Return what held after an event, and what a return to it would change."""
        events, then = self.events, self._project.state_at(number)
        now = self._project.snapshot()
        event = events[number - 1]
        counts: dict[str, int] = {}
        for given in then.labels.values():
            counts[given.label] = counts.get(given.label, 0) + 1
        return {
            "event": number,
            "last": len(events),
            "at": event.at,
            "given": len(then.labels),
            "unsure": len(then.unsure),
            "classes": [
                {"name": one.name, "gone": one.gone, "given": counts.get(one.name, 0)}
                for one in then.classes
            ],
            "same": fallen_numbers(events) == fallen_after(events, number),
            "changes": _count_changes(then, now),
        }

    def curve(self) -> list[tuple[Measure, bool]]:
        """Return measures, and whether each lies on the way that led to now."""
        events = self.events
        way = way_numbers(events)
        known = [one for one in self._project.measures.all() if one.event <= len(events)]
        return _thinned([(one, one.event in way) for one in known])

    def proofs(self) -> list[Proved]:
        """Return what complete rounds proved, each when its last answer came."""
        events = self.events
        state = self._project.state.audits
        ends: dict[int, int] = {}
        for one in events:
            if isinstance(one.body, AuditAnswered):
                ends[one.body.round] = one.number
        rounds = state.trail.rounds
        found = (
            self._proof(events, number)
            for place, number in ends.items()
            if place <= len(rounds) and rounds[place - 1].answers is not None
        )
        return [one for one in found if one is not None]

    def falls(self) -> list[Fall]:
        """Return the last few times that held-out accuracy fell on the way to now, and why."""
        judged = [one for one, is_way in self.curve() if is_way and one.is_judged]
        pairs = [
            (before, after)
            for before, after in pairwise(judged)
            if (before.accuracy or 0) - (after.accuracy or 0) >= _LEAST_FALL
        ]
        last = pairs[-_MOST_FALLS:]
        self._find_reasons([one for one in last if _key(*one) not in self._reasons])
        return [Fall(*pair, self._reasons[_key(*pair)]) for pair in last]

    def _find_reasons(self, pairs: list[tuple[Measure, Measure]]) -> None:
        """Say why each of some numbers fell, which follow one another; once through the events."""
        if not pairs:
            return
        events = self.events
        told = Chronicle(events[: pairs[0][0].event])
        for before, after in pairs:
            _advance(told, events[: before.event])
            then = told.state.copy()
            _advance(told, events[: after.event])
            between = events[before.event : after.event]
            words = say_why(before, after, then, told.state, between)
            self._reasons[_key(before, after)] = words

    def _proof(self, events: Sequence[Event], number: int) -> Proved | None:
        """Return what was proved when an answer came; None where it did not end its round."""
        if number not in self._proofs:
            trail = audits_of(events[:number]).trail
            is_whole = trail.open_round is None and trail.rounds[-1].rest != ""
            self._proofs[number] = None
            if is_whole:
                one = trail.pool_certificate()
                self._proofs[number] = Proved(
                    number,
                    len(trail.rounds),
                    one.n_checked,
                    one.n_wrong,
                    one.n_blank,
                    one.n_accepted or 0,
                    one.lower,
                    one.confidence,
                )
        return self._proofs[number]

    def _shown_row(self, event: Event) -> int | None:
        """Return the one row that an event is about, if it may be shown."""
        n_rows, body = self._project.n_rows, event.body
        row = event.rows[0] if len(event.rows) == 1 else None
        if isinstance(body, AuditAnswered) and self._is_over(body.round):
            row = body.row
        return row if row is not None and row < n_rows else None

    def _is_over(self, place: int) -> bool:
        rounds = self._project.state.audits.trail.rounds
        return place <= len(rounds) and rounds[place - 1].answers is not None

    def _tell(
        self, event: Event, previews: dict[int, str], rounds: dict[int, int]
    ) -> dict[str, Any]:
        row = self._shown_row(event)
        name = None if row is None else str(self._project.data.ids[row])
        body = event.body
        words = say_event(event, name, rounds.get(event.number, 0))
        if isinstance(body, AuditAnswered) and not self._is_over(body.round):
            words = "answered a row of the open round"
        return {
            "number": event.number,
            "at": event.at,
            "user": event.user,
            "kind": event.kind,
            "how": body.how if isinstance(body, Labelled) else None,
            "words": words,
            "row": row,
            "content": None if row is None else previews[row],
        }


def _key(before: Measure, after: Measure) -> tuple[int, int]:
    return before.event, after.event


def _advance(told: Chronicle, events: list[Event]) -> None:
    for one in events[len(told.events) :]:
        told.apply(one)


def _count_changes(then: State, now: State) -> dict[str, int]:
    """Return how many rows would have a label again, none any more, and another one."""
    both = then.labels.keys() & now.labels.keys()
    return {
        "back": len(then.labels) - len(both),
        "gone": len(now.labels) - len(both),
        "other": sum(then.labels[row].label != now.labels[row].label for row in both),
    }


def _rounds_of(events: Iterable[Event]) -> dict[int, int]:
    """Return which round each draw begins."""
    draws = [one.number for one in events if isinstance(one.body, AuditDrawn)]
    return {number: place for place, number in enumerate(draws, 1)}


def _fates_of(events: Sequence[Event]) -> dict[int, str]:
    """Return what became of events that do not stand."""
    taken = {one.body.event for one in events if isinstance(one.body, TakenBack)}
    return {
        number: "taken back" if number in taken else "returned from"
        for number in fallen_numbers(events)
    }


def _thinned(points: list[tuple[Measure, bool]]) -> list[tuple[Measure, bool]]:
    """Return at most some of the points; those that were judged before those that were not."""
    judged = [one for one in points if one[0].is_judged]
    others = [one for one in points if not one[0].is_judged]
    judged = _every(judged, _MOST_POINTS)
    others = _every(others, _MOST_POINTS - len(judged))
    return sorted([*judged, *others], key=lambda one: one[0].event)


def _every(points: list[tuple[Measure, bool]], most: int) -> list[tuple[Measure, bool]]:
    """Return so many of the points, evenly, the last among them."""
    if most <= 0:
        return []
    step = -(-len(points) // most) or 1
    return points[::-1][::step][::-1]
