"""Scores count labelled rows only."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import r2_score

from beltrami.core.errors import InvalidInputError
from beltrami.learners.scores import labeled_accuracy, labeled_r2


@pytest.mark.parametrize(
    ("y", "predicted", "expected"),
    [
        ([0, 1, -1, 1], np.array([0, 0, 1, 1]), 2 / 3),
        (["a", "b", None, "b"], np.array(["a", "a", "b", "b"]), 2 / 3),
        (["a", "b", "", "b"], np.array(["a", "", "b", "b"]), 2 / 3),
        (["a", "b", None, "b"], np.array(["a", None, "b", "b"], dtype=object), 2 / 3),
        (["a", "b", pd.NA, "b"], np.array(["a", pd.NA, pd.NA, "b"], dtype=object), 2 / 3),
        (["a", "b", -1, "b"], np.array(["a", -1, -1, "b"], dtype=object), 2 / 3),
        ([0, 1, -1, 1], np.array([0, -1, -1, 1]), 2 / 3),
        ([True, False, None, True], np.array([True, None, None, True], dtype=object), 2 / 3),
        (np.array([0, 1, np.nan, 1]), np.array([0, np.nan, np.nan, 1]), 2 / 3),
        (pd.Series([0, 1, None, 1], dtype="Int64"), pd.Series([0, 0, 1, 1]), 2 / 3),
        ([3, 3, 3, 3], np.array([3, 3, 3, 4]), 3 / 4),
        (["only", None], ["only", "other"], 1),
        ([5, -1], np.array([-1, -1]), 0),
    ],
)
def test_accuracy_counts_labelled_rows_and_a_marker_as_wrong(y, predicted, expected):
    assert labeled_accuracy(y, predicted) == pytest.approx(expected)


def test_accuracy_understands_other_markers():
    assert labeled_accuracy([0, 1, 2], np.array([0, 1, 1]), unlabeled=0) == 0.5
    assert labeled_accuracy([-1, 1, 1], np.array([-1, 1, 1]), unlabeled=None) == 1
    lost = np.array([None, 1, -1], dtype=object)
    assert labeled_accuracy([-1, 1, -1], lost, unlabeled=None) == pytest.approx(2 / 3)


def test_accuracy_is_weighted_by_the_rows_that_count():
    weights = [3.0, 1.0, np.nan]
    assert labeled_accuracy([0, 1, -1], np.array([0, 0, 0]), sample_weight=weights) == 0.75
    with pytest.raises(InvalidInputError, match="sample_weight"):
        labeled_accuracy([0, 1, -1], np.array([0, 0, 0]), sample_weight=[1.0, 1.0])


def test_accuracy_refuses_what_cannot_be_scored():
    with pytest.raises(InvalidInputError, match="none of its 2 rows"):
        labeled_accuracy([-1, -1], np.array([0, 1]))
    with pytest.raises(InvalidInputError, match="3 rows and 2 labels"):
        labeled_accuracy([0, 1], np.array([0, 1, 1]))
    with pytest.raises(InvalidInputError, match=r"shape \(2, 2\)"):
        labeled_accuracy([0, 1], np.eye(2))
    with pytest.raises(InvalidInputError, match="texts and numbers"):
        labeled_accuracy([0, 1], np.array(["0", "1"]))
    with pytest.raises(InvalidInputError, match="continuous"):
        labeled_accuracy([0.5, 1], np.array([0, 1]))


def test_r2_is_that_of_scikit_learn_on_the_labelled_rows():
    rng = np.random.default_rng(0)
    y, predicted, weights = rng.standard_normal((3, 30))
    weights, y[-10:], predicted[-10:] = np.abs(weights), np.nan, 1e6
    assert labeled_r2(y, predicted) == pytest.approx(r2_score(y[:20], predicted[:20]))
    assert labeled_r2(y, predicted, sample_weight=weights) == pytest.approx(
        r2_score(y[:20], predicted[:20], sample_weight=weights[:20])
    )
    assert labeled_r2([None, -1, 2], [0, -1, 2]) == 1  # -1 is a number
    with pytest.warns(UndefinedMetricWarning):
        assert np.isnan(labeled_r2([1.0, np.nan], [1.0, 2.0]))
    with pytest.raises(InvalidInputError, match="no value at all"):
        labeled_r2([np.nan, np.nan], [1.0, 2.0])
    with pytest.raises(InvalidInputError, match="2 rows and 3"):
        labeled_r2([1.0, 2.0, 3.0], [1.0, 2.0])
