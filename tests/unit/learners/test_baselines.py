"""Baselines: labels alone, beside scikit-learn and brute force."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.linear_model import LogisticRegression

from beltrami.learners.baselines import LogisticBaseline, nearest_of_classes
from beltrami.learners.model import Labeled


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_logistic_regression_is_that_of_scikit_learn_on_standardised_columns(dtype, n_classes):
    rng = np.random.default_rng(0)
    points = (rng.normal(size=(200, 5)) * [1, 10, 0.1, 1, 0] + [0, 1e4, 0, -3, 7]).astype(dtype)
    rows = np.arange(30)
    codes = rng.integers(0, n_classes, 30)
    labeled = Labeled(rows, np.eye(n_classes)[codes], rng.uniform(0.5, 2, 30))
    logits = LogisticBaseline().fit(points, labeled, "euclidean")
    exact = points.astype(np.float64)
    spread = exact.std(axis=0)
    scaled = (exact - exact.mean(axis=0)) / np.where(spread > 1e-6, spread, 1)
    model = LogisticRegression(max_iter=200).fit(scaled[rows], codes, labeled.weights)
    np.testing.assert_allclose(logits, model.predict_log_proba(scaled), atol=5e-3)


def test_the_nearest_row_of_each_class_is_that_of_brute_force():
    rng = np.random.default_rng(0)
    points, rows = rng.normal(size=(300, 7)) + 100, rng.normal(size=(20, 7)) + 100
    codes = np.array([4, 0, 2, 2] * 5)
    table = cdist(points, rows)
    expected = np.stack([table[:, codes == code].min(axis=1) for code in (0, 2, 4)], axis=1)
    np.testing.assert_allclose(nearest_of_classes(points, rows, codes), expected, rtol=1e-9)
