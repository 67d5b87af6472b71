"""What should be looked at again: wrong labels, twins, spellings, islands, and what was kept."""

from dataclasses import replace

import numpy as np
import pytest
from tests.support.histories import history, labelled

from beltrami.front_door.classifier import ManifoldClassifier
from beltrami.project.record.events import DOUBTS, ClassAdded, Kept, Marked, Renamed
from beltrami.project.record.state import replay
from beltrami.studio_server.learner.doubts import (
    TITLES,
    find_doubts,
    hear_others,
    open_doubts,
    spelling_doubts,
    title_of,
    votes,
)

pytestmark = [
    pytest.mark.usefixtures("few_trees"),
    pytest.mark.filterwarnings("ignore::beltrami.core.errors.BeltramiWarning"),
]

WRONG, TWINS, ISLAND = 10, (20, 21), range(150, 170)


@pytest.fixture(scope="module")
def fitted(few_trees):
    """Two clouds with a wrong label and a pair of twins, and an island without any label."""
    random = np.random.default_rng(0)
    points = random.normal(0, 0.5, size=(170, 3))
    points[75:150] += 4
    points[list(ISLAND)] = random.normal(40, 0.3, size=(20, 3))
    points[21] = points[20]
    points[149] = 2.0  # halfway
    labels = {row: "a" if row < 75 else "b" for row in [*range(0, 40, 2), *range(80, 120, 2)]}
    labels |= {WRONG: "b", 21: "b"}
    y = np.full(170, None, dtype=object)
    y[list(labels)] = list(labels.values())
    learner = ManifoldClassifier(random_state=0).fit(points, y)
    return learner, labels


def state_of(labels, *steps):
    given = [("ann", labelled(list(labels), *labels.values()))] if labels else []
    return replay(history(*given, *steps))


def of_kind(doubts, kind):
    return [one for one in doubts if one.kind == kind]


def test_every_doubt_can_be_kept_and_has_a_title():
    assert set(TITLES) == set(DOUBTS)


def test_labels_none_of_which_is_clearly_wrong_are_not_said_to_look_wrong(fitted):
    one = next(
        one for one in of_kind(find_doubts(*fitted).doubts, "label") if one.asked == (WRONG,)
    )
    unsure = replace(one, score=0.5)
    assert title_of("label", [one, unsure]) == title_of("label", []) == TITLES["label"]
    assert title_of("label", [unsure]) == "Labels the others answer otherwise"
    assert title_of("twins", [unsure]) == TITLES["twins"]


def test_a_wrong_label_is_named_with_what_it_may_be(fitted):
    found = {one.asked[0]: one for one in of_kind(find_doubts(*fitted).doubts, "label")}
    one = found[WRONG]
    assert (one.given, one.suggested, one.value) == ("b", "a", "b")
    assert one.score > 0.5
    assert "called “b”" in one.words
    assert "say “a”" in one.words


def test_equal_rows_with_different_labels_are_twins(fitted):
    (one,) = of_kind(find_doubts(*fitted).doubts, "twins")
    assert one.asked == TWINS
    assert one.names == ("a", "b")
    assert one.value == "a | b"


def test_an_island_is_one_doubt_and_one_row_is_asked(fitted):
    (one,) = of_kind(find_doubts(*fitted).doubts, "island")
    assert one.rows.tolist() == list(ISLAND)
    assert len(one.asked) == 1
    assert one.shown[0] == one.asked[0]
    assert 1 < len(one.shown) <= 6
    assert "20 rows" in one.words


def test_rows_between_two_classes_come_the_closest_first(fitted):
    learner, labels = fitted
    found = of_kind(find_doubts(learner, labels).doubts, "between")
    scores = [one.score for one in found]
    assert scores == sorted(scores, reverse=True)
    chances = np.sort(learner.label_distributions_, axis=1)
    for one in found:
        (row,) = one.asked
        assert row not in labels
        assert chances[row, -1] - chances[row, -2] == pytest.approx(1 - one.score, abs=1e-6)


def test_rows_unlike_any_label_are_grouped(fitted):
    learner, labels = fitted
    assert not of_kind(find_doubts(learner, labels).doubts, "unlike")
    before = learner.unlike_
    try:
        learner.unlike_ = np.zeros(170, dtype=bool)
        learner.unlike_[[41, 43, 45, 121, 123, *ISLAND]] = True
        found = of_kind(find_doubts(learner, labels).doubts, "unlike")
    finally:
        learner.unlike_ = before
    sizes = [len(one.rows) for one in found]
    assert sizes == sorted(sizes, reverse=True)
    rows = [row for one in found for row in one.rows.tolist()]
    assert sorted(rows) == [41, 43, 45, 121, 123]  # islands are spoken of elsewhere


def test_the_labelled_rows_that_say_otherwise_are_heard(fitted):
    learner, labels = fitted
    doubts = of_kind(find_doubts(learner, labels).doubts, "label")
    heard = hear_others(learner, labels, doubts)[WRONG]
    assert WRONG not in heard.rows
    counted = votes(heard, labels, [])
    assert next(iter(counted)) == "a"
    assert sum(counted.values()) <= 1 + 1e-9
    strongest = int(heard.rows[0])
    assert votes(heard, labels, [strongest])["a"] < counted["a"]


def test_classes_that_differ_by_a_letter_or_by_case_may_be_one():
    names = ["grey"] * 6 + ["Grey", "gray", "blue", "1", "1.0"]
    state = state_of(dict(enumerate(names)), ("ann", ClassAdded("BLUE ")))
    found = {(one.given, one.suggested) for one in spelling_doubts(state)}
    assert found == {("Grey", "grey"), ("gray", "grey"), ("1", "1.0"), ("BLUE ", "blue")}
    one = next(one for one in spelling_doubts(state) if one.given == "gray")
    assert (one.shown, len(one.rows), one.asked) == ((7,), 0, ())
    merged = state_of(dict(enumerate(names)), ("ann", Renamed("gray", "grey")))
    assert not [one for one in open_doubts(spelling_doubts(state), merged) if one.given == "gray"]


def test_what_was_kept_is_open_no_more_until_it_changes(fitted):
    learner, labels = fitted
    doubts = find_doubts(learner, labels).doubts
    state = state_of(labels)
    assert len(open_doubts(doubts, state)) == len(doubts)
    for one in doubts:
        kept = Kept(tuple(one.rows.tolist()), one.kind, one.value, 1)
        left = open_doubts(doubts, state_of(labels, ("ann", kept)))
        assert one not in left
        assert len(left) == len(doubts) - 1
    spelled = state_of({1: "cat", 2: "Cat"})
    (one,) = open_doubts(spelling_doubts(spelled), spelled)
    kept = Kept((), one.kind, one.value, 1)
    assert not open_doubts([one], state_of({1: "cat", 2: "Cat"}, ("ann", kept)))
    other = Kept((WRONG,), "label", "a", 1)  # another label than the one in doubt
    assert len(open_doubts(doubts, state_of(labels, ("ann", other)))) == len(doubts)


def test_a_group_is_kept_while_most_of_its_rows_are(fitted):
    doubts = of_kind(find_doubts(*fitted).doubts, "island")
    most, few = (Kept(tuple(ISLAND)[:k], "island", "", 1) for k in (12, 8))
    assert not open_doubts(doubts, state_of(fitted[1], ("ann", most)))
    assert open_doubts(doubts, state_of(fitted[1], ("ann", few)))


def test_what_was_answered_meanwhile_is_open_no_more(fitted):
    learner, labels = fitted
    doubts = find_doubts(learner, labels).doubts
    steps = [("ann", labelled([WRONG, 21], "a"))]
    between, island = of_kind(doubts, "between"), of_kind(doubts, "island")[0]
    steps.append(("ann", labelled(island.asked, "c")))
    steps.append(("ann", Marked(between[0].asked, "unsure", 1)))
    left = open_doubts(doubts, state_of(labels, *steps))
    assert not of_kind(left, "twins") + of_kind(left, "island")
    assert WRONG not in {one.asked[0] for one in of_kind(left, "label")}
    assert len(of_kind(left, "between")) == len(between) - 1
