"""What happened, in words: an event enters, what follows the name of who did it leaves."""

from collections.abc import Iterable

from beltrami.project.record.audit_events import AuditAnswered, AuditDrawn, RiskSet
from beltrami.project.record.events import (
    FILE,
    ClassAdded,
    ClassRemoved,
    Event,
    InputSeen,
    Kept,
    Labelled,
    Marked,
    Renamed,
    Returned,
    RolesChanged,
    TakenBack,
)
from beltrami.project.record.measures import Measure
from beltrami.project.record.state import State
from beltrami.tables.model import few_of


def say_event(event: Event, name: str | None, round_place: int) -> str:
    """Return what happened, as what follows the name of who did it.

    - `name`: of the row, where it is about a single one that is there.
    - `round_place`: which round of an audit it begins.
    """
    body = event.body
    if isinstance(body, Labelled | Marked | Kept):
        return _say_rows(body, _named(name, len(body.rows)))
    if isinstance(body, AuditDrawn | AuditAnswered | RiskSet):
        return _say_audit(body, name, round_place)
    match body:
        case ClassAdded(name=added):
            words = f"added the class “{added}”"
        case ClassRemoved(name=removed):
            words = f"removed the class “{removed}”, which no row had"
        case Renamed(name=old, to=new):
            words = f"gave “{old}” the name “{new}”"
        case TakenBack(event=number):
            words = f"took back event {number:,}"
        case Returned(event=number):
            words = f"returned to the moment after event {number:,}"
        case RolesChanged():
            words = "said how the table is to be read"
        case InputSeen(input=number):
            words = "opened the data" + (f", version {number}" if number > 1 else "")
    return words


def _say_rows(body: Labelled | Marked | Kept, what: str) -> str:
    match body:
        case Labelled():
            return _say_labelled(body, what)
        case Marked(mark="skip"):
            return f"passed over {what}"
        case Marked():
            return f"said of {what} that nobody can tell"
        case Kept(rows=rows, value=value):
            where = f" of {what}" if rows else ""
            return f"looked at a doubt{where} and kept “{value}”"


def _say_audit(
    body: AuditDrawn | AuditAnswered | RiskSet, name: str | None, round_place: int
) -> str:
    match body:
        case AuditDrawn(rows=rows):
            return f"drew {_count(len(rows), 'row')} to be checked blindly, round {round_place}"
        case AuditAnswered(answer=answer):
            said = "cannot be told" if answer is None else f"is “{answer}”"
            return f"said in the audit that {_named(name, 1)} {said}"
        case RiskSet(risk=risk):
            if risk is None:
                return "let every answer be accepted"
            return f"let at most {100 * risk:g} % of the accepted labels be wrong"


def say_why(
    before: Measure, after: Measure, then: State, now: State, between: Iterable[Event]
) -> str:
    """Say what happened between two measures that can lower held-out accuracy, and no more."""
    parts = []
    fresh = sorted({one.label for one in now.labels.values()} - _names_of(then, now))
    if fresh:
        got = "got its first labels" if len(fresh) == 1 else "got their first labels"
        parts.append(f"{few_of(fresh)} {got}, and one more class is one more to be mistaken for")
    n_changed = sum(
        given.number != now.labels[row].number and given.label != now.labels[row].label
        for row, given in then.labels.items()
        if row in now.labels
    )
    if n_changed:
        parts.append(f"{_count(n_changed, 'label')} changed")
    n_gone = len(then.labels.keys() - now.labels.keys())
    if n_gone:
        parts.append(f"{_count(n_gone, 'label')} went away")
    new = [now.labels[row] for row in now.labels.keys() - then.labels.keys()]
    n_asked = sum(one.how == "key" for one in new)
    if n_asked:
        parts.append(
            f"{n_asked:,} of {_count(len(new), 'new label')} answer questions, which ask for the "
            "rows that are hardest to tell, so that the labels to be held out became harder"
        )
    if any(isinstance(one.body, RolesChanged) for one in between):
        parts.append("rows are compared by other columns since")
    words = f"{'; '.join(parts)}." if parts else "Nothing that happened in between says why."
    if (after.high or 0) >= (before.low or 0):
        words += " The ranges overlap: chance alone may be why."
    return words[0].upper() + words[1:]


def _names_of(then: State, now: State) -> set[str]:
    """Return what the classes that had labels are called later."""
    place = {one.name: slot for slot, one in enumerate(then.classes) if not one.gone}
    slots = {place[one.label] for one in then.labels.values() if one.label in place}
    return {now.classes[slot].name for slot in slots} | {one.label for one in then.labels.values()}


def _say_labelled(body: Labelled, what: str) -> str:
    labels = set(body.labels)
    if body.how == FILE:
        return f"brought labels of {what}"
    if labels == {None}:
        return f"took the label of {what} away"
    if len(labels) > 1:
        return f"gave {what} labels of {len(labels - {None})} classes"
    return f"called {what} “{next(iter(labels))}”"


def _named(name: str | None, count: int) -> str:
    return f"row {name}" if name is not None else _count(count, "row")


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
