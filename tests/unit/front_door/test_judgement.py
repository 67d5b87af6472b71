"""Weights and temperatures: closed forms."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beltrami.front_door.candidates import CLASS_CANDIDATES
from beltrami.front_door.judgement import (
    best_temperature,
    blind_weights,
    can_judge,
    mix,
    posterior_weights,
)
from beltrami.learners.model import Labeled


def test_without_labels_the_weights_are_the_prior():
    prior = np.array([0.2, 0.3, 0.5])
    np.testing.assert_allclose(posterior_weights(np.empty((0, 3)), prior, np.empty(0)), prior)


def test_two_candidates_are_weighed_by_bayes_rule_with_room_for_surprise():
    likelihoods = np.array([[0.9, 0.5], [0.8, 0.1]])
    safe = 0.98 * likelihoods + 0.01
    expected = np.array([0.25, 0.75]) * safe.prod(axis=0)
    found = posterior_weights(likelihoods, np.array([0.25, 0.75]), np.ones(2))
    np.testing.assert_allclose(found, expected / expected.sum())


def test_a_label_of_weight_two_counts_twice():
    once = np.array([[0.9, 0.4]])
    prior = np.array([0.5, 0.5])
    np.testing.assert_allclose(
        posterior_weights(once, prior, np.array([2.0])),
        posterior_weights(np.repeat(once, 2, axis=0), prior, np.ones(2)),
    )


def test_one_label_given_no_chance_does_not_rule_a_candidate_out():
    likelihoods = np.vstack([[0.0, 1.0], np.tile([0.9, 0.1], (20, 1))])
    assert posterior_weights(likelihoods, np.array([0.5, 0.5]), np.ones(21))[0] > 0.99


@given(st.floats(0.2, 5.0), st.integers(0, 5))
def test_the_temperature_of_drawn_labels_is_recovered(true, seed):
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(4000, 3)) * 2 * true
    chances = np.exp(logits / true)
    chances /= chances.sum(axis=1, keepdims=True)
    codes = (rng.random((4000, 1)) > np.cumsum(chances, axis=1)).sum(axis=1).clip(0, 2)
    found = best_temperature(logits, np.eye(3)[codes], np.ones(4000), 1.0)
    assert found == pytest.approx(true, rel=0.15)


def test_without_labels_the_temperature_is_the_typical_one():
    assert best_temperature(np.empty((0, 2)), np.empty((0, 2)), np.empty(0), 0.7) == 0.7


def test_a_few_labels_that_come_out_right_are_no_proof_of_certainty():
    logits, targets = np.array([[1.0, 0.0]] * 3), np.array([[1.0, 0.0]] * 3)
    assert best_temperature(logits, targets, np.ones(3), 1.0) > 0.2


def test_blind_weights_go_to_one_candidate_by_the_number_of_rows():
    priors = {one.name: one.prior for one in CLASS_CANDIDATES}
    assert dict(zip(priors, blind_weights(priors, 100), strict=True))["regularized"] == 1
    assert dict(zip(priors, blind_weights(priors, 60_000), strict=True))["poisson"] == 1
    rest = blind_weights({name: priors[name] for name in ("logistic", "neighbors")}, 100)
    np.testing.assert_allclose(rest, [0.75, 0.25])


def test_a_mixture_is_the_weighted_mean_of_softmaxes():
    logits = {"a": np.log([[0.8, 0.2]]), "b": np.log([[0.3, 0.7]])}
    found = mix(logits, {"a": 1.0, "b": 1.0}, {"a": 0.25, "b": 0.75})
    np.testing.assert_allclose(found, [[0.425, 0.575]])
    with pytest.raises(ValueError, match="nothing"):
        mix({}, {}, {})


def test_a_label_is_judged_where_its_class_has_another():
    labeled = Labeled(np.arange(4), np.eye(3)[[0, 0, 1, 2]], np.ones(4))
    assert can_judge(labeled).tolist() == [True, True, False, False]


def test_every_candidate_has_a_prior_and_a_typical_temperature():
    assert all(one.prior > 0 and one.temperature > 0 for one in CLASS_CANDIDATES)
    assert sum(one.prior for one in CLASS_CANDIDATES) == pytest.approx(1)
