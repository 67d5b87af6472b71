"""Conformal sets: exact ranks, exchangeable coverage, the three scores, too few labels."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from beltrami.core.errors import InvalidInputError
from beltrami.review.conformal import (
    SCORES,
    conformal_threshold,
    held_out_strangeness,
    prediction_sets,
    strangeness,
)


def test_the_scores_match_their_formulas():
    p = np.array([[0.5, 0.3, 0.2]])
    assert_allclose(strangeness(p), [[0.5, 0.7, 0.8]])
    assert_allclose(strangeness(p, "lead"), [[0.4, 0.6, 0.65]])
    assert_allclose(strangeness(p, "sum"), [[0.5, 0.8, 1.0]])


def test_equal_classes_are_equally_strange():
    p = np.array([[0.25, 0.4, 0.1, 0.25], [0.25, 0.25, 0.25, 0.25]])
    assert_allclose(strangeness(p, "sum"), [[0.9, 0.4, 1.0, 0.9], [1.0] * 4])
    for score in SCORES:
        assert len(np.unique(strangeness(p, score)[1])) == 1


@pytest.mark.parametrize(
    ("n", "coverage", "rank"), [(9, 0.9, 9), (19, 0.9, 18), (20, 0.9, 19), (99, 0.8, 80)]
)
def test_the_threshold_is_the_score_of_the_corrected_rank(n, coverage, rank):
    scores = np.random.default_rng(0).permutation(np.arange(1, n + 1))
    assert conformal_threshold(scores, coverage) == rank


def test_too_few_labels_admit_every_class():
    assert conformal_threshold(np.zeros(8), 0.9) == math.inf
    assert conformal_threshold([], 0.5) == math.inf
    assert prediction_sets(np.eye(3), math.inf).all()


@given(st.integers(5, 60), st.sampled_from([0.5, 0.8, 0.9]), st.integers(0, 1000))
def test_of_exchangeable_scores_the_promised_share_is_below(n, coverage, seed):
    # Each of n + 1 scores in turn is the new one: the share covered is exact, not simulated.
    scores = np.random.default_rng(seed).random(n + 1)
    held = [scores[i] <= conformal_threshold(np.delete(scores, i), coverage) for i in range(n + 1)]
    assert coverage - 1e-9 <= np.mean(held) <= coverage + 1 / (n + 1) + 1e-9


def test_ties_with_the_threshold_are_in():
    p = np.array([[0.6, 0.4], [0.2, 0.8]])
    strange = held_out_strangeness(p, [0, 1])
    assert_allclose(strange, [0.4, 0.2])
    assert_array_equal(prediction_sets(p, 0.4), [[True, False], [False, True]])


def test_an_empty_set_can_be_given_its_best_class():
    p = np.array([[0.4, 0.35, 0.25], [0.9, 0.1, 0.0]])
    assert_array_equal(prediction_sets(p, 0.2).sum(axis=1), [0, 1])
    filled = prediction_sets(p, 0.2, never_empty=True)
    assert_array_equal(filled, [[True, False, False], [True, False, False]])


@pytest.mark.parametrize("score", SCORES)
def test_sets_of_a_random_sample_cover_as_often_as_asked(score):
    rng, hits = np.random.default_rng(0), []
    for _ in range(200):
        p = rng.dirichlet([0.5, 0.5, 0.5], 100)
        truth = (p.cumsum(axis=1) < rng.random((100, 1))).sum(axis=1).clip(max=2)
        q = conformal_threshold(held_out_strangeness(p[:50], truth[:50], score), 0.8)
        sets = prediction_sets(p[50:], q, score)
        hits.append(sets[np.arange(50), truth[50:]].mean())
    assert abs(np.mean(hits) - 0.8) < 0.03


def test_one_class_is_always_in():
    for score in SCORES:
        assert prediction_sets(np.ones((2, 1)), 1.0, score).all()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: strangeness([[np.nan, 1.0]]), "finite"),
        (lambda: strangeness([0.5, 0.5]), "shape"),
        (lambda: strangeness([[1.0]], "rank"), "choose one of 'share'"),
        (lambda: conformal_threshold([0.1], 1.0), "coverage=1.0"),
        (lambda: conformal_threshold([0.1, np.nan], 0.5), "1 of 2 held-out scores"),
        (lambda: held_out_strangeness(np.eye(2), [0]), "one class per row"),
    ],
)
def test_unusable_input_is_refused(call, words):
    with pytest.raises(InvalidInputError, match=words):
        call()
