"""Dissimilarities, labels and parameters that Mbed cannot use, or that only look so.

Each is refused by one of our errors that says what, how much, why and what to do, or it works and
every answer is finite.
"""

import re
from contextlib import suppress

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.metrics import pairwise_distances

from beltrami import Mbed, PaperMode, PracticalMode, StochasticNeighborEmbedding
from beltrami.core.errors import BeltramiError, InvalidInputError, MemoryBudgetError
from beltrami.core.machine import memory


def quick(mode, **wishes):
    """Spare steps, by those parameters that the mode has."""
    return mode.set_params(**{name: wishes[name] for name in wishes if hasattr(mode, name)})


QUICK = quick(PracticalMode(), n_steps=30, n_folds=0)
SHORT = PaperMode(n_steps=60, n_first_steps=5)
every_mode = pytest.mark.parametrize("mode", [QUICK, SHORT], ids=["practical", "paper"])

N = 40


def cloud(n=N):
    return np.random.default_rng(0).normal(size=(n, 3))


def labels(n=N):
    rows = np.arange(n)
    return np.where(rows % 4 == 0, rows % 3, -1)


def soft(n=N):
    """The labels as probabilities, with rows of NaN for gaps."""
    found = np.full((n, 3), np.nan)
    found[labels(n) >= 0] = np.eye(3)[labels(n)[labels(n) >= 0]]
    return found


def distances(n=N):
    return pairwise_distances(cloud(n))


def fitted(mode, X, y=None, *, sample_weight=None, **options):
    """Labels of every fourth row unless y or a number of classes is given."""
    if y is None and "n_classes" not in options:
        y = labels(X.shape[0])
    return Mbed(**{"mode": mode, "random_state": 0} | options).fit(X, y, sample_weight)


def holds_no_nan(learner, new):
    """Every answer is finite, of the fit's points and of new ones; the criterion is no NaN."""
    answers = [learner.embedding_, learner.scores_, learner.label_distributions_]
    answers += [learner.confidence_, learner.transform(new), learner.predict_proba(new)]
    answers += [learner.decision_function(new), [stage.cost for stage in learner.path_]]
    for found in answers:
        assert np.isfinite(found).all()
    assert not np.isnan([stage.criterion for stage in learner.path_]).any()
    assert_allclose(learner.label_distributions_.sum(axis=1), 1, rtol=1e-9)
    assert_allclose(learner.predict_proba(new).sum(axis=1), 1, rtol=1e-9)
    allowed = [*learner.classes_, -1]
    assert np.isin(learner.transduction_, allowed).all()
    assert np.isin(learner.predict(new), allowed).all()


# --- parameters -----------------------------------------------------------------------------------


@every_mode
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_classes": 1}, "n_classes=1: .* at least two classes.*StochasticNeighborEmbedding"),
        ({"n_classes": 0}, "n_classes=0 must be at least 1"),
        ({"n_classes": -2}, "n_classes=-2 must be"),
        ({"n_classes": 2.5}, "n_classes=2.5 must be an integer"),
        ({"n_classes": "three"}, "n_classes='three' must be an integer"),
        ({"n_classes": N + 1}, "n_classes=41 classes need at least as many points, and X has 40"),
        ({"n_classes": 2, "y": labels()}, "y shows 3 classes and n_classes=2; leave n_classes="),
        ({"n_components": 1}, "3 classes at equal angles need at least 2 dimensions.*=1"),
        ({"n_components": 0}, "n_components=0 must be at least 1"),
        ({"n_components": "two"}, "n_components='two' must be an integer"),
        ({"prior": [0.5, 0.5]}, r"prior=\[0.5, 0.5\] must hold 3 positive numbers, one per class"),
        ({"prior": [0.5, 0.5, 0.0]}, "prior=.* must hold 3 positive numbers"),
        ({"prior": [-1, 1, 1]}, "prior=.* must hold 3 positive numbers"),
        ({"prior": [np.nan, 0.5, 0.5]}, "prior=.* must hold 3 positive numbers"),
        ({"prior": "equal"}, "prior='equal' must hold one number per class"),
        ({"classes": [0, 1]}, r"y holds \[2\], which classes=\[0, 1\] does not list"),
        ({"random_state": -1}, "random_state=-1 cannot seed"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_parameters_that_make_no_sense_are_refused(mode, options, message):
    with pytest.raises(InvalidInputError, match=message):
        fitted(mode, cloud(), **options)


@pytest.mark.parametrize("mode", ["fast", None, PaperMode, 3, "PaperMode"])
def test_unknown_modes_are_refused(mode):
    with pytest.raises(InvalidInputError, match=r"mode=.* must be one of 'practical', 'paper'"):
        fitted(mode, cloud())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"printed": ("slips",)}, r"printed=\('slips',\) .* among gradient, margin, targets"),
        ({"printed": "gradient"}, "printed='gradient' must be a tuple of names"),
        ({"printed": ("gradient", 3)}, "printed=.* must be a tuple of names"),
        ({"reach": 0}, "reach=0 must be a finite number above zero"),
        ({"reach": np.nan}, "reach=nan must be"),
        ({"spread": -1.0}, r"spread=-1\.0 must be a finite number above zero"),
        ({"spread": "wide"}, "spread='wide' must be"),
        ({"n_steps": 0}, "n_steps=0 must be at least 1"),
        ({"n_steps": 2.5}, "n_steps=2.5 must be an integer"),
        ({"n_first_steps": 0}, "n_first_steps=0 must be at least 1"),
        ({"n_init": 0}, "n_init=0 must be at least 1"),
    ],
    ids=str,
)
def test_readings_of_the_paper_that_make_no_sense_are_refused(options, message):
    with pytest.raises(InvalidInputError, match=message):
        fitted(clone(SHORT).set_params(**options), cloud())


@pytest.mark.parametrize("printed", [None, 3])
def test_printed_that_is_no_tuple_is_refused(printed):
    with pytest.raises(InvalidInputError, match="printed="):
        fitted(clone(SHORT).set_params(printed=printed), cloud())


def test_more_first_steps_than_steps_are_refused():
    with pytest.raises(InvalidInputError, match="n_first_steps"):
        fitted(PaperMode(n_steps=5, n_first_steps=10), cloud())


@pytest.mark.parametrize("perplexity", [0, -1.0, np.nan, np.inf, "many", None])
def test_perplexities_that_make_no_sense_are_refused(perplexity):
    with pytest.raises(InvalidInputError, match=f"perplexity={perplexity!r} must be a finite"):
        fitted(clone(QUICK).set_params(perplexity=perplexity), cloud())


@pytest.mark.parametrize("perplexity", [0.3, 1, 1.5, 39, 1e9])
def test_perplexities_at_the_ends_of_their_range_work(perplexity):
    learner = fitted(clone(QUICK).set_params(perplexity=perplexity), cloud())
    holds_no_nan(learner, cloud()[:5] + 0.01)


@pytest.mark.parametrize("n_folds", [-1, 2.5, "three", None])
def test_numbers_of_folds_that_make_no_sense_are_refused(n_folds):
    with pytest.raises(InvalidInputError, match="n_folds="):
        fitted(clone(QUICK).set_params(n_folds=n_folds), cloud())


@every_mode
@pytest.mark.parametrize("metric", ["near", 3, None])
def test_unknown_metrics_are_refused(mode, metric):
    with pytest.raises(BeltramiError, match="metric="):
        fitted(mode, cloud(), metric=metric)


# --- labels ---------------------------------------------------------------------------------------


@every_mode
@pytest.mark.parametrize("y", [None, np.full(N, -1)], ids=["none", "gaps"])
def test_neither_labels_nor_a_number_of_classes_is_refused(mode, y):
    with pytest.raises(InvalidInputError, match=r"neither labels nor a number|y has no label at"):
        Mbed(mode=mode).fit(cloud(), y)


@every_mode
def test_one_class_is_refused_unless_others_are_to_be_found(mode):
    y = np.where(labels() == 1, 1, -1)
    with pytest.raises(InvalidInputError, match="all labels are of one class, 1"):
        fitted(mode, cloud(), y)
    holds_no_nan(fitted(mode, cloud(), y, n_classes=2), cloud()[:5] + 0.01)


def changed(matrix, place, value):
    matrix = matrix.copy()
    matrix[place] = value
    return matrix


@every_mode
@pytest.mark.parametrize(
    ("y", "message"),
    [
        (changed(soft(), 4, [0.5, 0.4, 0.2]), r"1 row\(s\) .*row 4 with sum 1\.1 and smallest"),
        (changed(soft(), 0, [1.2, -0.2, 0.0]), r"1 row\(s\) .*row 0 .*smallest entry -0\.2"),
        (2 * soft(), r"10 row\(s\) .*row 0 with sum 2.*divide it by its sum"),
        (changed(soft(), (8, 1), np.nan), "row 8 of the soft labels mixes numbers with NaN"),
        (changed(soft(), (8, 1), np.inf), "row 8 of the soft labels mixes numbers with"),
        (soft()[:30], "inconsistent numbers of samples: 40 rows and 30 rows of soft labels"),
        (np.full((N, 3), "a"), "soft labels must be a matrix of probabilities"),
        (csr_array(np.nan_to_num(soft())), "soft labels must be a matrix of probabilities"),
        (np.zeros((N, 2, 2)), r"should be a 1d array.*\(40, 2, 2\)"),
        (labels()[:30], "inconsistent numbers of samples: 40 rows and 30"),
        (np.linspace(0, 1, N), "Unknown label type: continuous"),
    ],
    ids=[
        "sum",
        "negative",
        "scaled",
        "nan",
        "inf",
        "short",
        "text",
        "sparse",
        "3d",
        "few",
        "floats",
    ],
)
def test_labels_that_are_none_are_refused(mode, y, message):
    with pytest.raises(BeltramiError, match=message) as caught:
        fitted(mode, cloud(), y)
    assert isinstance(caught.value, ValueError)


@every_mode
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_classes": 4}, "3 columns and there are 4 classes; give one column per class"),
        ({"n_classes": 2}, "3 columns and there are 2 classes"),
        ({"classes": ["a", "b"]}, "3 columns and there are 2 classes"),
    ],
    ids=str,
)
def test_soft_labels_with_another_number_of_columns_are_refused(mode, options, message):
    with pytest.raises(InvalidInputError, match=message):
        fitted(mode, cloud(), soft(), **options)


@every_mode
@pytest.mark.parametrize(
    ("y", "options"),
    [
        (soft(), {"n_classes": 3, "classes": ["a", "b"]}),
        (soft(), {"classes": ["a", "a", "b", "c"]}),
        (None, {"n_classes": 3, "classes": ["a", "b"]}),
        (None, {"n_classes": 2, "classes": ["a", "b", "c"]}),
        (labels(), {"n_classes": 4, "classes": [0, 1, 1, 2]}),
    ],
    ids=["soft few", "soft twice", "none few", "none many", "hard twice"],
)
def test_names_that_do_not_fit_the_number_of_classes_are_refused_or_completed(mode, y, options):
    """With K asked for, K is what comes, or an error of ours."""
    K = options.get("n_classes", 3)
    message = ""
    try:
        learner = Mbed(mode=mode, random_state=0, **options).fit(cloud(), y)
    except InvalidInputError as error:
        message = str(error)
    if message:
        assert re.search("column|n_classes|twice", message)
        return
    assert len(learner.classes_) == len(learner.directions_) == K
    assert learner.predict_proba(cloud()[:3]).shape == (3, K)


@every_mode
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (-np.ones(N), "sample_weight must be finite and not negative; 10 of 10"),
        (np.full(N, np.nan), "sample_weight must be finite"),
        (np.zeros(N), "sample_weight is zero at all 10 labelled rows"),
        (np.ones(3), r"sample_weight.shape == \(3,\), expected \(40,\)"),
    ],
    ids=["negative", "nan", "zero", "short"],
)
@pytest.mark.parametrize("y", [labels(), soft()], ids=["hard", "soft"])
def test_weights_that_make_no_sense_are_refused(mode, y, weights, message):
    with pytest.raises(InvalidInputError, match=message):
        fitted(mode, cloud(), y, sample_weight=weights)


@every_mode
def test_a_weight_of_zero_for_all_labels_of_a_class_leaves_it_to_be_found(mode):
    weights = np.where(labels() == 1, 0.0, 1.0)
    learner = fitted(mode, cloud(), sample_weight=weights)
    assert_array_equal(learner.classes_, [0, 1, 2])
    holds_no_nan(learner, cloud()[:5] + 0.01)


@every_mode
def test_huge_and_tiny_weights_give_finite_answers(mode):
    for size in (1e-12, 1e-6, 1e6):
        weights = np.where(labels() == 1, size, 1.0)
        holds_no_nan(fitted(mode, cloud(), sample_weight=weights), cloud()[:5] + 0.01)


@every_mode
def test_every_row_may_be_labelled(mode):
    y = np.arange(N) % 3
    learner = fitted(mode, cloud(), y)
    assert_array_equal(learner.transduction_, y)
    holds_no_nan(learner, cloud()[:5] + 0.01)


@every_mode
def test_one_label_per_class_works(mode):
    y = np.full(N, -1)
    y[[0, 10, 20]] = [0, 1, 2]
    holds_no_nan(fitted(mode, cloud(), y), cloud()[:5] + 0.01)


# --- dissimilarities ------------------------------------------------------------------------------


@every_mode
@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (distances()[:, :30], r"square matrix of dissimilarities and got shape \(40, 30\)"),
        (changed(distances(), (3, 4), -1.0), "1 dissimilarities are negative, the smallest -1"),
        (-distances(), "1560 dissimilarities are negative.*turned round"),
        (np.ones((N, N)), r"all dissimilarities between the 40 points are equal \(1\)"),
        (np.zeros((N, N)), r"all dissimilarities between the 40 points are equal \(0\)"),
        (csr_array(changed(distances(), 3, 0.0)), r"1 row\(s\) .*no neighbour, the first is row 3"),
        (csr_array((N, N)), r"40 row\(s\) of the sparse matrix hold no neighbour"),
    ],
    ids=["shape", "one negative", "similarities", "equal", "zero", "empty row", "empty"],
)
def test_matrices_that_hold_no_dissimilarities_are_refused(mode, matrix, message):
    with pytest.raises(InvalidInputError, match=message):
        fitted(mode, matrix, labels(), metric="precomputed")


@every_mode
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_missing_or_infinite_dissimilarities_are_refused(mode, value):
    for matrix in (changed(distances(), (3, 4), value), changed(distances(), (3, 3), value)):
        with pytest.raises(ValueError, match=r"contains (NaN|infinity)"):
            fitted(mode, matrix, metric="precomputed")
    with pytest.raises(ValueError, match=r"contains (NaN|infinity)"):
        fitted(mode, changed(cloud(), (3, 1), value))


@every_mode
def test_new_negative_dissimilarities_are_refused(mode):
    learner = fitted(mode, distances(), metric="precomputed")
    with pytest.raises(InvalidInputError, match="negative"):
        learner.predict(-distances()[:3])


@every_mode
def test_new_points_with_another_number_of_features_are_refused(mode):
    learner = fitted(mode, cloud())
    for ask in (learner.predict, learner.predict_proba, learner.transform):
        with pytest.raises(ValueError, match="2 features, but Mbed is expecting 3 features"):
            ask(cloud()[:, :2])
    matrix = fitted(mode, distances(), metric="precomputed")
    with pytest.raises(ValueError, match="39 features, but Mbed is expecting 40"):
        matrix.predict(distances()[:5, :39])
    with pytest.raises(ValueError, match="contains NaN"):
        learner.predict([[np.nan, 0, 0]])


@every_mode
def test_a_new_row_without_a_neighbour_is_refused(mode):
    learner = fitted(mode, csr_array(distances()), metric="precomputed")
    with pytest.raises(InvalidInputError, match=r"1 row\(s\) of the sparse matrix hold no neigh"):
        learner.predict(csr_array((1, N)))


def test_too_many_points_for_all_pairs_are_refused(monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: 1000)
    with pytest.raises(MemoryBudgetError, match=r"all pairs of 40 points.*mode='practical'"):
        fitted(SHORT, cloud())


# --- degenerate data ------------------------------------------------------------------------------


@every_mode
@pytest.mark.parametrize("row", [[1.0, 1.0, 1.0], [0.1, 0.7, 1e-3], [0.0, 0.0, 0.0]])
def test_identical_points_are_refused(mode, row):
    with pytest.raises(InvalidInputError, match=r"40 points are equal.*no shape to embed"):
        fitted(mode, np.tile(row, (N, 1)))


@every_mode
def test_points_at_equal_distances_are_refused(mode):
    with pytest.raises(InvalidInputError, match=r"there is no shape to embed\. Check the metric"):
        fitted(mode, np.eye(N))


@every_mode
def test_points_at_equal_distances_up_to_rounding_are_refused(mode):
    corners = np.linalg.qr(np.random.default_rng(0).standard_normal((N, N)))[0]
    with pytest.raises(InvalidInputError, match=r"40 points are equal \(1\.41421\)"):
        fitted(mode, corners)


@every_mode
def test_one_point_and_two_are_refused(mode):
    with pytest.raises(ValueError, match="minimum of 2 is required by Mbed"):
        fitted(mode, cloud(1), n_classes=2)
    with pytest.raises(InvalidInputError, match="between the 2 points are equal"):
        fitted(mode, cloud(2), [0, 1])


@every_mode
@pytest.mark.parametrize("n", [3, 4, 5, 8])
def test_a_few_points_work(mode, n):
    y = np.where(np.arange(n) < 2, np.arange(n), -1)
    holds_no_nan(fitted(mode, cloud(n), y), cloud(n) + 0.01)


@every_mode
@pytest.mark.parametrize("K", [10, N])
def test_nearly_as_many_classes_as_points_work(mode, K):
    learner = fitted(mode, cloud(), n_classes=K)
    assert len(learner.classes_) == K
    assert np.isfinite(learner.embedding_).all()
    assert np.isfinite(learner.predict_proba(cloud()[:3] + 0.01)).all()


@every_mode
def test_a_far_outlier_does_no_harm(mode):
    for far in (1e3, 1e6):
        points = changed(cloud(), 7, far)
        learner = fitted(mode, points)
        holds_no_nan(learner, points[:10])
        assert np.isfinite(learner.transform(np.full((1, 3), 10 * far))).all()


@every_mode
def test_duplicates_work(mode):
    points = np.vstack([cloud(8)] * 5)
    holds_no_nan(fitted(mode, points), points[:9])
    mostly = changed(np.ones((N, 3)), slice(0, 6), cloud(6))
    holds_no_nan(fitted(mode, mostly), mostly[:9])


@every_mode
def test_duplicates_with_different_labels_work(mode):
    points = np.vstack([cloud(20), cloud(20)])
    y = np.where(np.arange(N) % 4 == 0, np.arange(N) // 20, -1)
    learner = fitted(mode, points, y)
    holds_no_nan(learner, points[:5])
    assert_array_equal(learner.transduction_[y >= 0], y[y >= 0])


@every_mode
def test_constant_columns_change_nothing_that_matters(mode):
    points = np.hstack([cloud(), np.full((N, 2), 7.0)])
    holds_no_nan(fitted(mode, points), points[:5] + 0.01)


@every_mode
def test_large_constant_columns_change_nothing_that_matters(mode):
    points = np.hstack([cloud(), np.full((N, 1), 1e9)])
    holds_no_nan(fitted(mode, points), points[:5])


@every_mode
@pytest.mark.parametrize("size", [1e-150, 1e-30, 1e30, 1e150])
def test_very_small_and_very_large_units_work(mode, size):
    holds_no_nan(fitted(mode, size * cloud()), size * (cloud()[:5] + 0.01))
    holds_no_nan(
        fitted(mode, size * distances(), metric="precomputed"), size * (distances()[:5] + 0.01)
    )


@every_mode
@pytest.mark.parametrize("kind", ["vectors", "matrix", "outlier", "new point"])
def test_values_whose_squares_overflow_are_refused_or_work(mode, kind):
    points = 1e200 * cloud() if kind == "vectors" else cloud()
    if kind == "outlier":
        points[7] = 1e200
    with suppress(InvalidInputError):
        if kind == "matrix":
            D = 1e200 * distances()
            holds_no_nan(fitted(mode, D, metric="precomputed"), D[:5])
        else:
            new = np.full((1, 3), 1e200) if kind == "new point" else points[:5]
            holds_no_nan(fitted(mode, points), new)


@every_mode
def test_two_far_lumps_work(mode):
    points = cloud()
    points[20:] += 1e5
    y = np.where(np.arange(N) % 4 == 0, np.arange(N) // 20, -1)
    learner = fitted(mode, points, y)
    holds_no_nan(learner, points[:5] + 0.01)
    assert_array_equal(learner.transduction_, np.arange(N) // 20)


# --- the plain embedding --------------------------------------------------------------------------


@pytest.mark.parametrize("perplexity", [30.0, None])
def test_the_plain_embedding_refuses_the_same(perplexity):
    plain = StochasticNeighborEmbedding(perplexity=perplexity, n_steps=10, random_state=0)
    with pytest.raises(InvalidInputError, match="there is no shape to embed"):
        plain.fit(np.ones((N, 3)))
    with pytest.raises(ValueError, match="minimum of 2 is required"):
        plain.fit(cloud(1))
    with pytest.raises(InvalidInputError, match="dissimilarities are negative"):
        clone(plain).set_params(metric="precomputed").fit(-distances())
    with pytest.raises(InvalidInputError, match="square matrix"):
        clone(plain).set_params(metric="precomputed").fit(distances()[:, :9])
    with pytest.raises(ValueError, match="2 features"):
        plain.fit(cloud()).transform(cloud()[:, :2])


@pytest.mark.parametrize("perplexity", [30.0, None])
def test_the_plain_embedding_is_finite(perplexity):
    plain = StochasticNeighborEmbedding(perplexity=perplexity, n_steps=10, random_state=0)
    doubled, lumps = np.vstack([cloud(20)] * 2), cloud()
    lumps[20:] += 1e5
    for points in (cloud(3), changed(cloud(), 7, 1e6), doubled, lumps, 1e150 * cloud()):
        found = clone(plain).fit(points)
        assert np.isfinite(found.embedding_).all()
        assert np.isfinite(found.cost_)
        assert np.isfinite(found.transform(points * 1.01)).all()
