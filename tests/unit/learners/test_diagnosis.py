"""A diagnosis tells facts of graph and labels, and warns only where the graph does not help."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsClassifier

from beltrami.core.errors import GraphDoesNotHelpWarning
from beltrami.data import two_moons
from beltrami.graph.families import ring
from beltrami.graph.model import Graph
from beltrami.graph.recipes import KnnGraph
from beltrami.learners import (
    EigenfunctionClassifier,
    EigenfunctionRegressor,
    GeodesicNeighborsClassifier,
    GraphRegularizedClassifier,
    GraphRegularizedRegressor,
    PoissonClassifier,
)
from beltrami.learners.diagnosis import _baselines, is_clear
from beltrami.learners.model import LeftOut

CLASSIFIERS = [
    EigenfunctionClassifier,
    GraphRegularizedClassifier,
    PoissonClassifier,
    GeodesicNeighborsClassifier,
]
REGRESSORS = [EigenfunctionRegressor, GraphRegularizedRegressor]


def edges_of(n, *edges):
    weights = np.zeros((n, n))
    for i, j, weight in edges:
        weights[i, j] = weights[j, i] = weight
    return Graph.from_matrix(weights)


def random_graph(n, seed=0):
    """A graph that knows nothing of the points."""
    return Graph(KnnGraph(6).build(np.random.default_rng(seed).normal(size=(n, 8))).weights)


def linear_classes(n=120, n_labels=40, seed=0):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, 2))
    truth = (points[:, 0] > 0).astype(int)
    y = np.full(n, -1)
    rows = rng.permutation(n)[:n_labels]
    y[rows] = truth[rows]
    return points, y


def moons(n=200, n_labels=24, seed=0):
    data = two_moons(n, random_state=seed)
    y = np.full(n, -1)
    rows = np.random.default_rng(seed).permutation(n)[:n_labels]
    y[rows] = data.targets[rows]
    return data.points, y


# --- facts ------------------------------------------------------------------------------------


def test_facts_of_a_graph_made_by_hand() -> None:
    # Labels at 0, 1, 2 and 4; edges 0-1 (same class, weight 3), 1-2 (other, 1); 5-6 is apart.
    graph = edges_of(7, (0, 1, 3.0), (1, 2, 1.0), (2, 3, 1.0), (3, 4, 1.0), (5, 6, 2.0))
    y = np.array(["a", "a", "b", "", "b", "", ""])
    learner = GraphRegularizedClassifier(graph=graph).fit(np.arange(7.0)[:, None], y)
    found = learner.diagnose()
    assert (found.learner, found.n_points, found.n_labels) == ("GraphRegularizedClassifier", 7, 4)
    assert (found.n_components, found.n_components_unlabeled, found.n_unreached) == (2, 1, 2)
    assert found.class_counts == {"a": 2, "b": 2}
    assert found.n_label_pairs == 2
    assert found.purity == 0.75
    assert found.measure == "error rate"
    assert found.n_left_out == 4
    assert not found.is_beaten
    text = str(found)
    assert "7, of which 4 labelled" in text
    assert "2; without a label 1" in text
    assert "75.0% of 2 edges" in text
    assert "2 points in 1 component(s) have no label to learn from" in text


def test_labels_without_a_common_edge_have_no_purity() -> None:
    y = np.array([0, -1, 1, -1, 0])
    graph = edges_of(5, (0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0), (3, 4, 1.0))
    found = GraphRegularizedClassifier(graph=graph).fit(np.zeros((5, 1)), y).diagnose()
    assert (found.n_label_pairs, found.purity) == (0, None)
    assert "- of 0 edges" in str(found)


def test_edges_that_join_other_classes_are_told() -> None:
    """On a ring of alternating labels every edge joins two classes."""
    points, y = np.arange(20.0)[:, None], np.arange(20) % 2
    found = GeodesicNeighborsClassifier(graph=ring(20)).fit(points, y).diagnose()
    assert (found.n_label_pairs, found.purity) == (20, 0)
    assert any("only 0% of the edges between labelled points" in line for line in found.advice)


@pytest.mark.parametrize(
    ("learner", "reason"),
    [
        (EigenfunctionClassifier(), "eigenvectors have the lowest leave-one-out loss"),
        (EigenfunctionClassifier(gamma="auto"), "has the lowest leave-one-out loss"),
        (GraphRegularizedClassifier(gamma="auto"), "has the lowest leave-one-out loss"),
        (PoissonClassifier(), "normalised cut"),
    ],
)
def test_the_text_tells_what_was_chosen_and_why(learner, reason: str) -> None:
    found = learner.fit(*moons()).diagnose()
    assert reason in found.choices[0]
    assert f"chosen: {found.choices[0]}" in str(found)


def test_what_was_given_is_not_told_as_chosen() -> None:
    found = GraphRegularizedClassifier(gamma=0.1).fit(*moons()).diagnose()
    assert found.choices == ()
    assert "chosen" not in str(found)


@pytest.mark.parametrize("learner", CLASSIFIERS)
def test_the_held_out_error_is_that_of_leave_one_out(learner) -> None:
    fitted = learner().fit(*moons())
    assert_allclose(fitted.diagnose().held_out, fitted._left_out().error)


# --- baselines --------------------------------------------------------------------------------


def test_the_baseline_of_neighbours_is_the_best_k_of_scikit_learn() -> None:
    points, y = moons(n_labels=30)
    found = GraphRegularizedClassifier().fit(points, y).diagnose()
    rows, errors = np.flatnonzero(y >= 0), {}
    for k in (1, 3, 5):
        wrong = 0
        for row in rows:
            others = rows[rows != row]
            voter = KNeighborsClassifier(k).fit(points[others], y[others])
            wrong += int(voter.predict(points[[row]])[0] != y[row])
        errors[k] = wrong / len(rows)
    best = min(errors, key=errors.get)
    assert_allclose(found.baselines[f"{best}-NN"], errors[best])


def test_the_baseline_of_ridge_is_left_out_exactly() -> None:
    rng = np.random.default_rng(0)
    points, targets = rng.normal(size=(15, 3)) * [1, 5, 0.2], rng.normal(size=(15, 1))
    left_out = LeftOut(np.arange(15), targets, np.zeros((15, 1)), np.ones(15))
    found = _baselines(points, "euclidean", left_out, is_class=False)["ridge"]
    scaled = (points - points.mean(axis=0)) / points.std(axis=0)
    sizes = np.linalg.svd(scaled, compute_uv=False)
    tried = []
    for strength in np.geomspace(1e-4, 1e3, 15) * (sizes**2).mean():
        held = np.empty((15, 1))
        for i in range(15):
            others = np.arange(15) != i
            held[i] = Ridge(strength).fit(scaled[others], targets[others]).predict(scaled[[i]])
        tried.append(held)
    best = min(tried, key=lambda held: ((held - targets) ** 2).mean())
    assert_allclose(found, best, atol=1e-8)


def test_precomputed_distances_and_sparse_points_have_baselines_too() -> None:
    points, y = moons()
    away = cdist(points, points)
    known = GraphRegularizedClassifier(graph=KnnGraph(metric="precomputed")).fit(away, y).diagnose()
    plain = GraphRegularizedClassifier().fit(points, y).diagnose()
    sparse = GraphRegularizedClassifier().fit(csr_array(points), y).diagnose()
    assert "ridge" not in known.baselines
    for name, value in known.baselines.items():
        assert_allclose(value, plain.baselines[name])
    assert sparse.baselines == pytest.approx(plain.baselines)


# --- the warning ------------------------------------------------------------------------------


@pytest.mark.parametrize("learner", CLASSIFIERS)
def test_a_meaningless_graph_is_called_no_help(learner) -> None:
    points, y = linear_classes()
    fitted = learner(graph=random_graph(120)).fit(points, y)
    with pytest.warns(GraphDoesNotHelpWarning, match="the graph does not help here"):
        found = fitted.diagnose()
    assert found.is_beaten
    assert min(found.baselines.values()) < found.held_out
    assert "! the graph does not help here" in str(found)


@pytest.mark.parametrize("learner", CLASSIFIERS)
def test_on_two_moons_the_graph_is_not_blamed(learner) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", GraphDoesNotHelpWarning)
        for seed in range(3):
            found = learner().fit(*moons(seed=seed)).diagnose()
            assert not found.is_beaten
            assert found.held_out <= found.baselines["ridge"]


@pytest.mark.parametrize("learner", REGRESSORS)
def test_a_meaningless_graph_is_no_help_for_a_regression_either(learner) -> None:
    points, y = linear_classes()
    values = np.where(y >= 0, points @ [1.0, -2.0], np.nan)
    with pytest.warns(GraphDoesNotHelpWarning, match="ridge on the labelled rows"):
        found = learner(graph=random_graph(120)).fit(points, values).diagnose()
    assert found.measure == "mean squared error"
    assert found.class_counts == {}
    assert found.purity is None
    assert "mean squared error, held out" in str(found)
    assert found.baselines["ridge"] < 1e-3


@pytest.mark.parametrize("learner", REGRESSORS)
def test_a_function_along_the_moons_does_not_blame_the_graph(learner) -> None:
    data = two_moons(200, noise=0.02, random_state=0)
    values = np.where(np.arange(200) % 5 == 0, 3.0 * data.targets, np.nan)
    with warnings.catch_warnings():
        warnings.simplefilter("error", GraphDoesNotHelpWarning)
        assert not learner().fit(data.points, values).diagnose().is_beaten


def test_a_lead_must_be_clear() -> None:
    assert not is_clear(np.ones(4), 0)
    assert is_clear(np.ones(5), 5)
    assert not is_clear(np.ones(5), 6)
    assert not is_clear(np.zeros(50), 0)
    assert not is_clear(np.array([1.0, -1.0, 1.0, 0, 0, 0, 0]), 0)
    assert not is_clear(-np.ones(50), 0)


# --- few labels -------------------------------------------------------------------------------


@pytest.mark.parametrize("learner", CLASSIFIERS)
@pytest.mark.parametrize("count", [2, 3, 4])
def test_few_labels_are_enough_for_a_diagnosis(learner, count: int) -> None:
    points, _ = moons()
    y = np.full(200, -1)
    y[:count] = np.arange(count) % 2
    found = learner().fit(points, y).diagnose()
    assert found.n_labels == count
    assert bool(found.baselines) == (count > 3)  # an only label is not judged
    assert (found.held_out is None) == (count == 2)
    assert ("cannot be judged" in str(found)) == (count == 2)
    assert str(count) in repr(found)


@pytest.mark.parametrize("learner", REGRESSORS)
@pytest.mark.parametrize("count", [1, 2, 3])
def test_few_values_are_enough_for_a_diagnosis(learner, count: int) -> None:
    points, _ = moons()
    y = np.full(200, np.nan)
    y[:count] = np.arange(count)
    found = learner().fit(points, y).diagnose()
    assert np.isfinite(found.held_out)
    assert not found.is_beaten
