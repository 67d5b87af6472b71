"""How large classes are: told by the rows where labels do not tell, kept to where given."""

import numpy as np
import pytest

from beltrami.core.errors import InvalidInputError
from beltrami.front_door.mixture.shares import (
    check_priors,
    estimate_odds,
    match_odds,
    unseen_share,
)

CLASSES = np.array(["a", "b"])
BOTH = np.array([True, True])


def answers(share, n=4000, seed=0):
    """Return what a classifier that learned from equal numbers says of rows of unequal classes."""
    rng = np.random.default_rng(seed)
    codes = (rng.random(n) < share).astype(int)
    logits = rng.normal(2.5 * (2 * codes - 1), 2.0)
    chance = 1 / (1 + np.exp(-2 * 2.5 / 4.0 * logits))
    return np.column_stack([1 - chance, chance]), codes


def test_unequal_classes_are_seen_and_answers_gain():
    probabilities, codes = answers(0.05)
    odds = estimate_odds(probabilities, np.array([5.0, 5.0]))
    assert odds[0] > 1.3
    assert odds[1] < 0.7
    moved = (probabilities * odds).argmax(axis=1)
    assert (moved == codes).mean() > (probabilities.argmax(axis=1) == codes).mean()


@pytest.mark.parametrize("counts", [(5.0, 5.0), (4.0, 6.0), (2.0, 2.0)])
def test_equal_classes_unequal_labels_and_few_labels_change_nothing(counts):
    probabilities, _ = answers(0.5 if counts == (5.0, 5.0) else 0.05)
    np.testing.assert_array_equal(estimate_odds(probabilities, np.array(counts)), [1, 1])


def test_given_shares_are_kept_to():
    probabilities, _ = answers(0.5)
    moved = probabilities * match_odds(probabilities, np.array([0.8, 0.2]))
    moved /= moved.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(moved.mean(axis=0), [0.8, 0.2], atol=1e-4)


def test_shares_that_nothing_can_reach_stay_finite():
    odds = match_odds(np.tile([1.0, 0.0], (5, 1)), np.array([0.5, 0.5]))
    assert np.isfinite(odds).all()


def test_only_labels_drawn_at_random_tell_of_classes_that_none_names():
    assert unseen_share(np.array([1.0, 1.0, 1.0])) == 0
    assert unseen_share(np.array([5.0, 5.0])) == 0
    assert unseen_share(np.array([6.0, 1.0, 1.0])) == pytest.approx(0.25)
    assert unseen_share(np.zeros(0)) == 0


def test_priors_come_by_class_or_in_order():
    assert check_priors(None, CLASSES, BOTH) is None
    np.testing.assert_allclose(check_priors({"b": 0.3, "a": 0.7}, CLASSES, BOTH), [0.7, 0.3])
    np.testing.assert_allclose(check_priors([0.7, 0.3], CLASSES, BOTH), [0.7, 0.3])


@pytest.mark.parametrize(
    ("priors", "message"),
    [
        ({"a": 0.5, "b": 0.8}, "sum to 1.3"),
        ({"a": 0.5, "c": 0.5}, "'c', which is none of the classes"),
        ({"a": 1.0}, "leave out 'b'"),
        ([0.5, 0.25, 0.25], "must hold 2 shares"),
        ([-0.5, 1.5], "not negative"),
        ([1.0, 0.0], "no row of .*'b'"),
        (["x", "y"], "one number for each class"),
        ("labels", "one number for each class"),
        ([np.nan, 1.0], "must hold 2 shares"),
    ],
)
def test_priors_that_make_no_sense_are_refused(priors, message):
    with pytest.raises(InvalidInputError, match=message):
        check_priors(priors, CLASSES, BOTH)
