"""Returning to a moment: what stood then stands again, audits stay, and one may come forth."""

import random
from contextlib import closing

import pytest
from tests.support.histories import event, history, labelled, random_history

from beltrami.core.errors import InvalidInputError
from beltrami.project import ProjectError, open_project
from beltrami.project.record.audit_events import AuditAnswered, AuditDrawn, RiskSet
from beltrami.project.record.chronicle import Chronicle
from beltrami.project.record.events import (
    UNDOABLE,
    ClassAdded,
    Kept,
    Marked,
    Renamed,
    Returned,
    RolesChanged,
    TakenBack,
)
from beltrami.project.record.standing import standing
from beltrami.project.record.state import replay
from beltrami.tables import TableOptions

RESTORED = ("labels", "unsure", "skipped", "kept")


def names(state):
    return {row: given.label for row, given in state.labels.items()}


def both(*steps):
    """Return the state that steps amount to, slowly and from event to event."""
    events = history(*steps)
    fast = Chronicle()
    for one in events:
        fast.apply(one)
    assert fast.state == replay(events) == Chronicle(events).state
    return fast.state


def assert_is_again(state, then):
    """What a return restores is what it was; classes that came since are gone."""
    for name in RESTORED:
        assert getattr(state, name) == getattr(then, name)
    n = len(then.classes)
    assert state.classes[:n] == then.classes
    assert all(one.gone for one in state.classes[n:])


def standing_by_the_book(events):
    """Return the numbers that stand by the definition, a set after each event."""
    sets = [frozenset()]
    for one in events:
        match one.body:
            case TakenBack(event=number):
                sets.append(sets[-1] - {number})
            case Returned(event=number):
                sets.append(sets[number])
            case body:
                sets.append(sets[-1] | ({one.number} if isinstance(body, UNDOABLE) else set()))
    return sets


@pytest.mark.parametrize("seed", range(4))
def test_what_stands_is_what_the_definition_says(seed):
    events = random_history(seed, 400, returning=0.08)
    sets = standing_by_the_book(events)
    for n in range(0, 401, 7):
        found = {one.number for one in standing(events[:n]) if isinstance(one.body, UNDOABLE)}
        assert found == sets[n]


@pytest.mark.parametrize("seed", range(4))
def test_the_fast_path_is_the_replay_after_every_return(seed):
    events = random_history(seed, 400, returning=0.08)
    fast, n_returns = Chronicle(), 0
    for place, one in enumerate(events):
        fast.apply(one)
        is_return = isinstance(one.body, Returned)
        n_returns += is_return
        if is_return or place % 23 == 0:
            assert fast.state == replay(events[: place + 1])
    assert Chronicle(events).state == fast.state
    assert n_returns > 15


@pytest.mark.parametrize("seed", range(3))
def test_jumping_back_and_forth_over_300_events_gives_equal_states(seed):
    events = random_history(seed, 300, returning=0.03)
    moments = {n: replay(events[:n]) for n in range(1, 301, 13)}
    told, rng = Chronicle(events), random.Random(seed)
    places = list(told.state.classes)
    for _ in range(60):
        number = rng.choice(list(moments))
        told.apply(event(len(told.events) + 1, Returned(number), rng.choice(("ann", "bob"))))
        assert_is_again(told.state, moments[number])
        assert len(told.state.classes) == len(places)
        assert told.state.number == len(told.events)
    told.apply(event(len(told.events) + 1, Returned(300)))
    assert told.state.classes == places
    assert told.state == replay(told.events)


@pytest.mark.parametrize("seed", range(3))
def test_what_people_may_take_back_is_theirs_and_stands(seed):
    events = random_history(seed, 200, returning=0.1)
    told = Chronicle()
    for one, stands in zip(events, standing_by_the_book(events)[1:], strict=True):
        told.apply(one)
        for user in ("ann", "bob"):
            own = [number for number in sorted(stands) if events[number - 1].user == user]
            last = told.last_of(user)
            assert (None if last is None else last.number) == (own[-1] if own else None)
    at_once = Chronicle(events)
    assert [at_once.last_of(user) for user in ("ann", "bob")] == [
        told.last_of(user) for user in ("ann", "bob")
    ]


def test_a_return_brings_back_labels_marks_classes_and_kept_doubts():
    steps = [
        ("ann", labelled([1], "x")),
        ("bob", Marked((2,), "unsure", 1)),
        ("bob", Kept((1,), "label", "x", 1)),
        ("ann", labelled([1, 2], "y")),
        ("ann", Renamed("x", "z")),
        ("bob", TakenBack(3)),
    ]
    assert_is_again(both(*steps, ("bob", Returned(3))), both(*steps[:3]))
    forth = both(*steps, ("bob", Returned(3)), ("ann", Returned(6)))
    assert_is_again(forth, both(*steps))


def test_a_return_is_not_taken_back_but_returned_from():
    told = Chronicle(
        history(("ann", labelled([1], "x")), ("ann", labelled([2], "x")), ("ann", Returned(1)))
    )
    assert told.last_of("ann").number == 1
    with pytest.raises(InvalidInputError, match=r"none that .* could take back"):
        told.apply(event(4, TakenBack(3), "ann"))
    with pytest.raises(InvalidInputError, match=r"none that .* could take back"):
        told.apply(event(4, TakenBack(2), "ann"))  # it does not stand
    told.apply(event(4, Returned(2), "bob"))
    assert told.last_of("ann").number == 2
    told.apply(event(5, TakenBack(2), "ann"))
    assert names(told.state) == {1: "x"}


@pytest.mark.parametrize("number", [3, 9])
def test_nobody_returns_to_a_moment_that_has_not_been(number):
    told = Chronicle(history(("ann", labelled([1], "x")), ("ann", labelled([2], "x"))))
    with pytest.raises(InvalidInputError, match="does not come before it"):
        told.apply(event(3, Returned(number)))


def test_audits_risk_and_roles_always_stand():
    drawn = AuditDrawn(1, 9, (3, 1), ("a", "b"), "rest", None, 0, 1)
    steps = [
        ("ann", labelled([0], "a")),
        ("ann", RolesChanged({"label": "kind"})),
        ("ann", RiskSet(0.1)),
        ("ann", drawn),
        ("bob", AuditAnswered(1, 1, "a", 1)),
        ("bob", labelled([5], "b")),
    ]
    before = both(*steps)
    after = both(*steps, ("bob", Returned(1)))
    assert names(after) == {0: "a"}
    assert (after.audits, after.risk, after.options) == (
        before.audits,
        before.risk,
        before.options,
    )
    done = both(*steps, ("bob", Returned(1)), ("bob", AuditAnswered(1, 3, "a", 1)))
    assert done.audits.trail.rounds[0].n_wrong == 1


def test_answers_by_names_of_a_rename_that_fell_count_as_blank_and_prove_nothing_of_now():
    drawn = AuditDrawn(1, 9, (3, 1, 2), ("b", "b", "c"), "rest", None, 0, 1)
    answers = [("bob", AuditAnswered(1, row, said, 1)) for row, said in ((3, "b"), (1, "b"))]
    steps = [
        ("ann", labelled([0, 7, 8], "a", "b", "c")),
        ("ann", Renamed("a", "b")),
        ("ann", drawn),
        *answers,
        ("bob", AuditAnswered(1, 2, "c", 1)),
    ]
    (before,) = both(*steps).audits.trail.rounds
    assert (before.answers, before.rest) == (("b", "b", "c"), "rest")
    (fell,) = both(*steps, ("ann", Returned(1))).audits.trail.rounds
    assert (fell.answers, fell.rest) == ((None, None, "c"), "")
    (forth,) = both(*steps, ("ann", Returned(1)), ("ann", Returned(6))).audits.trail.rounds
    assert (forth.answers, forth.rest) == ((None, None, "c"), "")
    (same,) = both(*steps, ("ann", ClassAdded("d")), ("ann", Returned(6))).audits.trail.rounds
    assert same == before  # no rename fell


def write(path, rows, label="ab"):
    lines = [f"r{i},{i % 7},{i / 10},{label[i % 2] if i < 8 else ''}" for i in rows]
    path.write_text("\n".join(["id,x,y,label", *lines, ""]))
    return path


def opened(source, **options):
    return closing(open_project(source, TableOptions(min_classes=0), user="ann", **options))


@pytest.fixture
def data(tmp_path):
    return write(tmp_path / "data.csv", range(30))


def test_a_project_returns_and_is_the_same_when_it_is_opened_again(data):
    with opened(data) as project:
        begun = project.snapshot()
        project.label("ann", [20, 21], "a", "key")
        project.rename_class("bob", "a", "c")
        later = project.snapshot()
        saved = project.return_to("bob", begun.number)
        assert (saved.kind, saved.user, saved.body.event) == ("return", "bob", begun.number)
        assert_is_again(project.state, begun)
        assert not project.can_undo("ann")
        project.return_to("ann", later.number)
        assert_is_again(project.state, later)
        assert project.undo("bob").body.event == later.number
        state = project.snapshot()
        assert project.state_at(begun.number) == begun
        assert project.state_at(len(project.events)) == state == replay(project.events)
    with opened(data) as again:
        assert again.state == state
    with opened(data, read_only=True) as watched:
        assert watched.state == state
        with pytest.raises(ProjectError, match="read only"):
            watched.return_to("ann", 3)


def test_labels_of_the_data_that_fell_come_in_again_only_when_they_are_others(data):
    with opened(data) as project:
        assert len(project.state.labels) == 8
        project.return_to("ann", 2)
        assert project.state.labels == {}
        n_events = len(project.events)
    with opened(data) as project:
        assert project.state.labels == {}
        assert len(project.events) == n_events
    write(data, range(30), label="ac")
    with opened(data) as project:
        assert names(project.state) == {1: "c", 3: "c", 5: "c", 7: "c"}


def test_a_moment_is_of_the_rows_of_now_when_the_data_have_changed(data):
    with opened(data) as project:
        project.label("ann", [20], "b", "key")
        moment = project.state.number
        project.label("ann", [21], "a", "key")
    write(data, [row for row in reversed(range(30)) if row != 3])
    with opened(data) as project:
        ids = project.data.ids.tolist()
        project.return_to("ann", moment)
        told = {ids[row]: given.label for row, given in project.state.labels.items()}
        assert told == {f"r{i}": "ab"[i % 2] for i in range(8) if i != 3} | {"r20": "b"}


def test_a_return_that_would_change_nothing_is_refused(data):
    with opened(data) as project:
        now = len(project.events)
        with pytest.raises(InvalidInputError, match="nothing to return from"):
            project.return_to("ann", now)
        for number in (0, -1, now + 1):
            with pytest.raises(InvalidInputError, match="moments go from event 1"):
                project.return_to("ann", number)
        project.label("ann", [20], "b", "key")
        project.undo("ann")
        with pytest.raises(InvalidInputError, match="nothing to return from"):
            project.return_to("ann", now)
        assert len(project.events) == now + 2
