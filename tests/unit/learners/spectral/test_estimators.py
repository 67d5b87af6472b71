"""Eigenfunction learners: closed forms on rings and paths, new points, labels that change."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from beltrami.core.errors import (
    DegenerateDataWarning,
    DisconnectedGraphWarning,
    InvalidInputError,
    MemoryBudgetError,
)
from beltrami.core.machine import memory
from beltrami.data import two_moons
from beltrami.graph.families import disjoint_union, path, ring
from beltrami.graph.model import Graph
from beltrami.graph.recipes import KnnGraph
from beltrami.learners import EigenfunctionClassifier, EigenfunctionRegressor
from beltrami.learners.spectral import estimators as eigenfunctions
from beltrami.operators.extension import extend_eigenvectors


def blank(n):
    return np.zeros((n, 1))


def partly(values, rows):
    """Values at some rows, NaN elsewhere."""
    y = np.full(len(values), np.nan)
    y[rows] = values[rows]
    return y


def moons(n=120, n_labels=20, seed=0):
    data = two_moons(n, random_state=seed)
    rows = np.random.default_rng(seed).permutation(n)[:n_labels]
    y = np.full(n, -1)
    y[rows] = data.targets[rows]
    return data.points, y


# --- closed forms -----------------------------------------------------------------------------


def test_a_cosine_on_a_ring_is_found_from_its_values_at_six_points() -> None:
    n = 24
    truth = 2 + np.cos(2 * np.pi * np.arange(n) / n + 0.3)
    learner = EigenfunctionRegressor(graph=ring(n), n_eigenvectors=3, gamma=0.0)
    learner.fit(blank(n), partly(truth, [0, 1, 5, 9, 16, 20]))
    assert_allclose(learner.scores_[:, 0], truth, atol=1e-10)
    assert_allclose(learner.transduction_, truth, atol=1e-10)
    assert learner.n_eigenvectors_ == 3


def test_auto_takes_enough_eigenvectors_for_the_cosines_of_a_function_on_a_path() -> None:
    n = 40
    places = np.pi * (np.arange(n) + 0.5) / n
    truth = 1 + np.cos(places) - 0.5 * np.cos(3 * places)
    learner = EigenfunctionRegressor(graph=path(n), gamma=0.0)
    learner.fit(blank(n), partly(truth, np.arange(0, n, 3)))
    assert learner.n_eigenvectors_ >= 4
    assert_allclose(learner.transduction_, truth, atol=1e-9)


def test_with_all_labels_and_all_eigenvectors_the_fit_goes_through_the_labels() -> None:
    n, rng = 15, np.random.default_rng(0)
    values, y = rng.normal(size=n), rng.integers(0, 3, size=n)
    regressor = EigenfunctionRegressor(graph=path(n), n_eigenvectors=n, gamma=1e-14)
    assert_allclose(regressor.fit(blank(n), values).scores_[:, 0], values, atol=1e-9)
    classifier = EigenfunctionClassifier(graph=path(n), n_eigenvectors=n, gamma=1e-14)
    classifier.fit(blank(n), y)
    assert_allclose(classifier.scores_, 2 * np.eye(3)[y] - 1, atol=1e-9)


def test_the_first_nonconstant_eigenvector_cuts_a_path_in_the_middle() -> None:
    y = np.full(20, -1)
    y[[2, 6, 13, 17]] = [0, 0, 1, 1]
    learner = EigenfunctionClassifier(graph=path(20), n_eigenvectors=2).fit(blank(20), y)
    assert_array_equal(learner.transduction_, [0] * 10 + [1] * 10)
    # Targets are plus and minus one, so that the two columns mirror each other.
    assert_allclose(learner.scores_.sum(axis=1), 0, atol=1e-12)


def test_scores_are_least_squares_on_the_dense_eigenvectors() -> None:
    points, y = moons()
    learner = EigenfunctionClassifier(n_eigenvectors=6).fit(points, y)
    weights = learner.graph_.weights.toarray()
    vectors = np.linalg.eigh(np.diag(weights.sum(axis=1)) - weights)[1][:, :6]
    rows = np.flatnonzero(y >= 0)
    expected = vectors @ np.linalg.lstsq(vectors[rows], 2 * np.eye(2)[y[rows]] - 1)[0]
    assert_allclose(learner.scores_, expected, atol=1e-7)


def test_a_strong_penalty_leaves_the_mean_of_each_component() -> None:
    graph = disjoint_union(path(6), ring(5))
    y = partly(np.arange(11.0), [0, 2, 7, 10])
    learner = EigenfunctionRegressor(graph=graph, gamma=1e13).fit(blank(11), y)
    assert_allclose(learner.scores_[:, 0], [1.0] * 6 + [8.5] * 5, rtol=1e-6)


# --- how many ---------------------------------------------------------------------------------


def test_sizes_may_be_numbers_shares_or_chosen() -> None:
    points, y = moons()
    for asked, expected in ((5, 5), (0.2, 4), (1, 1)):
        learner = EigenfunctionClassifier(n_eigenvectors=asked).fit(points, y)
        assert learner.n_eigenvectors_ == expected
        assert not learner.spectral_fit_.choices
    learner = EigenfunctionClassifier().fit(points, y)
    assert 1 <= learner.n_eigenvectors_ <= 12
    assert learner.spectral_fit_.choices[0].value == learner.n_eigenvectors_


def test_more_eigenvectors_than_labels_warn_and_fewer_are_used() -> None:
    points, y = moons()
    with pytest.warns(DegenerateDataWarning, match="40 eigenvectors and 20 labels"):
        learner = EigenfunctionClassifier(n_eigenvectors=40).fit(points, y)
    assert learner.n_eigenvectors_ == 12


def test_half_of_a_degenerate_pair_warns() -> None:
    y = np.full(20, -1)
    y[[0, 5, 10, 15]] = [0, 0, 1, 1]
    with pytest.warns(DegenerateDataWarning, match="share the eigenvalue"):
        EigenfunctionClassifier(graph=ring(20), n_eigenvectors=2).fit(blank(20), y)


def test_auto_does_not_split_the_space_where_the_computed_basis_ends(monkeypatch) -> None:
    monkeypatch.setattr(eigenfunctions, "MOST_VECTORS", 5)
    rng, n = np.random.default_rng(0), 60
    for seed in range(4):
        y = partly(rng.normal(size=n), np.random.default_rng(seed).permutation(n)[:40])
        learner = EigenfunctionRegressor(graph=ring(n), gamma=0.0).fit(blank(n), y)
        assert learner.basis_.values.size == 6
        assert learner.n_eigenvectors_ in (1, 3, 5)


def test_a_penalty_that_is_chosen_uses_all_eigenvectors() -> None:
    points, y = moons()
    learner = EigenfunctionClassifier(gamma="auto").fit(points, y)
    assert learner.n_eigenvectors_ == learner.basis_.values.size == 120
    assert learner.gamma_ > 0
    assert "lowest leave-one-out loss" in learner.spectral_fit_.choices[0].reason
    fixed = EigenfunctionClassifier(gamma=learner.gamma_).fit(points, y)
    assert_allclose(fixed.scores_, learner.scores_, atol=1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_eigenvectors": 0}, "n_eigenvectors=0"),
        ({"n_eigenvectors": "most"}, "n_eigenvectors='most'"),
        ({"gamma": -1.0}, "gamma=-1.0"),
        ({"gamma": "big"}, "gamma='big'"),
        ({"new_points": "guess"}, "new_points='guess' is not known"),
    ],
)
def test_bad_parameters_are_refused_with_a_reason(options, message: str) -> None:
    points, y = moons()
    with pytest.raises(InvalidInputError, match=message):
        EigenfunctionClassifier(**options).fit(points, y)


def test_a_basis_that_does_not_fit_into_memory_is_refused(monkeypatch) -> None:
    points, y = moons()
    graph = KnnGraph().build(points)
    monkeypatch.setattr(memory, "available_bytes", lambda: 40_000)
    with pytest.raises(MemoryBudgetError, match="a basis of 120 eigenvectors of 120 points"):
        EigenfunctionClassifier(graph=graph).fit(points, y)


# --- other labels -----------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"gamma": "auto"}, {"n_eigenvectors": 0.25}])
def test_fit_labels_is_a_fresh_fit(options) -> None:
    points, y = moons()
    _, other = moons(seed=0, n_labels=45)
    learner = EigenfunctionClassifier(**options).fit(points, y).fit_labels(other)
    fresh = EigenfunctionClassifier(**options).fit(points, other)
    assert learner.n_eigenvectors_ == fresh.n_eigenvectors_
    assert_allclose(learner.scores_, fresh.scores_, atol=1e-9)
    assert_allclose(learner.label_distributions_, fresh.label_distributions_, atol=1e-9)


def test_a_share_of_more_labels_computes_more_eigenvectors() -> None:
    points, y = moons()
    learner = EigenfunctionClassifier(n_eigenvectors=0.2).fit(points, y)
    assert learner.basis_.values.size == 5
    graph, basis = learner.graph_, learner.basis_
    assert learner.fit_labels(y).basis_ is basis
    _, more = moons(n_labels=60)
    learner.fit_labels(more)
    assert (learner.n_eigenvectors_, learner.basis_.values.size) == (12, 13)
    assert learner.graph_ is graph


def test_the_basis_always_has_one_vector_more_to_see_a_split_by() -> None:
    n, rows = 20, np.arange(20)
    y = np.where(rows < 10, 0, 1)
    learner = EigenfunctionClassifier(graph=ring(n), n_eigenvectors=0.2)
    learner.fit(blank(n), np.where(rows % 4 == 0, y, -1))
    assert learner.n_eigenvectors_ == 1
    with pytest.warns(DegenerateDataWarning, match="eigenvectors 2 and 3 share"):
        learner.fit_labels(np.where(rows % 2 == 0, y, -1))


# --- new points -------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"gamma": "auto"}])
def test_points_of_the_fit_get_their_own_scores(options) -> None:
    points, y = moons()
    learner = EigenfunctionClassifier(**options).fit(points, y)
    scores = learner.scores_
    assert_array_equal(learner.decision_function(points), (scores[:, 1] - scores[:, 0]) / 2)
    assert_array_equal(learner.predict(points), scores.argmax(axis=1))
    assert_allclose(learner.predict_proba(points), learner.label_distributions_)


def test_new_points_follow_nystroms_formula() -> None:
    points, y = moons()
    values = partly(points[:, 0], np.flatnonzero(y >= 0))
    learner = EigenfunctionRegressor(n_eigenvectors=4).fit(points, values)
    new = points[:7] + 0.02
    weights = learner.recipe_.extend(learner.graph_, points, new)
    basis = learner.basis_
    there = extend_eigenvectors(
        weights, basis.vectors[:, :4], basis.values[:4], kind="combinatorial"
    )
    assert_allclose(learner.predict(new), (there @ learner.spectral_fit_.coefficients)[:, 0])


def test_neighbours_are_three_nearest_on_the_transduction() -> None:
    points, y = moons()
    learner = EigenfunctionClassifier(new_points="neighbors").fit(points, y)
    new = points[:40] + np.random.default_rng(0).normal(0, 0.2, size=(40, 2))
    voters = KNeighborsClassifier(3).fit(points, learner.transduction_)
    assert_array_equal(learner.predict(new), voters.predict(new))
    regressor = EigenfunctionRegressor(new_points="neighbors")
    regressor.fit(points, partly(points[:, 0], np.flatnonzero(y >= 0)))
    voters = KNeighborsRegressor(3).fit(points, regressor.transduction_)
    assert_allclose(regressor.predict(new), voters.predict(new))


@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
def test_neighbours_that_no_label_reaches_have_no_vote(metric: str) -> None:
    points = np.concatenate([np.arange(6.0), 100 + np.arange(6.0)])[:, None]
    new = np.array([[1.2], [103.3], [52.9]])  # the last has one of its three nearest in reach
    y, values = np.full(12, -1), np.full(12, np.nan)
    y[[0, 1, 4, 5]], values[[0, 5]] = [7, 7, 9, 9], [1.0, 3.0]
    if metric == "precomputed":
        points, new = abs(points - points.T), abs(new - points.T)
    recipe = KnnGraph(2, connect="keep", metric=metric)
    learner = EigenfunctionClassifier(graph=recipe, new_points="neighbors").fit(points, y)
    assert_array_equal(learner.predict(new), [7, -1, 9])
    assert_allclose(learner.predict_proba(new)[1], [0.5, 0.5])
    regressor = EigenfunctionRegressor(graph=recipe, new_points="neighbors")
    regressor.fit(points, values)
    assert_allclose(regressor.predict(new)[1:], [2.0, regressor.transduction_[5]])
    assert_array_equal(regressor.predict_interval(new, 0.5)[1], [-np.inf, np.inf])


def test_neighbours_work_where_the_graph_was_given() -> None:
    points, y = moons()
    graph = KnnGraph().build(points)
    own = clone(EigenfunctionClassifier(new_points="neighbors")).fit(points, y)
    given = EigenfunctionClassifier(graph=Graph(graph.weights), new_points="neighbors")
    new = points[:9] + 0.01
    assert_array_equal(given.fit(points, y).predict(new), own.predict(new))
    with pytest.raises(InvalidInputError, match="says nothing about new points"):
        EigenfunctionClassifier(graph=graph).fit(points, y).predict(new)


# --- probabilities ----------------------------------------------------------------------------


def test_probabilities_are_a_softmax_at_the_fitted_temperature() -> None:
    points, y = moons()
    learner = EigenfunctionClassifier().fit(points, y)
    raised = np.exp(learner.scores_ / learner.temperature_)
    expected = raised / raised.sum(axis=1, keepdims=True)
    assert_allclose(learner.label_distributions_, expected, rtol=1e-10)
    assert 0.05 <= learner.temperature_ <= 5


def test_labels_that_contradict_each_other_make_probabilities_less_sure() -> None:
    points, y = moons()
    sure = EigenfunctionClassifier(n_eigenvectors=6).fit(points, y)
    rows, rng = np.flatnonzero(y >= 0), np.random.default_rng(0)
    noisy = y.copy()
    flipped = rng.choice(rows, 8, replace=False)
    noisy[flipped] = 1 - noisy[flipped]
    doubtful = EigenfunctionClassifier(n_eigenvectors=6).fit(points, noisy)
    assert doubtful.temperature_ > 2 * sure.temperature_


def test_components_without_labels_cost_no_warning_of_a_cap() -> None:
    graph = disjoint_union(path(8), path(5), path(4))
    y = np.full(17, -1)
    y[[0, 1, 3, 4, 6, 7]] = [0, 0, 0, 1, 1, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", DisconnectedGraphWarning)
        learner = EigenfunctionClassifier(graph=graph, n_eigenvectors=4).fit(blank(17), y)
    assert_array_equal(learner.transduction_, [0] * 4 + [1] * 4 + [-1] * 9)


def test_the_warning_of_a_cap_counts_the_constants_of_all_components() -> None:
    graph = disjoint_union(path(8), path(5), path(4))
    y = np.full(17, -1)
    y[[0, 7]] = [0, 1]
    with pytest.warns(DegenerateDataWarning, match=r"5 eigenvectors and 2 labels.*so 3 eigen"):
        learner = EigenfunctionClassifier(graph=graph, n_eigenvectors=5).fit(blank(17), y)
    assert learner.n_eigenvectors_ == 3
