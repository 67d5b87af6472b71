"""Weights and temperatures: closed forms and limits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beltrami.front_door.mixture.stacking import deal_labels, fit_mixture, fit_temperature, stack


def test_without_labels_the_weights_are_the_prior():
    prior = np.array([0.2, 0.3, 0.5])
    np.testing.assert_allclose(stack(np.empty((0, 3)), prior, np.empty(0)), prior)


def test_weights_are_where_the_slope_of_the_likelihood_is_level():
    rng = np.random.default_rng(0)
    likelihoods, prior = rng.uniform(0.05, 1, size=(200, 3)), np.array([0.2, 0.3, 0.5])
    found = stack(likelihoods, prior, np.ones(200))

    def gain(weights):
        return 3 * prior @ np.log(weights) + np.log(likelihoods @ weights).sum()

    for direction in ([1, -1, 0], [0, 1, -1], [1, 0, -1]):
        step = 0.02 * np.array(direction)
        assert gain(found) > gain(found + step)
        assert gain(found) > gain(found - step)
    assert found.sum() == pytest.approx(1)


def test_two_that_are_right_about_different_labels_share_the_answer():
    likelihoods = np.repeat([[0.9, 0.1], [0.1, 0.9]], 50, axis=0)
    found = stack(likelihoods, np.array([0.9, 0.1]), np.ones(100))
    np.testing.assert_allclose(found, [0.5, 0.5], atol=0.05)


def test_a_label_of_weight_two_counts_twice():
    once, prior = np.array([[0.9, 0.4]]), np.array([0.5, 0.5])
    np.testing.assert_allclose(
        stack(once, prior, np.array([2.0])), stack(np.repeat(once, 2, axis=0), prior, np.ones(2))
    )


def test_who_answers_alone_by_the_prior_stays_alone():
    likelihoods = np.tile([0.1, 0.9], (20, 1))
    np.testing.assert_array_equal(stack(likelihoods, np.array([1.0, 0.0]), np.ones(20)), [1, 0])


@given(st.floats(0.2, 5.0), st.integers(0, 5))
def test_the_temperature_of_drawn_labels_is_recovered(true, seed):
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(4000, 3)) * 2 * true
    chances = np.exp(logits / true)
    chances /= chances.sum(axis=1, keepdims=True)
    codes = (rng.random((4000, 1)) > np.cumsum(chances, axis=1)).sum(axis=1).clip(0, 2)
    found = fit_temperature(logits, np.eye(3)[codes], np.ones(4000), 1.0)
    assert found == pytest.approx(true, rel=0.2)


def test_without_labels_the_temperature_is_the_typical_one():
    assert fit_temperature(np.empty((0, 2)), np.empty((0, 2)), np.empty(0), 0.7) == 0.7


def test_a_few_labels_that_come_out_right_are_no_proof_of_certainty():
    logits, targets = np.array([[1.0, 0.0]] * 3), np.array([[1.0, 0.0]] * 3)
    assert fit_temperature(logits, targets, np.ones(3), 1.0) > 0.3


def test_the_better_candidate_is_believed_and_a_sure_liar_is_cooled_down():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, 60)
    targets = np.eye(2)[codes]
    good, bad = 2 * targets + rng.normal(size=(60, 2)), 9 * rng.normal(size=(60, 2))
    weights, heats = fit_mixture(
        {"good": good, "bad": bad}, targets, np.ones(60), np.array([0.5, 0.5]),
        {"good": 1.0, "bad": 1.0},
    )  # fmt: skip
    assert weights["good"] > 0.8
    assert heats["bad"] > 5


def test_labels_are_dealt_once_each_and_classes_over_all_folds():
    targets = np.eye(2)[np.repeat([0, 1], [10, 5])]
    folds = deal_labels(targets)
    np.testing.assert_array_equal(np.sort(np.concatenate(folds)), np.arange(15))
    assert all(targets[places].any(axis=0).all() for places in folds)
    assert deal_labels(np.empty((0, 3))) == []
