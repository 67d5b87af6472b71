"""The transductive machine: switches that pay, shares that are kept, SVC where all is labelled."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.datasets import make_blobs
from sklearn.gaussian_process.kernels import RBF
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from beltrami.core.errors import InvalidInputError
from beltrami.core.telling.progress import listen
from beltrami.data import two_moons
from beltrami.kernel_machines.hinge.switching import (
    _annealing_shares,
    _highest_positive,
    _pairs_to_switch,
    transductive_hinge,
)
from beltrami.kernel_machines.kernels import RbfKernel
from beltrami.learners.machines.transductive import TransductiveSVC, _n_positive


def clouds(sizes=(80, 80), seed=0, labels=3, apart=4.0):
    """Gaussians on the axes; a few labels per class."""
    centers = apart * np.eye(len(sizes), 4)
    points, truth = make_blobs(list(sizes), centers=centers, random_state=seed)
    rng = np.random.default_rng(seed)
    y = np.full(len(truth), -1)
    for label in range(len(sizes)):
        y[rng.choice(np.flatnonzero(truth == label), labels, replace=False)] = label
    return points, y, truth


def binary_problem(seed=0, n=120, labels=8):
    """Overlapping classes, so that there is much to switch."""
    rng = np.random.default_rng(seed)
    signs = np.where(np.arange(n) % 2, 1.0, -1.0)
    points = rng.standard_normal((n, 3)) + signs[:, None] * np.array([1.0, 0.4, 0.0])
    rows = rng.permutation(n // 2)[: labels // 2]
    rows = np.sort(np.concatenate([2 * rows, 2 * rows + 1]))
    return rbf_kernel(points, gamma=0.3), rows, signs


# --- switching --------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_the_objective_falls_with_every_round_of_switches(seed: int) -> None:
    kernel, rows, signs = binary_problem(seed)
    fit = transductive_hinge(kernel, rows, signs[rows], np.ones(len(rows)), 56, 1.0, tol=1e-6)
    assert fit.n_switched > 0
    assert max(map(len, fit.objectives)) > 1
    for values in fit.objectives:
        assert (np.diff(values) < 0).all()
    assert fit.n_fits == sum(map(len, fit.objectives))


@pytest.mark.parametrize("count", [0, 1, 20, 56, 111, 112])
def test_the_number_of_positives_is_kept(count: int) -> None:
    kernel, rows, signs = binary_problem()
    fit = transductive_hinge(kernel, rows, signs[rows], np.ones(len(rows)), count, 1.0)
    others = np.setdiff1d(np.arange(len(kernel)), rows)
    assert (fit.signs[others] > 0).sum() == count
    assert_array_equal(fit.signs[rows], signs[rows])


def test_no_single_pair_is_better_switched_at_the_end() -> None:
    """Brute force over all pairs at the final function."""
    kernel, rows, signs = binary_problem(1)
    fit = transductive_hinge(kernel, rows, signs[rows], np.ones(len(rows)), 56, 1.0, tol=1e-6)
    values = kernel @ fit.multipliers + fit.intercept
    others = np.setdiff1d(np.arange(len(kernel)), rows)

    def loss(y):
        return np.maximum(1 - y * values[others], 0).sum()

    y = fit.signs[others]
    for high in np.flatnonzero(y > 0):
        for low in np.flatnonzero(y < 0):
            moved = y.copy()
            moved[[high, low]] *= -1
            assert loss(moved) >= loss(y) - 1e-6


def test_pairs_are_switched_only_where_that_lowers_the_loss() -> None:
    slack = np.array([2.5, 0.4, 1.5, 0.1, 0.0, 1.7])
    signs = np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0])
    # (2.5, 1.7) gains; (1.5, 0.4) does not: 1.9 before, 0.5 + 1.6 after.
    assert sorted(_pairs_to_switch(slack, signs)) == [0, 5]
    values = signs * (1 - slack)
    before = np.maximum(1 - signs * values, 0).sum()
    signs[_pairs_to_switch(slack, signs)] *= -1
    assert np.maximum(1 - signs * values, 0).sum() < before
    assert len(_pairs_to_switch(slack, np.ones(6))) == 0


def test_the_first_signs_are_those_of_the_highest_values() -> None:
    assert_array_equal(_highest_positive(np.array([0.1, -3.0, 2.0, 0.5]), 2), [-1, -1, 1, 1])
    assert_array_equal(_highest_positive(np.array([0.1, -3.0]), 0), [-1, -1])


def test_the_weight_of_unlabelled_rows_doubles_and_ends_at_one() -> None:
    shares = _annealing_shares()
    assert_allclose(shares[0], 1e-5)
    assert_allclose(shares[1:-1] / shares[:-2], 2)
    assert shares[-2] < shares[-1] == 1


def test_rounds_are_limited() -> None:
    kernel, rows, signs = binary_problem()
    fit = transductive_hinge(kernel, rows, signs[rows], np.ones(len(rows)), 56, 1.0, max_rounds=1)
    assert fit.n_fits == len(_annealing_shares())
    assert fit.n_switched == 0


@pytest.mark.parametrize(
    ("share", "rows", "expected"),
    [(0.0, 9, 0), (1.0, 9, 9), (0.01, 9, 1), (0.99, 9, 8), (0.5, 10, 5), (0.7, 1, 1), (0.3, 0, 0)],
)
def test_a_share_is_rounded_with_some_on_each_side(share, rows, expected) -> None:
    assert _n_positive(share, rows) == expected


# --- the learner ------------------------------------------------------------------------------


def test_without_unlabelled_rows_it_is_the_support_vector_machine() -> None:
    points, _, truth = clouds(apart=1.5)
    learner = TransductiveSVC(C=3.0, kernel=RbfKernel(2.0), tol=1e-8).fit(points, truth)
    peer = SVC(C=3.0, gamma=1 / 8, tol=1e-8).fit(points, truth)
    new = points[:20] + 0.3
    assert_allclose(learner.decision_function(new), peer.decision_function(new), atol=1e-5)
    assert_array_equal(learner.predict(new), peer.predict(new))


def test_unlabelled_rows_that_weigh_nothing_leave_the_machine_of_the_labels() -> None:
    points, y, _ = clouds(apart=1.5)
    learner = TransductiveSVC(C_unlabeled=1e-9, kernel=RbfKernel(2.0), tol=1e-8).fit(points, y)
    peer = SVC(gamma=1 / 8, tol=1e-8).fit(points[y >= 0], y[y >= 0])
    assert_allclose(learner.decision_function(points), peer.decision_function(points), atol=1e-5)


def test_a_gap_between_classes_is_found() -> None:
    """Two labels at misleading places: the labels alone cut through the clouds."""
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], 60)
    points = rng.standard_normal((120, 2)) * [0.3, 1.5]
    points[:, 0] += np.where(truth, 1.5, -1.5)
    y = np.full(120, -1)
    low = np.abs(points - [-1.5, -1.5]).sum(axis=1).argmin()
    high = np.abs(points - [1.5, 1.5]).sum(axis=1).argmin()
    y[low], y[high] = 0, 1
    options = {"kernel": "linear", "C": 1.0}
    alone = SVC(**options).fit(points[[low, high]], [0, 1])
    learner = TransductiveSVC(**options).fit(points, y)
    assert (alone.predict(points) == truth).mean() < 0.92
    assert (learner.transduction_ == truth).mean() > 0.99


def test_classes_may_be_strings_and_rows_in_any_order() -> None:
    points, y, truth = clouds((60, 60, 60))
    names = np.array(["ant", "bee", "cow"], dtype=object)
    marked = [None if code < 0 else names[code] for code in y]
    learner = TransductiveSVC().fit(points, marked)
    assert_array_equal(learner.classes_, names)
    assert (learner.transduction_ == names[truth]).mean() > 0.97
    order = np.random.default_rng(1).permutation(len(y))
    moved = TransductiveSVC().fit(points[order], [marked[row] for row in order])
    assert (moved.transduction_ == learner.transduction_[order]).mean() > 0.98


def test_several_classes_have_one_machine_each() -> None:
    points, y, truth = clouds((100, 60, 40, 20), labels=4)
    learner = TransductiveSVC(class_shares=[0.45, 0.27, 0.18, 0.1]).fit(points, y)
    assert (learner.transduction_ == truth).mean() > 0.95
    assert learner.scores_.shape == (220, 4)
    assert learner.decision_function(points).shape == (220, 4)
    assert learner.dual_coef_.shape == (len(learner.support_), 4)
    assert_allclose(learner.label_distributions_.sum(axis=1), 1)
    assert np.isfinite(learner.label_distributions_).all()
    assert learner.reached_.all()
    own = learner.label_distributions_[np.arange(220), learner.transduction_]
    assert_allclose(learner.confidence_, own)


@pytest.mark.parametrize(
    ("given", "expected"),
    [("labels", [1 / 3, 2 / 3]), ("equal", [0.5, 0.5]), ([3, 1], [0.75, 0.25])],
)
def test_shares_are_those_of_labels_or_equal_or_given(given, expected) -> None:
    points, y, _ = clouds(labels=4, apart=0.5)
    y[np.flatnonzero(y == 0)[2:]] = -1
    learner = TransductiveSVC(class_shares=given).fit(points, y)
    assert_allclose(learner.class_shares_, expected)
    found = np.bincount(learner.transduction_[y < 0], minlength=2) / (y < 0).sum()
    assert_allclose(found, expected, atol=0.1)


def test_new_points_and_those_of_the_fit_get_the_same_function() -> None:
    points, y, _ = clouds()
    learner = TransductiveSVC().fit(points, y)
    assert_allclose(learner.decision_function(points), learner.scores_[:, 1], atol=1e-9)
    assert_allclose(learner.predict_proba(points), learner.label_distributions_, atol=1e-9)
    free = y < 0
    assert_array_equal(learner.predict(points)[free], learner.transduction_[free])
    assert learner.score(points, y) == 1.0


@pytest.mark.parametrize("kernel", ["linear", "poly", "cosine", "rbf"])
def test_sparse_points_are_as_dense_ones(kernel: str) -> None:
    points, y, _ = clouds()
    points[np.abs(points) < 0.5] = 0
    fits = [TransductiveSVC(kernel=kernel).fit(X, y) for X in (points, csr_array(points))]
    assert_allclose(fits[1].scores_, fits[0].scores_, atol=1e-2)
    assert_array_equal(fits[1].predict(csr_array(points[:9])), fits[0].predict(points[:9]))


def test_a_kernel_may_be_a_matrix_a_function_or_an_object() -> None:
    points, y, _ = clouds()
    named = TransductiveSVC(kernel=RbfKernel(2.0)).fit(points, y)
    matrix = rbf_kernel(points, gamma=1 / 8)
    given = TransductiveSVC(kernel="precomputed").fit(matrix, y)
    assert_allclose(given.scores_, named.scores_, atol=1e-6)
    new = points[:7] + 0.1
    expected = named.predict_proba(new)
    across = rbf_kernel(new, points, gamma=1 / 8)
    assert_allclose(given.predict_proba(across), expected, atol=1e-6)
    for kernel in (RBF(2.0), lambda A, B: rbf_kernel(A, B, gamma=1 / 8)):
        other = TransductiveSVC(kernel=kernel).fit(points, y)
        assert_allclose(other.predict_proba(new), expected, atol=1e-6)


def test_tables_are_read_and_their_columns_remembered() -> None:
    pandas = pytest.importorskip("pandas")
    points, y, _ = clouds()
    table = pandas.DataFrame(points, columns=list("abcd"))
    learner = TransductiveSVC().fit(table, pandas.Series(y))
    assert_array_equal(learner.feature_names_in_, list("abcd"))
    assert len(learner.predict(table[:5])) == 5


def test_a_weight_of_zero_takes_the_label_away() -> None:
    points, y, _ = clouds()
    weights = np.ones(len(y))
    row = np.flatnonzero(y == 1)[0]
    weights[row] = 0
    without = y.copy()
    without[row] = -1
    fits = [TransductiveSVC().fit(points, y, weights), TransductiveSVC().fit(points, without)]
    assert_allclose(fits[0].scores_, fits[1].scores_)


def test_a_class_without_label_gets_nothing() -> None:
    points, y, _ = clouds()
    learner = TransductiveSVC(classes=[0, 1, 7], class_shares="equal").fit(points, y)
    assert_allclose(learner.class_shares_, [0.5, 0.5, 0])
    assert 7 not in learner.transduction_
    assert_array_equal(learner.label_distributions_[:, 2], 0)
    assert (learner.scores_[:, 2] < learner.scores_[:, :2].min(axis=1)).all()
    assert_allclose(learner.decision_function(points), learner.scores_, atol=1e-9)
    alone = TransductiveSVC(classes=[0, 1]).fit(points, np.where(y == 1, 1, -1))
    assert_array_equal(alone.transduction_, 1)
    assert_array_equal(alone.label_distributions_, np.tile([0.0, 1.0], (len(y), 1)))


def test_one_label_per_class_and_identical_points_work() -> None:
    moons = two_moons(100, random_state=0)
    y = np.full(100, -1)
    y[[0, 99]] = moons.targets[[0, 99]]
    assert y[0] != y[99]
    for points in (moons.points, np.ones((100, 2))):
        learner = TransductiveSVC().fit(points, y)
        assert np.isfinite(learner.scores_).all()
        assert np.isfinite(learner.predict_proba(points[:3])).all()


def test_progress_is_shown() -> None:
    points, y, _ = clouds((30, 30, 30))
    seen = []
    with listen(seen.append):
        TransductiveSVC().fit(points, y)
    assert seen[-1].step == "transductive machines"
    assert_allclose(seen[-1].done, 3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"C": 0}, "C=0 must be a finite number above zero"),
        ({"C": -1.0}, "C=-1.0 must be"),
        ({"C_unlabeled": 0.0}, "C_unlabeled=0.0 must be"),
        ({"kernel": RbfKernel(-2.0)}, "width=-2.0 must be"),
        ({"kernel": RbfKernel("wide")}, "width='wide' is not known"),
        ({"tol": 0.0}, "tol=0.0 must be"),
        ({"max_rounds": 0}, "max_rounds=0 must be at least 1"),
        ({"class_shares": "even"}, "class_shares='even' is not known"),
        ({"class_shares": [1, 2, 3]}, "must hold 2 positive numbers"),
        ({"class_shares": [1, -2]}, "must hold 2 positive numbers"),
        ({"class_shares": [[1, 2]]}, "must hold 2 positive numbers"),
        ({"kernel": "sigmoid"}, "kernel='sigmoid' is not known"),
        ({"kernel": lambda A, B: -(A @ B.T)}, "not positive semi-definite"),
        ({"kernel": "precomputed"}, "needs a square one"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(options, message: str) -> None:
    points, y, _ = clouds()
    with pytest.raises(InvalidInputError, match=message):
        TransductiveSVC(**options).fit(points, y)


@pytest.mark.parametrize(("scale", "problem"), [(1e160, "beyond"), (1e-160, "below")])
def test_numbers_whose_squares_leave_the_range_of_floats_are_refused(scale, problem):
    points = scale * np.random.default_rng(0).normal(size=(20, 2))
    y = np.where(np.arange(20) < 4, np.arange(20) % 2, -1)
    with pytest.raises(InvalidInputError, match=f"its square is {problem} what a computer can"):
        TransductiveSVC().fit(points, y)
