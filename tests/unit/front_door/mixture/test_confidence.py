"""How sure to be: the compiled form beside the sum of terms, and probabilities set to a chance."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beltrami.front_door.mixture.confidence import (
    TERMS,
    Confidence,
    Evidence,
    Signs,
    doubt_rows,
    list_terms,
    set_first,
)
from beltrami.front_door.mixture.experience import Situation, load_experience

SITUATION = Situation(20, 4, 30, unseen=0.1)


def some_signs(n=50, k=4, seed=0):
    rng = np.random.default_rng(seed)
    probabilities = rng.dirichlet(np.ones(k), n)
    return Signs(probabilities, rng.random(n), 0.3 * rng.random(n))


@pytest.mark.parametrize("n_tested", [0, 7])
def test_slopes_for_one_set_are_the_sum_of_all_terms(n_tested):
    learned = dict(zip(TERMS, np.random.default_rng(1).normal(size=len(TERMS)), strict=True))
    evidence, signs = Evidence(SITUATION, n_tested, 0.7, 0.8, 0.6), some_signs()
    odds = list_terms(signs, evidence) @ np.array([learned[name] for name in TERMS])
    expected = 1 / (1 + np.exp(-np.clip(odds, -30, 30)))
    np.testing.assert_allclose(Confidence.of(learned, evidence).judge(signs), expected)


def test_what_is_shipped_names_every_term_and_every_candidate_that_may_answer():
    from beltrami.front_door.deciding.candidates import CLASS_CANDIDATES

    experience = load_experience()
    assert set(experience.confidence) == set(TERMS)
    names = {one.name for one in CLASS_CANDIDATES}
    assert set(experience.weights) == set(experience.temperatures) == names


def test_more_labels_answered_right_make_surer_and_classes_unseen_less_sure():
    learned, n = load_experience().confidence, 50
    sure = np.column_stack([np.full(n, 0.9), np.full(n, 0.1)])
    signs = Signs(sure, np.full(n, 0.9), np.full(n, 0.1))

    def mean(**changes):
        facts = {"n_tested": 40, "accuracy": 0.9, "promised": 0.8, "agreement": 0.8} | changes
        situation = facts.pop("situation", Situation(40, 4, 30))
        return Confidence.of(learned, Evidence(situation, **facts)).judge(signs).mean()

    assert mean() > mean(accuracy=0.6)
    assert mean() > mean(situation=Situation(40, 4, 30, unseen=0.4))
    assert mean() > mean(agreement=0.4)


@given(st.integers(2, 6), st.integers(0, 20))
def test_the_first_class_stays_first_and_has_the_chance(k, seed):
    rng = np.random.default_rng(seed)
    probabilities, chance = rng.dirichlet(np.full(k, 0.5), 30), rng.random(30)
    found = set_first(probabilities, chance)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    np.testing.assert_array_equal(found.argmax(axis=1), probabilities.argmax(axis=1))
    np.testing.assert_allclose(found.max(axis=1), np.maximum(chance, 1 / k + 1e-6))
    assert found.min() >= 0


def test_others_keep_their_proportions_where_there_is_room():
    found = set_first(np.array([[0.5, 0.3, 0.2]]), np.array([0.8]))
    np.testing.assert_allclose(found, [[0.8, 0.12, 0.08]])


def test_a_class_alone_and_a_sure_row_have_no_hole():
    np.testing.assert_array_equal(set_first(np.ones((2, 1)), np.zeros(2)), np.ones((2, 1)))
    np.testing.assert_allclose(set_first(np.array([[1.0, 0.0]]), np.array([0.9])), [[0.9, 0.1]])


def test_doubted_rows_keep_their_class_and_are_no_surer_than_a_guess():
    probabilities = np.array([[0.1, 0.9, 0.0], [0.8, 0.2, 0.0], [0.3, 0.7, 0.0]])
    doubted, has_label = np.array([True, True, False]), np.array([True, True, False])
    found = doubt_rows(probabilities, doubted, has_label)
    np.testing.assert_array_equal(found.argmax(axis=1), [1, 0, 1])
    np.testing.assert_allclose(found.max(axis=1), [0.5, 0.5, 0.7], atol=1e-5)
    np.testing.assert_array_equal(found[2], probabilities[2])
    assert doubt_rows(probabilities, ~doubted & False, has_label) is probabilities
