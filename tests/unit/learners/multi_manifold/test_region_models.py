"""One estimator per region: what each says, constants, weights, and labels held out."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelPropagation, LabelSpreading, SelfTrainingClassifier
from sklearn.svm import SVC, LinearSVC
from tests.support.names import case_name

from beltrami import (
    GraphRegularizedClassifier,
    KnnGraph,
    LaplacianRLSClassifier,
    LaplacianRLSRegressor,
)
from beltrami.core.errors import InvalidInputError
from beltrami.kernel_machines.kernels import RbfKernel
from beltrami.kernel_machines.roughness import LaplacianPower
from beltrami.learners.model import Labeled
from beltrami.learners.multi_manifold import region_models
from beltrami.learners.multi_manifold.region_models import (
    Constant,
    checked_estimator,
    fit_regional,
    held_out_losses,
    learns_from_unlabeled,
)

N = 120


def cloud(n=N, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def classes_of(points, k=3):
    return np.digitize(points[:, 0] + points[:, 1] ** 2, np.linspace(-0.5, 1.5, k - 1))


def one_hot(rows, codes, k, weights=None):
    return Labeled(rows, np.eye(k)[codes], np.ones(len(rows)) if weights is None else weights)


def with_values(rows, values, weights=None):
    return Labeled(rows, values[:, None], np.ones(len(rows)) if weights is None else weights)


def halves(points):
    return (points[:, 2] > 0).astype(int)


# --- known regions --------------------------------------------------------------------------------


def test_each_region_asks_an_estimator_of_its_own():
    points = cloud()
    regions, truth = halves(points), classes_of(points)
    rows = np.arange(0, N, 2)
    model = fit_regional(LogisticRegression(), points, one_hot(rows, truth[rows], 3), regions, 2)
    found = model.scores(points, regions)
    for region in (0, 1):
        inside = rows[regions[rows] == region]
        alone = LogisticRegression().fit(points[inside], truth[inside])
        asked = regions == region
        assert_allclose(found[asked], alone.predict_proba(points[asked]), rtol=1e-12)
    assert_array_equal(model.n_labels, np.bincount(regions[rows]))


def test_each_region_has_values_of_its_own():
    points = cloud()
    regions, rows = halves(points), np.arange(0, N, 2)
    values = np.where(regions == 1, 3 * points[:, 0], -points[:, 1])
    labeled = with_values(rows, values[rows])
    model = fit_regional(LinearRegression(), points, labeled, regions, 2)
    least = [values[rows][regions[rows] == region].min() for region in (0, 1)]
    largest = [values[rows][regions[rows] == region].max() for region in (0, 1)]
    held = np.clip(values, np.take(least, regions), np.take(largest, regions))
    assert_allclose(model.scores(points, regions)[:, 0], held, atol=1e-9)
    assert (held != values).any()


def test_values_are_held_within_the_labels_of_a_region_only_where_there_are_several():
    points, rows = cloud(), np.arange(0, N, 2)
    labeled = with_values(rows, points[rows, 0])
    far = 100 * points
    one = fit_regional(LinearRegression(), points, labeled, np.zeros(N, dtype=int), 1)
    assert_allclose(one.scores(far, np.zeros(N, dtype=int))[:, 0], far[:, 0], rtol=1e-9)
    regions = halves(points)
    two = fit_regional(LinearRegression(), points, labeled, regions, 3)
    said = two.scores(far, np.where(regions == 1, 2, 0))[:, 0]  # region 2 has no label
    known = points[rows, 0]
    assert said[regions == 0].max() <= known[regions[rows] == 0].max()
    assert_allclose(said[regions == 1], known.mean())


def test_the_estimator_given_is_left_alone():
    points, own = cloud(), LogisticRegression()
    rows = np.arange(N)
    fit_regional(own, points, one_hot(rows, classes_of(points), 3), halves(points), 2)
    assert not hasattr(own, "classes_")


def test_labels_need_not_be_in_order_of_regions():
    points = cloud()
    regions, truth = halves(points), classes_of(points)
    order = np.random.default_rng(3).permutation(N)
    rows = np.arange(0, N, 2)
    place = np.argsort(order)
    there = np.sort(place[rows])
    plain = fit_regional(
        LogisticRegression(), points, one_hot(rows, truth[rows], 3), regions, 2
    ).scores(points, regions)
    labeled = one_hot(there, truth[order][there], 3)
    shuffled = fit_regional(LogisticRegression(), points[order], labeled, regions[order], 2)
    assert_allclose(shuffled.scores(points[order], regions[order]), plain[order], atol=1e-3)


# --- constants ------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 2, 7])
@pytest.mark.parametrize("k", [2, 4])
def test_one_class_is_said_with_the_rule_of_succession(count, k):
    found = Constant.of(one_hot(np.arange(count), np.full(count, 1), k)).scores
    assert_allclose(found[1], (count + 1) / (count + 2))
    assert_allclose(np.delete(found, 1), 1 / (count + 2) / (k - 1))
    assert_allclose(found.sum(), 1)


def test_a_region_with_one_class_says_so():
    points = cloud()
    regions, rows = halves(points), np.arange(N)
    truth = np.where(regions == 1, 2, classes_of(points))
    model = fit_regional(LogisticRegression(), points, one_hot(rows, truth, 3), regions, 2)
    assert isinstance(model.parts[1], Constant)
    count = int((regions == 1).sum())
    found = model.scores(points[regions == 1], np.ones(count, dtype=int))
    assert_allclose(found, np.tile([0.5, 0.5, count + 1], (count, 1)) / (count + 2))


def test_a_region_with_one_value_says_so_and_one_with_two_learns():
    points = cloud()
    regions = halves(points)
    first, second = np.flatnonzero(regions == 0)[:1], np.flatnonzero(regions == 1)[:2]
    rows = np.sort(np.r_[first, second])
    values = points[rows, 0] * 2
    model = fit_regional(LinearRegression(), points, with_values(rows, values), regions, 2)
    assert isinstance(model.parts[0], Constant)
    assert_allclose(model.parts[0].scores, 2 * points[first, 0])
    assert isinstance(model.parts[1], LinearRegression)


def test_a_region_without_a_label_says_what_all_say():
    points = cloud()
    rows = np.arange(0, N, 3)
    truth = classes_of(points)
    labeled = one_hot(rows, truth[rows], 3)
    model = fit_regional(LogisticRegression(), points, labeled, np.zeros(N, dtype=int), 2)
    assert_allclose(model.scores(points[:2], np.ones(2, dtype=int)), [labeled.mean] * 2)
    assert_array_equal(model.n_labels, [len(rows), 0])


# --- what estimators say --------------------------------------------------------------------------


class Silent(ClassifierMixin, BaseEstimator):
    """Says a class and nothing else."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.mean_ = np.array([X[y == c].mean(axis=0) for c in self.classes_])
        return self

    def predict(self, X):
        distances = np.linalg.norm(np.asarray(X)[:, None] - self.mean_, axis=2)
        return self.classes_[distances.argmin(axis=1)]


class Fussy(GaussianNB):
    """Cannot be fitted to fewer than 20 labels."""

    def fit(self, X, y):
        if len(y) < 20:
            raise ValueError(f"give me more than {len(y)}")
        return super().fit(X, y)


CLASSIFIERS = [
    LogisticRegression(),
    RandomForestClassifier(10, random_state=0),
    KNeighborsClassifier(3),
    SVC(),
    SVC(decision_function_shape="ovo"),
    LinearSVC(),
    RidgeClassifier(),
    GaussianNB(),
    Silent(),
    DummyClassifier(),
    make_pipeline(StandardScaler(), LogisticRegression()),
    GridSearchCV(LogisticRegression(), {"C": [0.1, 1]}, cv=2),
    LaplacianRLSClassifier(),
    GraphRegularizedClassifier(),
]


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=lambda e: repr(e)[:40])
@pytest.mark.parametrize("k", [2, 4])
def test_scores_are_probabilities_that_agree_with_what_is_decided(estimator, k):
    points = cloud()
    truth, rows = classes_of(points, k), np.arange(0, N, 2)
    labeled = one_hot(rows, truth[rows], k)
    model = fit_regional(estimator, points, labeled, np.zeros(N, dtype=int), 1)
    new = cloud(50, seed=9)
    found = model.scores(new, np.zeros(50, dtype=int))
    assert_allclose(found.sum(axis=1), 1, rtol=1e-9)
    assert (found >= 0).all()
    decided = model.parts[0].predict(new)
    assert_allclose(found[np.arange(50), decided], found.max(axis=1))
    if estimator.__class__ is Silent:
        assert_array_equal(np.unique(found), [0, 1])


def test_classes_that_a_region_does_not_know_get_nothing_there():
    points = cloud()
    regions, rows = halves(points), np.arange(N)
    truth = classes_of(points, 2) + np.where(regions == 1, 2, 0)  # 0 and 1 here, 2 and 3 there
    for estimator in (LogisticRegression(), SVC(), Silent(), LaplacianRLSClassifier()):
        model = fit_regional(estimator, points, one_hot(rows, truth, 4), regions, 2)
        found = model.scores(points, regions)
        assert (found[regions == 0][:, 2:] == 0).all()
        assert (found[regions == 1][:, :2] == 0).all()
        assert_allclose(found.sum(axis=1), 1, rtol=1e-9)


def test_probabilities_of_support_vectors_follow_their_decision():
    # Platt's probabilities are cross-validated and often disagree with the sign of the margin.
    rng = np.random.default_rng(0)
    points, rows = rng.normal(size=(40, 2)), np.arange(40)
    truth = rng.integers(0, 2, 40)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # newer versions advise a wrapper instead
        machine = SVC(probability=True, random_state=0)
        model = fit_regional(machine, points, one_hot(rows, truth, 2), np.zeros(40, dtype=int), 1)
    part, new = model.parts[0], rng.normal(size=(300, 2))
    decided, said = part.predict(new), part.predict_proba(new)
    assert (said.argmax(axis=1) != decided).any()
    found = model.scores(new, np.zeros(300, dtype=int))
    assert_array_equal(found.argmax(axis=1), decided)
    assert_allclose(np.sort(found, axis=1), np.sort(said, axis=1))


def test_a_tie_goes_to_the_class_that_is_decided_for():
    class Undecided(Silent):
        def predict_proba(self, X):
            return np.full((len(X), len(self.classes_)), 1 / len(self.classes_))

    points, rows = cloud(), np.arange(N)
    labeled = one_hot(rows, classes_of(points), 3)
    model = fit_regional(Undecided(), points, labeled, np.zeros(N, dtype=int), 1)
    found = model.scores(points, np.zeros(N, dtype=int))
    assert_array_equal(found.argmax(axis=1), model.parts[0].predict(points))
    assert_allclose(found, 1 / 3)


def test_what_is_no_probability_becomes_an_even_one():
    class Lost(Silent):
        def predict_proba(self, X):
            return np.full((len(X), len(self.classes_)), np.nan)

    points, rows = cloud(), np.arange(N)
    labeled = one_hot(rows, classes_of(points), 3)
    model = fit_regional(Lost(), points, labeled, np.zeros(N, dtype=int), 1)
    found = model.scores(points, np.zeros(N, dtype=int))
    assert_allclose(found, 1 / 3)
    assert_array_equal(found.argmax(axis=1), model.parts[0].predict(points))


def test_where_no_label_reaches_nothing_is_said():
    points = np.vstack([cloud(60), cloud(60, seed=1) + 100])
    rows = np.arange(0, 60, 3)
    estimator = GraphRegularizedClassifier(graph=KnnGraph(5, connect="keep"))
    labeled = one_hot(rows, classes_of(points)[rows], 3)
    with pytest.warns(UserWarning, match="share no component"):
        model = fit_regional(estimator, points, labeled, np.zeros(120, dtype=int), 1)
    found = model.scores(points, np.zeros(120, dtype=int))
    assert (found[60:] == 0).all()
    assert_allclose(found[:60].sum(axis=1), 1)


def test_sparse_points_go_through():
    points = cloud()
    regions, truth, rows = halves(points), classes_of(points), np.arange(0, N, 2)
    labeled = one_hot(rows, truth[rows], 3)
    dense = fit_regional(LogisticRegression(), points, labeled, regions, 2)
    sparse = fit_regional(LogisticRegression(), csr_array(points), labeled, regions, 2)
    assert_allclose(
        sparse.scores(csr_array(points), regions), dense.scores(points, regions), atol=1e-4
    )


# --- unlabelled rows ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("estimator", "learns"),
    [
        (LogisticRegression(), False),
        (make_pipeline(StandardScaler(), LogisticRegression()), False),
        (LaplacianRLSClassifier(), True),
        (LaplacianRLSClassifier(gamma_i=0.0), False),
        (LaplacianRLSRegressor(gamma_i=0), False),
        (GraphRegularizedClassifier(), True),
        (make_pipeline(StandardScaler(), GraphRegularizedClassifier()), True),
        (LabelPropagation(), True),
        (SelfTrainingClassifier(LogisticRegression()), True),
    ],
    ids=lambda value: repr(value)[:50],
)
def test_who_learns_from_unlabelled_rows(estimator, learns):
    assert learns_from_unlabeled(estimator) is learns


class Counting(LabelSpreading):
    """Remembers what it was given; lives in a module of scikit-learn's name."""

    __module__ = "sklearn.semi_supervised.counting"

    def fit(self, X, y):
        self.seen_ = X.shape[0], int((np.asarray(y) == -1).sum())
        return super().fit(X, y)


def test_unlabelled_rows_of_the_region_go_to_those_who_learn_from_them():
    points = cloud()
    regions, truth, rows = halves(points), classes_of(points), np.arange(0, N, 4)
    model = fit_regional(Counting(), points, one_hot(rows, truth[rows], 3), regions, 2)
    for region in (0, 1):
        n_inside = int((regions == region).sum())
        n_labels = int((regions[rows] == region).sum())
        assert model.parts[region].seen_ == (n_inside, n_inside - n_labels)


# --- weights --------------------------------------------------------------------------------------


@pytest.mark.parametrize("weights", [np.full(N, 3.0), 1 + np.arange(N) % 4.0], ids=["same", "all"])
def test_weights_reach_the_estimator(weights):
    points = cloud()
    truth, rows = classes_of(points), np.arange(N)
    labeled = one_hot(rows, truth, 3, weights)
    model = fit_regional(LogisticRegression(), points, labeled, np.zeros(N, dtype=int), 1)
    plain = LogisticRegression().fit(points, truth, sample_weight=weights)
    found = model.scores(points, np.zeros(N, dtype=int))
    assert_allclose(found, plain.predict_proba(points), rtol=1e-12)
    without = LogisticRegression().fit(points, truth)
    assert np.abs(found - without.predict_proba(points)).max() > 1e-4


@pytest.mark.parametrize("n_regions", [1, 2])
def test_weights_are_refused_where_an_estimator_takes_none(n_regions):
    points, weights = cloud(), 1 + np.arange(N) % 2.0
    labeled = one_hot(np.arange(N), classes_of(points), 3, weights)
    regions = halves(points) % n_regions
    for ask in (fit_regional, held_out_losses):
        with pytest.raises(InvalidInputError, match=r"KNeighborsClassifier takes none. Leave it"):
            ask(KNeighborsClassifier(), points, labeled, regions, n_regions)


def test_weights_of_one_are_no_weights():
    points = cloud()
    labeled = one_hot(np.arange(N), classes_of(points), 3, np.ones(N))
    fit_regional(KNeighborsClassifier(), points, labeled, halves(points), 2)


# --- failures -------------------------------------------------------------------------------------


def test_a_failure_names_the_region_its_labels_and_what_to_do():
    points = cloud()
    rows = np.r_[np.flatnonzero(halves(points) == 0), np.flatnonzero(halves(points) == 1)[:12]]
    rows.sort()
    labeled = one_hot(rows, classes_of(points, 2)[rows], 2)
    few = KNeighborsClassifier(30)  # fits anything, fails when asked
    model = fit_regional(few, points, labeled, halves(points), 2)
    message = (
        rf"KNeighborsClassifier failed in region 1 of 2, which has 12 of the {len(rows)} labels "
        r"\(Expected n_neighbors.*\). Ask for fewer regions"
    )
    with pytest.raises(InvalidInputError, match=message):
        model.scores(points, halves(points))
    with pytest.raises(InvalidInputError, match=r"Fussy failed in region 1 of 2, .* has 12 .*more"):
        fit_regional(Fussy(), points, labeled, halves(points), 2)


def test_with_one_region_the_failure_is_the_estimators_own():
    points = cloud()
    labeled = one_hot(np.arange(20), np.arange(20) % 2, 2)
    model = fit_regional(KNeighborsClassifier(30), points, labeled, np.zeros(N, dtype=int), 1)
    with pytest.raises(ValueError, match=r"^Expected n_neighbors"):
        model.scores(points, np.zeros(N, dtype=int))


@pytest.mark.parametrize(
    "estimator",
    [LogisticRegression, StandardScaler(), Ridge(), "svm", 3, object(), make_pipeline(Ridge())],
    ids=case_name,
)
def test_what_is_no_classifier_is_refused(estimator):
    with pytest.raises(InvalidInputError, match=r"estimator=.* must be None or a classifier"):
        checked_estimator(estimator, classifies=True)


@pytest.mark.parametrize("estimator", [Ridge, StandardScaler(), SVC(), None], ids=repr)
def test_what_is_no_regressor_is_refused(estimator):
    with pytest.raises(InvalidInputError, match=r"estimator=.* must be None or a regressor"):
        checked_estimator(estimator, classifies=False)


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=lambda e: repr(e)[:40])
def test_classifiers_are_welcome(estimator):
    assert checked_estimator(estimator, classifies=True) is estimator


# --- labels held out ------------------------------------------------------------------------------


def same_strength(estimator, count):
    """A penalty per label grows with the labels: keep that of all of them with one fewer."""
    if not hasattr(estimator, "gamma_a"):
        return clone(estimator)
    factor = count / (count - 1)
    fewer = clone(estimator).set_params(gamma_a=estimator.gamma_a * factor)
    return fewer.set_params(gamma_i=estimator.gamma_i * factor)


def by_refitting(estimator, points, rows, codes, regions, *, keeps_points=False):
    """Leave each label out by itself and ask an estimator of its region."""
    wrong = np.empty(len(rows))
    estimator = same_strength(estimator, len(rows))
    for place, row in enumerate(rows):
        inside = np.flatnonzero(regions[rows] == regions[row])
        others = inside[inside != place]
        if keeps_points:
            y = np.full(len(points), -1)
            y[rows[others]] = codes[others]
            part = clone(estimator).fit(points, y)
        else:
            part = clone(estimator).fit(points[rows[others]], codes[others])
        wrong[place] = part.predict(points[row][None])[0] != codes[place]
    return wrong


@pytest.mark.parametrize("estimator", [LogisticRegression(), GaussianNB(), SVC()], ids=repr)
def test_a_label_held_out_is_predicted_by_the_others_of_its_region(estimator):
    points = cloud()
    regions, rows = halves(points), np.arange(0, N, 2)
    codes = classes_of(points + 0.3 * cloud(seed=5), 2)[rows]
    found = held_out_losses(estimator, points, one_hot(rows, codes, 2), regions, 2)
    assert_array_equal(found, by_refitting(estimator, points, rows, codes, regions))
    assert found.any()


def test_a_label_held_out_stays_as_a_point_for_those_who_learn_from_unlabelled_rows():
    seen = []

    class Watched(LabelSpreading):
        __module__ = "sklearn.semi_supervised.watched"

        def fit(self, X, y):
            seen.append((X.shape[0], int((np.asarray(y) == -1).sum())))
            return super().fit(X, y)

    points, rows = cloud(40), np.arange(0, 40, 4)
    labeled = one_hot(rows, np.arange(10) % 2, 2)
    held_out_losses(Watched(), points, labeled, np.zeros(40, dtype=int), 1)
    assert seen == [(40, 31)] * 10


def test_many_labels_are_held_out_in_folds(monkeypatch):
    counted = []

    class Counted(GaussianNB):
        def fit(self, X, y):
            counted.append(len(y))
            return super().fit(X, y)

    points = cloud()
    labeled = one_hot(np.arange(N), classes_of(points), 3)
    held_out_losses(Counted(), points, labeled, np.zeros(N, dtype=int), 1)
    assert len(counted) == 20
    assert set(counted) == {N - N // 20}
    counted.clear()
    monkeypatch.setattr(region_models, "_LEAVE_ONE_OUT", N)
    held_out_losses(Counted(), points, labeled, np.zeros(N, dtype=int), 1)
    assert counted == [N - 1] * N


FIXED = {"gamma_a": 0.01, "kernel": RbfKernel(1.0)}


def test_the_exact_leave_one_out_is_refitting_one_by_one():
    points = cloud(60)
    rows = np.arange(0, 60, 2)
    codes = classes_of(points + 0.4 * cloud(60, seed=5), 3)[rows]
    zeros = np.zeros(60, dtype=int)
    labeled = one_hot(rows, codes, 3)
    supervised = LaplacianRLSClassifier(gamma_i=0.0, unlabeled=-1, **FIXED)
    found = held_out_losses(supervised, points, labeled, zeros, 1)
    assert_array_equal(found, by_refitting(supervised, points, rows, codes, zeros))
    smooth = LaplacianRLSClassifier(
        gamma_i=0.1, unlabeled=-1, smoothness=LaplacianPower(1), **FIXED
    )
    found = held_out_losses(smooth, points, labeled, zeros, 1)
    slow = by_refitting(smooth, points, rows, codes, zeros, keeps_points=True)
    assert_array_equal(found, slow)
    assert found.any()


def test_the_exact_leave_one_out_of_values_is_refitting_one_by_one():
    points = cloud(40)
    rows = np.arange(0, 40, 2)
    values = np.sin(points[rows, 0])
    estimator = LaplacianRLSRegressor(gamma_i=0.0, **FIXED)
    zeros = np.zeros(40, dtype=int)
    found = held_out_losses(estimator, points, with_values(rows, values), zeros, 1)
    slow = []
    for i in range(len(rows)):
        part = same_strength(estimator, len(rows))
        part.fit(points[np.delete(rows, i)], np.delete(values, i))
        slow.append(abs(part.predict(points[rows[i]][None])[0] - values[i]))
    assert_allclose(found, slow, rtol=1e-6)


def test_values_held_out_lose_by_their_size():
    points = cloud(30)
    rows, zeros = np.arange(30), np.zeros(30, dtype=int)
    values = points[:, 0] + 0.1 * points[:, 1] ** 2
    labeled = with_values(rows, values)
    found = held_out_losses(KNeighborsRegressor(1), points, labeled, zeros, 1)
    distances = np.linalg.norm(points[:, None] - points, axis=2)
    np.fill_diagonal(distances, np.inf)
    assert_allclose(found, np.abs(values[distances.argmin(axis=1)] - values))


def test_a_label_alone_in_its_region_is_predicted_by_all_others():
    points = cloud(20)
    regions = np.zeros(20, dtype=int)
    regions[[3, 4]] = 1, 2
    codes = np.arange(20) % 2 * 0 + (np.arange(20) < 5)  # class 0 is the commonest
    found = held_out_losses(GaussianNB(), points, one_hot(np.arange(20), codes, 2), regions, 3)
    assert found[3] == 1
    assert found[4] == 1
    values = np.arange(20.0)
    labeled = with_values(np.arange(20), values)
    found = held_out_losses(Ridge(), points, labeled, regions, 3)
    assert_allclose(found[3], np.delete(values, 3).mean() - 3)


def test_labels_of_one_class_but_one_are_predicted_without_it():
    points = cloud(12)
    codes = np.zeros(12, dtype=int)
    codes[5] = 1
    labeled = one_hot(np.arange(12), codes, 2)
    for estimator in (LogisticRegression(), LaplacianRLSClassifier(gamma_i=0.0)):
        found = held_out_losses(estimator, points, labeled, np.zeros(12, dtype=int), 1)
        assert found[5] == 1


def test_one_label_in_all_is_predicted_by_itself():
    labeled = with_values(np.array([2]), np.array([5.0]))
    assert_array_equal(held_out_losses(Ridge(), cloud(5), labeled, np.zeros(5, dtype=int), 1), [0])
