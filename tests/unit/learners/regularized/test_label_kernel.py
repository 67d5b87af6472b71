"""Regularisation reduced to labels: minima, limits, leave-one-out, each against dense algebra."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import expm

from beltrami.core.errors import InvalidInputError, MemoryBudgetError
from beltrami.core.machine import memory
from beltrami.graph.families import disjoint_union, grid, path
from beltrami.graph.model import Graph
from beltrami.learners.foundation import Foundation
from beltrami.learners.model import Labeled
from beltrami.learners.regularized.label_kernel import KernelFit, LabelKernel
from beltrami.learners.regularized.smoother import Smoother, smooth_values

SMOOTHNESS = ["laplacian", ("iterated", 2), ("iterated", 3), ("heat", 0.4)]
POWERS = SMOOTHNESS[:3]


def random_graph(n, seed=0):
    """Connected, with weights of all sizes."""
    rng = np.random.default_rng(seed)
    weights = np.diag(rng.uniform(0.5, 2, size=n - 1), 1)
    for _ in range(2 * n):
        i, j = rng.integers(0, n, size=2)
        weights[i, j] = rng.uniform(0.1, 1)
    weights += weights.T
    np.fill_diagonal(weights, 0)
    return Graph.from_matrix(weights)


def dense_laplacian(graph):
    weights = graph.weights.toarray()
    return np.diag(weights.sum(axis=1)) - weights


def dense_smoothness(graph, smoothness):
    match smoothness:
        case "laplacian":
            return dense_laplacian(graph)
        case ("iterated", power):
            return np.linalg.matrix_power(dense_laplacian(graph), power)
        case ("heat", t):
            return expm(t * dense_laplacian(graph))


def some_labels(graph, count, *, weighted=False, n_targets=1, seed=0):
    rng = np.random.default_rng(seed)
    weights = rng.uniform(0.2, 3, size=count) if weighted else np.ones(count)
    rows = rng.permutation(graph.n_nodes)[:count]
    return Labeled(rows, rng.normal(size=(count, n_targets)), weights)


def without(labeled, i):
    others = np.arange(len(labeled.rows)) != i
    return Labeled(labeled.rows[others], labeled.targets[others], labeled.weights[others])


def smoother_of(graph, smoothness="laplacian"):
    return Smoother.of(Foundation(graph), smoothness, tol=1e-13)


def minimiser(graph, smoothness, labeled, gamma):
    """The values at all nodes, by the kernel of the labels."""
    fit = KernelFit.of(smoother_of(graph, smoothness), labeled)
    return fit.values(labeled.targets, gamma * labeled.weights.sum())


# --- the minimum ------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("smoothness", SMOOTHNESS)
def test_the_gradient_of_the_stated_objective_is_zero(smoothness, weighted: bool) -> None:
    graph = random_graph(24)
    labeled = some_labels(graph, 8, weighted=weighted)
    gamma, S = 0.05, dense_smoothness(graph, smoothness)
    # The heat operator also charges constants, so the mean of the labels is taken off first.
    mean = labeled.mean if smoothness[0] == "heat" else 0.0
    f = minimiser(graph, smoothness, labeled, gamma) - mean
    gradient = gamma * S @ f
    shares = (labeled.weights / labeled.weights.sum())[:, None]
    gradient[labeled.rows] += shares * (f[labeled.rows] - (labeled.targets - mean))
    assert_allclose(gradient, 0, atol=1e-10)


@pytest.mark.parametrize("smoothness", ["laplacian", ("iterated", 2)])
def test_interpolation_has_the_least_energy_and_the_printed_sign_has_not(smoothness) -> None:
    graph = random_graph(30)
    rng = np.random.default_rng(1)
    labeled = some_labels(graph, 6)
    S = dense_smoothness(graph, smoothness)
    f = minimiser(graph, smoothness, labeled, 0.0)[:, 0]
    assert_allclose(f[labeled.rows], labeled.targets[:, 0], atol=1e-9)
    rest = np.setdiff1d(np.arange(30), labeled.rows)
    for _ in range(20):
        moved = f.copy()
        moved[rest] += rng.normal(0, 0.1, size=len(rest))
        assert moved @ S @ moved > f @ S @ f
    printed = f.copy()
    step = S[np.ix_(rest, labeled.rows)] @ labeled.targets[:, 0]
    printed[rest] = np.linalg.solve(S[np.ix_(rest, rest)], step)
    assert_allclose(f[rest], -printed[rest], atol=1e-8)
    assert printed @ S @ printed > 1.01 * (f @ S @ f)


def test_heat_interpolation_has_the_least_energy_around_the_mean() -> None:
    graph = random_graph(20)
    labeled = some_labels(graph, 5)
    S = dense_smoothness(graph, ("heat", 0.4))
    f = minimiser(graph, ("heat", 0.4), labeled, 0.0)[:, 0] - labeled.mean
    assert_allclose(f[labeled.rows], labeled.targets[:, 0] - labeled.mean, atol=1e-9)
    rest = np.setdiff1d(np.arange(20), labeled.rows)
    assert_allclose((S @ f)[rest], 0, atol=1e-9)


@pytest.mark.parametrize("smoothness", SMOOTHNESS)
def test_a_vanishing_penalty_tends_to_interpolation(smoothness) -> None:
    graph = random_graph(24)
    labeled = some_labels(graph, 7)
    exact = minimiser(graph, smoothness, labeled, 0.0)
    gaps = [abs(minimiser(graph, smoothness, labeled, g) - exact).max() for g in (1e-6, 1e-8)]
    assert gaps[1] < 0.02 * gaps[0]
    assert gaps[1] < 1e-4


@pytest.mark.parametrize("smoothness", SMOOTHNESS)
def test_a_boundless_penalty_leaves_the_labelled_mean_of_each_component(smoothness) -> None:
    graph = disjoint_union(random_graph(10), random_graph(8, seed=1))
    rows, values = np.array([0, 4, 9, 12, 17]), np.array([1.0, 2, 6, -4, 8])
    labeled = Labeled(rows, values[:, None], np.array([1.0, 1, 2, 3, 1]))
    f = minimiser(graph, smoothness, labeled, 1e9)[:, 0]
    assert_allclose(f, [15 / 4] * 10 + [-1.0] * 8, rtol=1e-5)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("gamma", [0.0, 1e-3, 2.0])
def test_the_sparse_solve_equals_the_kernel(gamma: float, weighted: bool) -> None:
    graph = disjoint_union(random_graph(20), grid(3, 4))
    labeled = some_labels(graph, 9, weighted=weighted, n_targets=3)
    sparse = smooth_values(smoother_of(graph), labeled, gamma)
    kernel = minimiser(graph, "laplacian", labeled, gamma)
    assert_allclose(sparse, kernel, atol=1e-8)


@pytest.mark.parametrize("smoothness", SMOOTHNESS)
def test_components_are_solved_each_by_itself(smoothness) -> None:
    one, other = random_graph(12), random_graph(9, seed=4)
    labeled = Labeled(
        np.array([0, 5, 11, 14, 20]), np.array([[1.0], [4], [2], [-3], [0.5]]), np.ones(5)
    )
    for gamma in (0.0, 0.1):
        both = minimiser(disjoint_union(one, other), smoothness, labeled, gamma)
        # The sum of weights is in the objective, so the strength is that of all five labels.
        first = Labeled(labeled.rows[:3], labeled.targets[:3], np.ones(3))
        last = Labeled(labeled.rows[3:] - 12, labeled.targets[3:], np.ones(2))
        alone = minimiser(one, smoothness, first, gamma * 5 / 3)
        there = minimiser(other, smoothness, last, gamma * 5 / 2)
        assert_allclose(both, np.vstack([alone, there]), atol=1e-8)


def test_a_component_without_a_label_is_left_at_the_mean_by_the_sparse_solve() -> None:
    graph = disjoint_union(path(5), path(4))
    labeled = Labeled(np.array([0, 4]), np.array([[0.0], [4.0]]), np.ones(2))
    for gamma in (0.0, 0.1):
        assert_allclose(smooth_values(smoother_of(graph), labeled, gamma)[5:], 2.0)


@pytest.mark.parametrize("smoothness", SMOOTHNESS)
def test_all_nodes_labelled_are_their_own_interpolation(smoothness) -> None:
    graph = random_graph(10)
    labeled = some_labels(graph, 10)
    f = minimiser(graph, smoothness, labeled, 0.0)
    assert_allclose(f[labeled.rows], labeled.targets, atol=1e-8)
    assert_allclose(
        smooth_values(smoother_of(graph), labeled, 0.0)[labeled.rows], labeled.targets, atol=1e-12
    )


@pytest.mark.parametrize("smoothness", SMOOTHNESS)
def test_the_influence_turns_targets_into_values(smoothness) -> None:
    graph = random_graph(18)
    labeled = some_labels(graph, 6, weighted=True)
    fit = KernelFit.of(smoother_of(graph, smoothness), labeled)
    for alpha in (0.0, 0.3):
        found = fit.influence(alpha) @ labeled.targets
        assert_allclose(found, fit.values(labeled.targets, alpha), atol=1e-10)
        assert_allclose(fit.influence(alpha).sum(axis=1), 1, atol=1e-9)


# --- leave-one-out ----------------------------------------------------------------------------


def _assert_refits(graph, smoothness, labeled, gamma: float) -> None:
    """Leaving a label out is the minimiser without it, at the same strength."""
    total = labeled.weights.sum()
    found = KernelFit.of(smoother_of(graph, smoothness), labeled).held_out(gamma * total)
    for i, row in enumerate(labeled.rows):
        rest = without(labeled, i)
        again = minimiser(graph, smoothness, rest, gamma * total / rest.weights.sum())
        assert_allclose(found[i], again[row], atol=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("gamma", [0.0, 1e-3, 1.0])
@pytest.mark.parametrize("smoothness", SMOOTHNESS)
def test_leave_one_out_is_a_refit_with_the_same_strength(
    smoothness, gamma: float, weighted: bool
) -> None:
    graph = random_graph(22)
    labeled = some_labels(graph, 8, weighted=weighted, n_targets=2)
    _assert_refits(graph, smoothness, labeled, gamma)


@pytest.mark.parametrize("gamma", [0.0, 0.1])
@pytest.mark.parametrize("smoothness", SMOOTHNESS)
def test_leave_one_out_on_two_components_is_a_refit(smoothness, gamma: float) -> None:
    graph = disjoint_union(random_graph(12), random_graph(10, seed=3))
    labeled = some_labels(graph, 9, weighted=True, seed=5)
    _assert_refits(graph, smoothness, labeled, gamma)


def test_leave_one_out_is_exact_where_the_heat_has_made_labels_alike() -> None:
    """In two cliques with a weak tie a long flow leaves a kernel of rank two; the penalty holds."""
    weights = np.kron(np.eye(2), np.ones((8, 8))) - np.eye(16)
    weights[7, 8] = weights[8, 7] = 0.05
    graph, smoothness, gamma = Graph.from_matrix(weights), ("heat", 4.0), 0.1
    labeled = some_labels(graph, 7)
    found = KernelFit.of(smoother_of(graph, smoothness), labeled).held_out(gamma * 7)
    for i, row in enumerate(labeled.rows):
        again = minimiser(graph, smoothness, without(labeled, i), gamma * 7 / 6)
        assert_allclose(found[i], again[row], atol=1e-9)


@pytest.mark.parametrize("smoothness", SMOOTHNESS)
@pytest.mark.parametrize("alpha", [0.0, 0.5])
def test_the_only_label_of_a_component_is_left_out_to_the_mean_of_the_others(
    smoothness, alpha: float
) -> None:
    graph = disjoint_union(random_graph(10), path(4))
    labeled = Labeled(
        np.array([1, 7, 12]), np.array([[1.0], [3.0], [9.0]]), np.array([1.0, 3.0, 2.0])
    )
    fit = KernelFit.of(smoother_of(graph, smoothness), labeled)
    assert_allclose(fit.held_out(alpha)[2], [2.5])


def test_a_single_label_is_left_out_to_something_finite() -> None:
    for smoothness in SMOOTHNESS:
        labeled = Labeled(np.array([3]), np.array([[2.0]]), np.ones(1))
        fit = KernelFit.of(smoother_of(path(6), smoothness), labeled)
        for alpha in (0.0, 1.0):
            assert np.isfinite(fit.held_out(alpha)).all()
            assert_allclose(fit.values(labeled.targets, alpha), 2.0)


# --- the kernel and the smoother --------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.0, 0.7])
def test_multipliers_solve_the_bordered_system(alpha: float) -> None:
    rng = np.random.default_rng(0)
    factor = rng.normal(size=(6, 6))
    K, Z = factor @ factor.T, np.repeat(np.eye(2), 3, axis=0)
    weights, targets = rng.uniform(0.5, 2, 6), rng.normal(size=(6, 2))
    system = np.block([[K + alpha * np.diag(1 / weights), Z], [Z.T, np.zeros((2, 2))]])
    expected = np.linalg.solve(system, np.vstack([targets, np.zeros((2, 2))]))[:6]
    kernel = LabelKernel.of(K, Z, weights)
    assert_allclose(kernel.multipliers(targets, alpha), expected, atol=1e-10)
    assert_allclose(kernel.operator(alpha) @ targets, expected, atol=1e-10)


@pytest.mark.parametrize("smoothness", POWERS)
def test_columns_are_those_of_the_pseudo_inverse(smoothness) -> None:
    graph = disjoint_union(random_graph(12), path(5))
    labeled = some_labels(graph, 5)
    found = smoother_of(graph, smoothness).columns(labeled)
    expected = np.linalg.pinv(dense_smoothness(graph, smoothness), rcond=1e-11, hermitian=True)
    assert_allclose(found, expected[:, labeled.rows], atol=1e-7)


def test_columns_of_the_heat_operator_are_the_heat_flow() -> None:
    graph = random_graph(12)
    labeled = some_labels(graph, 5)
    found = smoother_of(graph, ("heat", 0.7)).columns(labeled)
    expected = expm(-0.7 * dense_laplacian(graph))[:, labeled.rows]
    assert_allclose(found, expected, atol=1e-10)


@pytest.mark.parametrize(
    "smoothness",
    ["biharmonic", ("iterated", 0), ("iterated", 1.5), ("heat", -1.0), ("heat",), None, 2],
)
def test_unknown_smoothness_is_refused(smoothness) -> None:
    with pytest.raises(InvalidInputError):
        smoother_of(path(4), smoothness)


def test_columns_that_do_not_fit_into_memory_are_refused(monkeypatch) -> None:
    graph = path(50)
    smoother, labeled = smoother_of(graph), some_labels(graph, 20)
    monkeypatch.setattr(memory, "available_bytes", lambda: 4000)
    with pytest.raises(MemoryBudgetError, match="the influence of 20 labels on 50 points"):
        smoother.columns(labeled)
