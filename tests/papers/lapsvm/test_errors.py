"""Errors at the break-even point, against precision and recall counted by hand."""

import numpy as np
import pytest

from beltrami.core.errors import InvalidInputError
from beltrami_papers.lapsvm.errors import breakeven_error, plain_error


def _by_ranks(scores, positive):
    called = np.zeros(len(scores), dtype=bool)
    called[np.argsort(-scores, kind="stable")[: positive.sum()]] = True
    hits = (called & positive).sum()
    assert hits / called.sum() == hits / positive.sum()  # precision is recall
    return 100 * np.mean(called != positive)


@pytest.mark.parametrize("n_positive", [1, 7, 20, 39])
def test_the_highest_scores_are_called_positive(n_positive):
    rng = np.random.default_rng(n_positive)
    positive = rng.permutation(40) < n_positive
    scores = rng.normal(size=40) + positive
    assert breakeven_error(scores, positive) == pytest.approx(_by_ranks(scores, positive))


def test_a_perfect_order_has_no_error_wherever_its_zero_lies():
    positive = np.array([True, False, True, False, False])
    scores = np.array([-1.0, -3.0, -2.0, -4.0, -5.0])
    assert breakeven_error(scores, positive) == 0
    assert plain_error(scores, positive) == pytest.approx(40)
    assert breakeven_error(-scores, positive) == pytest.approx(80)


def test_classes_may_trade_places():
    rng = np.random.default_rng(0)
    positive, scores = rng.random(31) < 0.3, rng.normal(size=31)
    assert breakeven_error(scores, positive) == pytest.approx(breakeven_error(-scores, ~positive))


def test_a_tie_counts_the_mean_over_its_orders():
    positive = np.array([True, False, True, False])
    assert breakeven_error(np.zeros(4), positive) == pytest.approx(50)
    scores = np.array([2.0, 1.0, 1.0, 0.0])  # one of the two in the middle is taken
    assert breakeven_error(scores, positive) == pytest.approx(25)
    order = [2, 1, 0, 3]
    assert breakeven_error(scores[order], positive[order]) == pytest.approx(25)


def test_one_class_alone_is_refused():
    with pytest.raises(InvalidInputError, match="0 of 3 points are positive"):
        breakeven_error(np.arange(3.0), np.zeros(3, dtype=bool))
