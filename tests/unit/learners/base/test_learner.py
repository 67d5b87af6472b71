"""What all learners share: labels of any type, rows in any order, rows out of reach, new points."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.model_selection import GridSearchCV

from beltrami.core.errors import DisconnectedGraphWarning
from beltrami.core.machine.threads import thread_limit
from beltrami.graph.recipes import KnnGraph
from beltrami.learners import (
    EigenfunctionClassifier,
    EigenfunctionRegressor,
    GeodesicNeighborsClassifier,
    GraphRegularizedClassifier,
    GraphRegularizedRegressor,
    PoissonClassifier,
    SemiSupervisedSplit,
)

CLASSIFIERS = {
    "eigenfunctions": EigenfunctionClassifier(),
    "spectral ridge": EigenfunctionClassifier(gamma="auto"),
    "neighbours": EigenfunctionClassifier(new_points="neighbors"),
    "harmonic": GraphRegularizedClassifier(),
    "Tikhonov": GraphRegularizedClassifier(gamma="auto", class_mass=None),
    "iterated": GraphRegularizedClassifier(smoothness=("iterated", 2)),
    "Poisson": PoissonClassifier(),
    "plain Poisson": PoissonClassifier(n_steps=0),
    "geodesic": GeodesicNeighborsClassifier(3),
}
REGRESSORS = {
    "eigenfunction regression": EigenfunctionRegressor(),
    "least squares": EigenfunctionRegressor(gamma=0.0),
    "interpolation": GraphRegularizedRegressor(),
    "iterated regression": GraphRegularizedRegressor(smoothness=("iterated", 2), gamma="auto"),
}
LEARNERS = CLASSIFIERS | REGRESSORS

every_classifier = pytest.mark.parametrize("name", list(CLASSIFIERS))
every_learner = pytest.mark.parametrize("name", list(LEARNERS))


def blobs(n=90, n_labels=15, seed=0):
    """Three clouds that touch, some points labelled 0, 1 or 2."""
    centers = np.array([[0.0, 0.0], [5.0, 0.0], [0.0, 5.0]])
    points, truth = make_blobs(n, centers=centers, random_state=seed)
    rng = np.random.default_rng(seed)
    y = np.full(n, -1)
    for label in range(3):
        y[rng.choice(np.flatnonzero(truth == label), n_labels // 3, replace=False)] = label
    return points, y, truth


def target_of(name, y):
    """The same labels for a classifier, or numbers with NaN for a regressor."""
    return y if name in CLASSIFIERS else np.where(y >= 0, y.astype(float) ** 2, np.nan)


def two_clouds():
    """Two clouds far apart; all labels are in the first."""
    rng = np.random.default_rng(0)
    points = np.vstack([rng.normal(size=(40, 2)), rng.normal(100, 1, size=(30, 2))])
    y = np.full(70, -1)
    y[:8] = (points[:8, 0] > 0).astype(int)
    y[[0, 1]] = [0, 1]
    return points, y


def same(one, other):
    """Whether two fitted learners say the same of every row, to rounding."""
    assert_allclose(one.scores_, other.scores_, atol=1e-6 * max(1, abs(other.scores_).max()))
    assert_array_equal(one.reached_, other.reached_)
    if hasattr(one, "classes_"):
        assert_array_equal(one.transduction_, other.transduction_)
        assert_allclose(one.label_distributions_, other.label_distributions_, atol=1e-5)


# --- labels of any type -----------------------------------------------------------------------

NAMES = np.array(["ant", "bee", "cat"])
TYPES = {
    "strings": lambda y: np.where(y >= 0, NAMES[y], ""),
    "objects with None": lambda y: np.where(y >= 0, NAMES[y].astype(object), None),
    "objects with NaN": lambda y: np.where(y >= 0, NAMES[y].astype(object), np.nan),
    "strings with -1": lambda y: np.where(y >= 0, NAMES[y].astype(object), -1),
    "a list": lambda y: [NAMES[code] if code >= 0 else None for code in y],
    "integers with gaps": lambda y: np.where(y >= 0, np.array([5, 70, 900])[y], -1),
    "floats with NaN": lambda y: np.where(y >= 0, np.array([5.0, 70.0, 900.0])[y], np.nan),
    "a categorical": lambda y: pd.Series(
        pd.Categorical.from_codes(y, categories=["ant", "bee", "cat"])
    ),
    "pandas strings": lambda y: pd.Series(
        [NAMES[code] if code >= 0 else pd.NA for code in y], dtype="string"
    ),
}


@every_classifier
@pytest.mark.parametrize("kind", list(TYPES))
def test_labels_may_be_of_any_type(name: str, kind: str) -> None:
    points, y, _ = blobs()
    plain = clone(CLASSIFIERS[name]).fit(points, y)
    learner = clone(CLASSIFIERS[name]).fit(points, TYPES[kind](y))
    assert_allclose(learner.scores_, plain.scores_)
    assert_array_equal(learner.transduction_, learner.classes_[plain.transduction_])
    assert_array_equal(learner.predict(points), learner.classes_[plain.predict(points)])
    assert len(learner.classes_) == 3


@every_classifier
def test_booleans_are_classes(name: str) -> None:
    points, y, _ = blobs()
    y = np.where(y == 2, -1, y)
    plain = clone(CLASSIFIERS[name]).fit(points, y)
    learner = clone(CLASSIFIERS[name]).fit(
        points, np.where(y >= 0, y.astype(bool).astype(object), None)
    )
    assert learner.classes_.dtype == bool
    assert_array_equal(learner.transduction_.astype(int), plain.transduction_)


# --- order, memory, threads -------------------------------------------------------------------


@every_learner
def test_any_order_of_rows_gives_the_same_answers(name: str) -> None:
    points, y, _ = blobs()
    y, order = target_of(name, y), np.random.default_rng(1).permutation(90)
    plain = clone(LEARNERS[name]).fit(points, y)
    shuffled = clone(LEARNERS[name]).fit(points[order], y[order])
    scale = max(1, abs(plain.scores_).max())
    assert_allclose(shuffled.scores_, plain.scores_[order], atol=1e-5 * scale)
    assert_array_equal(shuffled.reached_, plain.reached_[order])
    if name in CLASSIFIERS:
        assert_array_equal(shuffled.transduction_, plain.transduction_[order])


@every_learner
def test_fit_labels_is_a_fresh_fit_on_the_same_graph(name: str) -> None:
    points, y, _ = blobs()
    _, other, _ = blobs(n_labels=30)
    y, other = target_of(name, y), target_of(name, other)
    learner = clone(LEARNERS[name]).fit(points, y)
    graph = learner.graph_
    weights = np.random.default_rng(0).uniform(0.5, 2, size=90)
    same(learner.fit_labels(other), clone(LEARNERS[name]).fit(points, other))
    same(learner.fit_labels(other, weights), clone(LEARNERS[name]).fit(points, other, weights))
    assert learner.graph_ is graph


@every_learner
def test_a_learner_survives_a_pickle(name: str) -> None:
    points, y, _ = blobs()
    learner = clone(LEARNERS[name]).fit(points, target_of(name, y))
    again = pickle.loads(pickle.dumps(learner))
    new = points[:10] + 0.05
    assert_array_equal(again.predict(new), learner.predict(new))
    assert_array_equal(again.scores_, learner.scores_)
    same(again.fit_labels(target_of(name, y)), learner)


@every_learner
def test_the_number_of_threads_does_not_matter(name: str) -> None:
    points, y, _ = blobs(n=200)
    y = target_of(name, y)
    with thread_limit(1):
        alone = clone(LEARNERS[name]).fit(points, y)
    with thread_limit(2):
        together = clone(LEARNERS[name]).fit(points, y)
    same(alone, together)


@every_learner
def test_the_same_fit_twice_is_the_same(name: str) -> None:
    points, y, _ = blobs()
    y = target_of(name, y)
    one, other = (clone(LEARNERS[name]).fit(points, y) for _ in range(2))
    assert_array_equal(one.scores_, other.scores_)


# --- points of any type -----------------------------------------------------------------------


@every_learner
@pytest.mark.parametrize("kind", [csr_array, csr_matrix])
def test_sparse_points_are_like_dense_ones(name: str, kind) -> None:
    points, y, _ = blobs()
    y, new = target_of(name, y), points[:20] + 0.05
    dense = clone(LEARNERS[name]).fit(points, y)
    sparse = clone(LEARNERS[name]).fit(kind(points), y)
    same(sparse, dense)
    if name in CLASSIFIERS:
        assert_array_equal(sparse.predict(kind(new)), dense.predict(new))
    else:
        assert_allclose(sparse.predict(kind(new)), dense.predict(new), atol=1e-5)


@every_learner
def test_single_precision_is_kept_and_nearly_the_same(name: str) -> None:
    points, y, _ = blobs()
    y = target_of(name, y)
    learner = clone(LEARNERS[name]).fit(points.astype(np.float32), y)
    double = clone(LEARNERS[name]).fit(points, y)
    assert learner.points_.dtype == np.float32
    new = points[:20].astype(np.float32)
    if name in CLASSIFIERS:
        assert (learner.transduction_ == double.transduction_).mean() > 0.98
        assert_array_equal(learner.predict(new), double.predict(points[:20]))
    else:
        assert_allclose(learner.transduction_, double.transduction_, atol=1e-2)


@every_learner
def test_the_names_of_features_are_checked(name: str) -> None:
    points, y, _ = blobs()
    table = pd.DataFrame(points, columns=["height", "width"], index=range(100, 190))
    learner = clone(LEARNERS[name]).fit(table, target_of(name, y))
    assert_array_equal(learner.feature_names_in_, ["height", "width"])
    learner.predict(table)
    with pytest.raises(ValueError, match="feature names"):
        learner.predict(table.rename(columns={"width": "depth"}))


# --- new points and points of the fit ---------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in CLASSIFIERS if name != "neighbours"])
def test_predict_at_unlabelled_rows_is_the_transduction(name: str) -> None:
    points, y, _ = blobs()
    learner = clone(CLASSIFIERS[name]).fit(points, y)
    rest = y < 0
    assert_array_equal(learner.predict(points)[rest], learner.transduction_[rest])
    assert_allclose(learner.predict_proba(points), learner.label_distributions_)


@every_classifier
def test_probabilities_sum_to_one_and_agree_with_predictions(name: str) -> None:
    points, y, _ = blobs()
    learner = clone(CLASSIFIERS[name]).fit(points, y)
    new = np.vstack([points + 0.1, [[1e3, -1e3]]])
    probabilities = learner.predict_proba(new)
    for found in (probabilities, learner.label_distributions_):
        assert_allclose(found.sum(axis=1), 1)
        assert found.min() >= 0
    assert learner.decision_function(new).shape == (91, 3)
    chosen = learner.classes_[probabilities.argmax(axis=1)]
    assert (chosen == learner.predict(new)).mean() > 0.98  # where two are equal either is right
    own = learner.label_distributions_[np.arange(90), learner.transduction_]
    assert_allclose(learner.confidence_, own)


@every_classifier
def test_two_classes_have_one_decision_value(name: str) -> None:
    points, y, _ = blobs()
    y = np.where(y == 2, -1, y)
    learner = clone(CLASSIFIERS[name]).fit(points, y)
    decision = learner.decision_function(points)
    assert decision.shape == (90,)
    positive = abs(decision) > 1e-9
    assert_array_equal((decision > 0)[positive], (learner.predict(points) == 1)[positive])


@every_classifier
def test_learners_are_right_most_of_the_time(name: str) -> None:
    points, y, truth = blobs()
    learner = clone(CLASSIFIERS[name]).fit(points, y)
    assert (learner.transduction_ == truth).mean() > 0.9
    assert learner.score(points, truth) > 0.9
    assert_array_equal(learner.transduction_[y >= 0], y[y >= 0])


@every_classifier
def test_given_labels_are_never_overwritten(name: str) -> None:
    points, y, _ = blobs()
    row = np.flatnonzero(y == 0)[0]
    y[row] = 1  # a wrong label
    learner = clone(CLASSIFIERS[name]).fit(points, y)
    assert learner.transduction_[row] == 1


# --- rows out of reach ------------------------------------------------------------------------


@every_classifier
def test_rows_out_of_reach_keep_the_marker(name: str) -> None:
    points, y = two_clouds()
    learner = clone(CLASSIFIERS[name]).set_params(graph=KnnGraph(5, connect="keep"))
    learner.fit(points, y)
    assert_array_equal(learner.reached_, np.arange(70) < 40)
    assert_array_equal(learner.transduction_ == -1, np.arange(70) >= 40)
    assert_array_equal(learner.confidence_ == 0, np.arange(70) >= 40)
    assert_allclose(learner.label_distributions_.sum(axis=1), 1)
    shares = np.bincount(y[:8]) / 8
    assert_allclose(learner.label_distributions_[40:], np.tile(shares, (30, 1)))
    assert_array_equal(learner.predict(points)[40:], -1)
    near = np.array([[100.1, 99.9], [0.1, 0.1]])
    assert_array_equal(learner.predict(near) == -1, [True, False])
    assert_allclose(learner.predict_proba(near)[0], shares)
    for found in (learner.scores_, learner.decision_function(near), learner.predict_proba(near)):
        assert np.isfinite(found).all()
    found = learner.diagnose()
    assert (found.n_components_unlabeled, found.n_unreached) == (1, 30)


@every_classifier
@pytest.mark.parametrize(
    ("kind", "marker"),
    [("strings", ""), ("objects with None", ""), ("floats with NaN", np.nan)],
)
def test_the_marker_is_of_the_kind_of_the_labels(name: str, kind: str, marker) -> None:
    points, y = two_clouds()
    learner = clone(CLASSIFIERS[name]).set_params(graph=KnnGraph(5, connect="keep"))
    learner.fit(points, TYPES[kind](y))
    assert_array_equal(learner.transduction_[40:], [marker] * 30)
    assert_array_equal(learner.predict([[100.1, 99.9]]), [marker])


@every_classifier
def test_a_marker_of_the_users_own_comes_back(name: str) -> None:
    points, y = two_clouds()
    learner = clone(CLASSIFIERS[name])
    learner.set_params(graph=KnnGraph(5, connect="keep"), unlabeled="?")
    learner.fit(points, np.where(y >= 0, NAMES[y], "?"))
    assert_array_equal(learner.transduction_[40:], ["?"] * 30)
    assert set(learner.transduction_[:40]) == {"ant", "bee"}


@every_classifier
def test_minus_one_is_a_class_where_every_row_has_a_label(name: str) -> None:
    points, _, truth = blobs()
    learner = clone(CLASSIFIERS[name]).set_params(unlabeled=None)
    learner.fit(points, np.where(truth == 0, -1, 1))
    assert_array_equal(learner.classes_, [-1, 1])
    assert_array_equal(learner.transduction_, np.where(truth == 0, -1, 1))


# --- weights, declared classes, duplicates ----------------------------------------------------


@every_learner
def test_a_label_of_weight_zero_is_no_label(name: str) -> None:
    points, y, _ = blobs()
    y, weights = target_of(name, y), np.random.default_rng(0).uniform(0.5, 2, size=90)
    labelled = np.flatnonzero(y >= 0)
    weights[labelled[::4]] = 0
    learner = clone(LEARNERS[name]).fit(points, y, weights)
    without = y.copy()
    without[labelled[::4]] = target_of(name, np.array([-1]))[0]
    fresh = clone(LEARNERS[name]).fit(points, without, weights)
    same(learner, fresh)
    assert_array_equal(learner.transduction_, fresh.transduction_)


@every_learner
def test_weights_of_unlabelled_rows_mean_nothing_and_a_common_factor_neither(name: str) -> None:
    points, y, _ = blobs()
    y = target_of(name, y)
    weights = np.where(y >= 0, 2.5, np.nan)
    learner = clone(LEARNERS[name]).fit(points, y, weights)
    plain = clone(LEARNERS[name]).fit(points, y)
    if name in CLASSIFIERS:
        assert_array_equal(learner.transduction_, plain.transduction_)
    else:
        assert_allclose(learner.transduction_, plain.transduction_, atol=1e-6)


@every_classifier
def test_a_declared_class_without_label_stays_at_probability_zero(name: str) -> None:
    points, y, _ = blobs()
    learner = clone(CLASSIFIERS[name]).set_params(classes=[2, 0, 1, 8]).fit(points, y)
    assert_array_equal(learner.classes_, [0, 1, 2, 8])
    assert_array_equal(learner.label_distributions_[:, 3], 0)
    assert_array_equal(learner.predict_proba(points[:5] + 0.1)[:, 3], 0)
    assert np.isfinite(learner.scores_).all()
    assert (learner.scores_.argmax(axis=1) < 3).all()
    assert learner.diagnose().class_counts["8"] == 0


@every_classifier
def test_identical_points_with_different_labels_are_finite_and_keep_their_labels(name: str) -> None:
    points, y, _ = blobs()
    points[:6] = points[0]
    y[:6] = [0, 1, 2, 0, 1, -1]
    learner = clone(CLASSIFIERS[name]).fit(points, y)
    assert_array_equal(learner.transduction_[:5], [0, 1, 2, 0, 1])
    for found in (learner.scores_, learner.label_distributions_, learner.predict_proba(points)):
        assert np.isfinite(found).all()
    assert np.isfinite(learner.diagnose().held_out)


@pytest.mark.parametrize("name", list(REGRESSORS))
def test_identical_points_with_different_values_are_finite(name: str) -> None:
    points, y, _ = blobs()
    y = target_of(name, y)
    points[:6] = points[0]
    y[:6] = [0.0, 1.0, 5.0, -3.0, 2.0, np.nan]
    learner = clone(REGRESSORS[name]).fit(points, y)
    assert np.isfinite(learner.transduction_).all()
    assert np.isfinite(learner.predict_interval(points)).all()


# --- scikit-learn's tools ---------------------------------------------------------------------


@every_learner
def test_parameters_reach_into_the_graph(name: str) -> None:
    learner = clone(LEARNERS[name]).set_params(graph=KnnGraph(7))
    assert learner.get_params()["graph__n_neighbors"] == 7
    learner.set_params(graph__n_neighbors=4)
    points, y, _ = blobs()
    learner.fit(points, target_of(name, y))
    assert learner.recipe_.n_neighbors == 4
    learner.graph.n_neighbors = 9  # what the user does later does not reach the fit
    assert learner.recipe_.n_neighbors == 4


@every_learner
def test_a_grid_search_over_the_graph_runs(name: str) -> None:
    points, y, _ = blobs()
    learner = clone(LEARNERS[name]).set_params(graph=KnnGraph())
    y = y if name in CLASSIFIERS else np.where(y >= 0, points[:, 0], np.nan)
    search = GridSearchCV(
        learner, {"graph__n_neighbors": [4, 8]}, cv=SemiSupervisedSplit(3, random_state=0)
    )
    search.fit(points, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_score_ > 0.5


def test_rows_that_no_label_reaches_are_warned_of() -> None:
    points = np.concatenate([np.random.default_rng(0).normal(c, 1, (30, 2)) for c in (0, 500)])
    y = np.full(60, -1)
    y[[0, 1]] = [0, 1]
    with pytest.warns(DisconnectedGraphWarning, match="30 of 60 rows share no component"):
        GraphRegularizedClassifier(graph=KnnGraph(5, connect="keep")).fit(points, y)
