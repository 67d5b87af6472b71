"""Points, labels and estimators that regions cannot be made of, or that only look so.

Each is refused by an error that says what, how much, why and what to do, or it works and every
answer is finite.
"""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.support.names import case_name

from beltrami import MultiManifoldClassifier, MultiManifoldRegressor
from beltrami.core.errors import (
    BeltramiWarning,
    DegenerateDataWarning,
    FewerRegionsWarning,
    InvalidInputError,
)

N = 80
RULES = ["auto", "slides", "eigengap", 3]
every_rule = pytest.mark.parametrize("n_regions", RULES)


def cloud(n=N, d=3):
    return np.random.default_rng(0).normal(size=(n, d))


def labels(n=N, step=4):
    rows = np.arange(n)
    return np.where(rows % step == 0, rows // step % 3, -1)


def values(n=N, step=4):
    found = labels(n, step).astype(float)
    found[found < 0] = np.nan
    return found


def classifier(X, y=None, sample_weight=None, **options):
    options = {"random_state": 0, "n_regions": 3} | options
    return MultiManifoldClassifier(**options).fit(
        X, labels(len(X)) if y is None else y, sample_weight
    )


def regressor(X, y=None, **options):
    options = {"random_state": 0, "n_regions": 3} | options
    return MultiManifoldRegressor(**options).fit(X, values(len(X)) if y is None else y)


def quietly(fit, *arguments, **options):
    """Fit without the warnings that degenerate data deserve."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BeltramiWarning)
        return fit(*arguments, **options)


def is_whole(learner, new):
    """Every answer is finite, of the fit's points and of new ones, and every row has a region."""
    regions = np.r_[learner.regions_, learner.predict_regions(new)]
    assert np.isin(regions, np.arange(learner.n_regions_)).all()
    assert len(learner.estimators_) == learner.n_regions_
    if isinstance(learner, MultiManifoldRegressor):
        assert np.isfinite(learner.transduction_).all()
        assert np.isfinite(learner.predict(new)).all()
        return
    for found in (learner.label_distributions_, learner.predict_proba(new)):
        assert np.isfinite(found).all()
        assert_allclose(found.sum(axis=1), 1, rtol=1e-9)
    for found in (learner.scores_, learner.confidence_, learner.decision_function(new)):
        assert np.isfinite(found).all()
    allowed = [*learner.classes_, -1]
    assert np.isin(learner.transduction_, allowed).all()
    assert np.isin(learner.predict(new), allowed).all()


# --- parameters -----------------------------------------------------------------------------------


@pytest.mark.parametrize("fit", [classifier, regressor])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_regions": 0}, "n_regions=0 must be a whole number of at least 1, or one of 'auto'"),
        ({"n_regions": -2}, "n_regions=-2 must be"),
        ({"n_regions": True}, "n_regions=True must be"),
        ({"n_regions": "many"}, "n_regions='many' must be .* 'auto', 'slides', 'eigengap'"),
        ({"n_regions": 2.5}, "n_regions=2.5 must be"),
        ({"n_regions": None}, "n_regions=None must be"),
        ({"carve": "nearest"}, "carve='nearest' is not known; choose one of 'vote', 'voronoi'"),
        ({"carve": None}, "carve=None is not known"),
        ({"noise": 0}, "noise=0 must be a finite number above zero"),
        ({"noise": -0.1}, "noise=-0.1 must be"),
        ({"noise": np.nan}, "noise=nan must be"),
        ({"noise": "auto"}, "noise='auto' must be"),
        ({"bandwidth": 0.0}, r"bandwidth=0\.0 must be a finite number above zero"),
        ({"bandwidth": -1}, "bandwidth=-1 must be"),
        ({"bandwidth": np.nan}, "bandwidth=nan must be"),
        ({"bandwidth": np.inf}, "bandwidth=inf must be"),
        ({"n_neighbors": 1}, "n_neighbors=1 must be a whole number of at least 2, or 'auto'"),
        ({"n_neighbors": 0}, "n_neighbors=0 must be"),
        ({"n_neighbors": True}, "n_neighbors=True must be"),
        ({"n_neighbors": "all"}, "n_neighbors='all' must be"),
        ({"n_neighbors": N}, "n_neighbors=80 neighbours .* X has 80. Ask for at most 79"),
        ({"n_neighbors": 1000}, "n_neighbors=1000 neighbours of each point need more points"),
        ({"random_state": -1}, "random_state=-1 cannot seed"),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_parameters_that_make_no_sense_are_refused(fit, options, message):
    with pytest.raises(InvalidInputError, match=message):
        fit(cloud(), **options)


@pytest.mark.parametrize("n_regions", [1, 3, "auto"])
@pytest.mark.parametrize(
    "estimator",
    [
        StandardScaler(),
        make_pipeline(StandardScaler()),
        LogisticRegression,
        LinearRegression(),
        KNeighborsRegressor(),
        "svm",
        7,
        object(),
    ],
    ids=case_name,
)
def test_what_is_no_classifier_is_refused(estimator, n_regions):
    with pytest.raises(InvalidInputError, match=r"estimator=.* must be None or a classifier"):
        classifier(cloud(), estimator=estimator, n_regions=n_regions)


@pytest.mark.parametrize(
    "estimator", [StandardScaler(), Ridge, LogisticRegression()], ids=lambda value: repr(value)[:30]
)
def test_what_is_no_regressor_is_refused(estimator):
    with pytest.raises(InvalidInputError, match=r"estimator=.* must be None or a regressor"):
        regressor(cloud(), estimator=estimator)


@pytest.mark.parametrize("name", ["noise", "bandwidth"])
@pytest.mark.parametrize("size", [1e-300, 1e-18, 1e-9, 1e9, 1e300])
def test_sizes_that_are_absurd_but_positive_work(name, size):
    is_whole(quietly(classifier, cloud(), **{name: size}), cloud() + 0.1)


@pytest.mark.parametrize("q", [2, 3, 79])
def test_as_few_or_as_many_neighbours_as_there_can_be_work(q):
    is_whole(quietly(classifier, cloud(), n_neighbors=q), cloud() + 0.1)


# --- estimators that need many labels -------------------------------------------------------------


def test_an_estimator_that_fails_in_a_region_says_which_and_with_how_many_labels():
    points = cloud(400, 2)
    message = (
        r"KNeighborsClassifier failed in region \d of 8, which has \d+ of the 100 labels "
        r"\(Expected n_neighbors <= n_samples_fit.*\). Ask for fewer regions \(n_regions='auto'"
    )
    with pytest.raises(InvalidInputError, match=message):
        classifier(points, estimator=KNeighborsClassifier(30), n_regions=8)


def test_by_itself_a_number_of_regions_is_found_that_the_estimator_can_do_with():
    points = cloud(400, 2)
    for need in (30, 100):
        learner = classifier(points, estimator=KNeighborsClassifier(need), n_regions="auto")
        is_whole(learner, points + 0.1)
    assert learner.n_regions_ == 1  # 100 of 100 labels
    regional = regressor(points, estimator=KNeighborsRegressor(40), n_regions="auto")
    is_whole(regional, points + 0.1)


@pytest.mark.parametrize("n_regions", [1, "auto"])
def test_an_estimator_that_always_fails_says_why_in_its_own_words(n_regions):
    points = cloud(400, 2)
    with pytest.raises(ValueError, match="Expected n_neighbors <= n_samples_fit"):
        classifier(points, estimator=KNeighborsClassifier(120), n_regions=n_regions)
    with pytest.raises(ValueError, match="The 'C' parameter of LogisticRegression"):
        classifier(points, estimator=LogisticRegression(C=-1.0), n_regions=n_regions)


# --- labels ---------------------------------------------------------------------------------------


def few(count):
    y = np.full(N, -1)
    y[5 * np.arange(count)] = np.arange(count) % 2
    return y


@pytest.mark.parametrize("n_regions", ["auto", "slides", "eigengap"])
def test_fewer_than_three_labels_make_one_region_in_silence(n_regions):
    with warnings.catch_warnings():
        warnings.simplefilter("error", BeltramiWarning)
        learner = classifier(cloud(), few(2), n_regions=n_regions)
        y = np.full(N, np.nan)
        y[7] = 2.5
        lone = regressor(cloud(), y, n_regions=n_regions)
    assert learner.n_regions_ == lone.n_regions_ == 1
    is_whole(learner, cloud() + 0.1)
    assert_array_equal(lone.predict(cloud()), 2.5)


@pytest.mark.parametrize(("asked", "count", "made"), [(2, 2, 1), (30, 20, 20), (5, 3, 3)])
def test_more_regions_than_labels_allow_are_lowered_aloud(asked, count, made):
    y = few(count) if count < 16 else labels()
    message = f"n_regions={asked} .* there are {count}: {made} will be made"
    with pytest.warns(FewerRegionsWarning, match=message) as caught:
        learner = MultiManifoldClassifier(n_regions=asked, random_state=0).fit(cloud(), y)
    assert caught[0].filename == __file__  # the warning points at the user's line
    assert learner.n_regions_ == made
    is_whole(learner, cloud() + 0.1)


@every_rule
def test_labels_on_all_rows_work(n_regions):
    points = cloud()
    is_whole(quietly(classifier, points, np.arange(N) % 3, n_regions=n_regions), points + 0.1)
    is_whole(quietly(regressor, points, points[:, 0], n_regions=n_regions), points + 0.1)


def test_no_label_at_all_is_refused():
    with pytest.raises(InvalidInputError, match="y has no label at all"):
        classifier(cloud(), np.full(N, -1))
    with pytest.raises(InvalidInputError, match=r"no value|no label"):
        regressor(cloud(), np.full(N, np.nan))


def test_labels_of_one_class_are_refused_unless_more_are_declared():
    y = np.where(labels() >= 0, 1, -1)
    with pytest.raises(InvalidInputError, match="all labels are of one class"):
        classifier(cloud(), y)
    learner = classifier(cloud(), y, classes=[0, 1])
    is_whole(learner, cloud() + 0.1)
    assert_array_equal(learner.predict(cloud()), np.ones(N))


def test_a_value_that_never_changes_is_said_everywhere():
    y = np.where(np.isnan(values()), np.nan, 4.0)
    learner = quietly(regressor, cloud(), y)
    assert_allclose(learner.predict(cloud() + 0.1), 4.0, rtol=1e-6)


def test_labels_of_the_wrong_length_are_refused():
    with pytest.raises(ValueError, match="79"):
        classifier(cloud(), labels()[:79])


def test_weights_of_the_wrong_shape_or_sign_are_refused():
    for wrong in (np.ones(3), -np.ones(N), np.full(N, np.nan), np.zeros(N)):
        with pytest.raises(InvalidInputError, match="sample_weight"):
            classifier(cloud(), sample_weight=wrong)


# --- points ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_entries_that_are_no_numbers_are_refused(wrong):
    points = cloud()
    points[3, 1] = wrong
    for fit in (classifier, regressor):
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            fit(points)
    learner = classifier(cloud())
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        learner.predict(points)
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        learner.predict_regions(points)


def test_points_of_another_width_are_refused():
    learner = classifier(cloud())
    for ask in (learner.predict, learner.predict_proba, learner.predict_regions):
        with pytest.raises(ValueError, match="4 features"):
            ask(cloud(d=4))


@every_rule
def test_rows_that_are_all_identical_work(n_regions):
    points = np.ones((N, 3))
    for fit in (classifier, regressor):
        learner = quietly(fit, points, n_regions=n_regions, estimator=None)
        is_whole(learner, cloud())
    plain = quietly(classifier, points, n_regions=n_regions, estimator=LogisticRegression())
    is_whole(plain, cloud())


@every_rule
@pytest.mark.parametrize("d", [1, 3])
def test_rows_half_of_which_are_identical_work(n_regions, d):
    points = cloud(d=d)
    points[::2] = points[0]
    for fit in (classifier, regressor):
        is_whole(quietly(fit, points, n_regions=n_regions), cloud(d=d))


@every_rule
def test_one_dimension_works(n_regions):
    points = cloud(d=1)
    for fit in (classifier, regressor):
        is_whole(quietly(fit, points, n_regions=n_regions), points + 0.1)


def test_very_many_dimensions_are_reported():
    points = cloud(200, 90)
    message = r"\d+% of the edges .* saturated .*in 90 dimensions.* Raise n_neighbors or noise"
    with pytest.warns(DegenerateDataWarning, match=message) as caught:
        learner = MultiManifoldClassifier(LogisticRegression(), n_regions=3, n_neighbors=6).fit(
            points, labels(200)
        )
    assert caught[0].filename == __file__
    assert learner.shape_graph_.saturation > 0.5
    is_whole(learner, points)


@pytest.mark.parametrize("d", [101, 400])
@pytest.mark.parametrize("n", [5, 40])
def test_more_columns_than_rows_work(n, d):
    y = np.arange(n) % 2
    learner = quietly(classifier, cloud(n, d), y, estimator=LogisticRegression())
    is_whole(learner, cloud(n, d) + 0.1)


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6, 9, 13])
@every_rule
def test_a_handful_of_rows_work(n, n_regions):
    points, y = cloud(n), np.arange(n) % 2
    is_whole(quietly(classifier, points, y, n_regions=n_regions), cloud())
    is_whole(quietly(regressor, points, y.astype(float), n_regions=n_regions), cloud())


@pytest.mark.parametrize("fit", [MultiManifoldClassifier(), MultiManifoldRegressor()], ids=repr)
def test_one_row_is_refused(fit):
    with pytest.raises(ValueError, match="1 sample"):
        clone(fit).fit(cloud(1), [1])


@every_rule
def test_columns_that_never_change_work(n_regions):
    points = np.column_stack([cloud(), np.full(N, 5.0), np.zeros(N)])
    is_whole(quietly(classifier, points, n_regions=n_regions), points + 0.1)


@pytest.mark.parametrize("scale", [1e-40, 1e-6, 1e6, 1e40])
def test_columns_of_very_different_scale_work(scale):
    points = cloud() * [1.0, scale, 1.0]
    is_whole(quietly(classifier, points, estimator=KNeighborsClassifier(1)), points)


@pytest.mark.parametrize("scale", [1e-200, 1e100, 1e300])
def test_points_beyond_the_range_of_floats_are_refused(scale):
    with pytest.raises(
        InvalidInputError, match=r"largest entry of X is .* Scale the columns first"
    ):
        classifier(scale * cloud(), estimator=LogisticRegression())


@pytest.mark.parametrize("offset", [1e6, 1e12, 1e15])
def test_points_far_from_the_origin_work(offset):
    points = cloud() + offset
    is_whole(quietly(classifier, points), points)


@pytest.mark.parametrize("dtype", [np.int64, np.int8, bool, np.uint8, np.float32, object])
def test_points_of_any_numeric_type_work(dtype):
    points = np.random.default_rng(0).integers(0, 4, (N, 3)).astype(dtype)
    learner = quietly(classifier, points)
    is_whole(learner, points)
    same = quietly(classifier, points.astype(float))
    assert_array_equal(learner.regions_, same.regions_)


def test_an_outlier_of_any_size_does_no_harm():
    points = cloud()
    points[0] = 1e12
    is_whole(quietly(classifier, points, estimator=LogisticRegression()), cloud())
