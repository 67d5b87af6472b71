"""What events amount to, slowly and from event to event."""

import random

import numpy as np
import pytest
from tests.support.histories import event, history, labelled, random_history

from beltrami.core.errors import InvalidInputError
from beltrami.project.record.chronicle import Chronicle
from beltrami.project.record.events import (
    ClassAdded,
    ClassRemoved,
    Kept,
    Marked,
    Renamed,
    RolesChanged,
    TakenBack,
)
from beltrami.project.record.state import AREA_WEIGHT, ClassSlot, replay


def names(state):
    return {row: given.label for row, given in state.labels.items()}


def slots(state):
    return [(one.name, one.gone) for one in state.classes]


def both(*steps):
    events = history(*steps)
    slow, fast = replay(events), Chronicle()
    for one in events:
        fast.apply(one)
    assert fast.state == slow
    assert Chronicle(events).state == slow
    return slow


@pytest.mark.parametrize("seed", range(4))
def test_the_fast_path_is_the_replay_after_every_event(seed):
    events = random_history(seed, 500)
    fast, ever_gone = Chronicle(), False
    checked = {*range(40), *random.Random(seed).sample(range(500), 8), 499}
    for place, one in enumerate(events):
        fast.apply(one)
        ever_gone |= any(one.gone for one in fast.state.classes)
        if place in checked:
            assert fast.state == replay(events[: place + 1])
        assert set(names(fast.state).values()) <= set(fast.state.class_names)
    assert Chronicle(events).state == fast.state
    assert sum(isinstance(one.body, TakenBack) for one in events) > 80
    assert ever_gone


@pytest.mark.parametrize("seed", range(4))
def test_places_of_classes_never_change(seed):
    events = random_history(seed, 300)
    fast, before = Chronicle(), []
    for one in events:
        fast.apply(one)
        now = fast.state.classes
        renames = {one.body.to} if isinstance(one.body, Renamed) else set()
        assert len(now) >= len(before)
        if not isinstance(one.body, TakenBack):
            for was, is_now in zip(before, now, strict=False):
                assert was.name == is_now.name or is_now.name in renames
        before = list(now)
        assert len({one.name for one in now if not one.gone}) == len(fast.state.class_names)


def test_a_label_says_who_gave_it_how_and_when():
    state = both(("ann", labelled([3, 5], "x", how="area")))
    (given,) = set(state.labels.values())
    assert (given.label, given.user, given.how, given.number) == ("x", "ann", "area", 1)
    assert given.at.endswith("+00:00")


def test_none_takes_a_label_away_and_leaves_the_class():
    state = both(("ann", labelled([3], "x")), ("ann", labelled([3], None)))
    assert state.labels == {}
    assert slots(state) == [("x", False)]


def test_taking_back_a_label_leaves_what_another_wrote_over_it():
    steps = [("ann", labelled([1, 2], "x")), ("bob", labelled([1], "y")), ("ann", TakenBack(1))]
    assert names(both(*steps)) == {1: "y"}


def test_taking_back_a_label_brings_back_the_one_below_it():
    steps = [("ann", labelled([1, 2], "x")), ("bob", labelled([1], "y")), ("bob", TakenBack(2))]
    state = both(*steps)
    assert names(state) == {1: "x", 2: "x"}
    assert state.labels[1].user == "ann"
    assert slots(state) == [("x", False), ("y", True)]


def test_a_rename_moves_labels_and_keeps_the_place():
    steps = [("ann", labelled([1], "x")), ("ann", labelled([2], "y")), ("bob", Renamed("x", "z"))]
    state = both(*steps)
    assert names(state) == {1: "z", 2: "y"}
    assert slots(state) == [("z", False), ("y", False)]
    assert names(both(*steps, ("bob", TakenBack(3)))) == {1: "x", 2: "y"}


def test_a_merge_leaves_an_empty_place_and_taking_it_back_parts_the_classes():
    steps = [("ann", labelled([1], "x")), ("ann", labelled([2], "y")), ("bob", Renamed("x", "y"))]
    merged = both(*steps)
    assert names(merged) == {1: "y", 2: "y"}
    assert slots(merged) == [("x", True), ("y", False)]
    parted = both(*steps, ("ann", labelled([3], "y")), ("bob", TakenBack(3)))
    assert names(parted) == {1: "x", 2: "y", 3: "y"}
    assert slots(parted) == [("x", False), ("y", False)]


def test_a_merged_class_that_is_named_again_has_its_place_again():
    steps = [("ann", labelled([1], "x")), ("ann", labelled([2], "y")), ("bob", Renamed("x", "y"))]
    state = both(*steps, ("ann", labelled([3], "x")))
    assert names(state) == {1: "y", 2: "y", 3: "x"}
    assert slots(state) == [("x", False), ("y", False)]


def test_a_class_that_only_an_undone_event_named_is_gone_and_later_ones_stay():
    steps = [("ann", ClassAdded("x")), ("bob", ClassAdded("y")), ("ann", TakenBack(1))]
    assert slots(both(*steps)) == [("x", True), ("y", False)]
    again = both(*steps, ("bob", labelled([1], "x")))
    assert slots(again) == [("x", False), ("y", False)]


def test_a_removed_class_leaves_its_place_and_has_it_again_when_it_is_named_again():
    typo = [("ann", labelled([1], "brids")), ("bob", labelled([1], "birds"))]
    steps = [*typo, ("ann", ClassRemoved("brids")), ("ann", labelled([2], "bees"))]
    assert slots(both(*typo)) == [("brids", False), ("birds", False)]
    assert slots(both(*steps)) == [("brids", True), ("birds", False), ("bees", False)]
    for again in (labelled([3], "brids"), ClassAdded("brids"), Renamed("bees", "brids")):
        assert "brids" in both(*steps, ("ann", again)).class_names
    named = both(*steps, ("ann", ClassAdded("brids")))
    assert slots(named) == [("brids", False), ("birds", False), ("bees", False)]
    taken = both(*steps[:3], ("ann", TakenBack(3)))
    assert slots(taken) == [("brids", False), ("birds", False)]


def test_a_removed_class_is_there_while_an_undo_gives_it_a_row_again():
    steps = [
        ("ann", labelled([1], "brids")),
        ("bob", labelled([1], "birds")),
        ("ann", ClassRemoved("brids")),
        ("bob", TakenBack(2)),
    ]
    back = both(*steps)
    assert names(back) == {1: "brids"}
    assert slots(back) == [("brids", False), ("birds", True)]
    assert slots(both(*steps, ("bob", labelled([1], "birds"))))[0] == ("brids", True)
    renamed = both(*steps, ("bob", Renamed("brids", "larks")))
    assert names(renamed) == {1: "larks"}
    assert renamed.class_names == ["larks"]


def test_labels_after_a_rename_that_is_taken_back_keep_their_own_word():
    steps = [("ann", labelled([1], "x")), ("bob", Renamed("x", "z")), ("ann", labelled([2], "z"))]
    state = both(*steps, ("bob", TakenBack(2)))
    assert names(state) == {1: "x", 2: "z"}
    assert slots(state) == [("x", False), ("z", False)]


def test_a_rename_of_a_class_that_is_no_more_does_nothing():
    steps = [("ann", labelled([1], "x")), ("bob", Renamed("x", "z")), ("ann", TakenBack(1))]
    assert slots(both(*steps)) == [("x", True)]


def test_marks_stand_until_somebody_labels_the_row():
    marks = [
        ("ann", Marked((1, 2), "skip", 1)),
        ("bob", Marked((2, 3), "skip", 1)),
        ("ann", Marked((1, 4), "unsure", 1)),
    ]
    state = both(*marks)
    assert state.skipped == {"ann": {1, 2}, "bob": {2, 3}}
    assert state.unsure == {1, 4}
    state = both(*marks, ("bob", labelled([1, 2, 3], "x")))
    assert state.skipped == {}
    assert state.unsure == {4}
    state = both(*marks, ("bob", labelled([1, 2, 3], "x")), ("bob", TakenBack(4)))
    assert state.skipped == {"ann": {1, 2}, "bob": {2, 3}}
    assert state.unsure == {1, 4}
    assert both(*marks, ("ann", TakenBack(3))).unsure == set()


def test_what_was_kept_is_remembered_by_what_stood_there():
    steps = [
        ("ann", labelled([1, 2], "x")),
        ("ann", Kept((1,), "label", "x", 1)),
        ("bob", Kept((1, 2), "label", "x", 1)),
        ("bob", Kept((), "spelling", "x | X", 1)),
    ]
    state = both(*steps)
    assert state.kept == {("label", "x"): {1, 2}, ("spelling", "x | X"): set()}
    assert names(state) == {1: "x", 2: "x"}
    changed = both(*steps, ("ann", labelled([1], "y")))
    assert changed.kept == state.kept  # of x, which does not stand there now
    back = both(*steps, ("bob", TakenBack(4)), ("bob", TakenBack(3)))
    assert back.kept == {("label", "x"): {1}}
    copy = state.copy()
    copy.kept["label", "x"].add(9)
    assert 9 not in state.kept["label", "x"]


def test_each_takes_back_their_own_events_the_last_first():
    told = Chronicle(
        history(
            ("ann", labelled([1], "x")),
            ("bob", labelled([2], "y")),
            ("ann", RolesChanged({})),
            ("ann", Marked((3,), "skip", 1)),
        )
    )
    assert told.last_of("ann").number == 4
    told.apply(event(5, TakenBack(4), "ann"))
    assert told.last_of("ann").number == 1
    assert told.last_of("bob").number == 2
    told.apply(event(6, TakenBack(1), "ann"))
    assert told.last_of("ann") is None
    assert told.last_of("nobody") is None


@pytest.mark.parametrize(
    ("number", "user"), [(1, "bob"), (2, "ann"), (3, "ann"), (9, "ann")], ids=str
)
def test_nobody_takes_back_what_is_not_theirs(number, user):
    told = Chronicle(
        history(("ann", labelled([1], "x")), ("ann", RolesChanged({})), ("ann", TakenBack(1)))
    )
    with pytest.raises(InvalidInputError, match=r"none that .* could take back"):
        told.apply(event(4, TakenBack(number), user))


def test_an_event_out_of_order_is_refused():
    with pytest.raises(InvalidInputError, match="missing or doubled"):
        Chronicle([event(2, ClassAdded("x"))])


def test_classes_of_one_event_are_ordered_by_number_then_by_letter():
    state = both(("ann", labelled([0, 1, 2, 3], "b", "10", "9", "a")))
    assert state.class_names == ["9", "10", "a", "b"]
    assert state.classes[0] == ClassSlot("9")


def test_labels_of_an_area_count_a_quarter():
    state = both(("ann", labelled([1], "x")), ("ann", labelled([2], "y", how="area")))
    assert state.weights(4).tolist() == [1, 1, AREA_WEIGHT, 1]
    assert both(("ann", labelled([1], "x"))).weights(4) is None
    assert AREA_WEIGHT == 0.25
    assert isinstance(state.weights(4), np.ndarray)
