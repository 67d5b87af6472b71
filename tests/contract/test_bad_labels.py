"""Labels, weights, points and parameters that cannot be used, and those that only look so.

Every learner refuses what is wrong by a sentence that says so, works where it can, and never
answers with NaN where a label reaches.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from beltrami.core.errors import DegenerateDataWarning, InvalidInputError, NotNumericError
from beltrami.graph.recipes import KnnGraph
from beltrami.kernel_machines.approximation import NystromApproximation
from beltrami.learners import (
    EigenfunctionClassifier,
    EigenfunctionRegressor,
    GeodesicNeighborsClassifier,
    GraphRegularizedClassifier,
    GraphRegularizedRegressor,
    LaplacianRLSClassifier,
    LaplacianSVC,
    PoissonClassifier,
    TransductiveSVC,
)

CLASSIFIERS = [
    EigenfunctionClassifier(),
    EigenfunctionClassifier(gamma="auto", new_points="neighbors"),
    GraphRegularizedClassifier(),
    GraphRegularizedClassifier(gamma="auto", smoothness=("heat", 1.0)),
    PoissonClassifier(),
    PoissonClassifier(n_steps=0),
    GeodesicNeighborsClassifier(),
    LaplacianRLSClassifier(),
    LaplacianRLSClassifier(approximation=NystromApproximation(12), random_state=0),
    LaplacianSVC(),
]
GRAPHLESS = [TransductiveSVC()]
REGRESSORS = [
    EigenfunctionRegressor(),
    EigenfunctionRegressor(gamma=0.0, new_points="neighbors"),
    GraphRegularizedRegressor(),
    GraphRegularizedRegressor(gamma="auto", smoothness=("iterated", 2)),
]
WITH_GAMMA = [
    EigenfunctionClassifier,
    EigenfunctionRegressor,
    GraphRegularizedClassifier,
    GraphRegularizedRegressor,
]

every_classifier = pytest.mark.parametrize("learner", CLASSIFIERS, ids=repr)
every_regressor = pytest.mark.parametrize("learner", REGRESSORS, ids=repr)
every_learner = pytest.mark.parametrize("learner", CLASSIFIERS + REGRESSORS, ids=repr)
with_graphless = pytest.mark.parametrize("learner", CLASSIFIERS + GRAPHLESS, ids=repr)
all_of_them = pytest.mark.parametrize("learner", CLASSIFIERS + GRAPHLESS + REGRESSORS, ids=repr)


def cloud(n=40):
    return np.random.default_rng(0).normal(size=(n, 3))


def some_labels(learner, n=40):
    """Labels at every fourth row: three classes, or numbers."""
    rows = np.arange(n)
    if learner in CLASSIFIERS + GRAPHLESS:
        return np.where(rows % 4 == 0, rows % 3, -1)
    return np.where(rows % 4 == 0, rows.astype(float), np.nan)


def holds_no_nan(fitted, points):
    """Every answer is finite, at the fit's points and at new ones."""
    new = points[:5] + 0.01
    answers = [fitted.scores_, fitted.predict(new)]
    if hasattr(fitted, "classes_"):
        answers += [fitted.label_distributions_, fitted.confidence_, fitted.predict_proba(new)]
        answers.append(fitted.decision_function(new))
    else:
        answers.append(fitted.transduction_[fitted.reached_])
    judged = fitted.diagnose().held_out
    answers.append(0.0 if judged is None else judged)
    for found in answers:
        assert np.isfinite(found).all()


# --- labels -----------------------------------------------------------------------------------


@with_graphless
@pytest.mark.parametrize("y", [[-1] * 40, [""] * 40, [None] * 40, np.full(40, np.nan)], ids=repr)
def test_no_label_at_all_is_refused(learner, y) -> None:
    with pytest.raises(InvalidInputError, match="y has no label at all: all 40 rows"):
        clone(learner).fit(cloud(), y)


@every_regressor
def test_no_value_at_all_is_refused(learner) -> None:
    with pytest.raises(InvalidInputError, match="y has no value at all: all 40 rows"):
        clone(learner).fit(cloud(), np.full(40, np.nan))


@every_classifier
def test_one_class_is_refused_and_the_way_out_is_told(learner) -> None:
    y = np.full(40, -1)
    y[:5] = 1
    with pytest.raises(InvalidInputError, match=r"all labels are of one class, 1.*unlabeled=None"):
        clone(learner).fit(cloud(), y)
    fitted = clone(learner).set_params(classes=[0, 1]).fit(cloud(), y)
    assert_array_equal(fitted.transduction_, 1)
    assert_array_equal(fitted.label_distributions_, np.tile([0.0, 1.0], (40, 1)))
    holds_no_nan(fitted, cloud())


@every_classifier
def test_a_single_label_of_declared_classes_works(learner) -> None:
    y = np.array(["b"] + [""] * 39)
    fitted = clone(learner).set_params(classes=["a", "b"]).fit(cloud(), y)
    assert set(fitted.transduction_) == {"b"}
    judged = fitted.diagnose().held_out
    assert judged is None or np.isfinite(judged)


@every_regressor
def test_a_single_value_works(learner) -> None:
    y = np.full(40, np.nan)
    y[3] = 7.5
    fitted = clone(learner).fit(cloud(), y)
    assert_allclose(fitted.transduction_, 7.5)
    holds_no_nan(fitted, cloud())


@every_learner
def test_every_row_labelled_works(learner) -> None:
    rows = np.arange(40)
    y = rows % 3 if learner in CLASSIFIERS else np.sin(rows)
    fitted = clone(learner).fit(cloud(), y)
    assert_array_equal(fitted.transduction_, y)
    holds_no_nan(fitted, cloud())


@every_classifier
def test_a_class_with_a_single_label_works(learner) -> None:
    y = some_labels(learner)
    y[y == 2] = -1
    y[2] = 2
    fitted = clone(learner).fit(cloud(), y)
    assert fitted.transduction_[2] == 2
    assert fitted.diagnose().class_counts["2"] == 1
    holds_no_nan(fitted, cloud())


@every_classifier
def test_one_label_per_class_works(learner) -> None:
    y = np.full(40, -1)
    y[[0, 10, 20, 30]] = [0, 1, 2, 3]
    holds_no_nan(clone(learner).fit(cloud(), y), cloud())


@pytest.mark.parametrize("learner", [EigenfunctionClassifier, EigenfunctionRegressor])
def test_more_eigenvectors_than_labels_warn(learner) -> None:
    fitted = learner(n_eigenvectors=30, gamma=0.0)
    y = np.where(np.arange(40) % 4 == 0, np.arange(40) % 3, -1)
    y = y if learner is EigenfunctionClassifier else np.where(y < 0, np.nan, y)
    with pytest.warns(DegenerateDataWarning, match="30 eigenvectors and 10 labels"):
        fitted.fit(cloud(), y)
    holds_no_nan(fitted, cloud())


@every_learner
def test_labels_in_one_component_of_several_work(learner) -> None:
    points = np.vstack([cloud(), cloud() + 100, cloud(20) - 100])
    gaps = np.full(60, -1 if learner in CLASSIFIERS else np.nan)
    y = np.concatenate([some_labels(learner), gaps])
    fitted = clone(learner).set_params(graph=KnnGraph(5, connect="keep")).fit(points, y)
    assert_array_equal(fitted.reached_, np.arange(100) < 40)
    holds_no_nan(fitted, points)
    assert np.isfinite(fitted.predict(points[50:] + 0.01)).all()


@all_of_them
@pytest.mark.parametrize("length", [0, 10, 39, 41])
def test_labels_of_the_wrong_length_are_refused(learner, length: int) -> None:
    with pytest.raises(InvalidInputError, match=f"40 rows and {length} labels"):
        clone(learner).fit(cloud(), some_labels(learner, 50)[:length])


@all_of_them
def test_labels_of_the_wrong_shape_are_refused(learner) -> None:
    for y in (np.zeros((40, 2)), 3, [[0, 1]] * 40):
        with pytest.raises(InvalidInputError, match="y should be a 1d array"):
            clone(learner).fit(cloud(), y)


@with_graphless
@pytest.mark.parametrize(
    "y",
    [
        np.linspace(0, 1, 40),
        ["a", 1] * 20,
        np.arange("2000-01-01", "2000-02-10", dtype="datetime64[D]"),
        np.full(40, 1j),
        [0, 1, (2, 3), {}] * 10,
    ],
    ids=["continuous", "mixed", "dates", "complex", "objects"],
)
def test_labels_of_the_wrong_type_are_refused(learner, y) -> None:
    with pytest.raises(InvalidInputError, match=r"[Ll]abel type|1d array|one label per row"):
        clone(learner).fit(cloud(), y)


@every_regressor
@pytest.mark.parametrize("y", [["high", "low"] * 20, [1.0, "2"] * 20, np.full(40, 1j)], ids=repr)
def test_values_that_are_no_numbers_are_refused(learner, y) -> None:
    with pytest.raises(NotNumericError, match="y must hold numbers"):
        clone(learner).fit(cloud(), y)


@all_of_them
def test_infinite_labels_are_refused(learner) -> None:
    y = np.where(np.arange(40) % 2, np.nan, 1.0)
    y[[0, 2]] = [np.inf, 2.0]
    with pytest.raises(InvalidInputError, match="infinity"):
        clone(learner).fit(cloud(), y)


@all_of_them
def test_labels_must_be_given(learner) -> None:
    with pytest.raises(InvalidInputError, match="requires y to be passed"):
        clone(learner).fit(cloud(), None)


@every_learner
def test_bad_labels_leave_a_fitted_learner_usable(learner) -> None:
    fitted = clone(learner).fit(cloud(), some_labels(learner))
    before = fitted.predict(cloud()[:5] + 0.01)
    for y in (None, np.zeros((40, 2)), some_labels(learner)[:10]):
        with pytest.raises(InvalidInputError):
            fitted.fit_labels(y)
    assert_array_equal(fitted.predict(cloud()[:5] + 0.01), before)


# --- weights ----------------------------------------------------------------------------------


@all_of_them
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.full(40, -1.0), "finite and not negative; 10 of 10"),
        (np.full(40, np.nan), "finite and not negative"),
        (np.full(40, np.inf), "finite and not negative"),
        (np.zeros(40), "sample_weight is zero at all 10 labelled rows"),
        (np.ones(39), r"sample_weight.shape == \(39,\), expected \(40,\)"),
        (np.ones((40, 1)), r"sample_weight.shape == \(40, 1\)"),
    ],
    ids=["negative", "NaN", "infinite", "zero", "short", "column"],
)
def test_weights_that_make_no_sense_are_refused(learner, weights, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        clone(learner).fit(cloud(), some_labels(learner), weights)


# --- points -----------------------------------------------------------------------------------


@all_of_them
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_points_that_are_not_finite_are_refused(learner, bad: float) -> None:
    points, new = cloud(), cloud()[:2] + 0.01
    points[3, 1] = new[1, 0] = bad
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        clone(learner).fit(points, some_labels(learner))
    fitted = clone(learner).fit(cloud(), some_labels(learner))
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        fitted.predict(new)


@all_of_them
def test_new_points_have_as_many_features_as_the_fit(learner) -> None:
    fitted = clone(learner).fit(cloud(), some_labels(learner))
    for new in (np.zeros((2, 2)), np.zeros((2, 4))):
        with pytest.raises(ValueError, match="features"):
            fitted.predict(new)


@every_learner
def test_nothing_is_predicted_before_a_fit(learner) -> None:
    fresh = clone(learner)
    calls = ["predict", "predict_proba", "decision_function", "predict_interval"]
    for call in [name for name in calls if hasattr(fresh, name)]:
        with pytest.raises(NotFittedError):
            getattr(fresh, call)(cloud())
    with pytest.raises(NotFittedError):
        fresh.fit_labels(some_labels(learner))
    with pytest.raises(NotFittedError):
        fresh.diagnose()


@every_learner
def test_identical_points_work(learner) -> None:
    """All points at one place: the graph is arbitrary, says so, and nothing breaks."""
    points = np.ones((40, 3))
    with pytest.warns(DegenerateDataWarning, match="identical to all its neighbours"):
        fitted = clone(learner).set_params(graph=KnnGraph(5)).fit(points, some_labels(learner))
    assert np.isfinite(fitted.scores_).all()
    assert np.isfinite(fitted.predict(points[:3])).all()


# --- parameters -------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", WITH_GAMMA)
@pytest.mark.parametrize("gamma", [-1.0, np.nan, np.inf, "much", None, True, [0.1]], ids=repr)
def test_a_penalty_is_a_number_that_is_not_negative(kind, gamma) -> None:
    learner = kind(gamma=gamma)
    y = np.where(np.arange(40) % 4 == 0, np.arange(40) % 3, -1)
    with pytest.raises(InvalidInputError, match=r"gamma=.*must be a number, not negative"):
        learner.fit(cloud(), y if hasattr(learner, "classes") else np.where(y < 0, np.nan, y))


@pytest.mark.parametrize("kind", WITH_GAMMA)
@pytest.mark.parametrize("gamma", [0, 1e-300, 1e-12, 1e6, 1e12, "auto"])
def test_no_penalty_makes_answers_that_are_not_finite(kind, gamma) -> None:
    learner = kind(gamma=gamma)
    y = np.where(np.arange(40) % 4 == 0, np.arange(40) % 3, -1)
    learner.fit(cloud(), y if hasattr(learner, "classes") else np.where(y < 0, np.nan, y))
    holds_no_nan(learner, cloud())


@with_graphless
def test_labels_that_were_not_declared_are_refused(learner) -> None:
    with pytest.raises(InvalidInputError, match=r"which classes=.*does not list"):
        clone(learner).set_params(classes=[0, 1]).fit(cloud(), some_labels(learner))


@with_graphless
def test_rows_without_label_are_refused_where_there_should_be_none(learner) -> None:
    y = np.where(np.arange(40) % 4 == 0, "a", "")
    y[0] = "b"
    with pytest.raises(InvalidInputError, match="30 of 40 rows in y have none"):
        clone(learner).set_params(unlabeled=None).fit(cloud(), y)
