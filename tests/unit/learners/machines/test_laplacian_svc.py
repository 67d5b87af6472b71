"""Laplacian support vector machines: the paper's dual, scikit-learn's SVC, exact leave-one-out."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.gaussian_process.kernels import RBF
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC
from tests.support.machine_problems import FIXED, PAPER, UNSCALED, WIDTH, clouds

from beltrami import (
    GraphRegularizedClassifier,
    KnnGraph,
    LaplacianSVC,
    NystromApproximation,
    RbfKernel,
    laplacian,
    two_moons,
)
from beltrami.core.errors import DisconnectedGraphWarning


def pair(seed=0, labels=8, apart=1.5):
    return clouds(seed, (30, 30), labels, apart)


def matrices(points, options=PAPER):
    graph = clone(options["graph"]).build(points)
    K = rbf_kernel(points, gamma=1 / (2 * options["kernel"].width ** 2))
    return K, laplacian(graph).toarray() / len(points) ** 2


def paper_dual(points, y, weights, gamma_a, gamma_i):
    """Q of eq. (8), the signs, and (2 gamma_A I + 2 gamma_I S K)^-1 J'Y of eq. (9)."""
    K, S = matrices(points)
    rows = np.flatnonzero(y >= 0)
    signs = 2.0 * y[rows] - 1
    system = 2 * gamma_a * np.eye(len(K)) + 2 * gamma_i * S @ K
    back = np.linalg.solve(system, np.eye(len(K))[:, rows] * signs)
    return signs[:, None] * (K[rows] @ back), signs, back, weights[rows] / weights[rows].sum()


# --- the paper's dual -------------------------------------------------------------------------


@pytest.mark.parametrize("gammas", [(0.01, 2.0), (1e-3, 50.0), (0.5, 0.0), (5.0, 10.0)])
@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("seed", [0, 1])
def test_multipliers_solve_the_dual_of_the_paper(gammas, is_weighted: bool, seed: int) -> None:
    """Feasible, complementary, and without a gap; the box is 1/l, or w over its sum."""
    points, y, _ = pair(seed)
    weights = np.random.default_rng(2).uniform(0.5, 2, len(y)) if is_weighted else np.ones(len(y))
    learner = LaplacianSVC(**PAPER, gamma_a=gammas[0], gamma_i=gammas[1]).fit(points, y, weights)
    Q, signs, back, box = paper_dual(points, y, weights, *gammas)
    beta = 2 * gammas[0] * signs * learner._hinge_fit.multipliers[:, 1]
    assert beta.min() >= -1e-12
    assert (beta - box).max() < 1e-9
    assert abs(signs @ beta) < 1e-9
    margin = Q @ beta + signs * learner.intercept_[1]
    at_zero, at_box = beta < 1e-9 * box, beta > box * (1 - 1e-9)
    free = ~(at_zero | at_box)
    assert_allclose(margin[free], 1.0, atol=1e-6)
    assert (margin[at_zero] > 1 - 1e-6).all()
    assert (margin[at_box] < 1 + 1e-6).all()
    dual = beta.sum() - beta @ Q @ beta / 2
    primal = box @ np.maximum(1 - margin, 0) + beta @ Q @ beta / 2
    assert abs(primal - dual) < 1e-6
    K = matrices(points)[0]
    expected = K @ back @ beta + learner.intercept_[1]
    assert_allclose(learner.scores_[:, 1], expected, atol=1e-7)


def test_the_penalties_of_the_solution_are_half_the_quadratic_form() -> None:
    """gamma_A |f|^2 + gamma_I f'Sf = beta'Q beta / 2 ties the primal of eq. (5) to the dual."""
    points, y, _ = pair()
    learner = LaplacianSVC(**FIXED).fit(points, y)
    K, S = matrices(points)
    Q, signs, _, _ = paper_dual(points, y, np.ones(len(y)), 0.01, 2.0)
    beta = 2 * 0.01 * signs * learner._hinge_fit.multipliers[:, 1]
    alpha = learner._expansion.coefficients[:, 1]
    f = K @ alpha
    assert_allclose(0.01 * alpha @ f + 2.0 * f @ S @ f, beta @ Q @ beta / 2, rtol=1e-6)


def test_without_a_free_support_vector_the_intercept_is_the_middle_of_its_interval() -> None:
    points, y, _ = pair(labels=3)
    learner = LaplacianSVC(**PAPER, gamma_a=50.0, gamma_i=10.0).fit(points, y)
    Q, signs, _, box = paper_dual(points, y, np.ones(len(y)), 50.0, 10.0)
    beta = 2 * 50.0 * signs * learner._hinge_fit.multipliers[:, 1]
    assert_allclose(beta, box)  # all at the bound: none is free
    wanted = signs - signs * (Q @ beta)
    lower, upper = wanted[signs < 0].max(), wanted[signs > 0].min()
    assert lower < upper
    assert_allclose(learner.intercept_[1], (lower + upper) / 2, atol=1e-9)


# --- the lines of the paper's table -----------------------------------------------------------


def test_both_penalties_are_manifold_regularisation() -> None:
    moons = two_moons(200, random_state=0)
    y = np.full(200, -1)
    y[[0, 199]] = moons.targets[[0, 199]]
    learner = LaplacianSVC().fit(moons.points, y)
    assert (learner.transduction_ == moons.targets).mean() > 0.95
    plain = LaplacianSVC(gamma_i=0.0).fit(moons.points, y)
    assert (plain.transduction_ == moons.targets).mean() < 0.95


@pytest.mark.parametrize("gamma_a", [1e-3, 0.05, 1.0])
def test_without_the_intrinsic_penalty_it_is_the_machine_of_scikit_learn(gamma_a: float) -> None:
    """One against the rest, C = 1 / (2 lambda1)."""
    points, y, _ = clouds()
    learner = LaplacianSVC(**PAPER, gamma_a=gamma_a, gamma_i=0.0).fit(points, y)
    has = y >= 0
    for label in range(3):
        peer = SVC(kernel="rbf", gamma=1 / (2 * WIDTH**2), C=1 / (2 * learner.lambda1_), tol=1e-10)
        peer.fit(points[has], y[has] == label)
        g = rbf_kernel(points, points[has][peer.support_], gamma=0.5) @ peer.dual_coef_[0]
        assert_allclose(learner.scores_[:, label] - learner.intercept_[label], g, atol=1e-6)
        if ((abs(peer.dual_coef_[0]) > 0) & (abs(peer.dual_coef_[0]) < peer.C)).any():
            assert_allclose(learner.intercept_[label], peer.intercept_[0], atol=1e-6)
    assert_array_equal(learner._expansion.coefficients[~has], 0.0)


def test_without_the_intrinsic_penalty_unlabelled_rows_change_nothing() -> None:
    points, y, _ = clouds()
    has = y >= 0
    options = PAPER | {"gamma_a": 0.05, "gamma_i": 0.0}
    both = LaplacianSVC(**options).fit(points, y)
    alone = LaplacianSVC(**options).fit(points[has], y[has])
    assert_allclose(both.decision_function(points), alone.decision_function(points), atol=1e-7)


def test_without_the_ambient_penalty_the_graph_alone_decides() -> None:
    """The kernel no longer matters on the points of the fit."""
    points, y, _ = pair()
    options = UNSCALED | {"gamma_a": 0.0, "gamma_i": 0.05}
    kernels = RbfKernel(0.3), RbfKernel(0.6)
    fits = [LaplacianSVC(**(options | {"kernel": one})).fit(points, y) for one in kernels]
    assert_allclose(fits[0].scores_, fits[1].scores_, atol=1e-3)


def test_a_vanishing_intrinsic_penalty_alone_is_label_propagation() -> None:
    """The smoothest function with y f >= 1 at labels is the harmonic one."""
    points, y, _ = pair(apart=3.0)
    options = UNSCALED | {"kernel": RbfKernel(0.5), "gamma_a": 0.0, "gamma_i": 1e-5}
    learner = LaplacianSVC(**options).fit(points, y)
    peer = GraphRegularizedClassifier(graph=PAPER["graph"], class_mass=None, tol=1e-12)
    assert_allclose(learner.scores_, 2 * peer.fit(points, y).scores_ - 1, atol=1e-2)


def test_vanishing_penalties_are_the_hard_margin() -> None:
    points, y, _ = pair(apart=4.0)
    has = y >= 0
    learner = LaplacianSVC(**PAPER, gamma_a=1e-10, gamma_i=0.0).fit(points, y)
    peer = SVC(gamma=0.5, C=1e10, tol=1e-10).fit(points[has], y[has])
    assert_allclose(learner.decision_function(points), peer.decision_function(points), atol=1e-5)
    margins = (2 * y[has] - 1) * learner.decision_function(points[has])
    assert margins.min() > 1 - 1e-6


# --- leaving one out --------------------------------------------------------------------------


@pytest.mark.parametrize("is_weighted", [False, True])
def test_leaving_a_label_out_is_a_refit(is_weighted: bool) -> None:
    points, y, _ = clouds(apart=1.5)
    weights = np.random.default_rng(1).uniform(0.5, 2, len(y)) if is_weighted else np.ones(len(y))
    learner = LaplacianSVC(**FIXED).fit(points, y, weights)
    found = learner._left_out()
    total = weights[found.rows].sum()
    for place, row in enumerate(found.rows):
        less, share = y.copy(), total / (total - weights[row])
        less[row] = -1
        gammas = {"gamma_a": 0.01 * share, "gamma_i": 2.0 * share}
        refit = clone(learner).set_params(**gammas).fit(points, less, weights)
        assert_allclose(found.scores[place], refit.scores_[row], atol=1e-6)


# --- symmetries and input ---------------------------------------------------------------------


@pytest.mark.parametrize("options", [FIXED, {}], ids=["fixed", "auto"])
def test_the_order_of_rows_does_not_matter(options) -> None:
    points, y, _ = clouds()
    order = np.random.default_rng(5).permutation(len(y))
    scores = LaplacianSVC(**options).fit(points, y).scores_
    moved = LaplacianSVC(**options).fit(points[order], y[order]).scores_
    assert_allclose(moved, scores[order], atol=1e-5)


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly", RBF(1.0)], ids=str)
@pytest.mark.parametrize("options", [FIXED, {}], ids=["fixed", "auto"])
def test_points_of_the_fit_have_the_same_scores_as_new_ones(kernel, options) -> None:
    points, y, _ = clouds()
    learner = LaplacianSVC(**(options | {"kernel": kernel})).fit(points, y)
    assert_allclose(learner.decision_function(points), learner.scores_, atol=1e-6)
    assert_allclose(learner.predict_proba(points).sum(axis=1), 1.0)


def test_a_decision_of_two_classes_is_one_number() -> None:
    points, y, _ = pair()
    learner = LaplacianSVC(**FIXED).fit(points, y)
    assert_allclose(learner.decision_function(points), learner.scores_[:, 1], atol=1e-9)
    assert_allclose(learner.scores_[:, 0], -learner.scores_[:, 1], atol=1e-9)
    assert learner.n_support_[0] == learner.n_support_[1] > 0


def test_a_label_that_is_no_support_vector_changes_nothing() -> None:
    points, y, _ = pair(apart=4.0)
    learner = LaplacianSVC(**FIXED).fit(points, y)
    silent = learner._labeled.rows[learner._hinge_fit.multipliers[:, 1] == 0]
    assert len(silent)
    less = y.copy()
    less[silent[0]] = -1
    share = (y >= 0).sum() / ((y >= 0).sum() - 1)
    options = PAPER | {"gamma_a": 0.01 * share, "gamma_i": 2.0 * share}
    assert_allclose(LaplacianSVC(**options).fit(points, less).scores_, learner.scores_, atol=1e-6)


def test_a_weight_of_zero_takes_the_label_away() -> None:
    points, y, _ = clouds()
    weights, row = np.ones(len(y)), np.flatnonzero(y >= 0)[0]
    weights[row] = 0
    less = y.copy()
    less[row] = -1
    found = LaplacianSVC(**FIXED).fit(points, y, weights).scores_
    assert_allclose(found, LaplacianSVC(**FIXED).fit(points, less).scores_)


def test_names_of_classes_and_markers_are_kept() -> None:
    points, y, _ = clouds()
    names = np.where(y < 0, None, np.array(["ant", "bee", "cat"])[y])
    learner = LaplacianSVC(**FIXED).fit(points, names)
    assert_array_equal(learner.classes_, ["ant", "bee", "cat"])
    expected = LaplacianSVC(**FIXED).fit(points, y).transduction_
    assert_array_equal(learner.transduction_, learner.classes_[expected])


def test_a_declared_class_without_label_is_never_predicted() -> None:
    points, y, _ = clouds()
    learner = LaplacianSVC(**FIXED, classes=[0, 1, 2, 9]).fit(points, y)
    assert 9 not in learner.transduction_
    assert_array_equal(learner.predict_proba(points)[:, 3], 0.0)


def test_a_component_without_label_is_flagged_and_keeps_its_marker() -> None:
    points, y, _ = clouds()
    far, labels = np.vstack([points, points[:20] + 100]), np.append(y, np.full(20, -1))
    learner = LaplacianSVC(**(FIXED | {"graph": KnnGraph(6, connect="keep")}))
    with pytest.warns(DisconnectedGraphWarning, match="20 of 80 rows"):
        learner.fit(far, labels)
    assert_array_equal(learner.reached_, np.arange(80) < 60)
    assert_array_equal(learner.transduction_[60:], -1)
    assert_array_equal(learner.confidence_[60:], 0.0)
    assert_array_equal(learner.predict(far[60:] + 0.1), -1)


@pytest.mark.parametrize("options", [FIXED, {}], ids=["fixed", "auto"])
def test_other_labels_of_the_same_points_need_no_new_fit(options) -> None:
    points, first, truth = clouds()
    second = np.where(np.arange(len(truth)) % 5 == 0, truth, -1)
    learner = LaplacianSVC(**options).fit(points, first).fit_labels(second)
    expected = LaplacianSVC(**options).fit(points, second)
    assert_allclose(learner.scores_, expected.scores_, atol=1e-7)


@pytest.mark.parametrize("approximation", ["none", NystromApproximation(30)], ids=str)
def test_a_kernel_may_be_a_matrix_a_function_or_an_object(approximation) -> None:
    points, y, _ = clouds()
    shared = FIXED | {"approximation": approximation, "random_state": 0}
    shared |= {"graph": KnnGraph(6).build(points)}
    named = LaplacianSVC(**shared).fit(points, y)
    new = points[:7] + 0.1
    expected = named.decision_function(new)
    for kernel in (RBF(WIDTH), lambda A, B: rbf_kernel(A, B, gamma=0.5)):
        other = LaplacianSVC(**(shared | {"kernel": kernel})).fit(points, y)
        assert_allclose(other.decision_function(new), expected, atol=1e-5)
    given = LaplacianSVC(**(shared | {"kernel": "precomputed"}))
    given.fit(rbf_kernel(points, gamma=0.5), y)
    found = given.decision_function(rbf_kernel(new, points, gamma=0.5))
    assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize("kernel", ["rbf", "linear", "cosine", "poly"])
def test_sparse_and_single_precision_points_are_as_dense_double_ones(kernel: str) -> None:
    points, y, _ = clouds()
    points[np.abs(points) < 0.5] = 0
    expected = LaplacianSVC(**(FIXED | {"kernel": kernel})).fit(points, y).scores_
    for given in (csr_array(points), points.astype(np.float32)):
        found = LaplacianSVC(**(FIXED | {"kernel": kernel})).fit(given, y).scores_
        assert_allclose(found, expected, atol=1e-3)


def test_more_landmarks_come_nearer_to_the_exact_machine() -> None:
    points, y, _ = clouds(sizes=(60, 60, 40))
    exact = LaplacianSVC(**FIXED).fit(points, y).scores_

    def gap(m):
        options = FIXED | {"approximation": NystromApproximation(m)}
        fits = [LaplacianSVC(**options, random_state=seed).fit(points, y) for seed in range(3)]
        return np.mean([np.linalg.norm(one.scores_ - exact) for one in fits])

    assert gap(15) > gap(50) > gap(160)
    assert gap(160) < 1e-2 * np.linalg.norm(exact)


def test_what_was_chosen_is_told_and_can_be_printed() -> None:
    points, y, _ = clouds()
    learner = LaplacianSVC().fit(points, y)
    (choice,) = learner.choices_
    assert "lowest leave-one-out loss" in choice.reason
    text = str(learner.diagnose())
    assert text.startswith("LaplacianSVC")
    assert choice.reason in text
    assert_allclose(learner.lambda1_, learner.gamma_a_ * 12)
    assert_allclose(learner.lambda2_, learner.gamma_i_ * 12 / 60**2)


@pytest.mark.parametrize("options", [{}, FIXED], ids=["auto", "fixed"])
def test_clones_and_pickles_are_the_same_machine(options) -> None:
    points, y, _ = clouds()
    learner = LaplacianSVC(**options)
    assert clone(learner).get_params().keys() == learner.get_params().keys()
    learner.fit(points, y)
    again = pickle.loads(pickle.dumps(learner))
    assert_array_equal(again.predict_proba(points + 0.1), learner.predict_proba(points + 0.1))
