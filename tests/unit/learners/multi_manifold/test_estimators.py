"""Learners on several manifolds: one region is the estimator, more see what one cannot."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from beltrami import (
    GraphRegularizedClassifier,
    GraphRegularizedRegressor,
    LaplacianRLSClassifier,
    LaplacianRLSRegressor,
    MultiManifoldClassifier,
    MultiManifoldRegressor,
    dollar_sign,
)
from beltrami.core.errors import DegenerateDataWarning, InvalidInputError
from beltrami.learners.model import Labeled
from beltrami.learners.multi_manifold.region_models import Constant, fit_regional

N = 240


def cloud(n=N, d=2, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def codes_of(points):
    return np.digitize(points[:, 0] + points[:, 1] ** 2, [0.0, 1.0])


def some(labels, step=3, gap=-1):
    """The labels of every so many rows, and gaps."""
    found = np.full(len(labels), gap, dtype=np.asarray(labels).dtype)
    found[::step] = labels[::step]
    return found


def dollar(n=2000, noise=0.0, seed=0):
    found = dollar_sign(n, noise=noise, random_state=seed)
    crossed = (found.extras["position"] > 0.5) ^ (found.extras["manifold"] == 1)
    return found.points, found.targets, crossed.astype(int), found.extras["manifold"].astype(int)


# --- one region is the plain estimator ------------------------------------------------------------

CLASSIFIERS = [
    LogisticRegression(),
    SVC(),
    RandomForestClassifier(10, random_state=0),
    KNeighborsClassifier(3),
    make_pipeline(StandardScaler(), LogisticRegression()),
    LaplacianRLSClassifier(gamma_i=0.0),
]
REGRESSORS = [
    SVR(),
    Ridge(),
    RandomForestRegressor(10, random_state=0),
    KNeighborsRegressor(3),
    make_pipeline(StandardScaler(), Ridge()),
    LaplacianRLSRegressor(gamma_i=0.0),
]


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=lambda e: repr(e)[:30])
def test_one_region_is_the_classifier_itself(estimator):
    points, new = cloud(), cloud(80, seed=1)
    y = some(codes_of(points))
    rows = y >= 0
    plain = clone(estimator).fit(points[rows], y[rows])
    ours = MultiManifoldClassifier(estimator, n_regions=1).fit(points, y)
    assert_array_equal(ours.predict(new), plain.predict(new))
    if hasattr(plain, "predict_proba"):
        assert_allclose(ours.predict_proba(new), plain.predict_proba(new), rtol=1e-12, atol=1e-15)
    assert_array_equal(ours.regions_, 0)
    assert ours.n_regions_ == 1
    assert ours.shape_graph_ is None


@pytest.mark.parametrize(
    "estimator", [GraphRegularizedClassifier(), LaplacianRLSClassifier()], ids=repr
)
def test_one_region_is_the_graph_classifier_on_all_rows(estimator):
    points, new = cloud(), cloud(80, seed=1)
    y = some(codes_of(points))
    plain = clone(estimator).fit(points, y)
    ours = MultiManifoldClassifier(estimator, n_regions=1).fit(points, y)
    assert_array_equal(ours.predict(new), plain.predict(new))
    assert_allclose(ours.predict_proba(new), plain.predict_proba(new), rtol=1e-12, atol=1e-15)
    assert_array_equal(ours.transduction_, plain.transduction_)


@pytest.mark.parametrize("estimator", REGRESSORS, ids=lambda e: repr(e)[:30])
def test_one_region_is_the_regressor_itself(estimator):
    points, new = cloud(), cloud(80, seed=1)
    y = some(np.sin(points[:, 0]), gap=np.nan)
    rows = np.isfinite(y)
    plain = clone(estimator).fit(points[rows], y[rows])
    ours = MultiManifoldRegressor(estimator, n_regions=1).fit(points, y)
    assert_array_equal(ours.predict(new), plain.predict(new))


@pytest.mark.parametrize("estimator", [GraphRegularizedRegressor(), LaplacianRLSRegressor()])
def test_one_region_is_the_graph_regressor_on_all_rows(estimator):
    points, new = cloud(), cloud(80, seed=1)
    y = some(np.sin(points[:, 0]), gap=np.nan)
    plain = clone(estimator).fit(points, y)
    ours = MultiManifoldRegressor(estimator, n_regions=1).fit(points, y)
    assert_allclose(ours.predict(new), plain.predict(new), rtol=1e-12)


def test_without_an_estimator_it_is_kernel_ridge_tuned_by_leave_one_out():
    points, new = cloud(), cloud(80, seed=1)
    y = some(codes_of(points))
    ours = MultiManifoldClassifier(n_regions=1).fit(points, y)
    plain = LaplacianRLSClassifier(gamma_i=0.0).fit(points[y >= 0], y[y >= 0])
    assert_allclose(ours.predict_proba(new), plain.predict_proba(new), rtol=1e-6, atol=1e-9)
    values = some(np.sin(points[:, 0]), gap=np.nan)
    ours = MultiManifoldRegressor(n_regions=1).fit(points, values)
    known = np.isfinite(values)
    plain = LaplacianRLSRegressor(gamma_i=0.0).fit(points[known], values[known])
    assert_allclose(ours.predict(new), plain.predict(new), rtol=1e-6)


# --- several regions ------------------------------------------------------------------------------


def test_predictions_are_those_of_the_estimator_of_the_region():
    points, values, _, _ = dollar(800)
    y = some(values, 10, np.nan)
    ours = MultiManifoldRegressor(Ridge(), n_regions=4, random_state=0).fit(points, y)
    assert ours.n_regions_ == len(ours.estimators_) == 4
    new = points + 0.01
    regions = ours.predict_regions(new)
    for region, part in enumerate(ours.estimators_):
        asked = regions == region
        rows = (ours.regions_ == region) & np.isfinite(y)
        held = np.clip(part.predict(new[asked]), y[rows].min(), y[rows].max())
        assert_array_equal(ours.predict(new)[asked], held)
        assert_allclose(part.coef_, Ridge().fit(points[rows], y[rows]).coef_)


@pytest.mark.parametrize("carve", ["vote", "voronoi"])
def test_rows_of_the_fit_are_in_the_regions_that_are_predicted_for_them(carve):
    points, _, labels, _ = dollar(800)
    ours = MultiManifoldClassifier(n_regions=5, carve=carve, random_state=0)
    ours.fit(points, some(labels, 10))
    assert_array_equal(ours.predict_regions(points), ours.regions_)
    assert_array_equal(ours.regions_[ours.shape_graph_.rows], ours.node_regions_)
    assert_array_equal(np.unique(ours.regions_), np.arange(5))


def test_every_region_has_labels_of_its_own():
    points, _, labels, _ = dollar(800)
    y = some(labels, 10)
    ours = MultiManifoldClassifier(LogisticRegression(), n_regions=8, random_state=0).fit(points, y)
    assert (np.bincount(ours.regions_[y >= 0], minlength=8) > 0).all()
    assert_array_equal(ours.model_.n_labels, np.bincount(ours.regions_[y >= 0]))


def test_given_labels_are_kept_and_all_answers_are_finite():
    points, values, labels, _ = dollar(600)
    y = some(labels, 10)
    ours = MultiManifoldClassifier(n_regions=6, random_state=0).fit(points, y)
    assert_array_equal(ours.transduction_[::10], labels[::10])
    assert_allclose(ours.label_distributions_.sum(axis=1), 1)
    assert np.isfinite(ours.label_distributions_).all()
    assert ((ours.confidence_ >= 0) & (ours.confidence_ <= 1)).all()
    known = some(values, 10, np.nan)
    ours = MultiManifoldRegressor(n_regions=6, random_state=0).fit(points, known)
    assert_array_equal(ours.transduction_[::10], values[::10])
    assert np.isfinite(ours.transduction_).all()


def test_a_region_of_one_class_says_it_with_the_rule_of_succession():
    points, _, _, manifold = dollar(1000)
    y = some(manifold, 10)
    ours = MultiManifoldClassifier(LogisticRegression(), n_regions=12, random_state=0)
    ours.fit(points, y)
    plain = [k for k, part in enumerate(ours.estimators_) if isinstance(part, Constant)]
    assert plain
    for region in plain:
        rows = np.flatnonzero((ours.regions_ == region) & (y >= 0))
        kept = y[rows[0]]
        sure = (len(rows) + 1) / (len(rows) + 2)
        found = ours.predict_proba(points[ours.regions_ == region])
        assert_allclose(found[:, kept], sure)
        assert_allclose(found.sum(axis=1), 1)


def test_unlabelled_rows_of_a_region_help_a_learner_that_takes_them():
    points, _, labels, _ = dollar(800)
    y = some(labels, 20)
    ours = MultiManifoldClassifier(GraphRegularizedClassifier(), n_regions=4, random_state=0)
    ours.fit(points, y)
    for region, part in enumerate(ours.estimators_):
        if not isinstance(part, Constant):
            assert part.graph_.n_nodes == int((ours.regions_ == region).sum())


# --- labels and points of any kind ----------------------------------------------------------------


@pytest.mark.parametrize("estimator", [None, LogisticRegression(), SVC()], ids=repr)
def test_labels_of_any_type_mean_the_same(estimator):
    points, _, _, manifold = dollar(600)
    names, numbers = np.array(["low", "up"])[manifold], np.array([10, 700])[manifold]
    texts = names.astype(object)
    texts[np.arange(600) % 10 != 0] = None
    learner = MultiManifoldClassifier(estimator, n_regions=4, random_state=0)
    plain = clone(learner).fit(points, some(manifold, 10))
    gaps = clone(learner).fit(points, some(numbers, 10))
    words = clone(learner).fit(points, texts)
    assert_array_equal(gaps.predict(points), np.array([10, 700])[plain.predict(points)])
    assert_array_equal(words.predict(points), np.array(["low", "up"])[plain.predict(points)])
    assert_array_equal(words.classes_, ["low", "up"])
    assert_allclose(words.predict_proba(points), plain.predict_proba(points), rtol=1e-9)


@pytest.mark.parametrize("options", [{"unlabeled": ""}, {"classes": ["low", "up"]}], ids=str)
def test_what_an_own_learner_says_of_labels_is_that_of_the_whole(options):
    points, _, _, manifold = dollar(400)
    names = np.array(["low", "up"])[manifold].astype(object)
    names[np.arange(400) % 10 != 0] = ""
    inner = GraphRegularizedClassifier(**options)
    for estimator in (inner, make_pipeline(StandardScaler(), inner)):
        ours = MultiManifoldClassifier(estimator, n_regions=1).fit(points, names)
        plain = clone(estimator).fit(points, names)
        assert_array_equal(ours.predict(points), plain.predict(points))
        regional = MultiManifoldClassifier(estimator, n_regions=3, random_state=0)
        assert set(regional.fit(points, names).predict(points)) == {"low", "up"}


def test_declared_classes_without_a_label_get_nothing():
    points, _, _, manifold = dollar(600)
    ours = MultiManifoldClassifier(
        LogisticRegression(), n_regions=4, classes=[0, 1, 2], random_state=0
    ).fit(points, some(manifold, 10))
    found = ours.predict_proba(points)
    assert (found[:, 2] == 0).all()
    assert_allclose(found.sum(axis=1), 1)
    assert_array_equal(np.unique(ours.predict(points)), [0, 1])


def test_names_of_columns_are_kept():
    points, _, labels, _ = dollar(400)
    frame = pd.DataFrame(points, columns=["east", "north"])
    ours = MultiManifoldClassifier(n_regions=3, random_state=0).fit(frame, some(labels, 10))
    assert_array_equal(ours.feature_names_in_, ["east", "north"])
    bare = MultiManifoldClassifier(n_regions=3, random_state=0).fit(points, some(labels, 10))
    assert_array_equal(ours.predict(frame), bare.predict(points))
    with pytest.raises(ValueError, match="feature names"):
        ours.predict(frame[["north", "east"]])


@pytest.mark.parametrize("container", [csr_array, csr_matrix])
def test_sparse_points_mean_the_same(container):
    points, _, labels, _ = dollar(400)
    learner = MultiManifoldClassifier(LogisticRegression(), n_regions=3, random_state=0)
    dense = clone(learner).fit(points, some(labels, 10))
    sparse = clone(learner).fit(container(points), some(labels, 10))
    assert_array_equal(sparse.regions_, dense.regions_)
    assert_array_equal(sparse.predict(container(points)), dense.predict(points))


def wide(n=300, d=150, seed=0):
    """A dollar sign in many columns."""
    points, _, labels, _ = dollar(n, seed=seed)
    frame = np.linalg.qr(np.random.default_rng(0).normal(size=(d, 2)))[0]
    return points @ frame.T, labels


def test_many_columns_are_seen_through_principal_components():
    points, labels = wide()
    ours = MultiManifoldClassifier(LogisticRegression(), n_regions=3, random_state=0)
    ours.fit(points, some(labels, 10))
    assert ours.projection_.n_components_ == 50
    assert ours.shape_graph_.points.shape == (300, 50)
    assert ours.estimators_[0].n_features_in_ == 150
    assert_array_equal(ours.predict_regions(points), ours.regions_)
    assert ours.predict(points).shape == (300,)


def test_many_sparse_columns_are_seen_through_principal_components():
    points, labels = wide()
    points[np.abs(points) < 0.05] = 0
    ours = MultiManifoldClassifier(LogisticRegression(), n_regions=3, random_state=0)
    ours.fit(csr_array(points), some(labels, 10))
    assert_array_equal(ours.predict_regions(csr_array(points)), ours.regions_)
    assert np.isfinite(ours.predict_proba(csr_array(points))).all()


def test_a_hundred_columns_are_seen_as_they_are():
    points, labels = wide(d=100)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateDataWarning)
        ours = MultiManifoldClassifier(LogisticRegression(), n_regions=2).fit(
            points, some(labels, 10)
        )
    assert ours.projection_ is None


def test_single_precision_stays_for_the_estimator():
    points, _, labels, _ = dollar(400)
    light = points.astype(np.float32)
    learner = MultiManifoldClassifier(LogisticRegression(), n_regions=3, random_state=0)
    ours = clone(learner).fit(light, some(labels, 10))
    full = clone(learner).fit(light.astype(np.float64), some(labels, 10))
    assert_array_equal(ours.regions_, full.regions_)
    assert np.mean(ours.predict(light) == full.predict(light)) > 0.99


# --- seeds, order, weights ------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_answers():
    points, _, labels, _ = dollar(600)
    one, two = (
        MultiManifoldClassifier(LogisticRegression(), random_state=3).fit(points, some(labels, 10))
        for _ in range(2)
    )
    assert_array_equal(one.regions_, two.regions_)
    assert_array_equal(one.predict_proba(points), two.predict_proba(points))
    assert_array_equal(one.choice_.losses, two.choice_.losses)


def test_labels_may_be_anywhere_among_the_rows():
    points, _, labels, _ = dollar(1000)
    errors = []
    for order in (np.arange(1000), np.random.default_rng(0).permutation(1000)):
        y = np.full(1000, -1)
        known = np.isin(order, np.arange(0, 1000, 10))
        y[known] = labels[order][known]
        ours = MultiManifoldClassifier(random_state=0).fit(points[order], y)
        errors.append(np.mean(ours.transduction_ != labels[order]))
        assert_array_equal(ours.transduction_[known], labels[order][known])
    assert max(errors) < 0.08


def test_weights_reach_the_estimator_and_a_weight_of_zero_takes_the_label_away():
    points, new = cloud(), cloud(80, seed=1)
    y = some(codes_of(points))
    rows = np.flatnonzero(y >= 0)
    weights = 1 + np.arange(N) % 5.0
    ours = MultiManifoldClassifier(LogisticRegression(), n_regions=1).fit(points, y, weights)
    even = weights[rows] / weights[rows].mean()
    plain = LogisticRegression().fit(points[rows], y[rows], sample_weight=even)
    assert_allclose(ours.predict_proba(new), plain.predict_proba(new), rtol=1e-9)
    weights = (np.arange(N) % 2).astype(float)
    ours = MultiManifoldClassifier(LogisticRegression(), n_regions=3, random_state=0)
    without = np.where(weights > 0, y, -1)
    one, two = clone(ours).fit(points, y, weights), clone(ours).fit(points, without)
    assert_array_equal(one.predict_proba(new), two.predict_proba(new))


@pytest.mark.parametrize("n_regions", [1, 3, "auto"])
def test_weights_are_refused_where_the_estimator_takes_none(n_regions):
    points = cloud()
    y, weights = some(codes_of(points)), 1 + np.arange(N) % 5.0
    learner = MultiManifoldClassifier(KNeighborsClassifier(), n_regions=n_regions)
    with pytest.raises(InvalidInputError, match="sample_weight was given and KNeighborsClassifier"):
        learner.fit(points, y, weights)


# --- the number of regions ------------------------------------------------------------------------


@pytest.mark.parametrize("rule", ["auto", "slides", "eigengap"])
def test_rules_say_what_they_took_and_why(rule):
    points, _, labels, _ = dollar(600)
    learner = MultiManifoldClassifier(LogisticRegression(), n_regions=rule, random_state=0)
    learner.fit(points, some(labels, 10))
    assert learner.choice_.name == "n_regions"
    assert learner.choice_.value == learner.n_regions_ == learner.node_regions_.max() + 1
    assert f"n_regions={learner.n_regions_}" in learner.choice_.reason
    assert (len(learner.choice_.tried) > 3) == (rule == "auto")


def test_two_labels_make_one_region():
    points = cloud()
    y = np.full(N, -1)
    y[[5, 50]] = 0, 1
    ours = MultiManifoldClassifier().fit(points, y)
    assert ours.n_regions_ == 1
    assert ours.choice_ is None


# --- the point of it ------------------------------------------------------------------------------


def clairvoyant(estimator, points, values, rows, manifold, new, new_manifold):
    labeled = Labeled(rows, values[rows, None], np.ones(len(rows)))
    return fit_regional(estimator, points, labeled, manifold, 2).scores(new, new_manifold)[:, 0]


@pytest.mark.parametrize("noise", [0.0, pytest.param(0.01, marks=pytest.mark.slow)])
def test_ours_is_between_one_learner_and_one_that_knows_the_manifolds(noise):
    errors = {"global": [], "ours": [], "clairvoyant": []}
    for seed in range(3):
        points, values, _, manifold = dollar(2000, noise, seed)
        new, truth, _, new_manifold = dollar(1000, noise, seed + 50)
        rows = np.sort(np.random.default_rng(seed).choice(2000, 80, replace=False))
        y = np.full(2000, np.nan)
        y[rows] = values[rows]
        own = LaplacianRLSRegressor(gamma_i=0.0)
        said = {
            "global": clone(own).fit(points[rows], values[rows]).predict(new),
            "ours": MultiManifoldRegressor(random_state=seed).fit(points, y).predict(new),
            "clairvoyant": clairvoyant(own, points, values, rows, manifold, new, new_manifold),
        }
        for name, found in said.items():
            errors[name].append(np.mean((found - truth) ** 2))
    mean = {name: np.mean(found) for name, found in errors.items()}
    assert mean["clairvoyant"] < mean["ours"] < 0.6 * mean["global"]


def test_classes_that_cross_are_told_apart():
    gains = []
    for seed in range(3):
        points, _, labels, _ = dollar(2000, 0.01, seed)
        new, _, truth, _ = dollar(1000, 0.01, seed + 50)
        y = np.full(2000, -1)
        rows = np.random.default_rng(seed).choice(2000, 80, replace=False)
        y[rows] = labels[rows]
        plain = MultiManifoldClassifier(n_regions=1).fit(points, y)
        ours = MultiManifoldClassifier(random_state=seed).fit(points, y)
        gains.append(np.mean(ours.predict(new) == truth) - np.mean(plain.predict(new) == truth))
    assert np.mean(gains) > 0.02


# --- the face -------------------------------------------------------------------------------------


def test_scores_leave_unlabelled_rows_out():
    points, values, labels, _ = dollar(400)
    y = some(labels, 10)
    ours = MultiManifoldClassifier(LogisticRegression(), n_regions=3, random_state=0).fit(points, y)
    right = ours.predict(points[::10]) == labels[::10]
    assert ours.score(points, y) == pytest.approx(right.mean())
    known = some(values, 10, np.nan)
    ours = MultiManifoldRegressor(Ridge(), n_regions=3, random_state=0).fit(points, known)
    assert ours.score(points, known) == pytest.approx(ours.score(points[::10], values[::10]))


def test_a_fitted_learner_can_be_kept_and_read_back():
    points, _, labels, _ = dollar(400)
    ours = MultiManifoldClassifier(n_regions=3, random_state=0).fit(points, some(labels, 10))
    again = pickle.loads(pickle.dumps(ours))
    assert_array_equal(again.predict_proba(points), ours.predict_proba(points))


def test_parameters_of_the_estimator_can_be_searched():
    points = cloud()
    y = codes_of(points)
    learner = MultiManifoldClassifier(LogisticRegression(), n_regions=2, random_state=0)
    search = GridSearchCV(learner, {"estimator__C": [0.1, 1.0]}, cv=2).fit(points, y)
    assert search.best_params_["estimator__C"] in (0.1, 1.0)
    assert cross_val_score(learner, points, y, cv=2).min() > 0.5


def test_fitting_again_forgets():
    points, _, labels, _ = dollar(400)
    learner = MultiManifoldClassifier(LogisticRegression(), n_regions=3, random_state=0)
    learner.fit(points, some(labels, 10))
    learner.set_params(n_regions=1).fit(cloud(), some(codes_of(cloud())))
    assert learner.shape_graph_ is None
    assert learner.choice_ is None
    assert_array_equal(learner.predict_regions(cloud()), np.zeros(N))
