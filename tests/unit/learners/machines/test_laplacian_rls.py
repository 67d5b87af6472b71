"""Laplacian least squares: the paper's system, its special cases, and exact leave-one-out."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import approx_fprime
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.gaussian_process.kernels import RBF
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score
from tests.support.machine_problems import FIXED, PAPER, UNSCALED, WIDTH, clouds

from beltrami import (
    FeatureApproximation,
    GraphRegularizedClassifier,
    GraphRegularizedRegressor,
    KnnGraph,
    LaplacianPower,
    LaplacianRLSClassifier,
    LaplacianRLSRegressor,
    NystromApproximation,
    RbfKernel,
    laplacian,
    two_moons,
)
from beltrami.core.errors import DisconnectedGraphWarning, InvalidInputError
from beltrami.learners.machines import machine

ONE = {"kernel": RbfKernel(1.0), "smoothness": LaplacianPower(1)}


def wave(seed=0, n=60, labels=15):
    rng = np.random.default_rng(seed)
    points = rng.uniform(-2, 2, size=(n, 2))
    truth = np.sin(2 * points[:, 0]) + points[:, 1] + 3.0
    y = np.where(np.arange(n) % (n // labels) == 0, truth, np.nan)
    return points, y, truth


def signs_of(y, classes=3):
    """Targets of all rows, +1 and -1 at labels and 0 elsewhere."""
    return np.where(y[:, None] < 0, 0.0, 2.0 * (y[:, None] == np.arange(classes)) - 1)


def matrices(points, options=PAPER):
    """K, and S = L / n^2 written out."""
    graph = clone(options["graph"]).build(points)
    K = rbf_kernel(points, gamma=1 / (2 * options["kernel"].width ** 2))
    return K, laplacian(graph).toarray() / len(points) ** 2


def naive_alpha(K, S, Y, weights, gamma_a, gamma_i):
    """(JK + gamma_A l I + gamma_I l S K) alpha = Y; J holds the weights, l is their sum."""
    total = weights.sum()
    system = weights[:, None] * K + gamma_a * total * np.eye(len(K)) + gamma_i * total * S @ K
    return np.linalg.solve(system, weights[:, None] * Y)


def objective(alpha, K, S, y, weights, gamma_a, gamma_i, b=0.0):
    """Eq. (5) in the coefficients of one function."""
    f = K @ alpha
    loss = weights @ (y - f - b) ** 2 / weights.sum()
    return loss + gamma_a * alpha @ f + gamma_i * f @ S @ f


# --- the paper's system -----------------------------------------------------------------------


@pytest.mark.parametrize("gammas", [(0.01, 2.0), (1.0, 100.0), (1e-4, 1e3), (0.1, 0.0)])
def test_coefficients_solve_the_corrected_system(gammas) -> None:
    points, y, _ = clouds()
    learner = LaplacianRLSClassifier(**PAPER, gamma_a=gammas[0], gamma_i=gammas[1]).fit(points, y)
    K, S = matrices(points)
    expected = naive_alpha(K, S, signs_of(y), (y >= 0) * 1.0, *gammas)
    scale = np.abs(expected).max()
    assert_allclose(learner._expansion.coefficients, expected, atol=1e-8 * scale)
    assert_allclose(learner.scores_, K @ expected, atol=1e-8)


@pytest.mark.parametrize("kind", ["combinatorial", "random_walk", "normalized"])
@pytest.mark.parametrize("power", [1, 2, 3, 4])
@pytest.mark.parametrize("scale", ["n2", "weights", "none"])
def test_every_roughness_enters_the_same_system(kind: str, power: int, scale: str) -> None:
    points, y, _ = clouds()
    smoothness = LaplacianPower(power, kind=kind, scale=scale)
    options = PAPER | {"smoothness": smoothness}
    learner = LaplacianRLSClassifier(**options, gamma_a=0.01, gamma_i=0.5).fit(points, y)
    S = smoothness.on(learner.graph_, power).apply(np.eye(len(points)))
    K = matrices(points)[0]
    expected = K @ naive_alpha(K, S, signs_of(y), (y >= 0) * 1.0, 0.01, 0.5)
    assert_allclose(learner.scores_, expected, atol=1e-8)


def test_the_objective_is_stationary_at_the_solution_and_not_at_that_of_the_print() -> None:
    """Eq. (7) lacks the factor l before both penalties."""
    points, y, _ = clouds()
    K, S = matrices(points)
    weights, Y = (y >= 0) * 1.0, signs_of(y)[:, 0]
    learner = LaplacianRLSClassifier(**FIXED).fit(points, y)
    ours = learner._expansion.coefficients[:, 0]
    printed = np.linalg.solve(weights[:, None] * K + 0.01 * np.eye(len(K)) + 2.0 * S @ K, Y)

    def slope(alpha):
        return np.abs(approx_fprime(alpha, objective, 1e-6, K, S, Y, weights, 0.01, 2.0)).max()

    assert slope(ours) < 1e-5
    assert slope(printed) > 1e-3


@pytest.mark.parametrize("intercept", [False, True])
def test_no_step_lowers_the_objective_of_a_regression(intercept: bool) -> None:
    points, y, _ = wave()
    learner = LaplacianRLSRegressor(**FIXED, fit_intercept=intercept).fit(points, y)
    K, S = matrices(points)
    weights, Y = np.isfinite(y) * 1.0, np.nan_to_num(y)
    packed = np.append(learner._expansion.coefficients[:, 0], learner.intercept_)

    def at(packed):
        return objective(packed[:-1], K, S, Y, weights, 0.01, 2.0, b=packed[-1])

    slope = approx_fprime(packed, at, 1e-6)
    assert np.abs(slope if intercept else slope[:-1]).max() < 1e-4
    assert intercept or learner.intercept_[0] == 0.0


def test_an_intercept_is_the_border_of_the_system() -> None:
    """Column J1 and row 1'alpha = 0, which holds as L1 = 0."""
    points, y, _ = wave()
    learner = LaplacianRLSRegressor(**FIXED).fit(points, y)
    K, S = matrices(points)
    labelled, count = np.isfinite(y) * 1.0, len(y)
    system = np.zeros((count + 1, count + 1))
    system[:count, :count] = labelled[:, None] * K + labelled.sum() * (
        0.01 * np.eye(count) + 2.0 * S @ K
    )
    system[:count, count], system[count, :count] = labelled, 1.0
    found = np.linalg.solve(system, np.append(np.nan_to_num(y), 0.0))
    assert_allclose(learner.intercept_, found[-1], atol=1e-8)
    assert_allclose(learner.predict(points), K @ found[:-1] + found[-1], atol=1e-8)


# --- the lines of the paper's table -----------------------------------------------------------


def test_both_penalties_are_manifold_regularisation() -> None:
    moons = two_moons(200, random_state=0)
    y = np.full(200, -1)
    y[[0, 199]] = moons.targets[[0, 199]]
    learner = LaplacianRLSClassifier().fit(moons.points, y)
    assert (learner.transduction_ == moons.targets).mean() > 0.95
    plain = LaplacianRLSClassifier(gamma_i=0.0).fit(moons.points, y)
    assert (plain.transduction_ == moons.targets).mean() < 0.95


def test_without_the_intrinsic_penalty_it_is_kernel_ridge_regression() -> None:
    points, y, _ = clouds()
    learner = LaplacianRLSClassifier(**PAPER, gamma_a=0.05, gamma_i=0.0).fit(points, y)
    has = y >= 0
    peer = KernelRidge(alpha=0.05 * has.sum(), kernel="rbf", gamma=1 / (2 * WIDTH**2))
    peer.fit(points[has], signs_of(y)[has])
    assert_allclose(learner.scores_, peer.predict(points), atol=1e-6)
    assert_array_equal(learner._expansion.coefficients[~has], 0.0)
    assert_allclose(learner.lambda1_, peer.alpha)


def test_without_the_intrinsic_penalty_unlabelled_rows_change_nothing() -> None:
    points, y, _ = clouds()
    has = y >= 0
    options = PAPER | {"gamma_a": 0.05, "gamma_i": 0.0}
    both = LaplacianRLSClassifier(**options).fit(points, y)
    alone = LaplacianRLSClassifier(**options).fit(points[has], y[has])
    assert_allclose(both.decision_function(points), alone.decision_function(points), atol=1e-9)


@pytest.mark.parametrize("gamma", [0.03, 1.0])
def test_without_the_ambient_penalty_it_is_graph_regularisation(gamma: float) -> None:
    points, y, _ = clouds()
    options = UNSCALED | {"kernel": RbfKernel(0.5), "gamma_i": gamma}
    peer = GraphRegularizedClassifier(graph=PAPER["graph"], gamma=gamma, class_mass=None, tol=1e-12)
    expected = 2 * peer.fit(points, y).scores_ - 1
    gaps = [
        np.abs(LaplacianRLSClassifier(**options, gamma_a=a).fit(points, y).scores_ - expected).max()
        for a in (1e-2, 1e-4, 1e-6, 0.0)
    ]
    assert gaps[0] > 10 * gaps[1] > 100 * gaps[2]
    assert gaps[3] < 1e-4


def test_without_the_ambient_penalty_values_are_graph_regularised_too() -> None:
    points, y, _ = wave()
    peer = GraphRegularizedRegressor(graph=PAPER["graph"], gamma=0.1, tol=1e-12).fit(points, y)
    options = UNSCALED | {"kernel": RbfKernel(0.5), "gamma_i": 0.1, "gamma_a": 0.0}
    learner = LaplacianRLSRegressor(**options).fit(points, y)
    assert_allclose(learner.scores_, peer.scores_, atol=1e-4)


def test_a_vanishing_intrinsic_penalty_alone_is_label_propagation() -> None:
    points, y, _ = clouds()
    options = UNSCALED | {"kernel": RbfKernel(0.5), "gamma_a": 0.0, "gamma_i": 1e-6}
    peer = GraphRegularizedClassifier(graph=PAPER["graph"], gamma=0.0, class_mass=None, tol=1e-12)
    learner = LaplacianRLSClassifier(**options).fit(points, y)
    assert_allclose(learner.scores_, 2 * peer.fit(points, y).scores_ - 1, atol=1e-3)


def test_vanishing_penalties_go_through_the_labels() -> None:
    """The hard margin of least squares: interpolation of least norm."""
    points, y, _ = clouds()
    has = y >= 0
    learner = LaplacianRLSClassifier(**PAPER, gamma_a=1e-10, gamma_i=0.0).fit(points, y)
    K = matrices(points)[0]
    expected = K[:, has] @ np.linalg.solve(K[np.ix_(has, has)], signs_of(y)[has])
    assert_allclose(learner.scores_, expected, atol=1e-5)
    assert_allclose(learner.scores_[has], signs_of(y)[has], atol=1e-5)


# --- leaving one out --------------------------------------------------------------------------


def refitted(learner, points, y, weights, row, gap):
    """A fit without one label, at the same lambda1 and lambda2 and on the same graph."""
    less = y.copy()
    less[row] = gap
    share = (
        weights[learner._labeled.rows].sum()
        / np.delete(weights[learner._labeled.rows], learner._labeled.rows == row).sum()
    )
    gammas = {name: getattr(learner, f"{name}_") * share for name in ("gamma_a", "gamma_i")}
    shape = {"kernel__width": learner.width_, "smoothness__power": learner.power_}
    return clone(learner).set_params(**gammas, **shape).fit(points, less, weights)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("gammas", [(0.01, 2.0), (0.1, 0.0), ("auto", "auto")], ids=str)
def test_leaving_a_class_label_out_is_a_refit(intercept, is_weighted, gammas) -> None:
    points, y, _ = clouds(apart=1.5)
    weights = np.random.default_rng(1).uniform(0.5, 2, len(y)) if is_weighted else np.ones(len(y))
    learner = LaplacianRLSClassifier(
        **PAPER, gamma_a=gammas[0], gamma_i=gammas[1], fit_intercept=intercept
    ).fit(points, y, weights)
    found = learner._left_out()
    assert_array_equal(found.rows, np.flatnonzero(y >= 0))
    for place, row in enumerate(found.rows):
        scores = refitted(learner, points, y, weights, row, -1).scores_[row]
        assert_allclose(found.scores[place], scores, atol=1e-8)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_leaving_a_value_out_is_a_refit(intercept, is_weighted) -> None:
    points, y, _ = wave()
    weights = np.random.default_rng(1).uniform(0.5, 2, len(y)) if is_weighted else np.ones(len(y))
    learner = LaplacianRLSRegressor(**FIXED, fit_intercept=intercept).fit(points, y, weights)
    found = learner._left_out()
    for place, row in enumerate(found.rows):
        value = refitted(learner, points, y, weights, row, np.nan).predict(points[[row]])
        assert_allclose(found.scores[place], value, atol=1e-8)


@pytest.mark.parametrize("intercept", [False, True])
def test_intervals_are_those_of_all_refits(intercept: bool) -> None:
    """Jackknife+, by hand: order statistics of f_-i(x) -+ |r_i|."""
    points, y, _ = wave()
    new, ones = points[:4] + 0.05, np.ones(len(y))
    learner = LaplacianRLSRegressor(**FIXED, fit_intercept=intercept).fit(points, y)
    rows = np.flatnonzero(np.isfinite(y))
    fits = [refitted(learner, points, y, ones, row, np.nan) for row in rows]
    values = np.array([fit.predict(new) for fit in fits]).T
    sizes = np.array(
        [abs(y[r] - f.predict(points[[r]])[0]) for r, f in zip(rows, fits, strict=True)]
    )
    upper = int(np.ceil(0.8 * (len(rows) + 1))) - 1
    expected = np.sort(values + sizes, axis=1)[:, upper]
    found = learner.predict_interval(new, coverage=0.8)
    assert_allclose(found[:, 1], expected, atol=1e-8)
    assert_allclose(
        found[:, 0], np.sort(values - sizes, axis=1)[:, len(rows) - 1 - upper], atol=1e-8
    )


def test_intervals_hold_their_share() -> None:
    points, _, truth = wave(n=400, labels=40)
    rng = np.random.default_rng(2)
    noisy = truth + 0.3 * rng.standard_normal(400)
    y = np.where(rng.permutation(400) < 50, noisy, np.nan)
    ends = LaplacianRLSRegressor(**ONE).fit(points, y).predict_interval(points)
    inside = (ends[:, 0] <= noisy) & (noisy <= ends[:, 1])
    assert 0.8 < inside[np.isnan(y)].mean() < 0.99


def test_intervals_of_very_many_labels_work() -> None:
    points, _, truth = wave(n=1200)
    learner = LaplacianRLSRegressor(**ONE, approximation=NystromApproximation(50))
    ends = learner.fit(points, truth).predict_interval(points[:5])
    assert np.all(ends[:, 0] < ends[:, 1])


# --- symmetries -------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [FIXED, PAPER, {}], ids=["fixed", "auto", "all auto"])
def test_the_order_of_rows_does_not_matter(options) -> None:
    points, y, _ = clouds()
    order = np.random.default_rng(5).permutation(len(y))
    scores = LaplacianRLSClassifier(**options).fit(points, y).scores_
    moved = LaplacianRLSClassifier(**options).fit(points[order], y[order]).scores_
    assert_allclose(moved, scores[order], atol=1e-7)


def test_a_weight_of_two_counts_a_label_twice() -> None:
    points, y, _ = clouds()
    weights = np.ones(len(y))
    weights[np.flatnonzero(y >= 0)[:3]] = 2.0
    learner = LaplacianRLSClassifier(**FIXED).fit(points, y, weights)
    K, S = matrices(points)
    counted = weights * (y >= 0)
    assert_allclose(
        learner.scores_, K @ naive_alpha(K, S, signs_of(y), counted, 0.01, 2.0), atol=1e-8
    )
    assert_allclose(learner.lambda1_, 0.01 * (y >= 0).sum())  # the mean weight is one


def test_duplicated_points_have_the_same_score_and_conflicts_are_averaged() -> None:
    points, y, _ = clouds()
    twice, labels = np.vstack([points, points]), np.concatenate([y, y])
    labels[np.flatnonzero(y == 0)[0]] = 1  # the same point under two classes
    learner = LaplacianRLSClassifier(**FIXED).fit(twice, labels)
    assert np.isfinite(learner.scores_).all()
    assert_allclose(learner.scores_[: len(y)], learner.scores_[len(y) :], atol=0.02)


def test_duplicating_what_is_unlabelled_changes_little_under_the_scale_of_weights() -> None:
    points, y, _ = clouds()
    more = np.vstack([points, points[y < 0]])
    labels = np.concatenate([y, np.full((y < 0).sum(), -1)])
    change = {}
    for scale in ("weights", "none"):
        smoothness = LaplacianPower(1, kind="combinatorial", scale=scale)
        options = PAPER | {"smoothness": smoothness, "gamma_a": 0.01, "gamma_i": 0.5}
        once = LaplacianRLSClassifier(**options).fit(points, y)
        options |= {"graph": KnnGraph(12)}
        again = LaplacianRLSClassifier(**options).fit(more, labels)
        gap = np.linalg.norm(again.scores_[: len(y)] - once.scores_)
        change[scale] = gap / np.linalg.norm(once.scores_)
    assert change["weights"] < 0.1
    assert change["weights"] < change["none"]


@pytest.mark.parametrize("factor", [1e-3, 1e4])
def test_chosen_penalties_go_with_the_unit_of_the_kernel_and_of_the_weights(factor) -> None:
    points, y, _ = clouds()
    K, graph = rbf_kernel(points), KnnGraph(6).build(points)
    fits = [
        LaplacianRLSClassifier(kernel="precomputed", graph=csr_array(w * graph.weights)).fit(
            k * K, y
        )
        for k, w in [(1.0, 1.0), (factor, 1.0), (1.0, factor)]
    ]
    assert_allclose(fits[1].scores_, fits[0].scores_, atol=1e-6)
    assert_allclose(fits[2].scores_, fits[0].scores_, atol=1e-6)


# --- what is chosen and told ------------------------------------------------------------------


def test_both_spellings_of_the_penalties_agree() -> None:
    """lambda1 = gamma_A l, lambda2 = gamma_I l / n^2."""
    points, y, _ = clouds()
    learner = LaplacianRLSClassifier(**FIXED).fit(points, y)
    assert_allclose(learner.lambda1_, 0.01 * 12)
    assert_allclose(learner.lambda2_, 2.0 * 12 / 60**2)


def test_penalties_that_were_chosen_can_be_given() -> None:
    points, y, _ = clouds(apart=1.5)
    learner = LaplacianRLSClassifier().fit(points, y)
    again = LaplacianRLSClassifier(
        kernel=RbfKernel(learner.width_),
        gamma_a=learner.gamma_a_,
        gamma_i=learner.gamma_i_,
        smoothness=LaplacianPower(learner.power_),
    )
    assert_allclose(again.fit(points, y).scores_, learner.scores_, atol=1e-7)


def test_what_was_chosen_is_told_with_its_evidence() -> None:
    points, y, _ = clouds()
    learner = LaplacianRLSClassifier().fit(points, y)
    (choice,) = learner.choices_
    assert "lowest leave-one-out loss" in choice.reason
    assert f"{len(choice.tried) * 60} settings on 12 labels" in choice.reason
    assert f"power {learner.power_}" in choice.reason
    assert np.isfinite(learner.held_out_loss_)
    assert choice.reason in str(learner.diagnose())


def test_given_penalties_leave_nothing_to_choose() -> None:
    points, y, _ = clouds()
    learner = LaplacianRLSClassifier(**FIXED).fit(points, y)
    assert learner.choices_ == ()
    assert (learner.width_, learner.power_) == (WIDTH, 1)
    assert_allclose([learner.gamma_a_, learner.gamma_i_], [0.01, 2.0])


def test_one_label_per_class_gets_typical_values_and_says_so() -> None:
    points, y, _ = clouds(labels=1)
    learner = LaplacianRLSClassifier().fit(points, y)
    assert "typical values, as leave-one-out cannot judge by 3 labels" in learner.choices_[0].reason
    assert np.isnan(learner.held_out_loss_)
    assert "cannot be judged" in str(learner.diagnose())


def test_a_diagnosis_can_be_printed() -> None:
    for learner, (points, y, _) in [
        (LaplacianRLSClassifier(**FIXED), clouds()),
        (LaplacianRLSRegressor(**FIXED), wave()),
    ]:
        text = str(learner.fit(points, y).diagnose())
        assert text.startswith(type(learner).__name__)
        assert "held out" in text


# --- approximations ---------------------------------------------------------------------------


def test_the_exact_way_says_so() -> None:
    points, y, _ = clouds()
    found = LaplacianRLSClassifier(**FIXED).fit(points, y).approximation_
    assert (found.method, found.n_features, found.kernel_error) == ("none", 0, 0.0)


def test_all_points_as_landmarks_are_the_exact_machine() -> None:
    points, y, _ = clouds()
    exact = LaplacianRLSClassifier(**FIXED).fit(points, y)
    learner = LaplacianRLSClassifier(**FIXED, approximation="nystrom", random_state=0)
    learner.fit(points, y)
    assert_allclose(learner.scores_, exact.scores_, atol=1e-3)
    assert learner.approximation_.kernel_error < 1e-5


def test_more_landmarks_come_nearer_to_the_exact_machine() -> None:
    points, y, _ = clouds(sizes=(80, 70, 50))
    exact = LaplacianRLSClassifier(**FIXED).fit(points, y)
    gaps, errors = [], []
    for m in (15, 40, 100):
        options = FIXED | {"approximation": NystromApproximation(m)}
        fits = [
            LaplacianRLSClassifier(**options, random_state=seed).fit(points, y) for seed in range(3)
        ]
        gaps.append(np.mean([np.linalg.norm(one.scores_ - exact.scores_) for one in fits]))
        errors.append(np.mean([one.approximation_.kernel_error for one in fits]))
        assert all(0 < one.approximation_.n_features <= m for one in fits)
        assert all(one.approximation_.held_out_change >= 0 for one in fits)
    assert gaps[0] > gaps[1] > gaps[2]
    assert errors[0] > errors[1] > errors[2]


@pytest.mark.parametrize("seed", [0, 1])
def test_landmarks_hold_the_labelled_rows_so_the_plain_machine_stays_exact(seed: int) -> None:
    points, y, _ = clouds()
    options = PAPER | {"gamma_a": 0.05, "gamma_i": 0.0}
    exact = LaplacianRLSClassifier(**options).fit(points, y)
    options |= {"approximation": NystromApproximation(14), "random_state": seed}
    learner = LaplacianRLSClassifier(**options).fit(points, y)
    assert_allclose(learner.scores_, exact.scores_, atol=1e-8)


@pytest.mark.parametrize("kernel", ["linear", "cosine"])
@pytest.mark.parametrize("container", [np.asarray, csr_array])
def test_coordinates_are_the_exact_machine_of_linear_kernels(kernel: str, container) -> None:
    points, y, _ = clouds()
    exact = LaplacianRLSClassifier(**(FIXED | {"kernel": kernel})).fit(points, y)
    learner = LaplacianRLSClassifier(**(FIXED | {"kernel": kernel}), approximation="features")
    learner.fit(container(points), y)
    assert_allclose(learner.scores_, exact.scores_, atol=1e-8)
    assert learner.approximation_.n_features == 3
    assert learner.approximation_.kernel_error < 1e-12
    assert np.isnan(learner.approximation_.held_out_change)


def test_random_waves_come_near_to_the_exact_machine() -> None:
    points, y, _ = clouds()
    options = FIXED | {"gamma_a": 0.1, "graph": KnnGraph(6).build(points)}
    exact = LaplacianRLSClassifier(**options).fit(points, y)
    # There are at most as many waves as points, so few here.
    learner = LaplacianRLSClassifier(**options, approximation="features", random_state=0)
    learner.fit(points, y)
    assert learner.approximation_.n_features == len(points)
    assert (learner.transduction_ == exact.transduction_).mean() > 0.8


def test_many_points_are_approximated_by_themselves(monkeypatch) -> None:
    monkeypatch.setattr(machine, "_MOST_EXACT", 50)
    points, y, _ = clouds()
    assert LaplacianRLSClassifier(**FIXED).fit(points, y).approximation_.method == "nystrom"
    exact = LaplacianRLSClassifier(**FIXED, approximation="none").fit(points, y)
    assert exact.approximation_.method == "none"


def test_many_points_without_the_intrinsic_penalty_are_kernel_ridge_regression(monkeypatch) -> None:
    """The second line of the paper's table holds for any number of points."""
    monkeypatch.setattr(machine, "_MOST_EXACT", 50)
    points, y, _ = clouds()
    has = y >= 0
    learner = LaplacianRLSClassifier(**PAPER, gamma_a=0.05, gamma_i=0.0).fit(points, y)
    peer = KernelRidge(alpha=0.05 * has.sum(), kernel="rbf", gamma=1 / (2 * WIDTH**2))
    peer.fit(points[has], signs_of(y)[has])
    assert_allclose(learner.scores_, peer.predict(points), atol=1e-5)


@pytest.mark.parametrize("approximation", [NystromApproximation, FeatureApproximation])
def test_a_seed_makes_an_approximation_repeatable(approximation) -> None:
    points, y, _ = clouds()
    fits = [
        LaplacianRLSClassifier(**PAPER, approximation=approximation(16), random_state=seed).fit(
            points, y
        )
        for seed in (0, 0, 1)
    ]
    assert_array_equal(fits[0].scores_, fits[1].scores_)
    assert not np.array_equal(fits[0].scores_, fits[2].scores_)


def test_the_exact_way_needs_no_seed() -> None:
    points, y, _ = clouds()
    fits = [LaplacianRLSClassifier().fit(points, y) for _ in range(2)]
    assert_array_equal(fits[0].scores_, fits[1].scores_)


# --- new points and other input ---------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly", "cosine", RBF(1.0)], ids=str)
@pytest.mark.parametrize("options", [FIXED, {}], ids=["fixed", "auto"])
def test_points_of_the_fit_have_the_same_scores_as_new_ones(kernel, options) -> None:
    points, y, _ = clouds()
    learner = LaplacianRLSClassifier(**(options | {"kernel": kernel})).fit(points, y)
    assert_allclose(learner.decision_function(points), learner.scores_, atol=1e-7)
    assert_allclose(learner.predict_proba(points), learner.label_distributions_, atol=1e-6)
    free = y < 0
    assert_array_equal(learner.predict(points)[free], learner.transduction_[free])


def test_values_of_the_fit_are_those_of_new_points() -> None:
    points, y, truth = wave()
    learner = LaplacianRLSRegressor().fit(points, y)
    assert_allclose(learner.predict(points), learner.scores_[:, 0], atol=1e-7)
    assert_array_equal(learner.transduction_[np.isfinite(y)], y[np.isfinite(y)])
    assert np.abs(learner.predict(points) - truth).mean() < 0.3


def test_probabilities_sum_to_one() -> None:
    points, y, _ = clouds()
    learner = LaplacianRLSClassifier().fit(points, y)
    assert_allclose(learner.predict_proba(points + 0.1).sum(axis=1), 1.0)
    own = learner.label_distributions_[np.arange(len(y)), learner.transduction_]
    assert_allclose(learner.confidence_, own)


NAMES = np.array(["ant", "bee", "cat"])


@pytest.mark.parametrize(
    "renamed",
    [
        lambda y: np.where(y < 0, "", NAMES[y]),
        lambda y: np.where(y < 0, None, NAMES[y]),
        lambda y: np.where(y < 0, np.nan, y.astype(float)),
        lambda y: np.where(y < 0, -1, y + 7),
    ],
    ids=["strings", "None", "NaN", "integers"],
)
def test_labels_may_be_of_any_type(renamed) -> None:
    points, y, _ = clouds()
    expected = LaplacianRLSClassifier(**FIXED).fit(points, y)
    learner = LaplacianRLSClassifier(**FIXED).fit(points, renamed(y))
    assert_allclose(learner.scores_, expected.scores_)
    assert_array_equal(learner.transduction_, learner.classes_[expected.transduction_])
    assert learner.score(points, renamed(y)) == expected.score(points, y)


def test_a_declared_class_without_label_is_never_predicted() -> None:
    points, y, _ = clouds()
    learner = LaplacianRLSClassifier(**FIXED, classes=[0, 1, 2, 9]).fit(points, y)
    assert_array_equal(learner.classes_, [0, 1, 2, 9])
    assert 9 not in learner.transduction_
    assert_array_equal(learner.label_distributions_[:, 3], 0.0)
    assert (learner.scores_[:, 3] < learner.scores_[:, :3].min(axis=1)).all()
    assert_allclose(learner.scores_[:, :3], LaplacianRLSClassifier(**FIXED).fit(points, y).scores_)


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly", "cosine"])
@pytest.mark.parametrize("approximation", ["none", NystromApproximation(20)], ids=str)
def test_sparse_points_are_as_dense_ones(kernel: str, approximation) -> None:
    points, y, _ = clouds()
    points[np.abs(points) < 0.5] = 0
    options = FIXED | {"approximation": approximation, "kernel": kernel}
    fits = [
        LaplacianRLSClassifier(**options, random_state=0).fit(X, y)
        for X in (points, csr_array(points))
    ]
    assert_allclose(fits[1].scores_, fits[0].scores_, atol=1e-6)
    new = points[:7] + 0.25
    expected = fits[0].decision_function(new)
    assert_allclose(fits[1].decision_function(csr_array(new)), expected, atol=1e-6)


def test_tables_are_read_and_their_columns_remembered() -> None:
    pandas = pytest.importorskip("pandas")
    points, y, _ = clouds()
    table = pandas.DataFrame(points, columns=list("abc"))
    learner = LaplacianRLSClassifier(**FIXED).fit(table, pandas.Series(y))
    assert_array_equal(learner.feature_names_in_, list("abc"))
    expected = LaplacianRLSClassifier(**FIXED).fit(points, y).scores_
    assert_allclose(learner.decision_function(table), expected, atol=1e-9)


@pytest.mark.parametrize(
    "approximation", ["none", NystromApproximation(30), FeatureApproximation(30)], ids=str
)
def test_single_precision_is_near_double(approximation) -> None:
    points, y, _ = clouds()
    options = FIXED | {"approximation": approximation, "gamma_a": 0.1}
    fits = [
        LaplacianRLSClassifier(**options, random_state=0).fit(points.astype(dtype), y)
        for dtype in (np.float32, np.float64)
    ]
    assert_allclose(fits[0].scores_, fits[1].scores_, atol=1e-3)
    assert_array_equal(fits[0].predict(points.astype(np.float32)), fits[1].predict(points))


@pytest.mark.parametrize("options", [FIXED, PAPER, {}], ids=["fixed", "auto", "all auto"])
def test_other_labels_of_the_same_points_need_no_new_fit(options) -> None:
    points, first, truth = clouds()
    second = np.where(np.arange(len(truth)) % 5 == 0, truth, -1)
    learner = LaplacianRLSClassifier(**options).fit(points, first).fit_labels(second)
    expected = LaplacianRLSClassifier(**options).fit(points, second)
    assert_allclose(learner.scores_, expected.scores_, atol=1e-9)
    assert_array_equal(learner.predict(points), expected.predict(points))


@pytest.mark.parametrize(
    "changed",
    [
        {"gamma_i": 50.0},
        {"smoothness": LaplacianPower(1, kind="normalized")},
        {"smoothness": LaplacianPower(1, kind="combinatorial", scale="none")},
        {"kernel": "linear"},
        {"kernel": RbfKernel()},
        {"approximation": NystromApproximation(20), "random_state": 0},
    ],
    ids=str,
)
def test_labels_given_after_a_change_of_options_are_learnt_by_the_new_ones(changed) -> None:
    points, y, _ = clouds()
    learner = LaplacianRLSClassifier(**FIXED).fit(points, y)
    learner.set_params(**changed).fit_labels(y)
    expected = LaplacianRLSClassifier(**(FIXED | changed)).fit(points, y)
    assert_allclose(learner.scores_, expected.scores_, atol=1e-9)


def test_a_component_without_label_is_flagged_and_keeps_its_marker() -> None:
    points, y, _ = clouds()
    far = np.vstack([points, points[:20] + 100])
    labels = np.concatenate([y, np.full(20, -1)])
    learner = LaplacianRLSClassifier(**(FIXED | {"graph": KnnGraph(6, connect="keep")}))
    with pytest.warns(DisconnectedGraphWarning, match="20 of 80 rows share no component"):
        learner.fit(far, labels)
    lost = np.arange(80) >= 60
    assert_array_equal(learner.reached_, ~lost)
    assert_array_equal(learner.transduction_[lost], -1)
    assert_array_equal(learner.confidence_[lost], 0.0)
    new = np.array([[0.0, 0, 0], [100.0, 100, 100]])
    assert_array_equal(learner.predict(new) == -1, [False, True])
    assert_allclose(learner.predict_proba(new)[1], learner.class_prior_)


def test_a_component_without_label_is_found_in_the_space_of_a_precomputed_kernel() -> None:
    points, y, _ = clouds()
    far, labels = np.vstack([points, points[:20] + 100]), np.append(y, np.full(20, -1))
    graph = KnnGraph(6, connect="keep").build(far)
    learner = LaplacianRLSClassifier(**(FIXED | {"graph": graph, "kernel": "precomputed"}))
    with pytest.warns(DisconnectedGraphWarning):
        learner.fit(rbf_kernel(far), labels)
    new = np.vstack([points[:3], points[:3] + 100]) + 0.1
    assert_array_equal(learner.predict(rbf_kernel(new, far)) == -1, np.arange(6) >= 3)


def test_rows_and_columns_of_a_precomputed_kernel_are_split_together() -> None:
    points, _, truth = clouds()
    penalties = {"gamma_a": 0.01, "gamma_i": 0.0, "smoothness": LaplacianPower(1)}
    learner = LaplacianRLSClassifier(kernel="precomputed", **penalties)
    found = cross_val_score(learner, rbf_kernel(points), truth, cv=3)
    plain = LaplacianRLSClassifier(kernel=RbfKernel(np.sqrt(1.5)), **penalties)
    assert_allclose(found, cross_val_score(plain, points, truth, cv=3))


def test_a_component_without_value_has_the_mean_and_no_bounds() -> None:
    points, y, _ = wave()
    far, labels = np.vstack([points, points[:20] + 100]), np.append(y, np.full(20, np.nan))
    learner = LaplacianRLSRegressor(**(FIXED | {"graph": KnnGraph(6, connect="keep")}))
    with pytest.warns(DisconnectedGraphWarning):
        learner.fit(far, labels)
    assert np.isnan(learner.transduction_[60:]).all()
    assert_allclose(learner.predict(far[60:] + 0.1), np.nanmean(y))
    assert_array_equal(learner.predict_interval(far[60:61], 0.8), [[-np.inf, np.inf]])


@pytest.mark.parametrize("options", [{}, {"approximation": NystromApproximation(20)}], ids=str)
def test_a_kernel_may_be_a_matrix_a_function_or_an_object(options) -> None:
    points, y, _ = clouds()
    graph = KnnGraph(6).build(points)
    shared = FIXED | options | {"graph": graph, "random_state": 0}
    named = LaplacianRLSClassifier(**shared).fit(points, y)
    new = points[:7] + 0.1
    expected = named.decision_function(new)
    for kernel in (RBF(WIDTH), lambda A, B: rbf_kernel(A, B, gamma=0.5)):
        other = LaplacianRLSClassifier(**(shared | {"kernel": kernel})).fit(points, y)
        assert_allclose(other.decision_function(new), expected, atol=1e-6)
    given = LaplacianRLSClassifier(**(shared | {"kernel": "precomputed"}))
    given.fit(rbf_kernel(points, gamma=0.5), y)
    assert_allclose(given.scores_, named.scores_, atol=1e-6)
    across = rbf_kernel(new, points, gamma=0.5)
    assert_allclose(given.decision_function(across), expected, atol=1e-6)


def test_a_precomputed_kernel_makes_its_own_graph() -> None:
    """Distances in the space of a linear kernel are those of the points."""
    points, y, _ = clouds()
    options = {"gamma_a": 0.01, "gamma_i": 2.0, "smoothness": LaplacianPower(1)}
    options |= {"graph": KnnGraph(6)}
    named = LaplacianRLSClassifier(**options, kernel="linear").fit(points, y)
    given = LaplacianRLSClassifier(**(options | {"kernel": "precomputed"})).fit(
        points @ points.T, y
    )
    assert_allclose(given.scores_, named.scores_, atol=1e-6)


def test_a_given_graph_serves_new_points_too() -> None:
    points, y, _ = clouds()
    graph = KnnGraph(6).build(points)
    for given in (graph, csr_array(graph.weights)):
        learner = LaplacianRLSClassifier(**(FIXED | {"graph": given})).fit(points, y)
        assert_allclose(learner.decision_function(points), learner.scores_, atol=1e-9)


@pytest.mark.parametrize("kind", [LaplacianRLSClassifier, LaplacianRLSRegressor])
def test_clones_and_pickles_are_the_same_machine(kind) -> None:
    points, y, _ = clouds() if kind is LaplacianRLSClassifier else wave()
    learner = kind(gamma_a=0.1, random_state=3)
    assert clone(learner).get_params()["gamma_a"] == 0.1
    assert clone(learner).get_params().keys() == learner.get_params().keys()
    learner.fit(points, y)
    again = pickle.loads(pickle.dumps(learner))
    assert_array_equal(again.predict(points + 0.1), learner.predict(points + 0.1))
    assert_array_equal(again.fit_labels(y).scores_, learner.scores_)


def test_fitting_leaves_the_arguments_as_they_were() -> None:
    points, y, _ = clouds()
    graph, before = KnnGraph(6), (points.copy(), y.copy())
    learner = LaplacianRLSClassifier(graph=graph).fit(points, y)
    assert learner.graph is graph
    assert_array_equal(points, before[0])
    assert_array_equal(y, before[1])


def test_parameters_of_objects_are_set_through_the_machine() -> None:
    points, y, _ = clouds()
    learner = clone(LaplacianRLSClassifier(**FIXED)).fit(points, y)  # its objects are its own
    learner.set_params(kernel__width=2.0, smoothness__power=2).fit_labels(y)
    assert (learner.width_, learner.power_) == (2.0, 2)
    expected = LaplacianRLSClassifier(**FIXED).set_params(kernel=RbfKernel(2.0))
    expected.set_params(smoothness=LaplacianPower(2, kind="combinatorial"))
    assert_allclose(learner.scores_, expected.fit(points, y).scores_, atol=1e-9)
    search = GridSearchCV(LaplacianRLSClassifier(**FIXED), {"kernel__width": [0.5, 1.0]}, cv=2)
    assert search.fit(points, np.maximum(y, 0)).best_params_["kernel__width"] in (0.5, 1.0)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("kernel__width", r"kernel='rbf' is no object.*LaplacianRLSClassifier\(kernel=RbfKernel"),
        ("smoothness__power", r"smoothness=None is no object.*smoothness=LaplacianPower\(\)"),
        ("approximation__n_landmarks", r"approximation='auto' is no.*NystromApproximation\(\)"),
    ],
)
def test_parameters_of_a_name_cannot_be_set_and_the_error_says_what_can(name, message) -> None:
    with pytest.raises(InvalidInputError, match=message):
        LaplacianRLSClassifier().set_params(**{name: 2})
