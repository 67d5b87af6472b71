"""Accepted labels: the expected share of wrong ones stays below the risk."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beltrami.core.errors import InvalidInputError
from beltrami.front_door.acceptance import accepted_rows, check_risk

NONE = np.zeros(0, dtype=np.intp)


def _accepted(confidence, risk, eligible=None, given=NONE):
    confidence = np.asarray(confidence, dtype=float)
    eligible = np.ones(len(confidence), dtype=bool) if eligible is None else np.asarray(eligible)
    return accepted_rows(confidence, eligible, np.asarray(given, dtype=np.intp), risk)


def test_the_surest_are_accepted_as_long_as_their_mean_doubt_allows():
    # Doubts 0, 0.1, 0.2, 0.5: means 0, 0.05, 0.1, 0.2.
    assert _accepted([0.5, 1.0, 0.8, 0.9], 0.1).tolist() == [False, True, True, True]
    assert _accepted([0.5, 1.0, 0.8, 0.9], 0.2).all()
    assert _accepted([0.5, 1.0, 0.8, 0.9], 0.0).tolist() == [False, True, False, False]


def test_rows_equally_sure_are_accepted_together_or_not_at_all():
    # One row of 0.7 beside the sure one would be within the risk, two are not.
    assert _accepted([1.0, 0.7, 0.7], 0.16).tolist() == [True, False, False]
    assert _accepted([1.0, 0.7, 0.7], 0.2).all()


def test_without_a_risk_all_that_are_eligible_are_accepted():
    assert _accepted([0.2, 0.9], None, [True, False]).tolist() == [True, False]


def test_given_labels_are_accepted_and_do_not_count():
    found = _accepted([0.6, 0.01, 0.95], 0.1, given=[1])
    assert found.tolist() == [False, True, True]
    with_sure_labels = _accepted([0.8, 1.0, 1.0, 1.0], 0.1, given=[1, 2, 3])
    assert not with_sure_labels[0]


def test_rows_that_are_not_eligible_are_never_accepted():
    assert _accepted([1.0, 0.9], 0.5, [False, True]).tolist() == [False, True]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.floats(0, 1))
def test_the_expected_share_of_wrong_labels_is_below_the_risk(confidence, risk):
    confidence = np.array(confidence)
    found = _accepted(confidence, risk)
    if found.any():
        assert (1 - confidence[found]).mean() <= risk + 1e-9
        assert not (~found).any() or confidence[found].min() > confidence[~found].max()


@pytest.mark.parametrize("risk", [-0.1, 1.5, "low", True, float("nan")])
def test_a_risk_that_is_no_share_is_refused(risk):
    with pytest.raises(InvalidInputError, match="risk"):
        check_risk(risk)
