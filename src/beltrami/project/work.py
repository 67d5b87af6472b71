"""What people did in a project, as its report shows it: events enter, plain numbers leave."""

import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from beltrami.project.record.audit_events import AuditAnswered, AuditDrawn, RiskSet
from beltrami.project.record.audits import Audits
from beltrami.project.record.chronicle import Chronicle
from beltrami.project.record.events import FILE, Event, InputSeen, Kept, Labelled, Marked
from beltrami.project.record.measures import Measure
from beltrami.project.record.standing import fallen_numbers
from beltrami.project.record.state import State
from beltrami.report.page.work import AuditRound, CurvePoint, Hand, Measured
from beltrami.review.proof import STALE, is_stale, prove

MEANS = {
    "key": "by key",
    "click": "by click",
    "area": "by area",
    "api": "by script",
    "import": "imported",
    FILE: "in the file",
}
"""What the report calls the means by which labels are given."""

_ASIDE = (AuditDrawn, AuditAnswered, RiskSet, Marked, Kept, InputSeen)
"""Events that give no row another label."""

_MOST_POINTS = 20


def hands_of(events: Sequence[Event], state: State) -> tuple[Hand, ...]:
    """Return who labelled or answered in audits, in the order of their first deeds.

    Every label that somebody gave to a row stands, was replaced by a later one of that row, or was
    taken back, also by a return to an earlier moment.

    - `state`: what the events amount to.
    """
    fallen = fallen_numbers(events)
    given, undone, checked = Counter[str](), Counter[str](), Counter[str]()
    for event in events:
        match event.body:
            case Labelled() as body:
                count = sum(label is not None for _, label in body.pairs())
                (undone if event.number in fallen else given)[event.user] += count
            case AuditAnswered():
                checked[event.user] += 1
            case _:
                pass
    standing = Counter((one.user, one.how) for one in state.labels.values())
    hands = []
    for user, when in _users_of(events).items():
        means = {words: standing[user, how] for how, words in MEANS.items() if standing[user, how]}
        hands.append(
            Hand(
                "the file" if user == FILE else user,
                means,
                given[user] - sum(means.values()),
                undone[user],
                checked[user],
                minutes(when[0]),
                minutes(when[-1]),
            )
        )
    return tuple(hands)


def labels_by_class(
    events: Sequence[Event], state: State
) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """Return of each class how many of its labels each of the hands gave, in their order."""
    counts = Counter((one.label, one.user) for one in state.labels.values())
    users = _users_of(events)
    rows = ((name, tuple(counts[name, user] for user in users)) for name in state.class_names)
    return tuple((name, row) for name, row in rows if any(row))


def curve_of(events: Sequence[Event]) -> tuple[CurvePoint, ...]:
    """Return how labels came in: what held after some of the events that may change them."""
    changes = [event.number for event in events if not isinstance(event.body, _ASIDE)]
    count = min(len(changes), _MOST_POINTS)
    places = {round(one * (len(changes) - 1) / max(count - 1, 1)) for one in range(count)}
    points = []
    for place in sorted(places):
        number = changes[place]
        labels = Chronicle(events[:number]).state.labels
        n_classes = len({one.label for one in labels.values()})
        points.append(CurvePoint(number, minutes(events[number - 1].at), len(labels), n_classes))
    return tuple(points)


def measured_of(measures: Iterable[Measure], number: int) -> tuple[Measured, ...]:
    """Return what was known after events up to one, in their order."""
    return tuple(
        Measured(
            event=one.event,
            n_labels=one.given,
            n_accepted=one.accepted,
            n_left=one.left,
            n_unreached=one.unreached,
            expected=_share(one.expected),
            held_out=_share(one.accuracy),
            low=_share(one.low),
            high=_share(one.high),
            n_held_out=one.held_out,
        )
        for one in measures
        if one.event <= number
    )


def _share(value: float | None) -> float:
    return float("nan") if value is None else float(value)


def rounds_of(events: Sequence[Event], audits: Audits) -> tuple[AuditRound, ...]:
    """Return the rounds of audits, without a word on what the answers say."""
    drawn = [event.at for event in events if isinstance(event.body, AuditDrawn)]
    rounds = []
    for at, one in zip(drawn, audits.trail.rounds, strict=True):
        is_open = one.answers is None
        answers = list(audits.answers.values()) if one.answers is None else list(one.answers)
        n_blank = answers.count(None)
        rounds.append(
            AuditRound(
                minutes(at), len(one.rows), one.n_pool, len(answers) - n_blank, n_blank, is_open
            )
        )
    return tuple(rounds)


def proof_words(
    audits: Audits, accepted: Mapping[int, str], risk: float | None, name: str
) -> tuple[str, str]:
    """Return what the audits of a project prove, and whether that is enough or what is missing.

    While a round is open nothing is said of any answer.

    - `accepted`: labels of ours as they are now, by row.
    - `name`: of the project's file.
    """
    trail = audits.trail
    if not trail.rounds:
        return "", (
            "Nothing is proved yet: no blind sample of the accepted labels was drawn. The studio's "
            f"audit draws one: beltrami studio {shlex.quote(name)}"
        )
    if is_stale(trail, accepted):
        return "", f"Nothing is proved of these labels: {STALE}."
    if trail.open_round is not None:
        n_left = len(audits.left)
        return "", (
            f"Round {len(trail.rounds)} waits for {n_left:,} of its {len(audits.open_rows):,} "
            "answers. What is proved is said when it is complete, and nothing before."
        )
    proof = prove(trail, accepted, risk)
    assert proof is not None
    return proof.certificate.sentence, proof.outlook.words


def minutes(at: str) -> str:
    """Return the time of an event to the minute."""
    return at[:16].replace("T", " ")


def _users_of(events: Sequence[Event]) -> dict[str, list[str]]:
    """Return who labelled or answered in audits, with the times of what they did."""
    times: dict[str, list[str]] = {}
    for event in events:
        if isinstance(event.body, Labelled | AuditAnswered):
            times.setdefault(event.user, []).append(event.at)
    return times
