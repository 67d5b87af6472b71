"""What events amount to: labels, classes and marks; `replay` says how, slowly and in full.

Events that were taken back or returned from are left out, and so everything that rested on them is
as if they had never been. `Chronicle` keeps the same state from event to event.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from beltrami.core.types import FloatVector
from beltrami.project.record.audit_events import RiskSet
from beltrami.project.record.audits import Audits, audits_of
from beltrami.project.record.events import (
    Body,
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

AREA_WEIGHT = 0.25
"""What a label counts that was given to a whole area, beside one of a row that was looked at."""


@dataclass(frozen=True, slots=True)
class Given:
    """The label of a row, and where it comes from.

    Attributes
    ----------
    label : str
        The class, as it is called now.
    user, how, at : str
        Who gave it, by what means, and when.
    number : int
        By which event.
    """

    label: str
    user: str
    how: str
    at: str
    number: int


@dataclass(frozen=True, slots=True)
class ClassSlot:
    """A class at its place for life; gone where nothing is called so any more."""

    name: str
    gone: bool = False


@dataclass(slots=True)
class State:
    """What holds after some events.

    Attributes
    ----------
    labels : dict of int to Given
        By row.
    classes : list of ClassSlot
        In the order in which they appeared; the places never change.
    unsure : set of int
        Rows of which somebody said that nobody can tell.
    skipped : dict of str to set of int
        Rows that each person passed over.
    kept : dict of (str, str) to set of int
        By what a doubt is about and what stood there: the rows of which somebody said that it
        stays; none where it is about names of classes.
    options : dict or None
        How the table is to be read, as JSON.
    risk : float or None
        Largest share of wrong ones that may be expected among accepted labels; None accepts all.
    audits : Audits
        Rounds of blind checks, and what came back.
    number : int
        Of the last event.
    """

    labels: dict[int, Given] = field(default_factory=dict)
    classes: list[ClassSlot] = field(default_factory=list)
    unsure: set[int] = field(default_factory=set)
    skipped: dict[str, set[int]] = field(default_factory=dict)
    kept: dict[tuple[str, str], set[int]] = field(default_factory=dict)
    options: dict[str, Any] | None = None
    risk: float | None = None
    audits: Audits = field(default_factory=Audits)
    number: int = 0

    @property
    def class_names(self) -> list[str]:
        """The classes that are not gone."""
        return [one.name for one in self.classes if not one.gone]

    def copy(self) -> "State":
        """Return the same, which does not change when this one does."""
        return replace(
            self,
            labels=dict(self.labels),
            classes=list(self.classes),
            unsure=set(self.unsure),
            skipped={user: set(rows) for user, rows in self.skipped.items()},
            kept={doubt: set(rows) for doubt, rows in self.kept.items()},
        )

    def weights(self, n_rows: int) -> FloatVector | None:
        """Return how much each row's label counts; None where all count the same."""
        weights = {row: weight_of(given.how) for row, given in self.labels.items()}
        if all(weight == 1 for weight in weights.values()):
            return None
        counts = np.ones(n_rows)
        counts[list(weights)] = list(weights.values())
        return counts


def weight_of(how: str) -> float:
    """Return what a label counts that was given in some way."""
    return AREA_WEIGHT if how == "area" else 1.0


class ClassNames:
    """What is called what, while one goes through events in order; slots outlive the way.

    A class is known by its first name and by how many were first called so before it. Its slot is
    the order in which it first appeared on any way that was ever gone.
    """

    def __init__(self, slots: dict[tuple[str, int], int]) -> None:
        self._slots = slots
        self._live: dict[str, int] = {}
        self._merged: dict[str, int] = {}
        self._removed: dict[str, int] = {}
        self._called: dict[int, str] = {}
        self._n_called: Counter[str] = Counter()

    def __contains__(self, name: object) -> bool:
        return name in self._live

    def hear(self, body: Body) -> bool:
        """Let an event change what is called what, and say whether it may have."""
        match body:
            case Labelled():
                return sum(map(self.add, new_names(body))) > 0
            case ClassAdded(name=name):
                return self.add(name)
            case ClassRemoved(name=name):
                self.remove(name)
                return True
            case Renamed(name=name, to=to):
                self.rename(name, to)
                return True
            case _:
                return False

    def copy(self) -> "ClassNames":
        """Return the same, to go on from here another time; slots are shared."""
        twin = ClassNames(self._slots)
        twin._live, twin._merged = dict(self._live), dict(self._merged)
        twin._removed, twin._called = dict(self._removed), dict(self._called)
        twin._n_called = self._n_called.copy()
        return twin

    def add(self, name: str) -> bool:
        """Let there be a class of that name, and say whether there was none."""
        if name in self._live:
            return False
        slot = self._removed.pop(name, None)
        if slot is None:
            slot = self._merged.pop(name, None)
        if slot is None:
            key = name, self._n_called[name]
            self._n_called[name] += 1
            slot = self._slots.setdefault(key, len(self._slots))
        self._live[name], self._called[slot] = slot, name
        return True

    def rename(self, name: str, to: str) -> None:
        """Give a class another name, or make it one with the class of that name."""
        slot = self._live.pop(name, None)
        if slot is None:
            slot = self._removed.pop(name, None)
        if slot is None:
            return
        if to in self._live:
            self._merged[name] = slot
        else:
            self._live[to], self._called[slot] = slot, to

    def remove(self, name: str) -> None:
        """Let a class be gone until something is called so again."""
        slot = self._live.pop(name, None)
        if slot is not None:
            self._removed[name] = slot

    @property
    def has_removed(self) -> bool:
        """Whether any class was removed, and nothing was called so since."""
        return bool(self._removed)

    def listed(self, labels: Iterable[Given]) -> list[ClassSlot]:
        """Return all classes, each at its slot.

        - `labels`: of rows as they are now; who takes one back may bring a removed class to light.
        """
        live = set(self._live.values())
        if self._removed:
            carried = {given.label for given in labels} - self._live.keys()
            live |= {slot for name, slot in self._removed.items() if name in carried}
        return [
            ClassSlot(self._called.get(slot, first), slot not in live)
            for (first, _), slot in self._slots.items()
        ]


def replay(events: Sequence[Event]) -> State:
    """Return what events amount to: the specification of `Chronicle`.

    The way is gone again before and after each event that takes one back or returns, for classes
    keep the slots that they had then.
    """
    slots: dict[tuple[str, int], int] = {}
    turns = [
        place for place, event in enumerate(events) if isinstance(event.body, TakenBack | Returned)
    ]
    state = State()
    for end in [*(end for turn in turns for end in (turn, turn + 1)), len(events)]:
        state = _walk(events[:end], slots)
    state.audits = audits_of(events)
    return state


def _walk(events: Sequence[Event], slots: dict[tuple[str, int], int]) -> State:
    """Go through the events that stand."""
    names, state = ClassNames(slots), State(number=len(events))
    for event in standing(events):
        names.hear(event.body)
        match event.body:
            case Labelled() as body:
                _label(state, event, body)
            case Marked(rows=rows, mark="skip"):
                state.skipped.setdefault(event.user, set()).update(rows)
            case Marked(rows=rows):
                state.unsure.update(rows)
            case Kept() as body:
                keep(state, body)
            case Renamed(name=name, to=to):
                for row, given in state.labels.items():
                    if given.label == name:
                        state.labels[row] = replace(given, label=to)
            case RolesChanged(options=options):
                state.options = options
            case RiskSet(risk=risk):
                state.risk = risk
    state.skipped = {user: rows for user, rows in state.skipped.items() if rows}
    state.classes = names.listed(state.labels.values())
    return state


def _label(state: State, event: Event, body: Labelled) -> None:
    for row, label in body.pairs():
        state.labels.pop(row, None)
        if label is not None:
            state.labels[row] = Given(label, event.user, body.how, event.at, event.number)
        for marked in (state.unsure, *state.skipped.values()):
            marked.discard(row)


def keep(state: State, body: Kept) -> None:
    """Let a state remember that a doubt was looked at."""
    state.kept.setdefault((body.about, body.value), set()).update(body.rows)


def new_names(body: Labelled) -> list[str]:
    """Return the classes that a body names: in the order of their numbers or letters."""
    return sorted({name for name in body.labels if name is not None}, key=_rank)


def _rank(name: str) -> tuple[bool, int, str]:
    return not name.isdecimal(), int(name) if name.isdecimal() else 0, name
