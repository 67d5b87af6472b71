"""Regressors: intervals against real refits, their coverage, and values that are missing."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from beltrami.core.errors import InvalidInputError
from beltrami.core.machine.threads import thread_limit
from beltrami.data import circle
from beltrami.graph.families import path
from beltrami.graph.recipes import KnnGraph
from beltrami.learners import EigenfunctionRegressor, GraphRegularizedRegressor

REGRESSORS = {
    "eigenfunctions": EigenfunctionRegressor(n_eigenvectors=5, gamma=0.0),
    "spectral ridge": EigenfunctionRegressor(gamma=0.01),
    "neighbours": EigenfunctionRegressor(n_eigenvectors=5, gamma=0.0, new_points="neighbors"),
    "interpolated": GraphRegularizedRegressor(tol=1e-12),
    "Tikhonov": GraphRegularizedRegressor(gamma=0.01, tol=1e-12),
    "iterated": GraphRegularizedRegressor(smoothness=("iterated", 2), gamma=1e-3, tol=1e-12),
    "heat": GraphRegularizedRegressor(smoothness=("heat", 0.3), gamma=0.1, tol=1e-12),
}
CHOOSING = {
    "eigenfunctions": EigenfunctionRegressor(gamma=0.0),
    "spectral ridge": EigenfunctionRegressor(gamma="auto"),
    "Tikhonov": GraphRegularizedRegressor(gamma="auto", smoothness=("iterated", 2)),
}


def ring_data(n=80, n_labels=20, noise=0.3, seed=0):
    """A noisy smooth function on a circle, known at some points."""
    rng = np.random.default_rng(seed)
    points = circle(n, random_state=seed).points
    angles = np.arctan2(points[:, 1], points[:, 0])
    values = np.sin(angles) + 0.5 * np.cos(2 * angles) + rng.normal(0, noise, size=n)
    y = np.full(n, np.nan)
    rows = rng.permutation(n)[:n_labels]
    y[rows] = values[rows]
    return points, y, values


def refitted(learner, points, y, row, sample_weight):
    """The same learner without one label, the strength of its penalty kept."""
    rest = y.copy()
    rest[row] = np.nan
    again = clone(learner)
    if again.gamma:
        counts = ~np.isnan(y)
        total = sample_weight[counts].sum()
        again.set_params(gamma=again.gamma * total / (total - sample_weight[row]))
    return again.fit(points, rest, sample_weight)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", list(REGRESSORS))
def test_interval_ends_are_those_of_the_jackknife_with_real_refits(
    name: str, weighted: bool
) -> None:
    points, y, _ = ring_data(n=60, n_labels=14)
    new = np.vstack([points, 0.97 * points[:10] + 0.01])
    sample_weight = np.random.default_rng(1).uniform(0.5, 2, 60) if weighted else np.ones(60)
    learner = clone(REGRESSORS[name]).set_params(graph=KnnGraph(6))
    rows = np.flatnonzero(~np.isnan(y))
    without, residuals = [], []
    for row in rows:
        again = refitted(learner, points, y, row, sample_weight)
        without.append(again.predict(new))
        residuals.append(abs(y[row] - again.scores_[row, 0]))
    without, residuals = np.array(without), np.array(residuals)[:, None]
    alpha, count = 0.25, len(rows)
    lower = np.sort(without - residuals, axis=0)[int(np.floor(alpha * (count + 1))) - 1]
    upper = np.sort(without + residuals, axis=0)[int(np.ceil((1 - alpha) * (count + 1))) - 1]
    ends = learner.fit(points, y, sample_weight).predict_interval(new, coverage=1 - alpha)
    assert_allclose(ends, np.column_stack([lower, upper]), atol=1e-8)


@pytest.mark.parametrize("name", list(CHOOSING))
def test_a_chosen_parameter_counts_residuals_it_was_not_chosen_by(name: str) -> None:
    points, y, _ = ring_data(noise=0.5)
    learner = clone(CHOOSING[name]).fit(points, y)
    honest = learner._choices()[0].honest
    assert honest is not None
    assert honest.shape == (20,)
    assert (honest**2).mean() >= (learner._residuals() ** 2).mean() - 1e-12
    without = learner.scores_ - learner._shifts_at(points, learner._residuals())
    # Of 20 labels the second lowest and the second highest: floor(0.1 * 21), ceil(0.9 * 21).
    lower = np.sort(without - abs(honest), axis=1)[:, 1]
    upper = np.sort(without + abs(honest), axis=1)[:, 18]
    assert_allclose(learner.predict_interval(points), np.column_stack([lower, upper]))


@pytest.mark.parametrize("name", ["eigenfunctions", "spectral ridge", "Tikhonov"])
def test_intervals_hold_the_share_of_values_they_promise(name: str) -> None:
    learner = clone((CHOOSING | {"Tikhonov": GraphRegularizedRegressor(gamma="auto")})[name])
    held = []
    for seed in range(50):
        points, y, values = ring_data(n=150, n_labels=40, seed=seed)
        with thread_limit(1):
            ends = learner.fit(points, y).predict_interval(points)
        rest = np.isnan(y)
        held.append(((ends[:, 0] <= values) & (values <= ends[:, 1]))[rest].mean())
    assert abs(np.mean(held) - 0.9) < 0.03


def test_wider_coverage_gives_wider_intervals() -> None:
    points, y, _ = ring_data()
    learner = GraphRegularizedRegressor(gamma=0.01).fit(points, y)
    narrow, wide = learner.predict_interval(points, 0.5), learner.predict_interval(points, 0.9)
    assert (wide[:, 0] <= narrow[:, 0]).all()
    assert (wide[:, 1] >= narrow[:, 1]).all()


@pytest.mark.parametrize("name", list(REGRESSORS))
def test_too_few_labels_for_a_coverage_are_refused_with_numbers(name: str) -> None:
    points, y, _ = ring_data(n_labels=8)
    learner = clone(REGRESSORS[name]).fit(points, y)
    with pytest.raises(
        InvalidInputError, match=r"needs at least 9 labels and there are 8\..*0\.889"
    ):
        learner.predict_interval(points)
    assert np.isfinite(learner.predict_interval(points, 8 / 9)).all()


@pytest.mark.parametrize("coverage", [0, 1, -0.1, 90, np.nan, True])
def test_coverage_lies_between_zero_and_one(coverage) -> None:
    points, y, _ = ring_data()
    learner = GraphRegularizedRegressor().fit(points, y)
    with pytest.raises(InvalidInputError, match=r"coverage=.* must lie between 0 and 1"):
        learner.predict_interval(points, coverage)


def two_pieces():
    points = np.concatenate([np.arange(20.0), 500 + np.arange(15.0)])[:, None]
    y = np.full(35, np.nan)
    y[:20:2] = np.arange(10.0)
    return points, y


@pytest.mark.parametrize("name", list(REGRESSORS))
def test_rows_that_no_label_reaches_have_no_value_and_no_bounds(name: str) -> None:
    points, y = two_pieces()
    learner = clone(REGRESSORS[name]).set_params(graph=KnnGraph(3, connect="keep")).fit(points, y)
    assert_array_equal(np.isnan(learner.transduction_), [False] * 20 + [True] * 15)
    assert_array_equal(learner.reached_, [True] * 20 + [False] * 15)
    new = np.array([[3.4], [505.5]])
    assert np.isfinite(learner.predict(new)).all()
    assert_allclose(learner.predict(new)[1], 4.5)
    ends = learner.predict_interval(np.vstack([points, new]))
    assert np.isfinite(ends[:20]).all()
    assert_array_equal(ends[20:35], [[-np.inf, np.inf]] * 15)
    assert np.isfinite(ends[35]).all()
    assert_array_equal(ends[36], [-np.inf, np.inf])


@pytest.mark.parametrize("name", list(REGRESSORS | CHOOSING))
def test_a_constant_stays_constant(name: str) -> None:
    points, y, _ = ring_data()
    y = np.where(np.isnan(y), np.nan, 3.25)
    learner = clone((REGRESSORS | CHOOSING)[name]).fit(points, y)
    assert_allclose(learner.transduction_, 3.25, rtol=1e-6)
    # Nyström's formula divides by d - lambda, which is d for the constant.
    assert_allclose(learner.predict(points[:5] * 0.98), 3.25, rtol=1e-5)
    assert_allclose(learner.predict_interval(points), 3.25, rtol=1e-5)


@pytest.mark.parametrize("name", list(REGRESSORS))
def test_given_values_are_kept_and_predict_says_what_the_learner_thinks(name: str) -> None:
    points, y, _ = ring_data()
    learner = clone(REGRESSORS[name]).fit(points, y)
    given = ~np.isnan(y)
    assert_array_equal(learner.transduction_[given], y[given])
    assert_allclose(learner.transduction_[~given], learner.scores_[~given, 0])
    if name != "neighbours":
        assert_allclose(learner.predict(points), learner.scores_[:, 0])


def test_a_value_of_weight_zero_is_no_value() -> None:
    points, y, _ = ring_data()
    row = np.flatnonzero(~np.isnan(y))[0]
    weights = np.ones(80)
    weights[row] = 0
    learner = GraphRegularizedRegressor().fit(points, y, weights)
    y[row] = np.nan
    assert_allclose(learner.transduction_, GraphRegularizedRegressor().fit(points, y).transduction_)


def test_whole_numbers_and_none_are_values() -> None:
    for y in ([1, None, None, None, 5], [1.0, np.nan, np.nan, np.nan, 5.0]):
        learner = GraphRegularizedRegressor(graph=path(5)).fit(np.zeros((5, 1)), y)
        assert_allclose(learner.transduction_, [1, 2, 3, 4, 5], atol=1e-5)


def test_minus_one_is_a_value_of_a_regression() -> None:
    y = np.array([-1.0, np.nan, 1.0])
    learner = GraphRegularizedRegressor(graph=path(3)).fit(np.zeros((3, 1)), y)
    assert_allclose(learner.transduction_, [-1, 0, 1], atol=1e-6)


def test_the_score_counts_labelled_rows_only() -> None:
    points, y, values = ring_data(noise=0.0)
    learner = GraphRegularizedRegressor().fit(points, y)
    assert learner.score(points, values) > 0.9
    assert_allclose(learner.score(points, y), 1.0)


def test_intervals_need_a_fit() -> None:
    with pytest.raises(NotFittedError):
        GraphRegularizedRegressor().predict_interval(np.zeros((2, 2)))
