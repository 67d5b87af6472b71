"""Fits in an eigenbasis: brute-force leave-one-out, limits of the penalty, sizes and their caps."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from beltrami.core.errors import DegenerateDataWarning, InvalidInputError
from beltrami.graph.families import disjoint_union, grid, path, ring
from beltrami.learners.leave_one_out import can_leave_one_out, held_out_loss, honest_residuals
from beltrami.learners.model import Labeled
from beltrami.learners.parameters import check_gamma
from beltrami.learners.spectral.basis_fit import spectral_fit, vector_count
from beltrami.solvers.eigen import eigenbasis


def labels_on(graph, count, *, n_targets=1, weighted=False, seed=0):
    """Random values at random rows, and the whole basis there."""
    rng = np.random.default_rng(seed)
    rows = rng.permutation(graph.n_nodes)[:count]
    weights = rng.uniform(0.2, 3, size=count) if weighted else np.ones(count)
    basis = eigenbasis(graph, graph.n_nodes)
    return basis, Labeled(rows, rng.normal(size=(count, n_targets)), weights)


def fitted(basis, labeled, *, n_eigenvectors="auto", gamma=0.0, n_constant=1):
    return spectral_fit(
        basis.vectors[labeled.rows],
        basis.values,
        labeled,
        n_eigenvectors=n_eigenvectors,
        gamma=gamma,
        n_constant=n_constant,
    )


def without(labeled, i):
    others = np.arange(len(labeled.rows)) != i
    return Labeled(labeled.rows[others], labeled.targets[others], labeled.weights[others])


def predicted(basis, fit, row):
    return basis.vectors[row, : fit.size] @ fit.coefficients


# --- leave-one-out ----------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("size", [1, 4, 7])
def test_leave_one_out_of_least_squares_is_a_refit(size: int, weighted: bool) -> None:
    basis, labeled = labels_on(grid(5, 7), 14, n_targets=2, weighted=weighted)
    left_out = fitted(basis, labeled, n_eigenvectors=size).left_out
    for i, row in enumerate(labeled.rows):
        again = fitted(basis, without(labeled, i), n_eigenvectors=size)
        assert again.size == size
        assert_allclose(left_out.scores[i], predicted(basis, again, row), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("gamma", [1e-4, 0.1, 30.0])
def test_leave_one_out_of_the_ridge_is_a_refit_with_the_same_strength(
    gamma: float, weighted: bool
) -> None:
    basis, labeled = labels_on(grid(5, 7), 14, n_targets=2, weighted=weighted)
    left_out = fitted(basis, labeled, gamma=gamma).left_out
    total = labeled.weights.sum()
    for i, row in enumerate(labeled.rows):
        rest = without(labeled, i)
        again = fitted(basis, rest, gamma=gamma * total / rest.weights.sum())
        assert_allclose(left_out.scores[i], predicted(basis, again, row), rtol=1e-10, atol=1e-10)


def test_the_only_label_of_a_component_is_left_out_to_the_mean_of_the_others() -> None:
    graph = disjoint_union(path(6), path(4))
    basis = eigenbasis(graph, 10)
    labeled = Labeled(np.array([0, 3, 5, 8]), np.array([[1.0], [2.0], [6.0], [50.0]]), np.ones(4))
    for options in ({"n_eigenvectors": 2}, {"gamma": 0.5}):
        fit = fitted(basis, labeled, n_constant=2, **options)
        assert_allclose(fit.left_out.scores[3], [3.0])


def test_a_single_label_is_left_out_to_something_finite() -> None:
    basis = eigenbasis(path(5), 5)
    labeled = Labeled(np.array([2]), np.array([[1.0, -1.0]]), np.ones(1))
    for gamma in (0.0, 0.1, "auto"):
        fit = fitted(basis, labeled, gamma=gamma)
        assert np.isfinite(fit.left_out.scores).all()
        assert_allclose(predicted(basis, fit, 4), [1, -1], rtol=1e-6)


# --- the fit itself ---------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
def test_least_squares_is_the_one_of_the_textbook(weighted: bool) -> None:
    basis, labeled = labels_on(grid(4, 6), 12, weighted=weighted)
    fit = fitted(basis, labeled, n_eigenvectors=5)
    rows, roots = basis.vectors[labeled.rows, :5], np.sqrt(labeled.weights)[:, None]
    expected = np.linalg.lstsq(roots * rows, roots * labeled.targets)[0]
    assert_allclose(fit.coefficients, expected, rtol=1e-9)
    assert_allclose(fit.operator() @ labeled.targets, expected, rtol=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_ridge_has_no_gradient_left(weighted: bool) -> None:
    basis, labeled = labels_on(grid(4, 6), 12, n_targets=2, weighted=weighted)
    gamma = 0.3
    fit = fitted(basis, labeled, gamma=gamma)
    rows, weights = basis.vectors[labeled.rows], labeled.weights[:, None]
    residuals = rows @ fit.coefficients - labeled.targets
    gradient = rows.T @ (weights * residuals) / weights.sum()
    gradient += gamma * basis.values[:, None] * fit.coefficients
    assert_allclose(gradient, 0, atol=1e-13)
    assert_allclose(fit.operator() @ labeled.targets, fit.coefficients, rtol=1e-9, atol=1e-12)


def test_all_eigenvectors_and_all_labels_interpolate() -> None:
    basis, labeled = labels_on(grid(3, 4), 12, n_targets=3)
    fit = fitted(basis, labeled, n_eigenvectors=12, gamma=1e-14)
    found = basis.vectors[labeled.rows] @ fit.coefficients
    assert fit.size == 12
    assert_allclose(found, labeled.targets, atol=1e-11)


def test_a_vanishing_penalty_interpolates_by_the_least_penalty() -> None:
    basis, labeled = labels_on(grid(4, 6), 7)
    fit = fitted(basis, labeled, gamma=1e-13)
    rows = basis.vectors[labeled.rows]
    conditions = np.block([[np.diag(basis.values), rows.T], [rows, np.zeros((7, 7))]])
    right = np.concatenate([np.zeros(24), labeled.targets[:, 0]])
    expected = np.linalg.solve(conditions, right)[:24]
    assert_allclose(fit.coefficients[:, 0], expected, atol=1e-9)


def test_a_boundless_penalty_leaves_the_labelled_mean_of_each_component() -> None:
    graph = disjoint_union(grid(3, 4), path(8))
    basis = eigenbasis(graph, 20)
    weights = np.array([1.0, 3.0, 2.0, 2.0, 1.0])
    values = np.array([[1.0], [5.0], [0.0], [10.0], [7.0]])
    labeled = Labeled(np.array([0, 5, 11, 13, 19]), values, weights)
    fit = fitted(basis, labeled, gamma=1e14, n_constant=2)
    found = (basis.vectors @ fit.coefficients)[:, 0]
    assert_allclose(found[:12], (1 + 15 + 0) / 6, rtol=1e-9)
    assert_allclose(found[12:], (20 + 7) / 3, rtol=1e-9)


def test_a_penalty_on_the_constants_alone_still_fits_their_means() -> None:
    basis, labeled = labels_on(path(9), 4)
    for gamma in (1.0, "auto"):
        fit = fitted(basis, labeled, n_eigenvectors=1, gamma=gamma)
        assert fit.size == 1
        assert_allclose(predicted(basis, fit, 0), labeled.targets.mean(axis=0))


# --- how many eigenvectors --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "count", "expected"),
    [("auto", 10, 200), (7, 10, 7), (5000, 10, 300), (0.2, 10, 2), (0.2, 2, 1), (1.0, 12, 12)],
)
def test_sizes_are_numbers_or_shares_of_labels(asked, count: int, expected: int) -> None:
    assert vector_count(asked, count, 300, most=200) == expected


def test_auto_asks_for_no_more_eigenvectors_than_points() -> None:
    assert vector_count("auto", 10, 30, most=200) == 30


@pytest.mark.parametrize("asked", [0, -1, 0.0, 1.5, -0.2, True, "all", None, np.nan, np.inf])
def test_other_sizes_are_refused(asked) -> None:
    with pytest.raises(InvalidInputError, match=r"n_eigenvectors=.*must be a whole number"):
        vector_count(asked, 10, 300, most=200)


@pytest.mark.parametrize("gamma", [-1, -1e-9, np.nan, np.inf, "often", None, True])
def test_other_penalties_are_refused(gamma) -> None:
    with pytest.raises(InvalidInputError, match=r"gamma=.*must be a number, not negative"):
        check_gamma(gamma)


def test_more_eigenvectors_than_labels_are_capped_with_a_warning() -> None:
    basis, labeled = labels_on(path(30), 10)
    with pytest.warns(DegenerateDataWarning, match=r"15 eigenvectors and 10 labels.*so 6"):
        assert fitted(basis, labeled, n_eigenvectors=15).size == 6


def test_constants_of_components_are_never_capped_and_split_nothing() -> None:
    graph = disjoint_union(path(4), path(5), path(6))
    basis = eigenbasis(graph, 8)
    labeled = Labeled(np.array([0, 5]), np.array([[1.0], [2.0]]), np.ones(2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit = fitted(basis, labeled, n_eigenvectors=2, n_constant=3)
    assert fit.size == 3
    assert_allclose((basis.vectors[:, :3] @ fit.coefficients)[:, 0], [1] * 4 + [2] * 5 + [0] * 6)


def test_a_size_that_splits_an_eigenvalue_warns() -> None:
    basis, labeled = labels_on(ring(24), 10)
    for size in (2, 4):
        with pytest.warns(DegenerateDataWarning, match=f"eigenvectors {size} and {size + 1} share"):
            fitted(basis, labeled, n_eigenvectors=size)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted(basis, labeled, n_eigenvectors=3)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n_vectors", [24, 8, 6, 4])
def test_auto_never_splits_an_eigenvalue(seed: int, n_vectors: int) -> None:
    """Also where the basis ends between two equal eigenvalues."""
    basis, labeled = labels_on(ring(24), 20, seed=seed)
    short = replace(basis, values=basis.values[:n_vectors], vectors=basis.vectors[:, :n_vectors])
    fit = fitted(short, labeled)
    assert fit.size % 2 == 1
    assert set(fit.choices[0].tried % 2) == {1}


def test_auto_takes_the_size_of_the_lowest_brute_force_loss() -> None:
    basis, labeled = labels_on(grid(4, 7), 15, seed=3)
    target = basis.vectors[labeled.rows, 2:3] * 3 + 0.01 * labeled.targets
    labeled = Labeled(labeled.rows, target, labeled.weights)
    fit = fitted(basis, labeled)
    losses = []
    for size in fit.choices[0].tried.astype(int):
        held = []
        for i, row in enumerate(labeled.rows):
            again = fitted(basis, without(labeled, i), n_eigenvectors=size)
            held.append(predicted(basis, again, row))
        losses.append(held_out_loss(np.array(held), labeled))
    assert_allclose(fit.choices[0].losses, losses, rtol=1e-8)
    assert fit.size == int(fit.choices[0].tried[np.argmin(losses)]) >= 3
    assert f"{fit.size} of up to 9 eigenvectors" in fit.choices[0].reason


def test_too_few_labels_to_judge_give_one_eigenvector_per_class() -> None:
    basis = eigenbasis(path(12), 8)
    labeled = Labeled(np.array([0, 5, 11]), 2 * np.eye(3) - 1, np.ones(3))
    fit = fitted(basis, labeled)
    assert fit.size == 3
    assert "leave-one-out cannot judge" in fit.choices[0].reason


def test_the_default_size_warns_when_it_splits_an_eigenvalue() -> None:
    basis = eigenbasis(ring(12), 8)
    labeled = Labeled(np.array([0, 5]), 2 * np.eye(2) - 1, np.ones(2))
    with pytest.warns(DegenerateDataWarning, match="eigenvectors 2 and 3 share"):
        fitted(basis, labeled)


def test_the_penalty_is_the_best_of_its_grid_by_brute_force() -> None:
    basis, labeled = labels_on(grid(4, 6), 12, seed=2, weighted=True)
    fit = fitted(basis, labeled, gamma="auto")
    choice = fit.choices[0]
    for gamma, loss in list(zip(choice.tried, choice.losses, strict=True))[::6]:
        assert_allclose(
            held_out_loss(fitted(basis, labeled, gamma=gamma).left_out.scores, labeled), loss
        )
    assert fit.gamma == choice.value == choice.tried[np.argmin(choice.losses)]


# --- losses -----------------------------------------------------------------------------------


def test_the_loss_of_classes_counts_errors_first() -> None:
    labeled = Labeled(np.arange(2), np.eye(2), np.array([1.0, 3.0]))
    assert_allclose(held_out_loss(np.eye(2), labeled), 0)
    wrong = np.array([[0.4, 0.6], [0.0, 1.0]])
    assert_allclose(held_out_loss(wrong, labeled), 0.25 + 0.5 * 0.25 * (0.25 * 0.72) / 2)


def test_squares_break_ties_and_are_never_worth_an_error() -> None:
    rng = np.random.default_rng(0)
    labeled = Labeled(np.arange(6), np.eye(3)[[0, 1, 2, 0, 1, 2]], rng.uniform(0.1, 3, 6))
    sure = labeled.targets + 0.0
    unsure = 0.01 * labeled.targets
    wild = labeled.targets + 1e9 * labeled.targets - 1e9 * (1 - labeled.targets)
    one_error = sure.copy()
    one_error[np.argmin(labeled.weights)] = [0.5, 0.5, 0.5]
    one_error[np.argmin(labeled.weights), labeled.targets[np.argmin(labeled.weights)] > 0] = 0.49
    losses = [held_out_loss(found, labeled) for found in (sure, wild, unsure, one_error)]
    assert losses == sorted(losses)
    assert losses[2] < losses[3]


def test_wild_predictions_are_clipped_to_the_range_of_the_targets() -> None:
    labeled = Labeled(np.arange(3), np.array([[0.0], [1.0], [2.0]]), np.ones(3))
    assert_allclose(held_out_loss(np.array([[1e9], [1.0], [2.0]]), labeled), 4 / 3)


def test_labels_say_something_where_enough_share_a_class() -> None:
    def of(codes, n_classes):
        targets = 2 * np.eye(n_classes)[codes] - 1
        return can_leave_one_out(Labeled(np.arange(len(codes)), targets, np.ones(len(codes))))

    assert not of([0, 1], 2)
    assert not of([0, 0, 1, 2], 3)
    assert of([0, 0, 1], 2)
    assert of([0, 0, 1, 1, 2], 3)
    one = Labeled(np.arange(1), np.ones((1, 1)), np.ones(1))
    assert not can_leave_one_out(one)
    assert can_leave_one_out(Labeled(np.arange(2), np.ones((2, 1)), np.ones(2)))


def test_honest_residuals_are_those_of_the_candidate_that_the_others_prefer() -> None:
    """The first candidate is best but for label 0, the second is best on all labels together."""
    labeled = Labeled(np.arange(8), np.linspace(-5, 5, 8)[:, None], np.ones(8))
    residuals = np.array([[-1.0] + [0.0] * 7, [-0.3] + [0.3] * 7])
    assert_array_equal(honest_residuals(residuals, labeled), [-1.0] + [0.3] * 7)


def test_honest_residuals_weigh_the_others_and_clip_what_is_wild() -> None:
    labeled = Labeled(np.arange(3), np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 9.0, 1.0]))
    # Clipped to the range, the first is off by 1 at label 1; weighted 9 to 1, that is the worst.
    residuals = np.array([[0.0, -1e6, 0.0], [-1.5, 0.0, 1.5]])
    assert_array_equal(honest_residuals(residuals, labeled), [-1.5, -1e6, 1.5])
