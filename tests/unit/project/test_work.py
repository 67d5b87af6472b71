"""What the report says of a project's work: who did what, how it went, and nothing too early."""

import math
from dataclasses import replace

import pytest
from tests.support.histories import history, labelled, random_history

from beltrami.project.record.audit_events import AuditAnswered, AuditDrawn
from beltrami.project.record.events import Labelled, Returned, TakenBack
from beltrami.project.record.measures import Measure
from beltrami.project.record.state import replay
from beltrami.project.work import (
    curve_of,
    hands_of,
    labels_by_class,
    measured_of,
    proof_words,
    rounds_of,
)
from beltrami.review.trail import digest_rows

ACCEPTED = {row: "ab"[row % 2] for row in range(6)}


@pytest.mark.parametrize("seed", range(5))
def test_every_label_stands_was_replaced_or_was_taken_back(seed):
    events = random_history(seed, 200)
    state = replay(events)
    hands = hands_of(events, state)
    given = sum(
        label is not None
        for one in events
        if isinstance(one.body, Labelled)
        for _, label in one.body.pairs()
    )
    assert given == sum(one.n_labels + one.n_replaced + one.n_taken_back for one in hands)
    assert sum(one.n_labels for one in hands) == len(state.labels)
    assert all(one.n_replaced >= 0 for one in hands)
    by_class = labels_by_class(events, state)
    for place, hand in enumerate(hands):
        assert sum(counts[place] for _, counts in by_class) == hand.n_labels
    assert [name for name, _ in by_class] == [
        name
        for name in state.class_names
        if any(one.label == name for one in state.labels.values())
    ]


@pytest.mark.parametrize("seed", range(3))
def test_the_curve_says_what_held_after_each_of_its_events(seed):
    events = random_history(seed, 150)
    points = curve_of(events)
    assert 2 <= len(points) <= 20
    for one in points:
        labels = replay(events[: one.event]).labels.values()
        assert one.n_labels == len(labels)
        assert one.n_classes == len({given.label for given in labels})
    assert points[-1].n_labels == len(replay(events).labels)


def test_hands_come_in_the_order_of_their_deeds_with_their_means_and_times():
    events = history(
        ("file", labelled([0, 1], "a", "b", how="file")),
        ("bob", labelled([2], "a")),
        ("ann", labelled([2, 3], "b", how="area")),
        ("bob", labelled([4], "a", how="click")),
        ("bob", TakenBack(4)),
    )
    events[2] = replace(events[2], at="2026-01-03T04:05:06.000000+00:00")
    file, bob, ann = hands_of(events, replay(events))
    assert (file.name, file.means) == ("the file", {"in the file": 2})
    assert (bob.means, bob.n_replaced, bob.n_taken_back) == ({}, 1, 1)
    assert (ann.means, ann.since, ann.until) == (
        {"by area": 2},
        "2026-01-03 04:05",
        "2026-01-03 04:05",
    )


def test_a_person_called_like_the_file_is_another():
    events = history(("file", labelled([0], "a", how="file")), ("the file", labelled([1, 2], "a")))
    assert labels_by_class(events, replay(events)) == (("a", (1, 2)),)


def audited(*answers):
    """Return the audits of a round of two rows, and its events."""
    rest = digest_rows({row: ACCEPTED[row] for row in ACCEPTED if row > 1})
    drawn = AuditDrawn(1, 6, (0, 1), ("a", "b"), rest, None, 0, 1)
    steps = [("bob", AuditAnswered(1, row, one, 1)) for row, one in enumerate(answers)]
    events = history(("ann", drawn), *steps)
    return replay(events).audits, events


@pytest.mark.parametrize("answer", ["a", "b", None])
def test_nothing_is_said_of_answers_while_a_round_is_open(answer):
    audits, events = audited(answer)
    (one,) = rounds_of(events, audits)
    assert (one.n_rows, one.n_pool, one.is_open) == (2, 6, True)
    assert one.n_answers + one.n_blank == 1
    proof, note = proof_words(audits, ACCEPTED, None, "data.beltrami")
    assert proof == ""
    assert note == proof_words(audited("a")[0], ACCEPTED, None, "data.beltrami")[1]
    assert "Round 1 waits for 1 of its 2 answers" in note


def test_a_complete_round_proves_what_its_certificate_says():
    audits, events = audited("a", "a")
    proof, note = proof_words(audits, ACCEPTED, None, "data.beltrami")
    assert "of 2 checked at random 1 was wrong" in proof
    assert "95 % is not proved" in note
    assert not rounds_of(events, audits)[0].is_open


def test_labels_that_changed_since_the_draw_have_no_proof():
    audits, _ = audited("a", "b")
    proof, note = proof_words(audits, ACCEPTED | {5: "a"}, None, "data.beltrami")
    assert proof == ""
    assert "have changed since the rows were drawn" in note


def test_without_an_audit_the_way_to_one_is_named():
    proof, note = proof_words(replay([]).audits, ACCEPTED, None, "my data.beltrami")
    assert (proof, "beltrami studio 'my data.beltrami'" in note) == ("", True)


def test_measures_up_to_an_event_become_points_of_the_curve():
    plain = Measure(2, given=2, accepted=1, left=0, unreached=0, expected=0.9)
    judged = replace(plain, event=3, held_out=2, accuracy=0.5, low=0.1, high=0.9)
    found = measured_of([plain, judged, replace(judged, event=7)], 6)
    assert [one.event for one in found] == [2, 3]
    assert (found[1].held_out, found[1].low, found[1].n_held_out) == (0.5, 0.1, 2)
    assert found[0].n_held_out == 0
    assert math.isnan(found[0].held_out)


def test_labels_that_were_returned_from_count_as_taken_back():
    events = history(
        ("ann", labelled([1], "a")), ("bob", labelled([2, 3], "b")), ("ann", Returned(1))
    )
    hands = {one.name: one for one in hands_of(events, replay(events))}
    assert (hands["ann"].n_labels, hands["bob"].n_labels, hands["bob"].n_taken_back) == (1, 0, 2)
