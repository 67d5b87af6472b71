"""Random histories of a project, as several people would make them."""

import random

from beltrami.project.record.audit_events import AuditDrawn, RiskSet
from beltrami.project.record.chronicle import Chronicle
from beltrami.project.record.events import (
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
    pressed,
)

AT = "2026-01-02T03:04:05.678901+00:00"
NAMES = ("a", "b", "c", "d", "10", "9")


def event(number, body, user="ann"):
    return Event(number, AT, user, body)


def labelled(rows, *labels, how="key", old=(None,)):
    return Labelled(tuple(rows), tuple(labels), how, tuple(old), 1)


def history(*steps):
    """Return events of ("user", body), numbered from 1."""
    return [event(number, body, user) for number, (user, body) in enumerate(steps, 1)]


def random_body(rng, n_rows):
    rows = tuple(rng.sample(range(n_rows), rng.choice((1, 1, 1, 3, 12))))
    rarer = ("labels", "away", "mark", "mark", "kept", "class", "remove", "rename")
    kind = rng.choice(("label",) * 6 + rarer)
    if kind == "label":
        return labelled(rows, rng.choice(NAMES), how=rng.choice(("key", "area")))
    if kind == "labels":
        return labelled(rows, *pressed(tuple(rng.choice((*NAMES, None)) for _ in rows)))
    if kind == "away":
        return labelled(rows, None)
    if kind == "mark":
        return Marked(rows, rng.choice(("skip", "unsure")), 1)
    if kind == "kept":
        return Kept(rows, rng.choice(("label", "twins")), rng.choice(NAMES), 1)
    if kind == "class":
        return ClassAdded(rng.choice(NAMES))
    if kind == "remove":
        return ClassRemoved(rng.choice(NAMES))
    return Renamed(*rng.sample(NAMES, 2))


def random_audit_body(rng, state, n_rows):
    """Return a step of an audit, or a risk: the open round is answered, given up or outlived."""
    audits, left = state.audits, state.audits.left
    if rng.random() < 0.1:
        return RiskSet(rng.choice((None, 0.05)))
    if left and rng.random() < 0.8:
        return audits.answer(left[0], rng.choice((*NAMES, None)), NAMES, 1)
    rows = tuple(rng.sample(range(n_rows), 4))
    return AuditDrawn(1, n_rows, rows, tuple(rng.choices(NAMES, k=4)), "rest", state.risk, 0, 1)


def random_history(seed, n, *, n_rows=30, users=("ann", "bob"), returning=0.0):
    """Return n events; one in four takes the last one of its user back, some return anywhere."""
    rng, chronicle = random.Random(seed), Chronicle()
    chronicle.apply(event(1, RolesChanged({"label": "kind"})))
    while len(chronicle.events) < n:
        user = rng.choice(users)
        last = chronicle.last_of(user)
        number = len(chronicle.events) + 1
        if returning and number > 2 and rng.random() < returning:
            body = Returned(rng.randrange(1, number))
        elif last is not None and rng.random() < 0.25:
            body = TakenBack(last.number)
        else:
            is_audit = rng.random() < 0.2
            body = (
                random_audit_body(rng, chronicle.state, n_rows)
                if is_audit
                else random_body(rng, n_rows)
            )
        chronicle.apply(event(number, body, user))
    return chronicle.events
