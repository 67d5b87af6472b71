"""The events of a project and the state they amount to, kept up from event to event.

`replay` in `state.py` is the slow twin. An event changes the rows that it names; where one is taken
back, these rows are looked for in the events again, and all rows where classes rested on it or
people return to an earlier moment.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from beltrami.core.errors import InvalidInputError
from beltrami.project.record.audit_events import AuditAnswered, AuditDrawn, RiskSet
from beltrami.project.record.audits import audits_of, names_returned
from beltrami.project.record.events import (
    UNDOABLE,
    ClassAdded,
    ClassRemoved,
    Event,
    Kept,
    Labelled,
    Marked,
    Renamed,
    Returned,
    RolesChanged,
    TakenBack,
)
from beltrami.project.record.standing import standing
from beltrami.project.record.state import ClassNames, Given, State, keep, new_names

_OF_CLASSES = (ClassAdded, ClassRemoved, Renamed)
"""Events that are about classes alone."""


class Chronicle:
    """Events in order, and what holds after them.

    Attributes
    ----------
    state : State
        What holds now; changed in place by `apply`.
    events : list of Event
        All of them; ``events[number - 1]`` is that of a number.
    """

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self.state = State()
        self.events: list[Event] = []
        self._stands: set[int] = set()
        self._own: dict[str, list[int]] = {}
        self._slots: dict[tuple[str, int], int] = {}
        self._names = ClassNames(self._slots)
        self._founders: set[int] = set()
        self._n_renames = 0
        self._moments: dict[int, _Moment] = {}
        listed = list(events)
        targets = {one.body.event for one in listed if isinstance(one.body, Returned)}
        for event in listed:
            self._note(event)
            if event.number in targets:
                self._moments[event.number] = self._moment()
        self._moments = {}
        self._go_back()
        self._keep_again()
        self.state.number = len(self.events)
        self._list_classes()

    def apply(self, event: Event) -> None:
        """Take in the next event."""
        has_other_classes = self._note(event)
        if not isinstance(event.body, TakenBack | Returned):
            self._touch(event)
        elif isinstance(event.body, Returned):
            self._go_back()
            self._keep_again()
        elif has_other_classes:
            self._go_back()
        elif isinstance((target := self.events[event.body.event - 1]).body, Kept):
            self._keep_again()
        else:
            self._go_back(set(target.rows))
        self.state.number = event.number
        if has_other_classes or self._names.has_removed:
            self._list_classes()

    def last_of(self, user: str) -> Event | None:
        """Return the event that a person would take back next."""
        numbers = self._own.get(user)
        return self.events[numbers[-1] - 1] if numbers else None

    def is_standing(self, event: Event) -> bool:
        """Say whether an event stands, and neither takes one back nor returns."""
        if isinstance(event.body, UNDOABLE):
            return event.number in self._stands
        return not isinstance(event.body, TakenBack | Returned)

    def _note(self, event: Event) -> bool:
        """Write down an event and what it does to classes; say whether these may differ now."""
        if event.number != len(self.events) + 1:
            raise InvalidInputError(
                f"event {event.number} follows event {len(self.events)}; one is missing or doubled."
            )
        if isinstance(event.body, TakenBack):
            target = self._require_own(event, event.body.event)
            self.events.append(event)
            self._stands.remove(target.number)
            self._own[target.user].remove(target.number)
            if target.number in self._founders or isinstance(target.body, _OF_CLASSES):
                self._name_again()
                if isinstance(target.body, Renamed):
                    self.state.audits = audits_of(self.events)
                return True
            return False
        if isinstance(event.body, Returned):
            self._return(event, event.body.event)
            return True
        self.events.append(event)
        self._keep(event)
        if isinstance(event.body, UNDOABLE):
            self._stands.add(event.number)
            self._own.setdefault(event.user, []).append(event.number)
        return self._name(event)

    def _return(self, event: Event, number: int) -> None:
        """Let that stand which stood after an earlier event."""
        if number >= event.number:
            raise InvalidInputError(
                f"event {event.number} returns to event {number}, which does not come before it."
            )
        self.events.append(event)
        moment = self._moments.get(number)
        if moment is None:
            self._stands = {one.number for one in standing(self.events[:number])}
            self._own = {}
            for one in self.events[:number]:
                if isinstance(one.body, UNDOABLE) and one.number in self._stands:
                    self._own.setdefault(one.user, []).append(one.number)
            self._name_again()
        else:
            self._stands, self._founders = set(moment.stands), set(moment.founders)
            self._own = {user: list(numbers) for user, numbers in moment.own.items()}
            self._names = moment.names.copy()
        if self._n_renames and names_returned(self.events):
            self.state.audits = audits_of(self.events)

    def _moment(self) -> "_Moment":
        """Return what a return to now has to know."""
        own = {user: list(numbers) for user, numbers in self._own.items()}
        return _Moment(set(self._stands), own, self._names.copy(), set(self._founders))

    def _keep(self, event: Event) -> None:
        """Let an event change what is not about single rows."""
        state = self.state
        match event.body:
            case RolesChanged(options=options):
                state.options = options
            case RiskSet(risk=risk):
                state.risk = risk
            case AuditDrawn() | AuditAnswered() as body:
                state.audits = state.audits.after(body)
            case Renamed(name=name, to=to):
                self._n_renames += 1
                state.audits = state.audits.renamed(name, to)
            case _:
                pass

    def _require_own(self, event: Event, number: int) -> Event:
        numbers = self._own.get(event.user, ())
        if number not in numbers:
            raise InvalidInputError(
                f"event {event.number} takes back event {number}, which is none that "
                f"{event.user!r} could take back."
            )
        return self.events[number - 1]

    def _name(self, event: Event) -> bool:
        """Let classes appear, go and be renamed; say whether any may have."""
        has_changed = self._names.hear(event.body)
        if has_changed and isinstance(event.body, Labelled | ClassAdded):
            self._founders.add(event.number)
        return has_changed

    def _list_classes(self) -> None:
        self.state.classes = self._names.listed(self.state.labels.values())

    def _name_again(self) -> None:
        """Go through all that stands once more, for the classes alone."""
        self._names = ClassNames(self._slots)
        self._founders = set()
        for event in filter(self.is_standing, self.events):
            self._name(event)

    def _go_back(self, rows: set[int] | None = None) -> None:
        """Work out some rows, or all, from the last event to the first.

        What a row was called last is its label, by the names that classes have now: those of later
        renames. Marks before that are over.
        """
        state, seen = self.state, _Seen(rows)
        if rows is None:
            state.labels, state.unsure, state.skipped = {}, set(), {}
        else:
            self._forget(rows)
        name_now: dict[str, str] = {}
        for event in reversed(self.events):
            if not self.is_standing(event):
                continue
            match event.body:
                case Renamed(name=name, to=to):
                    name_now[name] = name_now.get(to, to)
                case Labelled() as body if hit := seen.unsettled(body.rows):
                    self._label(event, body, hit, name_now)
                    seen.settle(hit)
                case Marked(rows=marked, mark=mark):
                    self._mark(event.user, seen.unsettled(marked), mark)
                case _:
                    pass
            if not seen.is_open:
                break

    def _keep_again(self) -> None:
        """Work out what was kept from all that stands."""
        self.state.kept = {}
        for event in filter(self.is_standing, self.events):
            if isinstance(event.body, Kept):
                keep(self.state, event.body)

    def _forget(self, rows: Iterable[int]) -> None:
        for row in rows:
            self.state.labels.pop(row, None)
        self._unmark(rows)

    def _unmark(self, rows: Iterable[int]) -> None:
        state = self.state
        if state.unsure:
            state.unsure.difference_update(rows)
        for user in list(state.skipped):
            state.skipped[user].difference_update(rows)
            if not state.skipped[user]:
                del state.skipped[user]

    def _touch(self, event: Event) -> None:
        """Let an event change the rows that it names."""
        match event.body:
            case Labelled(rows=rows) as body:
                self._forget(rows)
                self._label(event, body, None, {})
            case Marked(rows=rows, mark=mark):
                self._mark(event.user, rows, mark)
            case Kept() as body:
                keep(self.state, body)
            case Renamed(name=name, to=to):
                self._rename(name, to)
            case _:
                pass

    def _label(
        self, event: Event, body: Labelled, only: set[int] | None, name_now: dict[str, str]
    ) -> None:
        """Label rows that have no label: all that a body names, or some of them."""
        given = {
            name: Given(name_now.get(name, name), event.user, body.how, event.at, event.number)
            for name in new_names(body)
        }
        labels = self.state.labels
        for row, name in body.pairs():
            if name is not None and (only is None or row in only):
                labels[row] = given[name]

    def _mark(self, user: str, rows: Collection[int], mark: str) -> None:
        if mark == "unsure":
            self.state.unsure.update(rows)
        elif rows:
            self.state.skipped.setdefault(user, set()).update(rows)

    def _rename(self, name: str, to: str) -> None:
        labels = self.state.labels
        renamed: dict[int, Given] = {}  # many rows share one record
        for row, given in labels.items():
            if given.label == name:
                if given.number not in renamed:
                    renamed[given.number] = replace(given, label=to)
                labels[row] = renamed[given.number]


@dataclass(frozen=True, slots=True, eq=False)
class _Moment:
    """What stood after an event, what each person could take back, and what was called what."""

    stands: set[int]
    own: dict[str, list[int]]
    names: ClassNames
    founders: set[int]


class _Seen:
    """Which rows are settled, on the way back through events."""

    def __init__(self, rows: set[int] | None) -> None:
        self._open = None if rows is None else set(rows)
        self._settled: set[int] = set()

    @property
    def is_open(self) -> bool:
        """Whether any row may still be settled."""
        return self._open is None or bool(self._open)

    def unsettled(self, rows: Collection[int]) -> set[int]:
        """Return the rows among some that are looked for and not settled yet."""
        if self._open is None:
            return set(rows).difference(self._settled)
        return self._open.intersection(rows)

    def settle(self, rows: set[int]) -> None:
        """Look for these no more."""
        self._settled |= rows
        if self._open is not None:
            self._open -= rows
