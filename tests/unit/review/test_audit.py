"""Audits: exact coverage, the known numbers of answers, blind draws, safe thresholds."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import hypergeom

from beltrami.core.errors import InvalidInputError
from beltrami.review.audit import certify, draw_audit


@pytest.mark.parametrize("confidence", [0.8, 0.95])
@pytest.mark.parametrize(("pool", "n"), [(7, 3), (20, 20), (60, 25), (500, 59)])
def test_both_bounds_hold_with_the_stated_confidence_whatever_the_truth(pool, n, confidence):
    seen, wrong = np.arange(n + 1), np.arange(pool + 1)[:, None]
    found = [certify(n, int(x), pool, confidence=confidence) for x in seen]
    lower, upper = np.array([[one.lower, one.upper] for one in found]).T
    truth, chances = 1 - wrong / pool, hypergeom.pmf(seen, pool, wrong, n)
    assert (chances * (lower <= truth + 1e-12)).sum(axis=1).min() >= confidence - 1e-9
    assert (chances * (upper >= truth - 1e-12)).sum(axis=1).min() >= confidence - 1e-9


def test_the_lower_bound_is_the_best_possible():
    n, x, pool = 30, 2, 200
    most = round(pool * (1 - certify(n, x, pool).lower))
    assert hypergeom.cdf(x, pool, most, n) > 0.05
    assert hypergeom.cdf(x, pool, most + 1, n) <= 0.05


@pytest.mark.parametrize(("answers", "errors"), [(59, 0), (93, 1), (124, 2)])
def test_the_known_numbers_of_answers_prove_95_percent(answers, errors):
    assert certify(answers, errors).lower >= 0.95 > certify(answers - 1, errors).lower


def test_without_errors_the_bound_is_a_root_of_alpha():
    assert_allclose(certify(20, 0, confidence=0.9).lower, 0.1 ** (1 / 20))
    assert_allclose(certify(20, 20, confidence=0.9).upper, 1 - 0.1 ** (1 / 20))


def test_a_large_pool_comes_close_to_one_without_end():
    finite, endless = certify(300, 7, 10_000_000), certify(300, 7)
    assert_allclose([finite.lower, finite.upper], [endless.lower, endless.upper], rtol=0, atol=2e-5)


def test_a_smaller_pool_gives_tighter_bounds():
    assert certify(60, 1, 100).lower > certify(60, 1, 1000).lower > certify(60, 1).lower


def test_to_check_all_is_to_know():
    found = certify(40, 3, 40)
    assert found.lower == found.accuracy == found.upper == 37 / 40


@given(st.integers(1, 300), st.data())
def test_bounds_enclose_the_estimate(pool, data):
    n = data.draw(st.integers(1, pool))
    x = data.draw(st.integers(0, n))
    found = certify(n, x, pool)
    assert 0 <= found.lower <= found.accuracy + 1e-12
    assert found.accuracy - 1e-12 <= found.upper <= 1


def test_nothing_checked_proves_nothing():
    for pool in (None, 10, 0):
        found = certify(0, 0, pool)
        assert (found.lower, found.upper) == (0.0, 1.0)
        assert math.isnan(found.accuracy)
        assert "Nothing was checked" in found.sentence


def test_the_sentence_never_rounds_a_promise_up():
    found = certify(59, 0, 41_200)
    assert 0.9505 < found.lower < 0.951
    assert found.sentence == (
        "At least 95.0 % of the 41,200 accepted labels are right, at 95 % confidence: of 59 "
        "checked at random 0 were wrong."
    )


def test_a_sentence_counts_wrong_and_blank_answers():
    assert certify(60, 1, 500).sentence.endswith("of 60 checked at random 1 was wrong.")
    assert certify(60, 1, 500, n_blank=4).sentence == (
        "At least 83.8 % of the 500 accepted labels are right, at 95 % confidence: of 60 drawn at "
        "random 1 was wrong and 4 left blank, which count as wrong. Without the blank ones: at "
        "least 91.8 % of the labels on rows that you can judge."
    )


def test_the_bound_of_rows_that_can_be_judged_holds_for_any_number_of_them():
    # The pool of such rows may have any size; the bound for one without end is below them all.
    for pool, x in ((60, 0), (61, 2), (80, 5), (300, 1), (5000, 7)):
        assert certify(60, x).lower <= certify(60, x, pool).lower + 1e-12


def test_every_accepted_row_is_drawn_equally_often():
    rows = np.array([3, 5, 8, 13, 21])
    counts = {int(row): 0 for row in rows}
    rng = np.random.default_rng(0)
    for _ in range(4000):
        drawn = draw_audit(rows, 2, rng)
        assert len(set(drawn.tolist())) == 2
        for row in drawn:
            counts[int(row)] += 1
    assert_allclose(list(counts.values()), 1600, rtol=0.08)


def test_a_draw_is_repeatable_and_never_larger_than_the_pool():
    rows = np.arange(100, 130)
    assert draw_audit(rows, 7, 1).tolist() == draw_audit(rows, 7, 1).tolist()
    assert sorted(draw_audit(rows, 99, 0)) == rows.tolist()
    assert len(draw_audit([], 5, 0)) == 0


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: certify(5, 6), "6 of 5 checked"),
        (lambda: certify(5, 1, 4), "5 rows were checked and 4 accepted"),
        (lambda: certify(5, 1, confidence=1.0), "confidence=1.0"),
        (lambda: certify(-1, 0), "n_checked=-1"),
    ],
)
def test_impossible_counts_are_refused(call, words):
    with pytest.raises(InvalidInputError, match=words):
        call()
